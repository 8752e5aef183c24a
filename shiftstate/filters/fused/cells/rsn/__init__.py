"""The RSN, w_k = σ_w(h_kww S w_{k−1} + h_kwx x): kernels for the basis of powers, and for Chebyshev's."""

from shiftstate.filters.fused.cell import FusedCell
from shiftstate.filters.fused.cells.rsn import chebyshev, powers
from shiftstate.filters.fused.recurrences.matrix import MatrixRecurrence
from shiftstate.filters.fused.recurrences.scalar import ScalarRecurrence

ACTIVATIONS = ("state_activation", "output_activation")

CELL = FusedCell(
    name="rsn",
    maps=("w",),
    keeps=("w",),
    activations=ACTIVATIONS,
    scalar=powers.Scalar,
    matrix=powers.Matrix,
    forward=powers.forward,
    backward=powers.backward,
    dense_forward=powers.dense_forward,
    chebyshev=FusedCell(
        name="rsn",
        maps=("w",),
        keeps=("Sw",),
        activations=ACTIVATIONS,
        scalar=ScalarRecurrence,
        matrix=MatrixRecurrence,
        forward=powers.forward,
        backward=chebyshev.backward,
        dense_forward=powers.dense_forward,
        dense_state=powers.dense_forward,
        dense_backward=chebyshev.dense_backward,
    ),
)
