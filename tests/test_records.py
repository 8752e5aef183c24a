"""The records under docs/results are complete, and the code still begins the trainings that they hold."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from shiftstate.machine.run import run
from shiftstate.machine.settings import change
from shiftstate.machine.trial import parse_trial
from shiftstate.studies.paper import STUDY, load_preset

RESULTS = Path(__file__).parents[1] / "docs" / "results"


def recorded(record, experiment):
    with (RESULTS / record / "realizations.csv").open(newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["experiment"] == experiment]


@pytest.mark.parametrize("experiment", ["figure1", "table1"])
@pytest.mark.parametrize("record", ["paper", "library", "one_source", "baseline_bias", "community", "tuned", "matched"])
def test_a_record_holds_every_realization_of_its_preset(record, experiment):
    planned = {trial.id for trial in load_preset(record).trials(experiment)}
    assert {row["id"] for row in recorded(record, experiment)} == planned


@pytest.mark.parametrize("record", ["paper", "library", "baseline_bias", "tuned", "books"])
def test_a_record_of_texts_holds_every_split_of_its_preset(record):
    planned = len(load_preset(record).trials("table2"))  # an id holds the texts' fingerprint, which a preset lacks
    assert len({row["id"] for row in recorded(record, "table2")}) == planned


@pytest.mark.parametrize("filter", ["gcnn", "rsn", "lssm"])
@pytest.mark.parametrize("record", ["paper", "community"])
def test_the_first_epoch_of_a_recorded_training_comes_again(record, filter):
    """A change of what a configuration gives needs a new RESULTS_VERSION; rounding shows later than in one epoch."""
    row = next(row for row in recorded(record, "figure1") if (row["filter"], row["K"]) == (filter, "4"))
    trial = parse_trial(STUDY, row["config"])
    outcome = run(replace(trial, settings=change(trial.settings, epochs=1)))
    assert outcome.losses[0] == pytest.approx(json.loads(row["curve"])["loss"][0], rel=1e-4)
