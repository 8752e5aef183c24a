"""The base of all tasks."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from shiftstate.readout import FlattenReadout, NodeReadout, PoolReadout, Readout
from shiftstate.tasks.metrics import Metric, select_metrics


class Task(ABC):
    """What is learned. Targets belong to signals, or to the nodes of signals (`per_node`).

    `fit` knows a task by these methods only; a task of your own fills in the abstract ones.

    Args:
        metric: the one that decides which epoch is the best on validation data.
        metrics: those to compute beside it, by name; all by default.
    """

    name: ClassVar[str]
    per_node: ClassVar[bool]
    known_metrics: ClassVar[Mapping[str, Metric]]

    def __init__(self, metric: str, metrics: Iterable[str] | None = None) -> None:
        self.metrics = select_metrics(self.known_metrics, metric, metrics)
        """What `scores` gives; the first is `metric`."""

    @property
    def metric(self) -> Metric:
        """The metric that decides which epoch is the best on validation data."""
        return self.metrics[0]

    @abstractmethod
    def targets(self, y: Any, name: str) -> Tensor:
        """``y`` as a tensor of the task's dtype; a ValueError that names it if it cannot be one."""

    @abstractmethod
    def target_axes(self, x: Tensor) -> tuple[int, ...]:
        """How many axes the targets of signals x may have."""

    @abstractmethod
    def flat(self, outputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs and targets in the form that loss and metrics take; a ValueError if their shapes do not fit."""

    @abstractmethod
    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """What is minimised, of the outputs that have targets."""

    def mass(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """What the mean in `loss` divides by: the number of targets, or the sum of their weights; in float64."""
        return torch.tensor(float(len(targets)), dtype=torch.float64)

    def check_values(self, outputs: Tensor, targets: Tensor, name: str) -> None:  # noqa: B027 (most need none)
        """Raise a ValueError if a model with such outputs (flat) cannot learn the targets called ``name``."""

    def prepared(self, targets: Tensor) -> Self:
        """The task with everything decided that depends on the training targets, such as class weights."""
        return self

    def better(self, score: float, than: float) -> bool:
        """Whether a validation score is better than another one; equal is not better, so the earliest counts."""
        return self.metric.better(score, than)

    def score(self, outputs: Tensor, targets: Tensor) -> float:
        """The value of `metric`."""
        return self.metric(*self.flat(outputs, targets))

    def scores(self, outputs: Tensor, targets: Tensor) -> dict[str, float]:
        """The values of all `metrics` by name."""
        outputs, targets = self.flat(outputs, targets)
        return {metric.name: metric(outputs, targets) for metric in self.metrics}

    def readout(self, num_outputs: int, num_nodes: int | None = None) -> Readout:
        """A readout with outputs where the targets are.

        Args:
            num_outputs: classes, or numbers to predict.
            num_nodes: for tasks on signals: weights for every node of one graph (`FlattenReadout`). Without it the
                mean over the nodes is taken (`PoolReadout`), for graphs of any size.
        """
        if self.per_node:
            return NodeReadout(num_outputs)
        return PoolReadout(num_outputs) if num_nodes is None else FlattenReadout(num_nodes, num_outputs)
