"""The backward of the RSN's recurrence for Chebyshev's basis; the forward is that of powers, with an Sw.

    w_k = σ_w(h_kww v_k + h_kwx x),   v_k = 2 S w_{k−1} − w_{k−2}

The weight of one shift does not commute with that of another, which stands on w_{k−2}: so v_k is kept, in the place of
S w_{k−1}, and w_k is computed again.
"""

import numpy as np

from shiftstate.filters.fused.compiling.blocks import TILE
from shiftstate.filters.fused.compiling.compiler import kernel
from shiftstate.filters.fused.compiling.elementary import activate, gather_row, through


@kernel
def backward(first, end, rows, graph, dx, d_old, d, dc, Sw, c_old, c, w, x, H, b, dtotal, code_w, code_y, dH, db):
    """Blocks first … end of one shift, in reverse."""
    N, M = d.shape
    for block in range(first, end):
        dH[block] = 0
        if db is not None:
            db[block] = 0
        for column in range(0, M, TILE):
            start, stop = np.uint64(column), np.uint64(min(column + TILE, M))
            for i in range(block * rows, min(block * rows + rows, N)):
                if graph is not None:
                    gather_row(graph, d_old, i, start, stop, d[i])
                for j in range(start, stop):
                    s = Sw[i, j]
                    z = H[0, j] * s
                    if x is not None:
                        z = z + H[2, j] * x[i, j]
                    if b is not None:
                        z = z + b[0, j]
                    wj = activate(z, code_w)
                    zy = H[1, j] * wj
                    if x is not None:
                        zy = zy + H[3, j] * x[i, j]
                    gy = through(dtotal[i, j], activate(zy, code_y), code_y)
                    aj = through(d[i, j] + H[1, j] * gy, wj, code_w)
                    d[i, j] = aj * H[0, j]
                    dH[block, 0, j] += aj * s
                    dH[block, 1, j] += gy * wj
                    if x is not None:
                        dH[block, 2, j] += aj * x[i, j]
                        dH[block, 3, j] += gy * x[i, j]
                    if db is not None:
                        db[block, 0, j] += aj
                    if dx is not None:
                        dx[i, j] += aj * H[2, j] + gy * H[3, j]


@kernel
def dense_backward(first, end, rows, z, zw, zx, Sw, c_old, c, dw, dc, code):
    """z becomes its own gradient."""
    for i in range(first * rows, min(end * rows, z.shape[0])):
        for j in range(z.shape[1]):
            z[i, j] = through(dw[i, j], activate(z[i, j], code), code)
