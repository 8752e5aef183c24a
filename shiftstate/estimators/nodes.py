"""Estimators of nodes: one graph, features of its nodes, and targets of some of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.model_selection import train_test_split

from shiftstate.estimators.alignment import join_rows, names_of
from shiftstate.estimators.base import Estimator, parts
from shiftstate.estimators.inputs import (
    as_array,
    as_labels,
    as_mask,
    as_shift,
    check_finite_array,
    check_finite_or_missing,
    encode,
    find_classes,
)
from shiftstate.estimators.labels import LabelEstimator
from shiftstate.estimators.scaling import Scaler
from shiftstate.graphs import Shift
from shiftstate.tasks import NodeClassification, NodeRegression, Task

Array = NDArray[Any]
Mask = NDArray[np.bool_]

NODES = "the nodes of the graph"


@dataclass(eq=False, repr=False)
class NodeEstimator(Estimator):
    """What estimators of nodes share."""

    def _learn(self, shift: Shift, X: Any, y: Array, train: Mask, valid: Mask, outputs: int, seed: int) -> None:
        """Scale on training nodes and train; y are numbers, whatever they are where both masks are False."""
        features = self._features(shift, X)
        self.feature_names_, self.node_names_ = names_of(X, 1), names_of(X, 0)
        self.n_features_in_ = features.shape[1]
        self.scaler_ = Scaler.learn(self.scale, features[train])
        self._choose_normalization(shift)
        data = parts(x=self.scaler_(features), y=y, train=train, valid=valid)
        counts = {"targets": int(train.sum()), "features": features.shape[1], "samples": 1}
        self._train(self._normalized(shift), data, ("node", {"num_outputs": outputs}), seed, **counts)

    def _features(self, shift: Shift, X: Any) -> NDArray[np.float64]:
        features = check_finite_array("X", as_array("X", X))
        features = features[:, None] if features.ndim == 1 else features
        if features.ndim != 2 or len(features) != shift.num_nodes:
            raise ValueError(
                f"X has the shape {features.shape}; expected ({shift.num_nodes}, features): a row per node of the graph"
            )
        if features.shape[1] == 0:
            raise ValueError("X has no features; expected at least one")
        return features

    def _predicted(self, shift: Shift, X: Any) -> NDArray[np.float64]:
        self._check_fitted()
        features = self._features(as_shift(shift), X)
        self._check_features(features.shape[1])
        self._check_names(X, 1, "feature")
        names = names_of(X, 0)
        if names is not None and set(names) == set(getattr(self, "node_names_", None) or ()):
            self._check_names(X, 0, "node")  # other names are of another graph
        join_rows(X, NODES)
        return self._outputs(shift, self.scaler_(features))

    def _masks(self, known: Mask, train: Any, valid: Any, strata: Array | None, seed: int) -> tuple[Mask, Mask]:
        """Nodes to learn from and to choose by, all with a target; some are set aside if none are given."""
        count = len(known)
        learn = known.copy() if train is None else as_mask("train", train, count)
        if valid is not None:
            choose = as_mask("valid", valid, count)
            if train is None:
                learn &= ~choose
        for name, mask in (("train", learn), ("valid", choose if valid is not None else learn)):
            if not known[mask].all():
                first = int(np.flatnonzero(mask & ~known)[0])
                raise ValueError(f"{name} holds node {first}, which has no target in y; expected targets for its nodes")
        if valid is not None:
            if (learn & choose).any():
                warn(
                    f"train and valid share {int((learn & choose).sum())} nodes, the first is node "
                    f"{int(np.flatnonzero(learn & choose)[0])}: the validation score will flatter",
                    stacklevel=3,
                )
            return learn, choose
        return set_aside(learn, self.validation_fraction, strata, seed)


def set_aside(mask: Mask, fraction: float, strata: Array | None, seed: int) -> tuple[Mask, Mask]:
    """Split what is True in two, the second with this share; by strata where each has enough."""
    places = np.flatnonzero(mask)
    count = max(1, round(fraction * len(places)))
    if not 0 < fraction < 1 or count >= len(places):
        raise ValueError(
            f"validation_fraction is {fraction} of {len(places)} training targets; expected a share between 0 and 1 "
            "that leaves some for training and for validation; or give valid"
        )
    groups = None if strata is None else strata[places]
    if groups is not None:
        sizes = np.unique(groups, return_counts=True)[1]
        if sizes.min() < 2 or count < len(sizes) or len(places) - count < len(sizes):
            groups = None  # too few of a class for one on both sides
    learn, choose = train_test_split(places, test_size=count, random_state=seed, stratify=groups)
    split = np.zeros((2, len(mask)), bool)
    split[0, learn] = split[1, choose] = True
    return split[0], split[1]


@dataclass(eq=False, repr=False)
class NodeClassifier(ClassifierMixin, LabelEstimator, NodeEstimator):
    """Classes of nodes. See `Estimator` for the arguments.

    Example:
        >>> import numpy as np, shiftstate as ss
        >>> from shiftstate.estimators import NodeClassifier
        >>> ring = np.arange(40)
        >>> shift = ss.Shift.from_edges([[*ring, *(ring + 1) % 40], [*(ring + 1) % 40, *ring]])
        >>> X = np.random.default_rng(0).normal(size=(40, 3)) + (ring < 20)[:, None]
        >>> y = np.where(ring < 20, "left", "right")
        >>> clf = NodeClassifier("rsn", K=2, random_state=0).fit(shift, X, y, train=ring % 2 == 0)
        >>> clf.predict(shift, X).shape, clf.classes_.tolist()
        ((40,), ['left', 'right'])
    """

    task_name: ClassVar[str] = "node-classification"

    def task(self) -> Task:
        """What is learned."""
        return NodeClassification(**self._task_options())

    def fit(self, shift: Shift, X: Any, y: Any = None, train: Any = None, valid: Any = None) -> Self:
        """Learn from the nodes of ``train``, and stop by those of ``valid``.

        Args:
            shift: the graph.
            X: features of all nodes (N, features): NumPy, SciPy sparse, pandas or torch.
            y: classes of the nodes (N): strings or numbers; None, NaN or "" where they are unknown.
            train: boolean mask of the nodes to learn from; by default all with a known class.
            valid: boolean mask of the nodes to choose by; by default some of ``train`` are set aside.
        """
        shift = as_shift(shift)
        self.check_arguments()
        y, train, valid = join_rows(X, NODES, y=y, train=train, valid=valid)
        labels, known = as_labels("y", y)
        _check_count(labels, shift)
        seed = self._seed()
        told = known if train is None else as_mask("train", train, len(labels)) & known
        self.classes_ = find_classes(labels[told], "y" if train is None else "y at the nodes of train")
        codes = np.full(len(labels), -1)
        codes[told] = encode(labels[told], self.classes_, "y")
        learn, choose = self._masks(known, train, valid, codes, seed)
        codes[choose] = encode(labels[choose], self.classes_, "y")
        self._learn(shift, X, codes, learn, choose, len(self.classes_), seed)
        return self

    def predict(self, shift: Shift, X: Any) -> Array:
        """The class of every node (N)."""
        return self._named(self._predicted(shift, X))

    def predict_proba(self, shift: Shift, X: Any) -> NDArray[np.float64]:
        """The probability of every class at every node (N, C), in the order of ``classes_``."""
        return self._chances(self._predicted(shift, X))

    def score(self, shift: Shift, X: Any, y: Any, mask: Any = None) -> float:
        """The accuracy at the nodes of ``mask``, by default at all with a known class."""
        y, mask = join_rows(X, NODES, y=y, mask=mask)
        labels, known = as_labels("y", y)
        _check_count(labels, as_shift(shift))
        chosen = _judged(known, mask)
        return float((self.predict(shift, X)[chosen] == labels[chosen]).mean())


@dataclass(eq=False, repr=False)
class NodeRegressor(RegressorMixin, NodeEstimator):
    """Numbers of nodes, one or several each. See `Estimator` for the arguments."""

    task_name: ClassVar[str] = "node-regression"

    def task(self) -> Task:
        """What is learned."""
        return NodeRegression() if self.metric is None else NodeRegression(self.metric)

    def fit(self, shift: Shift, X: Any, y: Any = None, train: Any = None, valid: Any = None) -> Self:
        """Learn from the nodes of ``train``, and stop by those of ``valid``.

        Args:
            shift: the graph.
            X: features of all nodes (N, features): NumPy, SciPy sparse, pandas or torch.
            y: numbers of the nodes (N) or (N, targets); NaN where they are unknown.
            train: boolean mask of the nodes to learn from; by default all with known numbers.
            valid: boolean mask of the nodes to choose by; by default some of ``train`` are set aside.
        """
        shift = as_shift(shift)
        self.check_arguments()
        y, train, valid = join_rows(X, NODES, y=y, train=train, valid=valid)
        targets, known = as_targets("y", y)
        _check_count(targets, shift)
        if not known.any():
            raise ValueError("y holds no number; expected targets for some of the nodes")
        seed = self._seed()
        learn, choose = self._masks(known, train, valid, None, seed)
        self.single_ = targets.ndim == 1
        columns = targets.reshape(len(targets), -1)
        self.target_scaler_ = Scaler.learn("standard", columns[learn], "y")
        self._learn(shift, X, self.target_scaler_(columns), learn, choose, columns.shape[1], seed)
        return self

    def predict(self, shift: Shift, X: Any) -> NDArray[np.float64]:
        """The numbers of every node, (N) or (N, targets)."""
        outputs = self._predicted(shift, X)
        numbers = self.target_scaler_.back(outputs)
        return numbers[:, 0] if self.single_ else numbers

    def score(self, shift: Shift, X: Any, y: Any, mask: Any = None) -> float:
        """R² at the nodes of ``mask``, by default at all with known numbers."""
        y, mask = join_rows(X, NODES, y=y, mask=mask)
        targets, known = as_targets("y", y)
        _check_count(targets, as_shift(shift))
        chosen = _judged(known, mask)
        return r2(self.predict(shift, X)[chosen], targets[chosen])

    def _describe(self) -> dict[str, Any]:
        return {**super()._describe(), "single": self.single_}

    def _tensors(self) -> dict[str, Any]:
        return {**super()._tensors(), **target_tensors(self.target_scaler_)}

    def _restore(self, described: dict[str, Any], tensors: Any) -> None:
        self.single_ = bool(described["single"])
        self.target_scaler_ = read_target_scaler(tensors)
        super()._restore(described, tensors)


def target_tensors(scaler: Scaler) -> dict[str, Any]:
    """A scaler of targets, as it is stored."""
    import torch

    return {f"target.{name}": torch.from_numpy(one) for name, one in scaler.tensors().items()}


def read_target_scaler(tensors: Any) -> Scaler:
    """A scaler of targets, as it was stored."""
    return Scaler("standard", tensors["target.mean"].numpy(), tensors["target.deviation"].numpy())


def r2(predicted: NDArray[np.float64], targets: NDArray[np.float64]) -> float:
    """R², of several targets the mean."""
    from sklearn.metrics import r2_score

    return float(r2_score(targets, predicted))


def as_targets(name: str, y: Any) -> tuple[NDArray[np.float64], Mask]:
    """Numbers (n) or (n, targets), and which rows have all of theirs."""
    targets = check_finite_or_missing(name, as_array(name, y))
    if targets.ndim not in (1, 2) or targets.size == 0:
        raise ValueError(f"{name} has the shape {targets.shape}; expected (n,), or (n, targets) for several")
    return targets, np.asarray(~np.isnan(targets.reshape(len(targets), -1)).any(axis=1))


def _judged(known: Mask, mask: Any) -> Mask:
    """The nodes that a score is of."""
    chosen = known if mask is None else as_mask("mask", mask, len(known))
    if not known[chosen].all():
        first = int(np.flatnonzero(chosen & ~known)[0])
        raise ValueError(f"mask holds node {first}, which has no target in y; expected targets for its nodes")
    if not chosen.any():
        raise ValueError("y holds no target; expected some to judge by")
    return chosen


def _check_count(y: Array, shift: Shift) -> None:
    if len(y) != shift.num_nodes:
        raise ValueError(f"y has {len(y)} entries; expected {shift.num_nodes}, one per node of the graph")
