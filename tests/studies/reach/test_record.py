"""The records of long reach: the page says what they say, and a recorded training begins again."""

import csv
import json
from pathlib import Path

import pytest

from shiftstate.machine.run import run
from shiftstate.machine.trial import parse_trial
from shiftstate.studies import boards, ring, unbroken
from shiftstate.studies.reach.record import as_table, parts_as_table

DOCS = Path(__file__).parents[3] / "docs"
STUDIES = {
    **dict.fromkeys(("ring", "ring_parts", "ring_old", "ring_exact"), ring.STUDY),
    **dict.fromkeys(("unbroken", "unbroken_parts"), unbroken.STUDY),
    **dict.fromkeys(("boards", "boards_short", "boards_parts"), boards.STUDY),
}
SIZES = {"boards": 16_000}
TRIVIAL = ("average", "identity", "swap", "ceiling")
RECORDS = [name for name in STUDIES if (DOCS / "results" / name / "realizations.csv").exists()]


def recorded(name):
    with (DOCS / "results" / name / "realizations.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.skipif(not RECORDS, reason="nothing is on record")
def test_the_tables_of_the_page_are_those_of_the_records():
    page = (DOCS / "reach.md").read_text(encoding="utf-8")
    assert as_table(DOCS / "results") in page
    assert parts_as_table(DOCS / "results") in page


@pytest.mark.parametrize("name", RECORDS)
def test_every_model_of_a_record_has_the_same_size(name):
    sizes = {int(row["parameters"]) for row in recorded(name) if row["filter"] not in TRIVIAL}
    wanted = SIZES.get(STUDIES[name].name, 4000)
    assert all(abs(size - wanted) <= 0.05 * wanted for size in sizes)


@pytest.mark.parametrize("name", RECORDS)
def test_a_recorded_configuration_is_one_of_the_study(name):
    for row in recorded(name):
        assert parse_trial(STUDIES[name], row["config"]).id == row["id"]


@pytest.mark.skipif("ring" not in RECORDS, reason="not on record")
def test_the_first_epoch_of_a_recorded_training_comes_again():
    row = next(row for row in recorded("ring") if (row["filter"], row["hop_limit"]) == ("mlp", "10"))
    outcome = run(parse_trial(ring.STUDY, row["config"]))
    assert outcome.losses[0] == pytest.approx(json.loads(row["curve"])["loss"][0], rel=1e-4)
