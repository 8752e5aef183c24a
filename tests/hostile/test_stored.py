"""Edited files of runs, models and partitions: refused by name, or without effect on the numbers."""

import os
import shutil

import pytest

from tests.attribution.books import book
from tests.hostile.clean import NODES, SERIES, write_clean
from tests.hostile.judging import called, get_ready, wrong_of
from tests.hostile.stored_cases import KINDS

MADE = [
    NODES,
    (*NODES, "--K", "2", "--out", "other"),
    (*SERIES, "--out", "series"),
    ("partition", "edges.csv", "--parts", "1", "--method", "blocks", "--out", "parts"),
]


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Runs, a partition and a model of authors; the paths in the settings of the runs lead nowhere."""
    origin = tmp_path_factory.mktemp("stored") / "origin"
    origin.mkdir()
    write_clean(origin)
    return made(origin)


def made(origin):
    get_ready()
    child = os.fork()
    if not child:  # as with the commands that are judged: the parent's threads stay as they are
        code = 1
        try:
            code = _make(origin)
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    return shutil.move(origin, origin.with_name("moved"))


def _make(origin):
    from shiftstate.attribution import Attributor

    os.chdir(origin)
    for words in MADE:
        code, _, err = called(words, origin)
        if code:
            os.write(2, err.encode())
            return code
    texts = [book(author, number, 500) for author in range(2) for number in range(2)]
    Attributor(words="auto:4", length=100).fit(texts, ["ann", "ann", "bob", "bob"]).save("model")
    (origin / "text.txt").write_text(book(1, 9, 500))
    return 0


@pytest.mark.parametrize("kind", KINDS)
def test_edited_files_are_refused_by_name_or_change_nothing(stored, tmp_path, kind):
    usual, numbers, make = KINDS[kind]
    cases = make(stored, 1)
    wrong = wrong_of(cases, stored, tmp_path, usual, numbers)
    assert not wrong, f"{len(wrong)} of {len(cases)}:\n" + "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_nasty_value_in_every_place_of_stored_files(stored, tmp_path, kind):
    usual, numbers, make = KINDS[kind]
    cases = make(stored, None)
    wrong = wrong_of(cases, stored, tmp_path, usual, numbers)
    assert not wrong, f"{len(wrong)} of {len(cases)}:\n" + "\n".join(wrong)
