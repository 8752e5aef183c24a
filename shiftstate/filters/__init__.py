"""The recurrences: the reference loop, the fused kernels, and the choice between them."""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor

from shiftstate.filters import fused, reference
from shiftstate.filters.reference import Filter, Step, Taps
from shiftstate.graphs import Shift

__all__ = ["IMPLEMENTATIONS", "Choice", "Filter", "Step", "Taps", "choose_kernel"]

Run = Callable[[Filter, Tensor, Shift, int | None], Tensor]

IMPLEMENTATIONS: dict[str, Run] = {"reference": reference.run, "fused": fused.run}


class Choice(NamedTuple):
    """A kernel, and why it was chosen."""

    name: str
    why: str

    @property
    def run(self) -> Run:
        """The implementation."""
        return IMPLEMENTATIONS[self.name]


def choose_kernel(filter: Filter, x: Tensor, shift: Shift) -> Choice:
    """The kernel a call runs: what was asked for, or with "auto" the fused one wherever it can."""
    if filter.kernel == "reference":
        return Choice("reference", 'kernel="reference" was asked for')
    obstacle = fused.obstacle(filter, x, shift)
    if obstacle is None:
        return Choice("fused", "the fused kernels support this call")
    if filter.kernel == "fused":
        raise ValueError(f'kernel="fused" cannot run this call: {obstacle}; use kernel="auto" or "reference"')
    return Choice("reference", obstacle)
