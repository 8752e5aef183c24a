"""Parts of estimators on numbers that can be worked out by hand: shares, windows, scaling, plain forecasts."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

import shiftstate as ss
from shiftstate.estimators import NodeRegressor, SignalClassifier, progress
from shiftstate.estimators.defaults import choose
from shiftstate.estimators.forecaster import Forecaster, filled, windows
from shiftstate.estimators.graph_help.baselines import (
    guessed_period,
    linear_per_node,
    persistence,
    seasonal_mean,
    trees_of_history,
)
from shiftstate.estimators.model import EstimatorNetwork, joined
from shiftstate.estimators.nodes import set_aside
from shiftstate.estimators.scaling import Scaler
from shiftstate.estimators.storage import read_estimator
from shiftstate.model_file import write_model

NAN = np.nan


@pytest.mark.parametrize(("samples", "batch"), [(1, 1), (3, 1), (4, 1), (8, 2), (127, 31), (128, 32), (4000, 32)])
def test_a_batch_is_a_quarter_of_the_signals_from_one_to_thirty_two(samples, batch):
    chosen = choose(per_node=False, targets=samples, features=1, samples=samples, forecast=False)
    assert chosen["batch_size"] == batch


def test_a_share_is_set_aside_by_class_where_each_has_enough():
    mask = np.arange(24) < 20
    strata = np.where(np.arange(24) % 4 == 0, "few", "many")
    learn, held = set_aside(mask, 0.4, strata, 0)
    assert (learn | held).tolist() == mask.tolist()
    assert not (learn & held).any()
    assert [(strata[held] == one).sum() for one in ("few", "many")] == [2, 6]
    one = np.where(np.arange(24) == 0, "once", "many")  # a class of one node is on one side
    assert set_aside(mask, 0.4, one, 0)[1].sum() == 8
    assert set_aside(np.arange(9) < 2, 0.01, None, 0)[1].sum() == 1


@pytest.mark.parametrize(("fraction", "count"), [(0.0, 9), (1.0, 9), (-0.5, 9), (0.99, 9), (0.5, 1)])
def test_a_share_that_leaves_nothing_is_refused(fraction, count):
    with pytest.raises(ValueError, match=f"validation_fraction is {fraction} of {count} training targets"):
        set_aside(np.arange(9) < count, fraction, None, 0)


def test_windows_hold_what_was_and_what_came():
    series = np.arange(14, dtype=np.float32).reshape(7, 2)
    found = windows(series, 3, (1, 2))
    assert found.x.shape == (3, 2, 3)
    assert found.x[0].tolist() == [[0, 2, 4], [1, 3, 5]]
    assert found.y[0].tolist() == [[6, 8], [7, 9]]
    assert found.y[-1].tolist() == [[10, 12], [11, 13]]


def test_gaps_take_the_last_value_before_them_else_the_next_else_zero():
    x = np.array([[[NAN, NAN, 1, NAN, 2], [NAN, NAN, NAN, NAN, 3], [NAN] * 5]], dtype=np.float32)
    assert filled(x).tolist() == [[[1, 1, 1, 1, 2], [3, 3, 3, 3, 3], [0] * 5]]


@pytest.mark.parametrize("horizons", [(), (1, 1), (2, 0)])
def test_horizons_are_different_numbers_of_steps_ahead(horizons):
    with pytest.raises(ValueError, match="horizons is "):
        Forecaster(history=2, horizons=horizons, epochs=1).fit(ss.Shift.from_edges([[0], [1]]), np.ones((50, 2)))


@pytest.mark.parametrize(
    ("x", "kind"),
    [
        ([[0, 0, 1], [0, 2, 0]], "unit"),
        ([[0, 0, 1], [0, -2, 0]], "standard"),
        ([[0, 1], [1, 0]], "standard"),  # half of them are zero, not more
        ([[0], [0], [0], [1]], "standard"),  # a single channel has nothing to be compared with
    ],
)
def test_counts_of_many_kinds_are_scaled_by_their_size(x, kind):
    assert Scaler.learn("auto", np.array(x, float)).kind == kind


def test_a_channel_without_spread_is_only_centred():
    found = Scaler.learn("standard", np.array([[1e6, 0.0, 1.0], [1e6, 0.0, 3.0]]))
    assert found.deviation.tolist() == [1, 1, 1]
    assert found(np.array([[1e6, 0.0, 3.0]])).tolist() == [[0, 0, 1]]
    assert found.back(found(np.array([[1e6, 0.0, 3.0]]))).tolist() == [[1e6, 0, 3]]


@pytest.mark.parametrize(("kind", "expected"), [("unit", [[0.6, -0.8], [0, 0]]), ("rows", [[3 / 7, -4 / 7], [0, 0]])])
def test_rows_are_divided_by_their_size(kind, expected):
    found = Scaler.learn(kind, np.ones((2, 2)))(np.array([[3.0, -4.0], [0.0, 0.0]]))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_features_may_be_one_number_per_node():
    ring = np.arange(12)
    shift, x = ss.Shift.from_edges([ring, (ring + 1) % 12]), np.sin(ring)
    flat, column = (
        NodeRegressor("gcnn", K=1, epochs=2, random_state=0).fit(shift, one, ring) for one in (x, x[:, None])
    )
    assert np.array_equal(flat.predict(shift, x), column.predict(shift, x[:, None]))


def test_one_network_stays_as_it_is():
    one = torch.nn.Linear(1, 1)
    assert joined([one]) is one


def series(length=60):
    """A node that doubles a saw of period 5, and one that repeats it."""
    saw = np.arange(length) % 5
    return np.stack([2.0 * saw, saw + 10.0], 1)


def test_plain_forecasts_of_a_saw():
    values = series(400)
    assert guessed_period(values) % 5 == 0
    assert guessed_period(np.ones((30, 2))) == guessed_period(np.arange(60.0)[:, None]) == 1
    made, horizons, first = [380, 383], [1, 2], 375
    came = np.stack([np.stack([values[t + h] for h in horizons]) for t in made])
    assert np.array_equal(seasonal_mean(values, made, horizons, first, 5), came)
    assert persistence(values, made, horizons)[0].tolist() == [values[380].tolist()] * 2
    np.testing.assert_allclose(linear_per_node(values, made, horizons, first, 5), came, atol=0.1)
    np.testing.assert_allclose(trees_of_history(values, made, horizons, first, 5), came, atol=0.1)


def test_plain_forecasts_of_a_series_with_gaps():
    values = series()
    values[10:13, 0] = NAN
    values[:, 1] = NAN
    values[7, 1] = 4.0
    found = seasonal_mean(values, [40], [1], 35, 5)
    assert found[0, 0].tolist() == [2.0, 4.0], "a place without values has the mean of all"
    assert persistence(values, [12], [1])[0, 0].tolist() == [8.0, 4.0]


def test_the_values_of_a_series_are_scaled_unless_they_are_not_to_be():
    shift, values = ss.Shift.from_edges([[0], [1]]), series(40)
    for scale, kind in (("auto", "standard"), ("none", "none")):
        made = Forecaster("gcnn", history=2, horizons=(1,), epochs=1, K=1, scale=scale).fit(shift, values)
        assert made.scaler_.kind == kind
        assert made.model_.linear is not None, "a forecast has a linear path"
        assert made.model_.around is None, "and is not deep"


def test_estimators_are_equal_to_themselves_alone():
    one, two = NodeRegressor(), NodeRegressor()
    assert one != two
    assert len({one, two}) == 2


def test_a_linear_path_is_there_if_it_is_asked_for():
    network = ss.Network("gcnn", [1, 2], K=1, readout=ss.NodeReadout(1))
    assert EstimatorNetwork(network).linear is None


@pytest.mark.parametrize("missing", ["task", "arguments", "fitted"])
def test_a_file_that_describes_half_an_estimator_is_refused(tmp_path, missing):
    described = {"task": "node-regression", "arguments": {}, "fitted": {}}
    del described[missing]
    write_model(tmp_path / "m.safetensors", "estimator", described, {"x": torch.zeros(1)})
    with pytest.raises(ValueError, match=rf"m.safetensors: {missing} is missing; expected task, arguments, fitted"):
        read_estimator(tmp_path / "m.safetensors")


def test_a_line_of_progress_is_seen_at_once(monkeypatch):
    events = []
    monkeypatch.setattr(progress, "AFTER", 0.0)
    screen = SimpleNamespace(write=events.append, flush=lambda: events.append("flushed"), isatty=lambda: True)
    monkeypatch.setattr(progress.sys, "stderr", screen)
    with progress.TrainingLine(40, "loss") as line:
        line(SimpleNamespace(number=10, valid_score=None))
        assert events[-1] == "flushed"
        events.clear()
    assert events[-1] == "flushed"


def test_the_first_signal_without_a_class_is_named():
    with pytest.raises(ValueError, match="y has no class for signal 1; expected one for every signal"):
        SignalClassifier(epochs=1).fit(ss.Shift.from_edges([[0], [1]]), np.ones((4, 2)), ["a", None, "b", "a"])


def test_a_forecast_is_of_the_next_step_by_default():
    assert Forecaster().horizons == (1,)
