"""Baselines: classifiers that see the same words of the same excerpts, and no graph."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from shiftstate.checks import check_name
from shiftstate.datasets import Authorship
from shiftstate.machine.run import Outcome, known_versions
from shiftstate.machine.settings import check_choices, check_positive

Array = NDArray[np.float64]
Classify = Callable[[Array], NDArray[np.bool_]]
"""Excerpts (n, words) → whether each is the author's."""


NO_SKLEARN = (
    "the baselines need scikit-learn; expected it installed: pip install 'shiftstate[baselines]', "
    "or leave them out: --set table2.baselines=delta"
)
BASELINES = {"logistic": "logistic regression", "svm": "SVM", "delta": "Cosine Delta"}
"""Names and titles."""


@dataclass(frozen=True)
class Classifiers:
    """The settings of the baselines."""

    C: tuple[float, ...] = (0.001, 0.01, 0.1, 1.0, 10.0)
    """Of the logistic regression and the SVM; of several, each trial keeps the best on validation."""
    svm: str = "rbf"

    def __post_init__(self) -> None:
        check_choices(self, {"svm": ("rbf", "linear")})
        check_positive("C", self.C)


def fit_baseline(name: str, data: Authorship, settings: Classifiers) -> Outcome:
    """Train a baseline on the training excerpts.

    Counts are standardised word by word on the training excerpts, whatever the networks see. Of several C the one
    with the best validation accuracy is kept, the smallest of equals; the outcome's ``chosen`` is that C, 0 for Delta.
    """
    check_name("baseline", name, BASELINES)
    began = time.perf_counter()
    scale = _scaler(_counts(data.train.x))
    train, valid, test = (scale(_counts(part.x)) for part in (data.train, data.valid, data.test))
    tried: list[tuple[float, float, Classify, int]] = []
    for C in sorted(settings.C) if name != "delta" else [0.0]:
        if name == "delta":
            classify, size = _cosine_delta(train, data.train.y.numpy())
        else:
            classify, size = _from_sklearn(name, settings.svm, C, train, data.train.y.numpy())
        tried.append((_accuracy(classify, valid, data.valid.y), C, classify, size))
    right, C, classify, size = max(tried, key=lambda one: one[0])
    scores = {"accuracy": _accuracy(classify, test, data.test.y)}
    return Outcome(
        scores,
        scores,
        valid_scores=(right,),
        seconds=time.perf_counter() - began,
        chosen=C,
        parameters=size,
        versions={**known_versions(), "scikit-learn": sklearn_version()},
    )


def _counts(x: Tensor) -> Array:
    counts: Array = x.double().squeeze(-1).numpy()
    return counts


def _scaler(train: Array) -> Callable[[Array], Array]:
    mean, deviation = train.mean(0), train.std(0)
    scale = np.where((train == train[0]).all(0), 1.0, deviation)
    return lambda counts: (counts - mean) / scale


def _from_sklearn(name: str, kernel: str, C: float, x: Array, y: NDArray[np.int64]) -> tuple[Classify, int]:
    if name == "logistic":
        model = _sklearn("linear_model").LogisticRegression(C=C, max_iter=5000)
    else:
        model = _sklearn("svm").SVC(C=C, kernel=kernel)
    model.fit(x, y)
    size = model.coef_.size + 1 if name == "logistic" else model.support_vectors_.size
    return lambda excerpts: model.predict(excerpts) == 1, size


def _cosine_delta(x: Array, y: NDArray[np.int64]) -> tuple[Classify, int]:
    """The profiles of others and author are the mean z-scores of their excerpts; the smaller cosine distance wins."""
    profiles = _unit(np.stack([x[y == label].mean(0) for label in (0, 1)]))
    return lambda excerpts: (_unit(excerpts) @ profiles.T).argmax(1) == 1, profiles.size


def _unit(vectors: Array) -> Array:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Array = vectors / np.where(lengths > 0, lengths, 1.0)
    return unit


def _accuracy(classify: Classify, x: Array, y: Tensor) -> float:
    return float((classify(x) == (y.numpy() == 1)).mean())


def _sklearn(part: str) -> Any:
    try:
        return import_module(f"sklearn.{part}")
    except ImportError:
        raise ValueError(NO_SKLEARN) from None


def sklearn_version() -> str:
    """What the numbers of the baselines depend on; "none" where it is not installed: Delta does without."""
    try:
        return metadata.version("scikit-learn")
    except metadata.PackageNotFoundError:
        return "none"
