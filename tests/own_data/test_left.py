"""What a run leaves: the numbers in its pictures and intervals; and what is refused before it begins."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from shiftstate.own_data.asking.settings import TrainSettings
from shiftstate.own_data.left.leaving import COVERAGE, _codes, _confusion, _curves, _forecasts, _residuals, _width
from shiftstate.own_data.reading.problems import _check_spread, _check_targets
from shiftstate.tasks import NodeRegression

LABELS = np.array(["a", "b", "c"], dtype=object)


def test_classes_are_numbered_and_a_strange_one_is_below_zero():
    assert _codes(LABELS, np.array(["c", "a", "x", ""], dtype=object)).tolist() == [2, 0, -1, -1]


def test_half_an_interval_holds_its_share_of_the_chosen_errors():
    targets = np.arange(101.0)
    errors = np.where(np.arange(101) % 2 == 0, 1, -1) * np.arange(101)
    assert _width(targets + errors, targets, np.ones(101, bool)) == pytest.approx(100 * COVERAGE)
    assert _width(targets + errors, targets, np.arange(101) < 11) == pytest.approx(10 * COVERAGE)


@pytest.mark.parametrize("classes", [3, 20, 21])
def test_the_confusion_shows_counts_unless_there_are_too_many_classes(classes):
    names = np.array([f"c{i:02}" for i in range(classes)], dtype=object)
    y, predicted = names[[0, 0, 0, 1, 2]], names[[0, 0, 1, 1, 0]]
    axes = _confusion(names, y, predicted, np.array([True, True, True, True, False])).axes[0]
    shown = {tuple(map(int, text.get_position())): (text.get_text(), text.get_color()) for text in axes.texts}
    if classes > 20:
        assert not shown
    else:
        assert len(shown) == classes**2
        assert shown[0, 0] == ("2", "w"), "dark"
        assert shown[1, 0] == ("1", "k"), "one of class 0, predicted as 1"
        assert shown[0, 1] == ("0", "k")
    assert [label.get_text() for label in axes.get_xticklabels()] == names.tolist()


def test_losses_are_drawn_from_the_first_epoch_and_scores_where_they_were_looked_at():
    fit = SimpleNamespace(losses=(3.0, 2.0, 1.0), look_epochs=(2, 3), valid_scores=(0.5, 0.6))
    task = SimpleNamespace(metric=SimpleNamespace(title="Accuracy"))
    left, right = _curves(SimpleNamespace(estimators=[SimpleNamespace(fit_=fit, task=lambda: task)])).axes
    assert [list(left.lines[0].get_xdata()), list(left.lines[0].get_ydata())] == [[1, 2, 3], [3, 2, 1]]
    assert [list(right.lines[0].get_xdata()), list(right.lines[0].get_ydata())] == [[2, 3], [0.5, 0.6]]
    assert right.get_ylabel() == "Accuracy on validation data"


def test_residuals_are_predicted_minus_target():
    targets, predicted = np.array([[1.0], [2.0], [3.0]]), np.array([[1.0], [4.0], [6.0]])
    left, right = _residuals(targets, predicted).axes
    points = sorted(zip(left.lines[0].get_xdata(), left.lines[0].get_ydata(), strict=True))
    assert points == [(1, 1), (2, 4), (3, 6)]
    assert (right.patches[0].get_x(), round(right.patches[-1].get_x() + right.patches[-1].get_width(), 9)) == (0, 3)


TABLE = SimpleNamespace(path="t.csv", row=lambda place: place + 2)
SETTINGS = TrainSettings("node-regression", Path("e"), Path("o"), nodes=Path("n"), target="y")
MASKS = {name: np.arange(6) // 2 == place for place, name in enumerate(("train", "valid", "test"))}


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([2.0, 2.0, 1.0, 1.0, 1.0, 1.0], "column 'y' is 2 in all training rows; nothing to learn"),
        (list("aaabab"), "column 'y' has one class only in the training rows, 'a'; expected at least two"),
        (list("abacab"), "row 5, column 'y' holds 'c' in valid, a class that no training row has"),
        (list("ababac"), "row 7, column 'y' holds 'c' in test, a class that no training row has"),
    ],
)
def test_targets_that_teach_nothing_are_refused(y, message):
    y = np.array(y, dtype=object if isinstance(y[0], str) else float)
    with pytest.raises(ValueError, match=message):
        _check_targets(TABLE, SETTINGS, y, MASKS)


def test_targets_that_teach_something_pass():
    _check_targets(TABLE, SETTINGS, np.array([1.0, 2.0, 1, 1, 1, 1]), MASKS)
    _check_targets(TABLE, SETTINGS, np.array(list("abaabb"), dtype=object), MASKS)


def test_features_without_spread_are_named():
    X, said = np.array([[1.0, 2.0, 5.0], [1.0, 3.0, 5.0], [2.0, 3.0, 5.0]]), []
    train = np.array([True, True, False])
    _check_spread(Path("x.csv"), X, train, ["a", "b", "c"], said.append)
    assert said == ["2 of 3 features are constant in the training rows (first: 'a', 'c')"]
    _check_spread(Path("x.csv"), X[:, 1:2], train, ["b"], said.append)
    assert len(said) == 1
    with pytest.raises(ValueError, match=r"x\.csv: .*all 1 features are constant"):
        _check_spread(Path("x.csv"), X[:, 2:], train, ["c"], said.append)


class Persistence:
    """Forecasts the last value; as `Forecaster` does it, sample i is made at row first − 1 + i."""

    history, horizons_ = 2, [1, 3]

    def task(self):
        return NodeRegression("rmse")

    def forecast(self, shift, series, first):
        made = range(first - 1, len(series) - 3)
        came = np.stack([np.stack([series[t + h] for h in self.horizons_]) for t in made])
        return np.stack([np.stack([series[t]] * 2) for t in made]), came


def test_forecasts_are_of_every_time_of_the_test_rows_and_no_other():
    times = np.arange(30.0)
    X = np.stack([times, -2 * times], 1)
    X[25, 1] = np.nan
    masks = {"train": times < 12, "valid": (times >= 12) & (times < 20), "test": times >= 20}
    names = [f"t{i}" for i in range(30)]
    problem = SimpleNamespace(shift=None, X=X, masks=masks, row_names=names, node_names=["a", "b"])
    scores, (head, *rows), _ = _forecasts(Persistence(), problem)
    assert head == ["time", "horizon", "node", "target", "predicted", "low", "high"]
    assert [row[0] for row in rows if row[1:3] == [1, "a"]] == names[20:28]
    assert [row[0] for row in rows if row[1:3] == [3, "a"]] == names[22:30]
    assert rows[0] == ["t20", 1, "a", "20", "19", "13", "25"]  # nine in ten validation errors are 6 or less
    assert [row[3] for row in rows if row[0] == "t25" and row[2] == "b"] == ["", ""]
    assert scores["valid"]["rmse at 1"] == pytest.approx(2.5**0.5)
    assert scores["valid"]["mse at 3"] == pytest.approx((9 + 36) / 2)
    assert scores["valid"]["mse"] == pytest.approx((1 + 4 + 9 + 36) / 4)
