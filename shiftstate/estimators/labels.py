"""What classifiers share: classes by name, and probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from shiftstate.checks import check_name
from shiftstate.estimators.base import Estimator
from shiftstate.estimators.constraints import Check, choice, optional
from shiftstate.tasks import CLASSIFICATION_METRICS, Metric
from shiftstate.tasks.classification import check_class_weights, check_smoothing

Array = NDArray[Any]


@dataclass(eq=False, repr=False)
class LabelEstimator(Estimator):
    """A classifier.

    Args:
        class_weights: the weight of every class in the loss, or "balanced".
        smoothing: this share of each label is spread evenly over all classes.
    """

    _: KW_ONLY
    class_weights: Any = None
    smoothing: float = 0.0

    constraints: ClassVar[Mapping[str, Check]] = {
        "metric": optional(choice(CLASSIFICATION_METRICS)),
        "class_weights": lambda name, value: check_class_weights(value),
        "smoothing": check_smoothing,
    }

    def _task_options(self) -> dict[str, Any]:
        # The log loss tells epochs apart where the accuracy of a small validation set cannot.
        metric = "log_loss" if self.metric is None else self.metric
        return {"metric": metric, "class_weights": self.class_weights, "smoothing": self.smoothing}

    def reported(self) -> Metric:
        """What comparisons are made by."""
        metric = "accuracy" if self.metric is None else self.metric
        return CLASSIFICATION_METRICS[check_name("metric", metric, CLASSIFICATION_METRICS)]

    def _chances(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        chances: NDArray[np.float64] = softmax(outputs, axis=-1)
        return chances

    def _named(self, outputs: NDArray[np.float64]) -> Array:
        named: Array = self.classes_[outputs.argmax(-1)]
        return named

    def _describe(self) -> dict[str, Any]:
        kind = self.classes_.dtype.str
        return {**super()._describe(), "classes": self.classes_.tolist(), "classes_dtype": kind}

    def _restore(self, described: dict[str, Any], tensors: Any) -> None:
        dtype = np.dtype(described["classes_dtype"])
        if dtype.kind not in "biufU":
            raise ValueError(f"classes of {dtype} are not known")
        self.classes_: Array = np.array(described["classes"], dtype)
        super()._restore(described, tensors)
