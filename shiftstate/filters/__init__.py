"""The recurrences: the reference loop, the fused kernels, and the choice between them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from shiftstate.filters import reference
from shiftstate.filters.reference import Filter, Step, Taps
from shiftstate.graphs import Shift

if TYPE_CHECKING:
    from shiftstate.filters.fused.cell import Kernels

__all__ = ["IMPLEMENTATIONS", "Choice", "Filter", "Step", "Taps", "choose_kernel"]

Run = Callable[[Filter, Tensor, Shift, int | None], Tensor]


def _fused_kernels(name: str) -> "Kernels":
    """The fused kernels of this name."""
    from shiftstate.filters.fused.cells import CELLS  # not before a call asks for them: Numba takes its time

    return CELLS[name]


def _run_fused(filter: Filter, x: Tensor, shift: Shift, checkpoint: int | None = None) -> Tensor:
    return _fused_kernels(filter.fused or "").run(filter, x, shift, checkpoint)


IMPLEMENTATIONS: dict[str, Run] = {"reference": reference.run, "fused": _run_fused}


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
    obstacle = _obstacle(filter, x, shift)
    if obstacle is None:
        return Choice("fused", "the fused kernels support this call")
    if filter.kernel == "fused":
        raise ValueError(f'kernel="fused" cannot run this call: {obstacle}; use kernel="auto" or "reference"')
    return Choice("reference", obstacle)


def _obstacle(filter: Filter, x: Tensor, shift: Shift) -> str | None:
    """Why the fused kernels cannot run this call; None if they can."""
    if filter.fused is None:
        return f"{type(filter).__name__} has no fused kernel"
    if torch.onnx.is_in_onnx_export():
        return "ONNX has no such operators"
    return _fused_kernels(filter.fused).obstacle(filter, x, shift)
