"""What is read of people's files: classes, times, unused columns; what is predicted from matrices and series."""

from types import SimpleNamespace

import numpy as np
import pytest

import shiftstate as ss
from shiftstate.estimators import NodeClassifier
from shiftstate.own_data import dry_run
from shiftstate.own_data.asking.settings import TrainSettings
from shiftstate.own_data.predicting import _blocks, _series
from shiftstate.own_data.reading.joining import first_three
from shiftstate.own_data.reading.problems import read_problem
from tests.own_data.towns import N, table

NAMES = [f"town{i}" for i in range(N)]


def asked(files, task, **more):
    return TrainSettings(task, files / "edges.csv", files / "run", **more)


def of_nodes(files, said, header, rows, **more):
    file = table(files / "n.csv", ["town", *header], [(name, *row) for name, row in zip(NAMES, rows, strict=True)])
    return read_problem(asked(files, "node-classification", nodes=file, target="y", **more), said.append)


def test_numbers_with_a_point_may_be_classes_if_they_are_whole(files):
    rows = [(f"{i % 2 + 1}.0", i / 7) for i in range(N)]
    assert len({*of_nodes(files, [], ["y", "x"], rows).y}) == 2
    rows[4] = ("1.5", 0.3)
    with pytest.raises(ValueError, match=r"row 6, column 'y' holds 1.5; expected classes: --task node-regression"):
        of_nodes(files, [], ["y", "x"], rows)


def test_columns_of_words_are_not_features_and_it_is_said(files):
    said = []
    found = of_nodes(files, said, ["y", "x", "note"], [("ab"[i % 2], i / 7, f"w{i}") for i in range(N)])
    assert found.feature_names == ["x"]
    (line,) = [line for line in said if "note" in line]
    assert "'y'" not in line
    assert "'town'" not in line


def test_times_have_the_names_of_their_column_or_their_number(files):
    lines = (files / "series.csv").read_text().splitlines()
    named = [lines[0], *(f"h{line}" for line in lines[1:])]
    (files / "named.csv").write_text("\n".join(named))
    found = read_problem(asked(files, "forecast", signals=files / "named.csv"), [].append)
    assert found.row_names[:2] == ["h0", "h1"]
    (files / "plain.csv").write_text("\n".join(line.partition(",")[2] for line in lines))
    found = read_problem(asked(files, "forecast", signals=files / "plain.csv"), [].append)
    assert found.row_names[:2] == ["0", "1"]


@pytest.mark.parametrize(("split", "seeds"), [((), 3), (("one",), 3), (("one", "two"), 1)])
def test_one_split_is_trained_with_several_seeds_and_several_splits_with_one(files, split, seeds):
    found = asked(files, "node-classification", nodes=files / "towns.csv", target="side", split=split, seed=5)
    assert found.seed_numbers() == range(5, 5 + seeds)
    assert TrainSettings(**{**vars(found), "seeds": 2}).seed_numbers() == range(5, 7)


def test_three_names_stand_for_many():
    assert first_three(list("abcd")) == "'a', 'b', 'c'"
    assert first_three(["a"]) == "'a'"


def use(**more):
    given = {"shift": ss.Shift.from_edges([[0, 1], [1, 0]]), "names": ["a", "b"], "missing": "refuse", "width": None}
    return SimpleNamespace(**{**given, "say": [].append, **more})


@pytest.mark.parametrize("shape", [(3, 2), (3, 2, 4)])
def test_signals_in_a_matrix_have_one_channel_or_several(tmp_path, shape):
    np.save(tmp_path / "s.npy", np.ones(shape))
    (found,) = _blocks(use(), tmp_path / "s.npy")
    assert found.shape == shape


@pytest.mark.parametrize("shape", [(2,), (3, 3), (3, 2, 4, 1)])
def test_signals_of_another_shape_are_refused(tmp_path, shape):
    np.save(tmp_path / "s.npy", np.ones(shape))
    with pytest.raises(ValueError, match=r"s\.npy"):
        list(_blocks(use(), tmp_path / "s.npy"))


@pytest.mark.parametrize(
    ("missing", "seen"),
    [
        ("refuse", [np.nan, 0, 4]),
        ("zero=missing", [np.nan, 0, 4]),
        ("interpolate", [1, 0, 4]),
        ("mask", [np.nan, 0, 4]),
    ],
)
def test_a_forecaster_is_given_the_gaps_unless_they_are_to_be_interpolated(tmp_path, missing, seen):
    np.save(tmp_path / "s.npy", np.array([[2.0, 1.0], [np.nan, 1.0], [0.0, 1.0], [4.0, 1.0]]))
    given = []

    def predict(shift, last):
        given.append(last[:, 0])
        return np.array([[1.0, 2.0], [3.0, 4.0]])

    forecaster = SimpleNamespace(history=3, horizons_=[1, 6], predict=predict)
    head, *rows = _series(use(missing=missing, estimator=forecaster, width=0.5), tmp_path / "s.npy")
    np.testing.assert_array_equal(given[0], seen)
    assert head == ["horizon", "node", "predicted", "low", "high"]
    assert rows[1:3] == [[1, "b", "2", "1.5", "2.5"], [6, "a", "3", "2.5", "3.5"]]


def test_a_step_takes_half_of_what_three_steps_take_longer_than_one(monkeypatch):
    ring = np.arange(12)
    epochs, clock = [], iter([0.0, 10.0, 20.0, 34.0])
    monkeypatch.setattr(dry_run.time, "perf_counter", lambda: next(clock))
    estimator = dry_run._one_step(NodeClassifier("gcnn", K=1))
    monkeypatch.setattr(NodeClassifier, "_train", lambda self, *a, **b: epochs.append(self.epochs))
    estimator.fit(ss.Shift.from_edges([ring, (ring + 1) % 12]), np.sin(ring)[:, None], ring % 2)
    assert epochs == [1, 3]
    assert estimator.seconds_ == 2.0
    assert estimator.steps_ == 1
    assert [dry_run._time(seconds) for seconds in (0.0123, 0.999, 1.0, 61.26)] == ["12 ms", "999 ms", "1.0 s", "61.3 s"]
