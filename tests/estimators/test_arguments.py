"""Arguments of estimators and of fit: every one has a check, and a bad value is named before anything is trained."""

import inspect
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import shiftstate as ss
from shiftstate.estimators import ESTIMATORS, Forecaster, NodeClassifier, NodeRegressor, SignalClassifier, compare
from shiftstate.estimators.constraints import constraints_of
from shiftstate.estimators.graph_help import baselines
from shiftstate.estimators.inputs import as_array, as_labels
from shiftstate.training.arguments import OPTIONS

N = 12
RING = np.arange(N)
SHIFT = ss.Shift.from_edges(np.stack([np.r_[RING, (RING + 1) % N], np.r_[(RING + 1) % N, RING]]))
X = np.random.default_rng(0).normal(size=(N, 2))
SIDES = np.where(RING < 6, "left", "right")
SERIES = np.random.default_rng(1).normal(size=(60, N))
NAN, INF = float("nan"), float("inf")

WRONG = {
    "filter": ["no", None, 1],
    "K": [[2.7], 2.7, -1, True, "2"],
    "channels": [0, 1.5],
    "layers": [0, True],
    "mixing": ["no", ""],
    "input": ["nope", ""],
    "dropout": [1, -0.1, "0.5", NAN],
    "learning_rate": [0, -1, INF, NAN, "0.1", True],
    "weight_decay": [-1, NAN, "a"],
    "epochs": [0, 1.5],
    "patience": [0, "a"],
    "batch_size": [-1, 0, 2.5, "4"],
    "normalization": ["no", None],
    "scale": ["no", None],
    "metric": ["", [], "no", 0],
    "validation_fraction": [0, 1, 7, NAN, "0.2", None, True],
    "random_state": ["x", -1, 1.5, True, 2**32, np.random.default_rng(0)],
    "device": ["tpu", None, 3.5],
    "verbose": ["x", 1],
    "class_weights": [5, [1, -1], {"a": 1}, "even"],
    "smoothing": [1, -0.1, "a", NAN, None],
    "shift": ["no", 3],
    "readout": ["no", None],
    "history": [0, 1.5, None],
    "horizons": [1.5, "12", None, [], (1, 1), 0, {1: 2}, [[1, 2]], np.array(2.0)],
    "missing": ["no", None],
    "criterion": ["", "no"],
}


@pytest.mark.parametrize("kind", ESTIMATORS.values())
def test_every_argument_has_a_check_that_refuses_what_is_wrong_and_names_it(kind):
    names = set(kind().get_params(deep=False))
    assert names == names & constraints_of(kind).keys() == names & WRONG.keys()
    kind().check_arguments()
    for name in names:
        for value in WRONG[name]:
            with pytest.raises(ValueError, match=name) as error:
                kind(**{name: value}).check_arguments()
            assert "\n" not in str(error.value)


def test_a_forecast_is_scaled_as_a_whole_so_that_scales_of_nodes_are_refused():
    with pytest.raises(ValueError, match="unknown scale 'rows'; expected one of 'auto', 'standard', 'none'"):
        Forecaster(scale="rows").fit(SHIFT, SERIES)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_fit_and_compare_begin_with_the_arguments(name):
    estimator = ESTIMATORS[name](input="nope")
    data = (None,) if name == "forecast" else (None, None)
    for call in (estimator.fit, lambda *given: compare(estimator, *given)):
        with pytest.raises(ValueError, match="unknown input 'nope'"):
            call(SHIFT, *data)


def test_numbers_of_numpy_become_plain_settings():
    made = NodeClassifier(K=np.int64(1), channels=np.int32(4), dropout=np.float32(0), epochs=1).fit(SHIFT, X, SIDES)
    assert [type(getattr(made.settings_, name)) for name in ("K", "channels", "dropout")] == [int, int, float]


def call_fit(**options):
    part = SimpleNamespace(x=torch.zeros(6, N, 1), y=torch.arange(6) % 2)
    network = ss.Network("gcnn", [1, 2], 1, ss.FlattenReadout(N, 2))
    data = SimpleNamespace(train=part, valid=part, test=None)
    return ss.fit(network, SHIFT, data, **({"epochs": 1, "learning_rate": 0.1} | options))


WRONG_OPTIONS = {
    "epochs": [0, 1.5, True, "2", None],
    "batch_size": [0, -1, 2.5, "4", True, 7],
    "learning_rate": [-1, "a", None, NAN, INF],
    "betas": [(1, 1), 0.9, (0.9,), ("a", "b"), (NAN, 0.9), None],
    "weight_decay": [-1, "a", NAN, None, INF],
    "clip": ["a", 0, -1, NAN, True],
    "schedule": ["x", None],
    "patience": [0, 1.5, "a"],
    "keep_best": ["no", None, 2],
    "look_every": [0, 1.5, None],
    "seed": [-1, 1.5, "a", None, 2**63],
    "share_equal": ["no"],
    "device": ["tpu", None],
    "progress": ["x"],
    "checkpoints": ["a/path"],
    "smoothing": [1, "a", None],
}


def test_every_option_of_fit_has_a_check():
    given = set(inspect.signature(ss.fit).parameters) - {"model", "shift", "data", "task"}
    assert given == OPTIONS.keys() | {"smoothing"} == WRONG_OPTIONS.keys()


@pytest.mark.parametrize("name", WRONG_OPTIONS)
def test_fit_names_a_bad_option(name):
    for value in WRONG_OPTIONS[name]:
        with pytest.raises(ValueError, match=name) as error:
            call_fit(**{name: value})
        assert "\n" not in str(error.value)


