"""The recurrences: the reference loop, the fused kernels, and the choice between them."""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor

from shiftstate.filters import reference
from shiftstate.filters.reference import Filter, Step, Taps
from shiftstate.graphs import Shift

__all__ = ["Choice", "Filter", "Step", "Taps", "choose_kernel"]

Run = Callable[[Filter, Tensor, Shift, int | None], Tensor]


class Choice(NamedTuple):
    """A kernel, and why it was chosen."""

    name: str
    why: str
    run: Run


def choose_kernel(filter: Filter, x: Tensor, shift: Shift) -> Choice:
    """The kernel this call runs."""
    return Choice("reference", "asked for", reference.run)
