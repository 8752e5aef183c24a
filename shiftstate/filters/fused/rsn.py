"""The RSN's recurrence in one pass a shift, with its backward, for scalar weights (bank and depthwise mixing).

Weights come as rows of H, one number a column: ww wx yw yx. Kept for the backward is w_k alone: a scalar weight
commutes with S, so Σ_i a_i (S w_{k−1})_i, the gradient of h_kww, is Σ_j (Sᵀ a)_j w_{k−1,j}, and Sᵀ a is there anyway.
"""

import numpy as np

from shiftstate.filters.fused.blocks import TILE
from shiftstate.filters.fused.compiled import kernel
from shiftstate.filters.fused.elementary import activate, gather_row, through


@kernel
def forward(first, end, rows, graph, w_old, w, x, H, total, code_w, code_y):
    """Blocks first … end of one shift: w goes from S w_{k−1} (gathered unless ``graph`` is None) to w_k."""
    N, M = x.shape
    for i in range(first * rows, min(end * rows, N)):
        for column in range(0, M, TILE):
            start, stop = np.uint64(column), np.uint64(min(column + TILE, M))
            if graph is not None:
                gather_row(graph, w_old, i, start, stop, w[i])
            for j in range(start, stop):
                wj = activate(H[0, j] * w[i, j] + H[1, j] * x[i, j], code_w)
                w[i, j] = wj
                if total is not None:
                    total[i, j] += activate(H[2, j] * wj + H[3, j] * x[i, j], code_y)


@kernel
def backward(first, end, rows, graph, dx, a_old, a, w, x, H, ww, dtotal, code_w, code_y, dH):
    """Blocks first … end of one shift, in reverse.

    a goes from v = Sᵀ a_{k+1} (gathered from a_old unless ``graph`` is None) to a_k, the gradient of the argument of
    σ_w. ``ww`` is h_{k+1,ww}; its gradient Σ v w_k takes the place of h_kww's in dH.
    """
    N, M = x.shape
    for block in range(first, end):
        dH[block] = 0
        for column in range(0, M, TILE):
            start, stop = np.uint64(column), np.uint64(min(column + TILE, M))
            for i in range(block * rows, min(block * rows + rows, N)):
                if graph is not None:
                    gather_row(graph, a_old, i, start, stop, a[i])
                for j in range(start, stop):
                    v, wj, xj = a[i, j], w[i, j], x[i, j]
                    gy = through(dtotal[i, j], activate(H[2, j] * wj + H[3, j] * xj, code_y), code_y)
                    aj = through(ww[j] * v + H[2, j] * gy, wj, code_w)
                    a[i, j] = aj
                    dH[block, 0, j] += v * wj
                    dH[block, 1, j] += aj * xj
                    dH[block, 2, j] += gy * wj
                    dH[block, 3, j] += gy * xj
                    if dx is not None:
                        dx[i, j] += aj * H[1, j] + gy * H[3, j]
