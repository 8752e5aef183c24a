"""Estimators: scikit-learn's manner, names and scaling kept, the same seeds the same numbers, files, bad input."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from safetensors import safe_open
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

import shiftstate as ss
from shiftstate.estimators import (
    ESTIMATORS,
    Forecaster,
    NodeClassifier,
    NodeRegressor,
    SignalClassifier,
    SignalRegressor,
)
from shiftstate.estimators.base import auto_normalization
from shiftstate.estimators.forecaster import filled, windows
from shiftstate.estimators.scaling import Scaler

N = 30
RING = np.arange(N)
SHIFT = ss.Shift.from_edges(np.stack([np.r_[RING, (RING + 1) % N], np.r_[(RING + 1) % N, RING]]))
SMALL = {"K": 1, "channels": 8, "epochs": 40, "dropout": 0.0}


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


X = draw(N, 2) + np.where(RING < N // 2, 1.5, -1.5)[:, None]
SIDES = np.where(RING < N // 2, "left", "right")
SIGNALS = draw(80, N, seed=1)
SIGNS = np.where(SIGNALS[:, :3].sum(1) > 0, "up", "down")
SERIES = np.sin(np.arange(160)[:, None] / 4 + RING / 3) + 0.1 * draw(160, N, seed=2)


def fitted(name):
    """An estimator of every task, and its predictions."""
    estimator = ESTIMATORS[name](**SMALL)
    if name == "forecast":
        estimator.set_params(history=5, horizons=(1, 2), epochs=4).fit(SHIFT, SERIES)
        return estimator, estimator.predict(SHIFT, SERIES[-5:])
    data, target = (X, SIDES) if name.startswith("node") else (SIGNALS, SIGNS)
    if name.endswith("regression"):
        target = data.reshape(len(data), -1)[:, :3].sum(1)
    estimator.fit(SHIFT, data, target)
    return estimator, estimator.predict(SHIFT, data)


@pytest.fixture(scope="module", params=list(ESTIMATORS))
def pair(request):
    return fitted(request.param)


def test_the_same_random_state_gives_the_same_predictions(pair):
    estimator, predicted = pair
    again, repeated = fitted(estimator.task_name)
    np.testing.assert_array_equal(predicted, repeated)
    assert again.fit_.losses == estimator.fit_.losses


def test_torchs_random_numbers_go_on_as_if_nothing_had_been_fitted():
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    fitted("node-classification")
    assert torch.equal(torch.rand(4), expected)


def test_a_file_gives_the_same_predictions_and_names_no_code(pair, tmp_path):
    estimator, predicted = pair
    file = tmp_path / "model.safetensors"
    estimator.save(file)
    again = type(estimator).load(file)
    data = SERIES[-5:] if estimator.task_name == "forecast" else X if "node" in estimator.task_name else SIGNALS
    np.testing.assert_array_equal(again.predict(SHIFT, data), predicted)
    assert again.get_params() == estimator.get_params()
    with safe_open(file, framework="pt") as stored:
        described = json.loads(stored.metadata()["shiftstate.estimator"])
    assert described["task"] == estimator.task_name


def test_arguments_are_read_and_set_and_cloned(pair):
    estimator, _ = pair
    other = clone(estimator)
    assert other.get_params() == estimator.get_params()
    assert not hasattr(other, "model_")
    assert other.set_params(K=7).K == 7
    assert is_classifier(estimator) == hasattr(estimator, "predict_proba")
    assert is_regressor(estimator) == (not is_classifier(estimator))


def test_predicting_before_fitting_is_an_error_of_its_own(pair):
    estimator, _ = pair
    with pytest.raises(NotFittedError, match="call fit first"):
        clone(estimator).predict(SHIFT, SERIES[-5:] if isinstance(estimator, Forecaster) else X)


def test_a_file_of_another_estimator_or_none_is_named(pair, tmp_path):
    estimator, _ = pair
    file = tmp_path / "model.safetensors"
    estimator.save(file)
    other = SignalClassifier if not isinstance(estimator, SignalClassifier) else Forecaster
    with pytest.raises(ValueError, match=f"holds a {type(estimator).__name__}; expected a {other.__name__}"):
        other.load(file)
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(ValueError, match="cannot be read as safetensors"):
        type(estimator).load(file)
    with pytest.raises(ValueError, match="does not exist"):
        type(estimator).load(tmp_path / "none")


@pytest.mark.parametrize("filter", ["gcnn", "rsn", "lssm"])
def test_node_classes_are_found_with_every_filter(filter):
    classifier = NodeClassifier(filter, **SMALL | {"epochs": 120}).fit(SHIFT, X, SIDES, train=RING % 2 == 0)
    assert classifier.score(SHIFT, X, SIDES, RING % 2 == 1) > 0.85
    chances = classifier.predict_proba(SHIFT, X)
    np.testing.assert_allclose(chances.sum(1), 1)
    assert classifier.classes_.tolist() == ["left", "right"]
    np.testing.assert_array_equal(classifier.predict(SHIFT, X), classifier.classes_[chances.argmax(1)])


def test_masks_decide_what_is_learned_and_unknown_labels_may_be_empty():
    sides = SIDES.astype(object)
    sides[[3, 20]] = ["", None]
    known = np.array([label not in ("", None) for label in sides])
    by_labels = NodeClassifier(**SMALL).fit(SHIFT, X, sides)
    by_mask = NodeClassifier(**SMALL).fit(SHIFT, X, SIDES, train=known)
    np.testing.assert_array_equal(by_labels.predict_proba(SHIFT, X), by_mask.predict_proba(SHIFT, X))
    with pytest.raises(ValueError, match="train holds node 3, which has no target"):
        NodeClassifier(**SMALL).fit(SHIFT, X, sides, train=np.ones(N, bool))


def test_labels_outside_both_masks_change_nothing():
    train, valid = RING % 3 == 0, RING % 3 == 1
    other = np.where(train | valid, SIDES, "unheard of")
    one, two = (NodeClassifier(**SMALL).fit(SHIFT, X, y, train=train, valid=valid) for y in (SIDES, other))
    np.testing.assert_array_equal(one.predict_proba(SHIFT, X), two.predict_proba(SHIFT, X))


@pytest.mark.parametrize("form", [torch.from_numpy, sp.csr_array, lambda x: x.tolist(), lambda x: x.astype(np.float32)])
def test_features_come_in_many_forms(form):
    expected = NodeClassifier(**SMALL).fit(SHIFT, X, SIDES).predict_proba(SHIFT, X)
    found = NodeClassifier(**SMALL).fit(SHIFT, form(X), SIDES).predict_proba(SHIFT, form(X))
    np.testing.assert_allclose(found, expected, atol=1e-4)


class Table:
    """What of a pandas table is used: values, an index and columns."""

    def __init__(self, values, index, columns):
        self.values, self.index, self.columns = values, index, columns

    def __array__(self, dtype=None, copy=None):
        return self.values.astype(dtype or self.values.dtype)


def test_names_of_nodes_and_features_are_kept_with_the_model(tmp_path):
    table = Table(X, [f"town {i}" for i in RING], ["rain", "wind"])
    classifier = NodeClassifier(**SMALL).fit(SHIFT, table, SIDES)
    classifier.save(tmp_path / "model.safetensors")
    again = NodeClassifier.load(tmp_path / "model.safetensors")
    assert again.feature_names_ == ["rain", "wind"]
    assert again.node_names_[3] == "town 3"


def test_scale_and_place_of_features_and_targets_do_not_matter():
    y = X.sum(1)
    plain = NodeRegressor(**SMALL).fit(SHIFT, X, y)
    moved = NodeRegressor(**SMALL).fit(SHIFT, 1000 * X + 5, 0.01 * y - 3)
    np.testing.assert_allclose(moved.predict(SHIFT, 1000 * X + 5), 0.01 * plain.predict(SHIFT, X) - 3, atol=1e-4)
    assert plain.score(SHIFT, X, y) > 0.5


def test_signal_estimators_work_in_cross_validation():
    classifier = SignalClassifier("gcnn", shift=SHIFT, **SMALL)
    assert cross_val_score(classifier, SIGNALS, SIGNS, cv=3).mean() > 0.6
    assert cross_val_score(classifier, torch.from_numpy(SIGNALS), SIGNS, cv=2, scoring="neg_log_loss").shape == (2,)
    found = GridSearchCV(classifier, {"K": [0, 1]}, cv=2).fit(SIGNALS, SIGNS)
    assert found.best_params_["K"] in (0, 1)
    regressor = SignalRegressor("gcnn", shift=SHIFT, **SMALL)
    assert cross_val_score(regressor, SIGNALS, SIGNALS[:, :3].sum(1), cv=2).mean() > 0.3


def test_a_pooled_signal_classifier_predicts_on_another_graph():
    classifier = SignalClassifier(readout="pool", **SMALL).fit(SHIFT, SIGNALS, SIGNS)
    larger = ss.Shift.from_edges(np.stack([np.arange(50), np.roll(np.arange(50), 1)]))
    assert classifier.predict(larger, draw(7, 50)).shape == (7,)


def test_forecasts_have_the_shape_of_horizons_and_nodes():
    forecaster = Forecaster(history=5, horizons=(1, 3), epochs=3).fit(SHIFT, SERIES)
    one = forecaster.predict(SHIFT, SERIES[-5:])
    assert one.shape == (2, N)
    several = forecaster.predict(SHIFT, np.stack([SERIES[-5:], SERIES[-6:-1]]))
    np.testing.assert_allclose(several[0], one, rtol=1e-5)
    forecast, came = forecaster.forecast(SHIFT, SERIES, 120)
    assert forecast.shape == came.shape == (160 - 120 - 3 + 1, 2, N)
    np.testing.assert_array_equal(came[0, 1], SERIES[122])
    assert forecaster.score(SHIFT, SERIES) > 0.8


def test_windows_end_where_the_targets_begin():
    data = windows(np.arange(10, dtype=np.float32)[:, None], 3, (1, 4))
    assert data.x[:, 0].tolist() == [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]]
    assert data.y[:, 0].tolist() == [[3, 6], [4, 7], [5, 8], [6, 9]]


def test_missing_values_are_carried_forward_and_never_a_target():
    x = np.array([[np.nan, 1, np.nan, 3], [np.nan] * 4], np.float32)
    assert filled(x).tolist() == [[1, 1, 1, 3], [0, 0, 0, 0]]
    series = SERIES.copy()
    series[::7, ::3] = np.nan
    zeros = np.nan_to_num(series)
    by_nan = Forecaster(history=5, epochs=2).fit(SHIFT, series).predict(SHIFT, series[-5:])
    by_zero = Forecaster(history=5, epochs=2, missing="zero").fit(SHIFT, zeros).predict(SHIFT, zeros[-5:])
    np.testing.assert_array_equal(by_nan, by_zero)
    assert np.isfinite(by_nan).all()


def test_the_graph_is_normalised_by_what_it_is():
    assert auto_normalization(SHIFT) == "symmetric"
    assert auto_normalization(SHIFT.normalized("symmetric")) == "none"
    directed = ss.Shift.from_edges([[0, 1, 2, 0], [1, 2, 0, 2]])
    assert auto_normalization(directed) == "row"


def test_counts_are_scaled_by_nodes_and_measurements_by_columns():
    counts = np.random.default_rng(0).poisson(0.3, (50, 8)).astype(float)
    assert Scaler.learn("auto", counts).kind == "unit"
    scaler = Scaler.learn("auto", draw(50, 3) * [1, 10, 0] + [0, 5, 2])
    assert scaler.kind == "standard"
    assert np.isfinite(scaler(draw(4, 3))).all(), "a constant feature is only centred"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: NodeClassifier().fit(X, X, SIDES), "shift is a ndarray; expected the graph, a Shift"),
        (lambda: NodeClassifier().fit(SHIFT, X[:5], SIDES), r"X has the shape \(5, 2\); expected \(30, features\)"),
        (lambda: NodeClassifier().fit(SHIFT, X, SIDES[:5]), "y has 5 entries; expected 30, one per node"),
        (lambda: NodeClassifier().fit(SHIFT, X, ["a"] * N), "y holds one class only, 'a'; expected at least two"),
        (lambda: NodeClassifier().fit(SHIFT, X, SIDES, train=RING < 0), "train is False everywhere"),
        (lambda: NodeClassifier().fit(SHIFT, X, SIDES, train=RING), "train is int64 of shape"),
        (lambda: NodeClassifier("gcn").fit(SHIFT, X, SIDES), "did you mean 'gcnn'"),
        (lambda: NodeClassifier(normalization="sym").fit(SHIFT, X, SIDES), "unknown normalization 'sym'"),
        (lambda: NodeClassifier(dropout=1.0).fit(SHIFT, X, SIDES), "dropout is 1.0"),
        (lambda: NodeClassifier().fit(SHIFT, np.where(RING[:, None] == 4, np.nan, X), SIDES), r"nan at index \(4, 0\)"),
        (lambda: NodeClassifier().fit(SHIFT, [["a", "b"]] * N, SIDES), "X holds <U1; expected numbers"),
        (
            lambda: NodeClassifier().fit(SHIFT, X, SIDES, train=RING < 10, valid=RING > 20),
            "y at the nodes of train holds one class only",
        ),
        (lambda: NodeClassifier().fit(SHIFT, X, X[:, 0]), "expected classes: strings or whole numbers"),
        (lambda: NodeClassifier(learning_rate=-1).fit(SHIFT, X, SIDES), "learning_rate is -1; expected a number above"),
        (lambda: NodeClassifier(dropout="0.5").fit(SHIFT, X, SIDES), "dropout is '0.5'; expected a share"),
        (lambda: NodeClassifier(layers=0).fit(SHIFT, X, SIDES), "layers is 0"),
        (lambda: NodeClassifier(device="tpu").fit(SHIFT, X, SIDES), "device is 'tpu'; expected a device"),
        (lambda: SignalClassifier().fit(SHIFT, SIGNALS), "y is None"),
        (lambda: Forecaster().fit(SHIFT, np.full((99, N), np.nan)), "series holds no number"),
        (lambda: SignalClassifier().fit(SIGNALS, SIGNS), "fit was called without a graph, with a ndarray first"),
        (lambda: SignalClassifier().fit(SHIFT, SIGNALS[:, :5], SIGNS), r"expected \(signals, 30\)"),
        (
            lambda: SignalClassifier().fit(SHIFT, SIGNALS[:, None, :], SIGNS),
            r"are nodes and channels swapped\? X.transpose",
        ),
        (lambda: SignalClassifier().fit(SHIFT, SIGNALS, SIGNS[:5]), "X holds 80 signals and y 5 targets"),
        (lambda: Forecaster(history=0).fit(SHIFT, SERIES), "history is 0"),
        (lambda: Forecaster(horizons=(1, 1)).fit(SHIFT, SERIES), "expected different numbers of steps ahead"),
        (lambda: Forecaster().fit(SHIFT, SERIES.T), r"expected \(times, 30\), a column per node; is it transposed\?"),
        (lambda: Forecaster(history=150).fit(SHIFT, SERIES), "series has 160 times, of which 32 are set aside"),
        (
            lambda: Forecaster().fit(SHIFT, SERIES / 0 * np.sign(SERIES)),
            "expected numbers, or NaN where one is missing",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_bad_input_is_named_in_one_line(call, message):
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


def test_columns_in_another_order_are_named():
    nodes = [f"town {i}" for i in RING]
    classifier = NodeClassifier(**SMALL).fit(SHIFT, Table(X, nodes, ["rain", "wind"]), SIDES)
    with pytest.raises(ValueError, match="X has the feature 'wind' where the training data had 'rain'"):
        classifier.predict(SHIFT, Table(X[:, ::-1], nodes, ["wind", "rain"]))
    forecaster = Forecaster(history=5, epochs=1).fit(SHIFT, Table(SERIES, range(160), nodes))
    with pytest.raises(ValueError, match="X has the node 'town 29' where the training data had 'town 0'"):
        forecaster.predict(SHIFT, Table(SERIES[-5:, ::-1], range(5), nodes[::-1]))


def test_nodes_that_are_learned_from_and_chosen_by_are_warned_of():
    with pytest.warns(UserWarning, match="train and valid share 15 nodes, the first is node 0"):
        NodeClassifier(**SMALL).fit(SHIFT, X, SIDES, train=RING % 2 == 0, valid=RING % 2 == 0)


def test_a_generator_as_random_state_is_not_stored(tmp_path):
    classifier = NodeClassifier(random_state=np.random.RandomState(0), **SMALL).fit(SHIFT, X, SIDES)
    classifier.save(tmp_path / "model.safetensors")
    assert NodeClassifier.load(tmp_path / "model.safetensors").random_state is None


class NAType:
    """As pandas' NA: it cannot be compared."""

    def __eq__(self, other):
        raise TypeError("boolean value of NA is ambiguous")

    __hash__ = None


def test_labels_that_pandas_calls_missing_are_unknown():
    labels = SIDES.astype(object)
    labels[4] = NAType()
    known = RING != 4
    found = NodeClassifier(**SMALL).fit(SHIFT, X, labels)
    expected = NodeClassifier(**SMALL).fit(SHIFT, X, SIDES, train=known)
    np.testing.assert_array_equal(found.predict_proba(SHIFT, X), expected.predict_proba(SHIFT, X))
