"""How the errors of two runs differ on the test rows that both have."""

import pytest

from shiftstate.own_data.comparing import _difference
from tests.own_data.towns import table


def run(folder, header, rows):
    folder.mkdir()
    table(folder / "predictions.csv", header, rows)
    return folder


def test_classes_count_as_right_or_wrong_on_rows_in_common(tmp_path):
    header = ["node", "split", "target", "predicted"]
    rows = [("a", "test", "x", "x"), ("b", "test", "x", "y"), ("c", "train", "x", "y"), ("d", "test", "", "y")]
    first = run(tmp_path / "one", header, [*rows, ("only", "test", "x", "y")])
    same = run(tmp_path / "two", header, rows)
    assert _difference(first, same).endswith("mean error +0 (+0 … +0) on 2 test rows in common")
    worse = run(tmp_path / "three", header, [(*row[:3], "y") for row in rows])
    assert "mean error +0.5 (+0 … +1)" in _difference(first, worse)
    assert "mean error -0.5 (-1 … +0)" in _difference(worse, first)


def test_numbers_differ_by_their_absolute_errors(tmp_path):
    header = ["row", "target", "predicted", "low", "high"]
    first = run(tmp_path / "one", header, [(i, 10, 11, 0, 20) for i in range(4)])
    second = run(tmp_path / "two", header, [(i, 10, 7, 0, 20) for i in range(4)])
    assert _difference(first, second).endswith("mean error +2 (+2 … +2) on 4 test rows in common")


def test_runs_without_common_rows_and_without_columns_are_named(tmp_path):
    header = ["time", "horizon", "node", "target", "predicted", "low", "high"]
    first = run(tmp_path / "one", header, [(1, 1, "a", 0, 0, 0, 0)])
    second = run(tmp_path / "two", header, [(1, 2, "a", 0, 0, 0, 0)])
    assert _difference(first, second).endswith("have no test rows in common")
    third = run(tmp_path / "three", ["time", "target"], [(1, 2)])
    with pytest.raises(ValueError, match="expected the directory of a finished run"):
        _difference(first, third)
