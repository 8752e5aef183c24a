"""The table of readings: verdicts are counted, distances are in units of the published deviation."""

import json

import pytest

from shiftstate.studies.paper.which_reading import as_markdown, dependence, paper_claims, standings


def record(folder, verdicts, cells=()):
    folder.mkdir()
    claims = [{"claim": claim, "verdict": verdict, "effect": 0.1} for claim, verdict in verdicts.items()]
    (folder / "claims.json").write_text(json.dumps(claims), encoding="utf-8")
    keys = ("mean", "std", "paper_mean", "paper_std")
    rows = [dict(zip(keys, cell, strict=True)) for cell in cells]
    (folder / "summary.json").write_text(json.dumps(rows), encoding="utf-8")
    return folder


def test_the_papers_claims_are_counted_and_ours_are_not(tmp_path):
    texts = [claim.text for claim in paper_claims()]
    verdicts = {texts[0]: "holds", texts[1]: "does not hold", texts[2]: "undecided", "a claim of ours": "holds"}
    (found,) = standings([record(tmp_path / "mine", verdicts)])
    assert found.name == "mine"
    assert found.verdicts == {"holds": 1, "does not hold": 1, "undecided": 1, "not run": len(texts) - 3}


def test_distances_are_in_published_deviations_and_only_published_cells_count(tmp_path):
    cells = [(0.7, 0.1, 0.5, 0.1), (0.5, 0.4, 0.5, 0.2), (0.9, 0.1, None, None), (0.6, None, 0.5, 0.1)]
    (found,) = standings([record(tmp_path / "mine", {}, cells)])
    assert found.means == pytest.approx((2.0, 0.0, 1.0))
    assert found.spreads == pytest.approx((0.0, 1.0))
    assert "| mine | 0 | 0 | 0 | 27 | 1.0 | 0.5 | 3 |" in as_markdown([found])


def test_readings_changed_one_by_one_are_judged_where_they_were_run(tmp_path):
    lines = ["reading,settings,filter,graph,accuracy_last,accuracy_best"]
    for graph in range(4):
        for name, score in (("gcnn", 0.5), ("rsn", 0.7), ("lssm", 0.9)):
            lines.append(f"a reading,,{name},{graph},{score + 0.01 * graph * (name != 'rsn')},1")
    (tmp_path / "readings.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (found,) = standings([tmp_path])
    assert found.name == "a reading"
    assert found.verdicts["not run"] == 23  # K = 16 has four claims: two leads, the best, the smallest deviation
    assert found.verdicts["holds"] >= 1


def test_claims_stand_under_how_they_depend_on_the_reading(tmp_path):
    always, sometimes, never, untested = (claim.text for claim in paper_claims()[:4])
    first = {always: "holds", sometimes: "holds", never: "undecided"}
    second = {always: "not run", sometimes: "does not hold", never: "does not hold"}
    rows = standings([record(tmp_path / "one", first), record(tmp_path / "two", second)])
    assert [dependence(text, rows) for text in (always, sometimes, never, untested)] == [
        "every",
        "some",
        "none",
        "not run",
    ]
    table = as_markdown(rows)
    parts = [table.index(title) for title in ("Holds in every", "Hangs on the", "Holds in no", "Not run")]
    assert parts == sorted(parts)
    assert f"| {sometimes} | holds (+10) | does not hold (+10) |" in table[parts[1] : parts[2]]
    assert f"| {always} | holds (+10) | not run |" in table[parts[0] : parts[1]]


@pytest.mark.parametrize("text", ["", "[", "[1]", '[{"claim": "x"}]', "null", "[" * 5000])
def test_a_record_that_cannot_be_read_is_named(text, tmp_path):
    folder = record(tmp_path / "mine", {})
    (folder / "claims.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"claims.json cannot be read \(.*expected a directory written by"):
        standings([folder])
