"""Samples: signals with their labels, as every data set has them, and how they were scaled."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor


class Samples(NamedTuple):
    """Signals and their labels."""

    x: Tensor
    """(n, N, 1)."""
    y: Tensor
    """(n), the class."""


@dataclass(frozen=True, eq=False)
class Scaling:
    """x ↦ (x − mean) / deviation, node by node; nodes that never vary are only centred.

    Example:
        >>> import torch
        >>> from shiftstate.datasets import Scaling
        >>> scaling = Scaling.of(torch.tensor([[[1.0]], [[3.0]]]))
        >>> scaling(torch.tensor([[[5.0]]]))
        tensor([[[3.]]])
    """

    mean: Tensor
    """(N, 1)."""
    deviation: Tensor
    """(N, 1); one for nodes that never vary."""

    @classmethod
    def of(cls, x: Tensor) -> "Scaling":
        """The scaling that gives these signals, (n, N, 1), mean zero and deviation one."""
        constant = (x == x[0]).all(0)  # its deviation is zero only up to rounding
        return cls(x.mean(0), torch.where(constant, 1.0, x.std(0, correction=0)))

    def __call__(self, x: Tensor) -> Tensor:
        """The scaled signals, (n, N, 1)."""
        return (x - self.mean) / self.deviation


def scaled(splits: list[Samples], scaling: Scaling | None) -> list[Samples]:
    """The splits with their signals scaled; None leaves them as they are."""
    return splits if scaling is None else [Samples(scaling(x), y) for x, y in splits]
