"""Does the graph help? The verdict on data where it is known; baselines against their definitions."""

import numpy as np
import pytest

import shiftstate as ss
from shiftstate.estimators import Forecaster, NodeClassifier, NodeRegressor, SignalClassifier, compare
from shiftstate.estimators.graph_help import baselines

N = 120
RING = np.arange(N)
SHIFT = ss.Shift.from_edges(np.stack([np.r_[RING, (RING + 1) % N], np.r_[(RING + 1) % N, RING]]))
PLACE = np.random.default_rng(0).permutation(N) % 3
MASKS = {"train": PLACE == 0, "valid": PLACE == 1, "test": PLACE == 2}
SMALL = {"channels": 8, "epochs": 60, "learning_rate": 0.03, "dropout": 0.0, "weight_decay": 0.0}
NOISE = np.random.default_rng(1).normal(size=(N, 2))


def test_the_graph_helps_where_only_neighbours_know_the_answer():
    """A node's target is its neighbours' feature."""
    y = NOISE[(RING + 1) % N, 0] + NOISE[RING - 1, 0]
    found = compare(NodeRegressor("gcnn", K=1, **SMALL), SHIFT, NOISE, y, **MASKS, seeds=2)
    assert found.lead > 0 < found.low
    assert found.verdict.startswith("the graph is worth ")
    assert "RMSE" in found.verdict
    assert set(found.as_dict()["baselines"]) == {"constant", "linear", "trees", "no_graph"}
    assert found.metric.name == "rmse"


def test_the_graph_does_not_help_where_a_node_knows_its_own_answer():
    y = np.where(NOISE[:, 0] + NOISE[:, 1] > 0, "a", "b")
    found = compare(NodeClassifier("gcnn", K=3, **SMALL), SHIFT, NOISE, y, **MASKS, seeds=2)
    assert found.low <= 0
    assert "the graph is worth" not in found.verdict
    assert found.verdict == found.as_dict()["verdict"]
    assert len(found.estimators) == len(found.model.tests) == 2


def test_signals_are_compared_as_rows_of_a_table():
    signals = np.random.default_rng(2).normal(size=(90, N, 1))
    y = np.where(signals[:, 0, 0] > 0, "up", "down")
    masks = {name: np.resize(mask, 90) for name, mask in MASKS.items()}
    found = compare(SignalClassifier("gcnn", K=1, **SMALL), SHIFT, signals, y, **masks, seeds=1)
    assert found.table().splitlines()[0] == "accuracy on test data"
    assert len(found.table().splitlines()) == 6


def test_forecasts_are_compared_with_plain_ones():
    t = np.arange(200)[:, None]
    series = np.sin(2 * np.pi * (t + RING[:20]) / 12) + 0.05 * np.random.default_rng(3).normal(size=(200, 20))
    shift = ss.Shift.from_edges(np.stack([RING[:20], np.roll(RING[:20], 1)]))
    found = compare(Forecaster("gcnn", history=4, horizons=(1, 2), epochs=5), shift, series, seeds=1)
    scores = found.as_dict()["baselines"]
    assert set(scores) == {"no_graph", "constant", "persistence", "seasonal_mean", "linear_per_node", "trees"}
    assert scores["seasonal_mean"] < 0.08, "the period is guessed"
    assert scores["persistence"] > 0.3
    assert found.model.test < 0.15
    assert set(found.by_horizon) == {"model", *scores}
    first, second = found.by_horizon["persistence"]
    assert first < second
    np.testing.assert_allclose((first**2 + second**2) / 2, scores["persistence"] ** 2)
    assert "by horizon: " in found.table()


def test_the_period_is_found_and_noise_has_none():
    t = np.arange(300)[:, None]
    noise = np.random.default_rng(0).normal(size=(300, 4))
    assert baselines.guessed_period(np.sin(2 * np.pi * t / 24) + 0.1 * noise) % 24 == 0
    assert baselines.guessed_period(noise) == 1
    assert baselines.guessed_period(np.ones((50, 2))) == 1


def test_plain_forecasts_are_their_definitions():
    values = np.array([[1.0, 10], [2, 20], [3, np.nan], [4, 40], [5, 50], [6, 60]])
    made = [2, 3]
    assert baselines.persistence(values, made, (1, 2))[0].tolist() == [[3, 20], [3, 20]]
    means = baselines.seasonal_mean(values, made, (1,), 4, 2)
    assert means[0].tolist() == [[3.0, 30.0]]  # times 1 and 3
    assert means[1].tolist() == [[2.0, 10.0]]  # times 0 and 2, one of them missing
    line = np.arange(60.0)[:, None] * [1.0, -2.0]
    forecast = baselines.linear_per_node(line, [50], (3,), 50, 4)
    np.testing.assert_allclose(forecast[0, 0], line[53], rtol=1e-2)


def test_a_comparison_without_masks_is_named():
    with pytest.raises(ValueError, match="test is None; expected targets and boolean masks"):
        compare(NodeClassifier(), SHIFT, NOISE, PLACE, train=MASKS["train"], valid=MASKS["valid"])
