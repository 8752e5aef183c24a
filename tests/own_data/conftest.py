"""The files that the tests of this folder share."""

import pytest

from tests.own_data.towns import write_files


@pytest.fixture
def files(tmp_path):
    """A ring of towns, a table of them, signals and a series on them."""
    return write_files(tmp_path)
