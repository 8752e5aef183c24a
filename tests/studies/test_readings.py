"""The readings: every one changed alone, compared with the paper's letter, and the record read as before."""

from pathlib import Path

import pytest

from shiftstate.machine.conduct import conduct
from shiftstate.machine.presets import load_preset
from shiftstate.machine.settings import flat
from shiftstate.studies.paper import load_preset as load_paper
from shiftstate.studies.readings import BASE, READINGS, STUDY, as_table, read_record

RECORD = Path(__file__).parents[2] / "docs/results/readings"
SMALL = ["K=1", "graphs=1", "epochs=1", "num_samples=[200,50,50]"]


def test_every_reading_is_one_change_of_the_paper_preset():
    trials = load_preset(STUDY, "paper").trials("readings")
    paper = flat(load_paper("paper").trials("figure1")[0].settings)
    for trial in trials:
        changed = {key: value for key, value in flat(trial.settings).items() if paper[key] != value}
        assert changed == READINGS[trial["reading"]]
    assert {trial["K"] for trial in trials} == {16}
    assert not READINGS[BASE]


def test_readings_are_compared_with_the_paper_preset_on_their_own_data(here, tmp_path):
    two = list(READINGS)[:2]
    preset = load_preset(STUDY, "paper", None, [*SMALL, f'reading=["{two[0]}","{two[1]}"]'])
    written = conduct(["readings"], preset, tmp_path, here)
    assert written.stored == 6
    lines = (tmp_path / "readings.md").read_text().splitlines()[2:]
    assert [line.split(" | ")[0] for line in lines] == [f"| {name}" for name in two]
    means = {(line.cell["reading"], line.cell["filter"]): line.mean for line in written.summary.lines}
    assert means[two[0], "gcnn"] != means[two[1], "gcnn"], "settings reach the trainings"


def test_a_setting_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="unknown setting 'epoch'"):
        load_preset(STUDY, "paper", None, ["epoch=1"])


def test_the_recorded_table_follows_from_the_recorded_runs():
    assert as_table(read_record(RECORD / "readings.csv")) == (RECORD / "table.md").read_text(encoding="utf-8")
