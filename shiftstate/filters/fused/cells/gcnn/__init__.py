"""The GCNN in its cheapest order of operations; it is no recurrence with a state of its own."""

from torch import Tensor

from shiftstate.filters.fused.cell import Kernels, compiled_obstacle, functional_obstacle
from shiftstate.filters.fused.cells.gcnn.bank import run_bank
from shiftstate.filters.fused.cells.gcnn.depthwise import run_depthwise
from shiftstate.filters.reference import Filter
from shiftstate.graphs import Shift


class PolynomialKernels(Kernels):
    """y = Σ_k h_k S^k x, or Σ_k h_k T_k(S) x in Chebyshev's basis."""

    def obstacle(self, filter: Filter, x: Tensor, shift: Shift) -> str | None:
        """Why the kernels cannot run this call; None if they can. Unless depthwise, it is made of ordinary products."""
        return compiled_obstacle(x, shift) if filter.mixing == "depthwise" else functional_obstacle(x, shift)

    def run(self, filter: Filter, x: Tensor, shift: Shift, checkpoint: int | None = None) -> Tensor:
        """x (N, B, G) → y (N, B, F) through K shifts."""
        h = filter.output_weights()["h"]  # (K+1, F, G)
        chebyshev = filter.basis == "chebyshev"
        if filter.mixing == "depthwise":
            return run_depthwise(filter.start(x)[0].squeeze(-1), h.squeeze(-1), shift, chebyshev)
        return run_bank(x, h, shift, checkpoint, chebyshev)


CELL = PolynomialKernels()
