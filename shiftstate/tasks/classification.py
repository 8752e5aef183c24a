"""Classification: logits → classes, of signals or of nodes."""

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, ClassVar, Literal, Self

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, pad

from shiftstate.checks import check_number
from shiftstate.tasks.base import Task
from shiftstate.tasks.metrics import CLASSIFICATION_METRICS
from shiftstate.tasks.targets import as_classes


class Classification(Task):
    """Minimise −log p(class), with p the softmax of C outputs, or the sigmoid of a single one for two classes.

    Args:
        metric: the one that decides which epoch is the best on validation data.
        metrics: those to compute beside it, by name; all by default.
        smoothing: this share of each label is spread evenly over all classes, against too much certainty.
        class_weights: the weight of every class in the loss, or "balanced" for weights inverse to the frequency of
            the classes in the training data. They do not enter the metrics.
    """

    known_metrics = CLASSIFICATION_METRICS

    def __init__(
        self,
        metric: str = "accuracy",
        metrics: Iterable[str] | None = None,
        *,
        smoothing: float = 0.0,
        class_weights: Sequence[float] | Literal["balanced"] | None = None,
    ) -> None:
        super().__init__(metric, metrics)
        self.smoothing = check_smoothing("smoothing", smoothing)
        self.class_weights = check_class_weights(class_weights)
        self._balanced: tuple[float, ...] | None = None

    def targets(self, y: Any, name: str) -> Tensor:
        """Classes, counted from 0, as int64."""
        return as_classes(y, name)

    def target_axes(self, x: Tensor) -> tuple[int, ...]:
        """One class per signal, or per node."""
        return (x.dim() - 1,) if self.per_node else (1,)

    def flat(self, outputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (n, C) or (n, 1), and classes (n)."""
        logits = outputs.unsqueeze(-1) if outputs.dim() == targets.dim() else outputs
        if logits.shape[:-1] != targets.shape:
            raise ValueError(
                f"the model gives outputs {tuple(outputs.shape)} for classes {tuple(targets.shape)}; expected "
                f"{(*targets.shape, 'C')} for C classes; {_which_readout(self.per_node)}"
            )
        return logits.flatten(0, -2), targets.flatten()

    def check_values(self, outputs: Tensor, targets: Tensor, name: str) -> None:
        """Targets are classes that the outputs have, and every class has a weight."""
        logits = outputs.shape[-1]
        count = max(2, logits)
        low, high = int(targets.min()), int(targets.max())
        if low < 0 or high >= count:
            raise ValueError(
                f"{name} holds class {low if low < 0 else high}; expected classes from 0 to {count - 1}, since the "
                f"model has {logits} output{'s' * (logits > 1)}; are the classes counted from 1, or is num_outputs of "
                "the readout wrong?"
            )
        if isinstance(self.class_weights, tuple) and len(self.class_weights) != count:
            raise ValueError(f"class_weights holds {len(self.class_weights)} numbers; expected {count}, one per class")

    def prepared(self, targets: Tensor) -> Self:
        """With balanced class weights as numbers: n / (C · n_c), with C the number of classes in the training data."""
        if self.class_weights != "balanced" or int(targets.min()) < 0:  # what is below 0 is named later
            return self
        counts = torch.bincount(targets.flatten()).double()
        weights = counts.sum() / ((counts > 0).sum() * counts.clamp(min=1))
        task = copy(self)
        task._balanced = tuple(weights.tolist())
        return task

    def mass(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The sum of the targets' weights."""
        outputs, targets = self.flat(outputs, targets)
        weights = self._weights(outputs)
        return super().mass(outputs, targets) if weights is None else weights[targets].double().sum()

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The mean cross-entropy in nats."""
        outputs, targets = self.flat(outputs, targets)
        weights = self._weights(outputs)
        if outputs.shape[-1] > 1:
            return cross_entropy(outputs, targets, weights, label_smoothing=self.smoothing)
        chances = targets.to(outputs.dtype) * (1 - self.smoothing) + self.smoothing / 2
        each = None if weights is None else weights[targets] / weights[targets].mean()
        return binary_cross_entropy_with_logits(outputs.squeeze(-1), chances, each)

    def _weights(self, outputs: Tensor) -> Tensor | None:
        """One per class; balanced ones are 1 for classes that the training data do not have."""
        given = self._balanced if self.class_weights == "balanced" else self.class_weights
        if given is None:
            return None
        weights = torch.tensor(given, dtype=outputs.dtype, device=outputs.device)
        return pad(weights, (0, max(2, outputs.shape[-1]) - len(weights)), value=1.0)


class SignalClassification(Classification):
    """One class per signal: outputs (n, C), targets (n). See `Classification` for the arguments."""

    name: ClassVar[str] = "signal-classification"
    per_node: ClassVar[bool] = False


class NodeClassification(Classification):
    """One class per node: outputs (n, N, C) or (N, C), targets (n, N) or (N). See `Classification`."""

    name: ClassVar[str] = "node-classification"
    per_node: ClassVar[bool] = True


def check_smoothing(name: str, value: object) -> float:
    """A share of the label."""
    return check_number(name, value, lambda share: 0 <= share < 1, "a share of the label, from 0 to less than 1")


def check_class_weights(weights: Any) -> tuple[float, ...] | Literal["balanced"] | None:
    """A positive number per class, "balanced", or None."""
    if weights is None:
        return None
    if isinstance(weights, str) and weights == "balanced":
        return "balanced"
    try:
        numbers = () if isinstance(weights, str | dict) else tuple(float(weight) for weight in weights)
    except (TypeError, ValueError):
        numbers = ()
    if not numbers or not all(0 < weight < float("inf") for weight in numbers):
        raise ValueError(f'class_weights is {weights!r}; expected a positive number per class, or "balanced"')
    return numbers


def _which_readout(per_node: bool) -> str:
    return "a NodeReadout gives them" if per_node else "a FlattenReadout or a PoolReadout gives them"
