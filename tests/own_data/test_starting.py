"""What is guessed of data that a file of settings is to be written for."""

from pathlib import Path

import pytest

from shiftstate.own_data.asking.starting import FEW_CLASSES, _data, _guesses, _task
from shiftstate.tables import read_table
from tests.own_data.towns import table

NODES = {"nodes": Path("n.csv")}


def towns(tmp_path, **columns):
    count = len(next(iter(columns.values())))
    rows = [(f"t{i}", *(column[i] for column in columns.values())) for i in range(count)]
    return read_table(table(tmp_path / "n.csv", ["town", *columns], rows))


@pytest.fixture
def plain(tmp_path):
    part = ["train", "Valid", "test", ""]
    return towns(tmp_path, part=part, side=["w", "w", "e", "e"], rain=[1.5, 2.5, 3.5, 4.5], sort=[1, 2, 1, 2])


def test_split_target_and_task_are_guessed_from_a_table_of_nodes(plain):
    assert _guesses(NODES, plain) == {"split": ("part",), "target": "side", "task": "node-classification"}


def test_what_is_given_is_not_guessed(plain):
    assert _guesses({**NODES, "target": "rain"}, plain) == {"split": ("part",), "task": "node-classification"}
    assert _guesses({**NODES, "split": ()}, plain)["task"] == "node-classification"
    assert "target" not in _guesses({**NODES, "split": ()}, plain), "two columns of words"
    assert _guesses({**NODES, "split": ("part",), "target": "side", "task": "node-regression"}, plain) == {}


def test_a_column_is_a_split_if_it_has_all_three_parts(tmp_path):
    assert "split" not in _guesses(NODES, towns(tmp_path, part=["train", "valid", "train"], x=[1, 2, 3]))
    assert "split" not in _guesses(NODES, towns(tmp_path, part=["train", "valid", "exam"], x=[1, 2, 3]))
    assert _guesses(NODES, towns(tmp_path, part=["training", "val", "test"], x=[1, 2, 3]))["split"] == ("part",)


def test_signals_have_no_guessed_target_and_without_one_they_are_forecast(plain):
    signals = {"signals": Path("s.csv")}
    assert _guesses({**signals, "split": ()}, plain) == {"task": "forecast"}
    assert _task({**signals, "target": "side"}, plain) == "signal-classification"
    assert _task(NODES, plain) == _task({**NODES, "target": "side"}, None) == "node-classification"


@pytest.mark.parametrize("more", [0, 1])
def test_numbers_of_many_values_are_measured(tmp_path, more):
    found = towns(tmp_path, y=[str(i / 10) for i in range(FEW_CLASSES + more)])
    kind = ["classification", "regression"][more]
    assert _task({**NODES, "target": "y"}, found) == f"node-{kind}"
    assert _task({"signals": Path("s.csv"), "target": "y"}, found) == f"signal-{kind}"


def test_files_and_columns_are_listed(tmp_path, plain):
    values = {"edges": tmp_path / "e.csv", "nodes": tmp_path / "n.csv", "features": tmp_path / "f.csv"}
    lines = _data(tmp_path / "c.toml", values, ["3 nodes"], plain)
    assert lines[:4] == ["# 3 nodes", 'edges = "e.csv"', 'nodes = "n.csv"', 'features = "f.csv"']
    assert "# n.csv has 4 rows; its columns: town, part, side, rain, sort" in lines
    wide = towns(tmp_path, **{f"c{i}": [i] for i in range(12)})
    shown = next(line for line in _data(tmp_path / "c.toml", values, [], wide) if "its columns" in line)
    assert shown.endswith("c9, c10, … (13)")
