"""The GSN's recurrence in one pass per shift, with its backward.

    w_k = (1 − z_k) ∘ S w_{k−1} + z_k ∘ tanh(r_k ∘ (h_kcw S w_{k−1}) + h_kcx x)

The maps are the candidate, update and reset gate, then the output: rows cw zw rw yw of H, and cx zx rx yx. Kept for the
backward is S w_{k−1} alone; gates and w_k are computed again.
"""

import numpy as np

from shiftstate.filters.fused.cell import FusedCell
from shiftstate.filters.fused.compiling.blocks import TILE
from shiftstate.filters.fused.compiling.compiler import inlined, kernel
from shiftstate.filters.fused.compiling.elementary import activate, gather_row, sigmoid, tanh, through
from shiftstate.filters.fused.recurrences.matrix import MatrixRecurrence
from shiftstate.filters.fused.recurrences.scalar import ScalarRecurrence


@inlined
def gate(z, one, last):
    """Sigmoid, exactly 0 and 1 beyond ±last: it and 1 minus it multiply a state that may be large, or infinite."""
    return one if z > last else one - one if z < -last else sigmoid(z)


@inlined
def last_digit(array):
    """Where sigmoid is 1 to the last digit."""
    return array.dtype.type(16.6 if array.itemsize == 4 else 36.7)


@kernel
def forward(first, end, rows, graph, w_old, Sw, c_old, c, w, x, H, b, total, code):
    """Blocks first … end of one shift."""
    N, M = w.shape
    one, last = H.dtype.type(1), last_digit(H)
    for i in range(first * rows, min(end * rows, N)):
        for column in range(0, M, TILE):
            start, stop = np.uint64(column), np.uint64(min(column + TILE, M))
            if graph is not None:
                gather_row(graph, w_old, i, start, stop, Sw[i])
            for j in range(start, stop):
                s = Sw[i, j]
                zz, zr = H[1, j] * s, H[2, j] * s
                if x is not None:
                    zz, zr = zz + H[5, j] * x[i, j], zr + H[6, j] * x[i, j]
                if b is not None:
                    zz, zr = zz + b[1, j], zr + b[2, j]
                update, reset = gate(zz, one, last), gate(zr, one, last)
                zc = reset * (H[0, j] * s)
                if x is not None:
                    zc = zc + H[4, j] * x[i, j]
                if b is not None:
                    zc = zc + b[0, j]
                wj = (one - update) * s + update * tanh(zc)
                w[i, j] = wj
                if total is not None:
                    zy = H[3, j] * wj
                    if x is not None:
                        zy = zy + H[7, j] * x[i, j]
                    total[i, j] += activate(zy, code)


@kernel
def backward(first, end, rows, graph, dx, d_old, d, dc, Sw, c_old, c, w, x, H, b, dtotal, code, dH, db):
    """Blocks first … end of one shift, in reverse."""
    N, M = d.shape
    one, last = H.dtype.type(1), last_digit(H)
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
                    zz, zr, zs = H[1, j] * s, H[2, j] * s, H[0, j] * s
                    if x is not None:
                        zz, zr = zz + H[5, j] * x[i, j], zr + H[6, j] * x[i, j]
                    if b is not None:
                        zz, zr = zz + b[1, j], zr + b[2, j]
                    update, reset = gate(zz, one, last), gate(zr, one, last)
                    zc = reset * zs
                    if x is not None:
                        zc = zc + H[4, j] * x[i, j]
                    if b is not None:
                        zc = zc + b[0, j]
                    candidate = tanh(zc)
                    wj = (one - update) * s + update * candidate
                    zy = H[3, j] * wj
                    if x is not None:
                        zy = zy + H[7, j] * x[i, j]
                    gy = through(dtotal[i, j], activate(zy, code), code)
                    dw = d[i, j] + gy * H[3, j]
                    ac = dw * update * (one - candidate * candidate)
                    az = (dw * candidate - dw * s) * update * (one - update)
                    ar = ac * zs * reset * (one - reset)
                    ap = ac * reset
                    d[i, j] = dw * (one - update) + ap * H[0, j] + az * H[1, j] + ar * H[2, j]
                    dH[block, 0, j] += ap * s
                    dH[block, 1, j] += az * s
                    dH[block, 2, j] += ar * s
                    dH[block, 3, j] += gy * wj
                    if x is not None:
                        dH[block, 4, j] += ac * x[i, j]
                        dH[block, 5, j] += az * x[i, j]
                        dH[block, 6, j] += ar * x[i, j]
                        dH[block, 7, j] += gy * x[i, j]
                    if db is not None:
                        db[block, 0, j] += ac
                        db[block, 1, j] += az
                        db[block, 2, j] += ar
                    if dx is not None:
                        dx[i, j] += ac * H[4, j] + az * H[5, j] + ar * H[6, j] + gy * H[7, j]


@kernel
def dense_forward(first, end, rows, z, zw, zx, Sw, c_old, c, w):
    """w_k from the gates' arguments z (rows, 2F), update and reset, and the candidate's two parts."""
    R, F = w.shape
    one, last = z.dtype.type(1), last_digit(z)
    for i in range(first * rows, min(end * rows, R)):
        for j in range(F):
            update, zc = gate(z[i, j], one, last), gate(z[i, F + j], one, last) * zw[i, j]
            if zx is not None:
                zc = zc + zx[i, j]
            w[i, j] = (one - update) * Sw[i, j] + update * tanh(zc)


@kernel
def dense_backward(first, end, rows, z, zw, zx, Sw, c_old, c, dw, dc):
    """z, zw and zx become their own gradients, dw what reaches S w_{k−1} through 1 − z_k."""
    R, F = dw.shape
    one, last = z.dtype.type(1), last_digit(z)
    for i in range(first * rows, min(end * rows, R)):
        for j in range(F):
            update, reset, state = gate(z[i, j], one, last), gate(z[i, F + j], one, last), zw[i, j]
            zc = reset * state
            if zx is not None:
                zc = zc + zx[i, j]
            candidate = tanh(zc)
            ac = dw[i, j] * update * (one - candidate * candidate)
            z[i, j] = (dw[i, j] * candidate - dw[i, j] * Sw[i, j]) * update * (one - update)
            z[i, F + j] = ac * state * reset * (one - reset)
            zw[i, j] = ac * reset
            if zx is not None:
                zx[i, j] = ac
            dw[i, j] = dw[i, j] * (one - update)


CELL = FusedCell(
    name="gsn",
    maps=("c", "z", "r"),
    apart=("c",),
    keeps=("Sw",),
    direct=True,
    scalar=ScalarRecurrence,
    matrix=MatrixRecurrence,
    forward=forward,
    backward=backward,
    dense_forward=dense_forward,
    dense_state=dense_forward,
    dense_backward=dense_backward,
)
