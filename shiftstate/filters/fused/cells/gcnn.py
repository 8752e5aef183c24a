"""The GCNN, which is no recurrence with a state of its own: see `shiftstate.filters.fused.gcnn`."""

from torch import Tensor

from shiftstate.filters.fused.cell import Kernels, compiled_obstacle, functional_obstacle
from shiftstate.filters.fused.gcnn import run_gcnn
from shiftstate.filters.reference import Filter
from shiftstate.graphs import Shift


class Polynomial(Kernels):
    """y = Σ_k h_k S^k x."""

    def obstacle(self, filter: Filter, x: Tensor, shift: Shift) -> str | None:
        """Why the kernels cannot run this call; None if they can. Unless depthwise, it is made of ordinary products."""
        return compiled_obstacle(x, shift) if filter.mixing == "depthwise" else functional_obstacle(x)

    def run(self, filter: Filter, x: Tensor, shift: Shift, checkpoint: int | None = None) -> Tensor:
        """x (N, B, G) → y (N, B, F) through K shifts."""
        return run_gcnn(filter, x, shift, checkpoint)


CELL = Polynomial()
