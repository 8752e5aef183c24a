"""The page of promises names tests that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_test_that_the_page_of_promises_names_is_there():
    page = (ROOT / "docs/promises.md").read_text("utf-8")
    named, last = [], ""
    for file, test in re.findall(r"`(tests/[\w/]+(?:\.py)?)?(?:::(test_\w+))?`", page):
        last = file or last
        named += [(last, test)] if file or test else []
    assert len(named) > 15
    for file, test in named:
        assert (ROOT / file).exists(), file
        assert not test or f"def {test}(" in (ROOT / file).read_text("utf-8"), f"{file}::{test}"
