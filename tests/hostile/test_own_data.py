"""Nasty inputs of the own-data commands, each judged by the one rule of `tests.hostile.judging`."""

import pytest

from tests.hostile import edge_cases, name_cases, node_cases, option_cases, place_cases, signal_cases
from tests.hostile.clean import NODES, SERIES, SIGNALS, of_problem, reading_only, write_clean
from tests.hostile.judging import wrong_of

READING = {
    "any file": (NODES, place_cases.CASES),
    "edges": (NODES, edge_cases.CASES),
    "names": (NODES, name_cases.CASES),
    "nodes": (NODES, node_cases.CASES),
    "series": (SERIES, signal_cases.SERIES_CASES),
    "signals": (SIGNALS, signal_cases.SIGNAL_CASES),
    "options": (NODES, option_cases.CASES),
    "settings": (NODES, option_cases.SETTINGS),
    "options of forecasts": (SERIES, option_cases.FORECASTS),
}


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    return write_clean(tmp_path_factory.mktemp("clean"))


@pytest.mark.parametrize("kind", READING)
def test_what_train_reads_is_refused_by_name_or_read_as_what_it_means(clean, tmp_path, kind):
    base, cases = READING[kind]
    with reading_only() as found:
        wrong = wrong_of(cases, clean, tmp_path, (*base, "--dry-run"), lambda out: of_problem(found[0]))
    assert not wrong, f"{len(wrong)} of {len(cases)}:\n" + "\n".join(wrong)
