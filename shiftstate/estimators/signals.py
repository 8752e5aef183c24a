"""Estimators of signals: one graph, many signals on it, and a target for each; samples are signals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from shiftstate.estimators.alignment import by_index, check_order, columns_of, join_rows, names_of
from shiftstate.estimators.base import Estimator, parts
from shiftstate.estimators.constraints import Check, choice, optional
from shiftstate.estimators.inputs import (
    as_array,
    as_labels,
    as_shift,
    check_finite_array,
    encode,
    find_classes,
)
from shiftstate.estimators.labels import LabelEstimator
from shiftstate.estimators.nodes import NODES, as_targets, r2, read_target_scaler, set_aside, target_tensors
from shiftstate.estimators.scaling import Scaler
from shiftstate.graphs import Shift
from shiftstate.tasks import SignalClassification, SignalRegression, Task

Array = NDArray[Any]

AT_ONCE = 256
"""Signals that are predicted at a time."""


@dataclass(eq=False, repr=False)
class SignalEstimator(Estimator):
    """What estimators of signals share.

    All methods take the graph as their first argument, ``fit(shift, X, y)``; or the constructor takes it, and methods
    are called as scikit-learn's cross-validation calls them: ``fit(X, y)``, ``predict(X)``, ``score(X, y)``.

    Args:
        shift: the graph, for calls without it.
        readout: "flatten" has weights for every node of one graph; "pool" takes the mean over the nodes, for graphs of
            any size.
    """

    _: KW_ONLY
    shift: Any = None
    readout: str = "flatten"

    constraints: ClassVar[Mapping[str, Check]] = {
        "shift": optional(lambda name, value: as_shift(value)),
        "readout": choice(("flatten", "pool")),
    }

    def _graph_and(self, method: str, *given: Any) -> tuple[Any, ...]:
        """The graph and the other arguments, whether it came with the call or with the constructor."""
        if isinstance(given[0], Shift):
            return given
        if self.shift is not None and given[-1] is None:
            return (as_shift(self.shift), *given[:-1])
        raise ValueError(
            f"{method} was called without a graph, with a {type(given[0]).__name__} first; expected "
            f"{method}(shift, X, ...), or the graph in the constructor: {type(self).__name__}(shift=...)"
        )

    def _signals(self, shift: Shift, X: Any) -> NDArray[np.float64]:
        signals = check_finite_array("X", as_array("X", X))
        signals = signals[..., None] if signals.ndim == 2 else signals
        if signals.ndim != 3 or signals.shape[1] != shift.num_nodes:
            hint = ""
            if signals.ndim == 3 and signals.shape[2] == shift.num_nodes:
                hint = "; are nodes and channels swapped? X.transpose(0, 2, 1)"
            raise ValueError(
                f"X has the shape {tuple(np.shape(X))}; expected (signals, {shift.num_nodes}) or "
                f"(signals, {shift.num_nodes}, channels), with the nodes of the graph on the second axis{hint}"
            )
        if signals.size == 0:
            raise ValueError(
                f"X has the shape {tuple(np.shape(X))}; expected at least one signal, of one channel or more"
            )
        check_order("X", columns_of(X), NODES)
        return signals

    def _learn(self, shift: Shift, X: Any, y: Array, strata: Array | None, valid: Any, outputs: int, seed: int) -> None:
        """Set some signals aside if none are given, scale on the others, and train."""
        signals = self._signals(shift, X)
        if len(signals) != len(y):
            raise ValueError(f"X holds {len(signals)} signals and y {len(y)} targets; expected as many")
        self.node_names_ = names_of(X, 1)
        if valid is None:
            learn, choose = set_aside(np.ones(len(y), bool), self.validation_fraction, strata, seed)
            train_x, train_y, valid_x, valid_y = signals[learn], y[learn], signals[choose], y[choose]
        else:
            self._check_names(valid[0], 1, "node")
            train_x, train_y, valid_x, valid_y = signals, y, self._signals(shift, valid[0]), valid[1]
        self.n_features_in_ = signals.shape[2]
        self.scaler_ = Scaler.learn(self.scale, train_x.reshape(-1, signals.shape[2]))
        self._choose_normalization(shift)
        data = type("Data", (), {})()
        data.train = parts(x=self.scaler_(train_x), y=train_y)
        data.valid = parts(x=self.scaler_(valid_x), y=valid_y)
        nodes = {"num_nodes": shift.num_nodes} if self.readout == "flatten" else {}
        counts = {"targets": len(train_y), "features": signals.shape[2], "samples": len(train_y)}
        self._train(self._normalized(shift), data, (self.readout, {**nodes, "num_outputs": outputs}), seed, **counts)

    def _predicted(self, shift: Shift, X: Any) -> NDArray[np.float64]:
        self._check_fitted()
        signals = self._signals(shift, X)
        self._check_features(signals.shape[2])
        self._check_names(X, 1, "node")
        return self._outputs(shift, self.scaler_(signals), AT_ONCE)


@dataclass(eq=False, repr=False)
class SignalClassifier(ClassifierMixin, LabelEstimator, SignalEstimator):
    """Classes of signals. See `Estimator` and `SignalEstimator` for the arguments.

    Example:
        >>> import numpy as np, shiftstate as ss
        >>> from shiftstate.estimators import SignalClassifier
        >>> shift = ss.Shift.from_edges([[0, 1, 2], [1, 2, 0]])
        >>> X = np.random.default_rng(0).normal(size=(60, 3))
        >>> y = np.where(X[:, 0] > 0, "up", "down")
        >>> clf = SignalClassifier("gcnn", K=1, epochs=20).fit(shift, X, y)
        >>> clf.predict_proba(shift, X).shape
        (60, 2)
    """

    task_name: ClassVar[str] = "signal-classification"

    def task(self) -> Task:
        """What is learned."""
        return SignalClassification(**self._task_options())

    def fit(self, shift: Any, X: Any = None, y: Any = None, *, valid: Any = None) -> Self:
        """Learn from signals X (n, N) or (n, N, channels) and their classes y (n), strings or numbers.

        Args:
            shift: the graph.
            X: the signals.
            y: their classes.
            valid: signals and classes to choose by, ``(X, y)``; by default some signals are set aside.
        """
        graph, X, y = self._graph_and("fit", shift, X, y)
        self.check_arguments()
        labels = _known_labels(*join_rows(X, y=y))
        seed = self._seed()
        self.classes_ = find_classes(labels, "y")
        codes = encode(labels, self.classes_, "y")
        if valid is not None:
            signals, held = _pair(valid)
            valid = (signals, encode(_known_labels(held, "y of valid"), self.classes_, "y of valid"))
        self._learn(graph, X, codes, codes, valid, len(self.classes_), seed)
        return self

    def predict(self, shift: Any, X: Any = None) -> Array:
        """The class of every signal (n)."""
        return self._named(self._predicted(*self._graph_and("predict", shift, X)))

    def predict_proba(self, shift: Any, X: Any = None) -> NDArray[np.float64]:
        """The probability of every class (n, C), in the order of ``classes_``."""
        return self._chances(self._predicted(*self._graph_and("predict_proba", shift, X)))

    def score(self, shift: Any, X: Any = None, y: Any = None) -> float:
        """The accuracy."""
        graph, X, y = self._graph_and("score", shift, X, y)
        return float((self.predict(graph, X) == _known_labels(*join_rows(X, y=y))).mean())


@dataclass(eq=False, repr=False)
class SignalRegressor(RegressorMixin, SignalEstimator):
    """Numbers of signals, one or several each. See `Estimator` and `SignalEstimator` for the arguments."""

    task_name: ClassVar[str] = "signal-regression"

    def task(self) -> Task:
        """What is learned."""
        return SignalRegression() if self.metric is None else SignalRegression(self.metric)

    def fit(self, shift: Any, X: Any = None, y: Any = None, *, valid: Any = None) -> Self:
        """Learn from signals X (n, N) or (n, N, channels) and their numbers y (n) or (n, targets).

        Args:
            shift: the graph.
            X: the signals.
            y: their numbers.
            valid: signals and numbers to choose by, ``(X, y)``; by default some signals are set aside.
        """
        graph, X, y = self._graph_and("fit", shift, X, y)
        self.check_arguments()
        targets = _known_numbers(*join_rows(X, y=y))
        columns = targets.reshape(len(targets), -1)
        self.single_ = targets.ndim == 1
        self.target_scaler_ = Scaler.learn("standard", columns, "y")
        if valid is not None:
            signals, held = _pair(valid)
            numbers = _known_numbers(held, "y of valid")
            if numbers.shape[1:] != targets.shape[1:]:
                raise ValueError(
                    f"y of valid has the shape {numbers.shape} and y {targets.shape}; expected as many targets"
                )
            valid = (signals, self.target_scaler_(numbers.reshape(len(numbers), -1)))
        self._learn(graph, X, self.target_scaler_(columns), None, valid, columns.shape[1], self._seed())
        return self

    def predict(self, shift: Any, X: Any = None) -> NDArray[np.float64]:
        """The numbers of every signal, (n) or (n, targets)."""
        outputs = self._predicted(*self._graph_and("predict", shift, X))
        numbers = self.target_scaler_.back(outputs)
        return numbers[:, 0] if self.single_ else numbers

    def score(self, shift: Any, X: Any = None, y: Any = None) -> float:
        """R²."""
        graph, X, y = self._graph_and("score", shift, X, y)
        return r2(self.predict(graph, X), _known_numbers(*join_rows(X, y=y)))

    def _describe(self) -> dict[str, Any]:
        return {**super()._describe(), "single": self.single_}

    def _tensors(self) -> dict[str, Any]:
        return {**super()._tensors(), **target_tensors(self.target_scaler_)}

    def _restore(self, described: dict[str, Any], tensors: Any) -> None:
        self.single_ = bool(described["single"])
        self.target_scaler_ = read_target_scaler(tensors)
        super()._restore(described, tensors)


def _pair(valid: Any) -> tuple[Any, Any]:
    """Signals and targets to choose by, in one order."""
    if not isinstance(valid, tuple | list) or len(valid) != 2:
        raise ValueError(f"valid is of type {type(valid).__name__}; expected signals and targets: (X, y)")
    return valid[0], by_index("y of valid", valid[1], [("X of valid", valid[0])])


def _known_labels(y: Any, name: str = "y") -> Array:
    labels, known = as_labels(name, y)
    if not known.all():
        first = int(np.flatnonzero(~known)[0])
        raise ValueError(f"{name} has no class for signal {first}; expected one for every signal")
    return labels


def _known_numbers(y: Any, name: str = "y") -> NDArray[np.float64]:
    return check_finite_array(name, as_targets(name, y)[0])
