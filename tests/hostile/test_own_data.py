"""Nasty inputs of the own-data commands, each judged by the one rule of `tests.hostile.judging`."""

import pytest

from tests.hostile import edge_cases, name_cases, place_cases
from tests.hostile.clean import NODES, of_problem, reading_only, write_clean
from tests.hostile.judging import wrong_of


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    return write_clean(tmp_path_factory.mktemp("clean"))


@pytest.mark.parametrize("table", [place_cases, edge_cases, name_cases], ids=["any file", "edges", "names"])
def test_nasty_files_of_nodes_are_refused_by_name_or_read_as_what_they_mean(clean, tmp_path, table):
    with reading_only() as found:
        wrong = wrong_of(table.CASES, clean, tmp_path, (*NODES, "--dry-run"), lambda out: of_problem(found[0]))
    assert not wrong, f"{len(wrong)} of {len(table.CASES)}:\n" + "\n".join(wrong)
