"""The pages of "Your own data" show what their commands print; numbers may differ by the processor."""

import re
from importlib import util
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "docs/own_data_pages.py"
spec = util.spec_from_file_location("own_data_pages", FILE)
pages = util.module_from_spec(spec)
spec.loader.exec_module(pages)


def masked(text):
    """Lines without numbers; the verdict and the order of the models hang on them."""
    lines = [re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "#", line) for line in text.splitlines()]
    verdicts = ("the graph is worth", "prefer", "the data cannot tell")
    lines = ["verdict" if any(one in line for one in verdicts) else " ".join(line.split()) for line in lines]
    return sorted(lines)


@pytest.mark.parametrize("name", pages.PAGES)
def test_a_page_shows_what_its_commands_print(name):
    page = (FILE.parent / f"own_data/{name}.md").read_text("utf-8")
    assert masked(page) == masked(pages.fresh(pages.PAGES[name]))


def test_every_page_is_linked_from_the_overview():
    overview = (FILE.parent / "own_data.md").read_text("utf-8")
    assert all(f"(own_data/{name}.md)" in overview for name in pages.PAGES)
