"""The RSN's recurrence in one pass per shift, with its backward, for the basis of powers.

    w_k = σ_w(h_kww S w_{k−1} + h_kwx x)

The maps are the state and the output: rows ww yw of H, and wx yx. Kept for the backward is w_k alone: a weight
commutes with S, so Σ_i a_i (S w_{k−1})_i, the gradient of h_kww, is Σ_j (Sᵀ a)_j w_{k−1,j}, and Sᵀ a is there anyway.
"""

from typing import Any

import numpy as np
from torch import Tensor

from shiftstate.filters.fused.compiling.blocks import TILE
from shiftstate.filters.fused.compiling.compiler import kernel
from shiftstate.filters.fused.compiling.elementary import activate, gather_row, through
from shiftstate.filters.fused.recurrences import outputs
from shiftstate.filters.fused.recurrences.matrix import MatrixRecurrence
from shiftstate.filters.fused.recurrences.scalar import ScalarRecurrence
from shiftstate.filters.fused.recurrences.states import States
from shiftstate.filters.linear import product, summed_product


@kernel
def forward(first, end, rows, graph, w_old, Sw, c_old, c, w, x, H, b, total, code_w, code_y):
    """Blocks first … end of one shift; without an Sw, w goes from S w_{k−1} to w_k."""
    N, M = w.shape
    s = w if Sw is None else Sw
    for i in range(first * rows, min(end * rows, N)):
        for column in range(0, M, TILE):
            start, stop = np.uint64(column), np.uint64(min(column + TILE, M))
            if graph is not None:
                gather_row(graph, w_old, i, start, stop, s[i])
            for j in range(start, stop):
                z = H[0, j] * s[i, j]
                if x is not None:
                    z = z + H[2, j] * x[i, j]
                if b is not None:
                    z = z + b[0, j]
                wj = activate(z, code_w)
                w[i, j] = wj
                if total is not None:
                    zy = H[1, j] * wj
                    if x is not None:
                        zy = zy + H[3, j] * x[i, j]
                    total[i, j] += activate(zy, code_y)


@kernel
def backward(first, end, rows, graph, dx, a_old, a, dc, Sw, c_old, c, w, x, H, ww, b, dtotal, code_w, code_y, dH, db):
    """Blocks first … end of one shift, in reverse.

    a goes from v = Sᵀ a_{k+1} (gathered from a_old unless ``graph`` is None) to a_k, the gradient of the argument of
    σ_w. ``ww`` is h_{k+1,ww}; its gradient Σ v w_k takes the place of h_kww's in dH.
    """
    N, M = a.shape
    for block in range(first, end):
        dH[block] = 0
        if db is not None:
            db[block] = 0
        for column in range(0, M, TILE):
            start, stop = np.uint64(column), np.uint64(min(column + TILE, M))
            for i in range(block * rows, min(block * rows + rows, N)):
                if graph is not None:
                    gather_row(graph, a_old, i, start, stop, a[i])
                for j in range(start, stop):
                    v, wj = a[i, j], w[i, j]
                    zy = H[1, j] * wj
                    if x is not None:
                        zy = zy + H[3, j] * x[i, j]
                    gy = through(dtotal[i, j], activate(zy, code_y), code_y)
                    aj = through(ww[j] * v + H[1, j] * gy, wj, code_w)
                    a[i, j] = aj
                    dH[block, 0, j] += v * wj
                    dH[block, 1, j] += gy * wj
                    if x is not None:
                        dH[block, 2, j] += aj * x[i, j]
                        dH[block, 3, j] += gy * x[i, j]
                    if db is not None:
                        db[block, 0, j] += aj
                    if dx is not None:
                        dx[i, j] += aj * H[2, j] + gy * H[3, j]


@kernel
def dense_forward(first, end, rows, z, zw, zx, Sw, c_old, c, w, code):
    """w_k = σ_w(z)."""
    for i in range(first * rows, min(end * rows, z.shape[0])):
        for j in range(z.shape[1]):
            w[i, j] = activate(z[i, j], code)


class Scalar(ScalarRecurrence):
    """The gradient of h_kww comes one shift later than the others."""

    def weights_back(self, k: int) -> tuple[Any, ...]:
        """The weights of shift k, and h_{k+1,ww}."""
        return self.H[k], self.H[k + 1, 0]

    def finish_backward(self) -> None:
        """Sᵀ a_1 gives the gradients of h_1ww and of w_0 = x."""
        v = self.last_product()[1] if self.K else None
        state_weight = self.input_gradients(v, self.H[1, 0])
        if self.K:
            self.dH[0, 0, 0] = state_weight
            self.dH[1 : self.K + 1, 0, 0] = self.dH[: self.K, 0, 0]


class Matrix(MatrixRecurrence):
    """The gradient of h_kww without S w_{k−1}."""

    def step_back(self, k: int, slot: int, d: Tensor, states: States) -> Tensor:
        """Shift k in reverse: from ∂/∂w_k, without y_k's share, to ∂/∂w_{k−1}."""
        assert states.w is not None
        (w_old, _), (w, _) = states.w[slot], states.w[slot + 1]
        a, v = d + self.output_back(k, w), self.blank()
        self.in_rows(outputs.through_value, w, a, *self.codes)
        self.shift(k, a, v, None, transpose=True)
        self.weights_back(self.added, k, a, summed_product(v, w_old))
        return product(v, self.added.w[k - 1])
