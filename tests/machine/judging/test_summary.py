"""The summary: exactly the files that architecture asks for, with numbers that can be checked by hand."""

import json

import pytest

from shiftstate.machine.judging.summary import claims_json, summarize, summary_json
from shiftstate.machine.judging.tables import tables_markdown
from shiftstate.machine.results.columns import Result
from shiftstate.machine.trial import Cell
from shiftstate.studies.paper import STUDY
from shiftstate.studies.paper.published import PUBLISHED


@pytest.fixture
def rows(trial):
    return [
        Result(trial(graph=0), 0.2, 0.5, "finished", 1.0),
        Result(trial(graph=1), 0.4, 0.7, "diverged", 1.0),
        Result(trial("table1", "lssm", L=2), 0.6, 0.65, "finished", 1.0),
    ]


def test_summary_json_has_the_agreed_rows(rows):
    first, second = json.loads(summary_json(summarize(STUDY, rows)))
    keys = ["experiment", "filter", "K", "L", "author", "n", "mean", "std", "mean_best", "paper_mean", "paper_std"]
    assert list(first) == keys
    assert (first["experiment"], first["filter"], first["K"], first["L"]) == ("figure1", "gcnn", 4, 1)
    assert first["n"] == 2
    assert first["mean"] == pytest.approx(0.3)
    assert first["std"] == pytest.approx(0.1 * 2**0.5)
    assert first["mean_best"] == pytest.approx(0.6)
    assert (first["author"], first["paper_mean"], first["paper_std"]) == (None, None, None)
    assert (second["n"], second["std"], second["paper_mean"], second["paper_std"]) == (1, None, 0.62, 0.03)


def test_claims_json_has_the_agreed_rows(rows):
    claims = json.loads(claims_json(summarize(STUDY, rows)))
    assert len(claims) == 18
    assert {tuple(claim) for claim in claims} == {("claim", "verdict", "effect", "p", "n")}
    assert {claim["verdict"] for claim in claims} == {"not run"}


def test_the_papers_numbers_are_those_of_its_tables():
    """Percent, mean and standard deviation, as printed."""
    table1 = {("gcnn", 2): (49, 5), ("rsn", 2): (62, 5), ("lssm", 2): (62, 3)}
    table1 |= {("gcnn", 4): (40, 17), ("rsn", 4): (53, 12), ("lssm", 4): (60, 16)}
    expected = {Cell.of("table1", filter=name, K=4, L=L, author=None): value for (name, L), value in table1.items()}
    for author, values in {
        "austen": ((64, 20), (80, 19), (87, 14)),
        "bronte_charlotte": ((71, 16), (68, 16), (73, 15)),
        "poe": ((64, 18), (72, 19), (83, 14)),
    }.items():
        for name, value in zip(("gcnn", "rsn", "lssm"), values, strict=True):
            expected[Cell.of("table2", filter=name, K=32, L=1, author=author)] = value
    assert {cell: (round(100 * mean), round(100 * std)) for cell, (mean, std) in PUBLISHED.items()} == expected


def test_nothing_stored_gives_valid_files():
    empty = summarize(STUDY, [])
    assert json.loads(summary_json(empty)) == []
    assert len(json.loads(claims_json(empty))) == 17  # the GCNN's best order needs a GCNN
    assert "| claim |" in tables_markdown(empty)


def test_the_tables_show_ours_beside_the_papers_and_count_what_diverged(rows):
    text = tables_markdown(summarize(STUDY, rows))
    assert "| table1 | LSSM | 4 | 2 | 1 | 60.0 | – | 65.0 | 62 ± 3 |" in text
    assert "| figure1 | GCNN | 4 | 1 | 2 | 30.0 ± 14.1 |" in text
    assert "1 of the runs diverged" in text


def test_claims_are_also_judged_by_the_best_epoch(trial):
    noise = (0.0, 0.01, 0.03, 0.02, 0.05)
    rows = [
        Result(
            trial(filter=name, graph=graph),
            last + sign * noise[graph],
            best + sign * noise[graph],
            "finished",
            1.0,
        )
        for name, last, best, sign in (("gcnn", 0.3, 0.8, 1), ("lssm", 0.6, 0.7, -1))
        for graph in range(5)
    ]
    (line,) = [
        line for line in tables_markdown(summarize(STUDY, rows)).splitlines() if "LSSM beats the GCNN at K = 4" in line
    ]
    assert line.startswith("| LSSM beats the GCNN at K = 4 | holds | +25.6 |")
    assert line.endswith("| 5 | does not hold |")


def test_an_interval_of_accuracies_ends_at_0_and_1(trial):
    def interval(*accuracies):
        rows = [Result(trial(graph=graph), value, value, "finished", 1.0) for graph, value in enumerate(accuracies)]
        (found,) = summarize(STUDY, rows).intervals
        return found

    assert interval(1.0, 1.0, 0.9)[1] == 1.0
    assert interval(0.0, 0.0, 0.1)[0] == 0.0
    assert 0.8 < interval(1.0, 1.0, 0.9)[0] < 0.97