def test_fit_takes_numbers_of_numpy():
    assert call_fit(seed=np.int64(3), learning_rate=np.float32(0.1), batch_size=np.int8(2), clip=INF).losses


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: NodeClassifier().fit(SHIFT, X), "y is None; expected a class each"),
        (lambda: NodeRegressor().fit(SHIFT, X), "y is None; expected numbers"),
        (lambda: NodeClassifier().fit(SHIFT, X, [None] * N), "y holds no class; expected at least two"),
        (lambda: NodeRegressor().fit(SHIFT, X, [None] * N), "y holds no number; expected targets for some"),
        (lambda: NodeRegressor().fit(SHIFT, X, np.where(RING == 3, INF, 1.0)), r"y holds inf at index \(3,\)"),
        (lambda: NodeClassifier().fit(SHIFT, X, np.where(RING == 3, INF, RING % 2)), "y holds inf; expected classes"),
        (lambda: NodeRegressor().fit(SHIFT, X, 3.0), r"y has the shape \(\)"),
        (lambda: NodeRegressor().fit(SHIFT, X, np.ones((N, 1, 1))), r"y has the shape \(12, 1, 1\)"),
        (lambda: NodeRegressor().fit(SHIFT, X * 1e300, RING), "X holds .*e.300, whose square is beyond float64"),
        (lambda: NodeRegressor(scale="none").fit(SHIFT, X * 1e60, RING), "beyond float32 once scaled"),
        (lambda: NodeClassifier().fit(SHIFT, X[:, :0], SIDES), "X has no features"),
        (lambda: SignalClassifier().fit(SHIFT, SERIES[:0], []), "y holds no class"),
        (lambda: SignalClassifier().fit(SHIFT, SERIES, np.arange(60) % 2, valid=3), "valid is of type int"),
        (lambda: Forecaster(history=2).fit(SHIFT, SERIES[:3]), "series has 3 times"),
        (
            lambda: Forecaster(history=2).fit(SHIFT, np.where(np.arange(60)[:, None] < 48, SERIES, NAN)),
            "no number among the last times",
        ),
        (
            lambda: Forecaster(history=4).fit(SHIFT, np.where(np.arange(60)[:, None] % 48 < 4, SERIES, NAN)),
            "no number 1 steps after a history",
        ),
        (
            lambda: compare(Forecaster(history=2), SHIFT, np.where(np.arange(60)[:, None] < 48, SERIES, NAN)),
            "no number among the times of the test data",
        ),
        (
            lambda: compare(
                NodeRegressor(), SHIFT, X, np.where(RING == 11, NAN, 1), train=RING < 6, valid=RING == 6, test=RING > 6
            ),
            "test holds row 11, which has no target in y",
        ),
        (
            lambda: compare(NodeClassifier(), SHIFT, X, RING // 4, train=RING < 8, valid=RING < 8, test=RING >= 8),
            "y at test holds 2; expected one of the classes of the training data",
        ),
    ],
)
def test_bad_data_are_named_before_the_training(call, message, monkeypatch):
    monkeypatch.setattr("shiftstate.estimators.base.fit", None)
    with pytest.raises(ValueError, match=message):
        call()


def test_nothing_to_judge_by_is_named():
    made = NodeRegressor(K=1, epochs=1, channels=2).fit(SHIFT, X, RING)
    with pytest.raises(ValueError, match="y holds no target; expected some to judge by"):
        made.score(SHIFT, X, [NAN] * N)
    with pytest.raises(ValueError, match="mask holds node 3, which has no target"):
        made.score(SHIFT, X, np.where(RING == 3, NAN, RING), RING < 5)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, "1"], "labels of several types"),
        (np.array([b"a", b"b"]), "expected classes"),
        (np.array([1j, 2]), "expected classes"),
        (np.array(["2020-01-01"], "datetime64[D]"), "expected classes"),
        (np.array([1.5, "a"], dtype=object), "y holds 1.5"),
        (np.array([(1,), None], dtype=object)[:1], "y holds a tuple"),
    ],
)
def test_what_is_no_class_is_named(labels, message):
    with pytest.raises(ValueError, match=message):
        as_labels("y", labels)


def test_text_and_complex_numbers_are_no_numbers_and_bools_are():
    for bad in (np.array(["1", 2], dtype=object), ["1", "2"], [1j], np.array(["2020"], "datetime64[D]"), {"a": 1}):
        with pytest.raises(ValueError, match="X holds"):
            as_array("X", bad)
    assert as_array("X", [True, False]).tolist() == [1.0, 0.0]


def test_a_sparse_matrix_with_wrong_indices_is_refused_before_it_is_read():
    matrix = sp.csr_array(X)
    matrix.indptr[3] = 10**6
    with pytest.raises(ValueError, match="X has wrong indices"):
        as_array("X", matrix)
    with pytest.raises(ValueError, match=r"needs .* bytes as a dense matrix"):
        as_array("X", sp.coo_array((2**40, 2**20)))
    np.testing.assert_array_equal(as_array("X", torch.from_numpy(X).to_sparse()), X)


def test_a_node_without_numbers_gets_the_mean_of_the_others():
    series = np.arange(60.0)[:, None] * [1.0, 1.0]
    series[:, 1] = NAN
    forecast = baselines.linear_per_node(series, [50], (1,), 50, 4)
    assert forecast[0, 0, 1] == pytest.approx(np.arange(50).mean())
