"""Edited files of runs, models and partitions: refused by name, or without effect on the numbers."""

import os
import shutil

import pytest

from tests.attribution.books import book
from tests.hostile import command_cases
from tests.hostile.clean import NODES, PARTITION, SERIES, write_clean
from tests.hostile.command_cases import of_parts
from tests.hostile.judging import called, get_ready, wrong_of
from tests.hostile.stored_cases import COMPARE, KINDS, PREDICT, of_csv

MADE = [
    NODES,
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
    """Made in this process, so that what the commands import and compile is there for every child."""
    get_ready()
    here = os.getcwd()
    try:
        os.chdir(origin)
        _make(origin)
    finally:
        os.chdir(here)
    return shutil.move(origin, origin.with_name("moved"))


def _make(origin):
    from shiftstate.attribution import Attributor

    for words in MADE:
        code, _, err = called(words, origin)
        assert not code, err
    texts = [book(author, number, 500) for author in range(2) for number in range(2)]
    Attributor(words="auto:4", length=100).fit(texts, ["ann", "ann", "bob", "bob"]).save("model")
    (origin / "text.txt").write_text(book(1, 9, 500))


COMMANDS = {
    "predict": (PREDICT, of_csv, command_cases.PREDICTIONS),
    "compare, report, export": (COMPARE, str, command_cases.COMPARED),
    "a run that goes on": (NODES, str, command_cases.CHANGED),
    "partition": (PARTITION, of_parts, command_cases.PARTS),
    "settings to begin with": (command_cases.START, command_cases.of_start, command_cases.STARTED),
}


@pytest.mark.parametrize("kind", COMMANDS)
def test_nasty_inputs_of_other_commands_are_refused_by_name_or_read_as_what_they_mean(stored, tmp_path, kind):
    usual, numbers, cases = COMMANDS[kind]
    wrong = wrong_of(cases, stored, tmp_path, usual, numbers)
    assert not wrong, f"{len(wrong)} of {len(cases)}:\n" + "\n".join(wrong)


@pytest.mark.parametrize("kind", KINDS)
def test_edited_files_are_refused_by_name_or_change_nothing(stored, tmp_path, kind):
    judge(KINDS[kind], KINDS[kind].cases(stored), stored, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_nasty_value_in_every_place_of_stored_files(stored, tmp_path, kind):
    judge(KINDS[kind], KINDS[kind].cases(stored, thorough=True), stored, tmp_path)


def judge(kind, cases, stored, folder):
    wrong = wrong_of(cases, stored, folder, kind.words, kind.numbers)
    assert not wrong, f"{len(wrong)} of {len(cases)}:\n" + "\n".join(wrong)
