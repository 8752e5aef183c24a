"""Bits that are promised do not hang on the processor: the tests of threads and products under two other ones."""

import pytest

from tests.processors import SETTINGS, run

TESTS = [
    "tests/filters/test_linear.py",
    "tests/filters/fused/products",
    "tests/filters/fused/compiling/test_threads.py",
]
ONES = "number_of_threads or product"


@pytest.mark.parametrize("name", list(SETTINGS))
def test_threads_and_products_keep_their_promises_on_another_processor(name):
    done = run(SETTINGS[name], [*TESTS, "-k", ONES, "-n", "0"])
    assert done.returncode == 0, done.stdout[-2000:]
    assert " passed" in done.stdout
