"""Metrics with their direction, all of them scikit-learn's except accuracy.

scikit-learn rather than torchmetrics: the outputs of a whole split are at hand, so nothing has to be accumulated over
batches; it computes in float64, counts ties exactly, and is needed for the baselines anyway. Accuracy is counted by
torch, so that a training loop that looks at nothing else does not even import scikit-learn.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shiftstate.checks import check_name

Array = NDArray[Any]


@dataclass(frozen=True)
class Metric:
    """A number that says how good outputs are; ``metric(outputs, targets)`` is NaN where it is not defined.

    Example:
        >>> import torch
        >>> from shiftstate.tasks import CLASSIFICATION_METRICS
        >>> accuracy = CLASSIFICATION_METRICS["accuracy"]
        >>> accuracy(torch.tensor([[2.0, 1.0], [0.0, 3.0]]), torch.tensor([0, 0]))
        0.5
        >>> accuracy.better(0.6, than=0.5)
        True
    """

    name: str
    title: str
    direction: Literal["higher", "lower"]
    """Which values are better."""
    measure: Callable[[Tensor, Tensor], float] = field(repr=False, compare=False)

    def __call__(self, outputs: Tensor, targets: Tensor) -> float:
        """The value for outputs (n, C) and targets (n), or outputs and targets of one shape."""
        return self.measure(outputs.detach().cpu(), targets.detach().cpu())

    def better(self, value: float, than: float) -> bool:
        """Whether ``value`` is better; every number is better than NaN, and NaN is better than none."""
        if math.isnan(value) or math.isnan(than):
            return math.isnan(than) and not math.isnan(value)
        return value > than if self.direction == "higher" else value < than


def select_metrics(known: Mapping[str, Metric], metric: str, metrics: Iterable[str] | None) -> tuple[Metric, ...]:
    """The metrics of these names, all by default, with ``metric`` first."""
    if isinstance(metrics, str):
        raise ValueError(f"metrics is {metrics!r}; expected a list of names: [{metrics!r}]")
    names = [check_name("metric", metric, known)]
    names += [check_name("metric", name, known) for name in (known if metrics is None else metrics)]
    return tuple(known[name] for name in dict.fromkeys(names))


def two_logits(outputs: Tensor) -> Tensor:
    """One logit for the second of two classes, (n, 1) → (n, 2); more than one logit stay as they are."""
    if outputs.shape[-1] > 1:
        return outputs
    return torch.cat([torch.zeros_like(outputs), outputs], -1)


def _sklearn() -> Any:
    return import_module("sklearn.metrics")


def _accuracy(outputs: Tensor, targets: Tensor) -> float:
    return int((two_logits(outputs).argmax(-1) == targets).sum()) / len(targets)


def _balanced_accuracy(outputs: Tensor, targets: Tensor) -> float:
    """The mean recall of the classes that occur."""
    labels = np.unique(targets.numpy())
    predicted = two_logits(outputs).argmax(-1).numpy()
    return float(_sklearn().recall_score(targets.numpy(), predicted, labels=labels, average="macro", zero_division=0.0))


def _macro_f1(outputs: Tensor, targets: Tensor) -> float:
    predicted = two_logits(outputs).argmax(-1).numpy()
    return float(_sklearn().f1_score(targets.numpy(), predicted, average="macro", zero_division=0.0))


def _roc_auc(outputs: Tensor, targets: Tensor) -> float:
    """Of two classes by their logits' difference, which never saturates; of more, the mean of one against the rest."""
    logits, present = two_logits(outputs.double()), np.unique(targets.numpy())
    if len(present) < 2 or not _finite(outputs):
        return math.nan
    if logits.shape[-1] == 2:
        return float(_sklearn().roc_auc_score(targets.numpy(), (logits[:, 1] - logits[:, 0]).numpy()))
    chances = logits.softmax(-1)
    each = [_sklearn().roc_auc_score((targets == c).numpy(), chances[:, c].numpy()) for c in present.tolist()]
    return float(np.mean(each))


def _log_loss(outputs: Tensor, targets: Tensor) -> float:
    if not _finite(outputs):
        return math.nan
    chances = _chances(outputs)
    return float(_sklearn().log_loss(targets.numpy(), chances, labels=np.arange(chances.shape[1])))


def _brier(outputs: Tensor, targets: Tensor) -> float:
    """Two classes: mean (p − y)², from 0 to 1; more: the sum over classes, from 0 to 2."""
    if not _finite(outputs):
        return math.nan
    chances = _chances(outputs)
    if chances.shape[1] == 2:
        return float(_sklearn().brier_score_loss(targets.numpy(), chances[:, 1], pos_label=1))
    return float(_sklearn().brier_score_loss(targets.numpy(), chances, labels=np.arange(chances.shape[1])))


def _mae(outputs: Tensor, targets: Tensor) -> float:
    return _of_numbers("mean_absolute_error", outputs.flatten(), targets.flatten())


def _rmse(outputs: Tensor, targets: Tensor) -> float:
    return _of_numbers("root_mean_squared_error", outputs.flatten(), targets.flatten())


def _r2(outputs: Tensor, targets: Tensor) -> float:
    """Of several targets the mean over them."""
    return _of_numbers("r2_score", outputs, targets) if len(targets) > 1 else math.nan


def _of_numbers(name: str, outputs: Tensor, targets: Tensor) -> float:
    if not _finite(outputs):
        return math.nan
    return float(getattr(_sklearn(), name)(targets.double().numpy(), outputs.double().numpy()))


def _chances(outputs: Tensor) -> Array:
    chances: Array = two_logits(outputs.double()).softmax(-1).numpy()
    return chances


def _finite(outputs: Tensor) -> bool:
    return bool(outputs.isfinite().all())


CLASSIFICATION_METRICS = {
    metric.name: metric
    for metric in (
        Metric("accuracy", "accuracy", "higher", _accuracy),
        Metric("balanced_accuracy", "balanced accuracy", "higher", _balanced_accuracy),
        Metric("macro_f1", "macro F1", "higher", _macro_f1),
        Metric("roc_auc", "ROC AUC", "higher", _roc_auc),
        Metric("log_loss", "log loss", "lower", _log_loss),
        Metric("brier", "Brier score", "lower", _brier),
    )
}
"""By name. Probabilities are the softmax of the outputs."""

REGRESSION_METRICS = {
    metric.name: metric
    for metric in (
        Metric("mae", "MAE", "lower", _mae),
        Metric("rmse", "RMSE", "lower", _rmse),
        Metric("r2", "R²", "higher", _r2),
    )
}
"""By name."""
