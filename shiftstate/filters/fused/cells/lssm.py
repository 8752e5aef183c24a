"""The LSSM's recurrence in one pass per shift, with its backward.

    c_k = γ_f ∘ c_{k−1} + γ_u ∘ c̃_k,   w_k = γ_w ∘ tanh(c_k)

The maps are c̃, forget, update and state gate, then the output: rows cw fw uw ww yw of H, and cx fx ux wx yx. Kept for
the backward are S w_{k−1} and c_k; the gates are computed again.
"""

import numpy as np

from shiftstate.filters.fused.cell import FusedCell
from shiftstate.filters.fused.compiling.blocks import TILE
from shiftstate.filters.fused.compiling.compiler import kernel
from shiftstate.filters.fused.compiling.elementary import activate, gather_row, sigmoid, tanh, through
from shiftstate.filters.fused.recurrences.matrix import MatrixRecurrence
from shiftstate.filters.fused.recurrences.scalar import ScalarRecurrence


@kernel
def forward(first, end, rows, graph, w_old, Sw, c_old, c, w, x, H, b, total, code):
    """Blocks first … end of one shift."""
    N, M = w.shape
    for i in range(first * rows, min(end * rows, N)):
        for column in range(0, M, TILE):
            start, stop = np.uint64(column), np.uint64(min(column + TILE, M))
            if graph is not None:
                gather_row(graph, w_old, i, start, stop, Sw[i])
            for j in range(start, stop):
                s = Sw[i, j]
                zc, zf, zu, zw = H[0, j] * s, H[1, j] * s, H[2, j] * s, H[3, j] * s
                if x is not None:
                    xj = x[i, j]
                    zc, zf = zc + H[5, j] * xj, zf + H[6, j] * xj
                    zu, zw = zu + H[7, j] * xj, zw + H[8, j] * xj
                if b is not None:
                    zc, zf, zu, zw = zc + b[0, j], zf + b[1, j], zu + b[2, j], zw + b[3, j]
                cj = sigmoid(zf) * c_old[i, j] + sigmoid(zu) * tanh(zc)
                wj = sigmoid(zw) * tanh(cj)
                c[i, j] = cj
                w[i, j] = wj
                if total is not None:
                    zy = H[4, j] * wj
                    if x is not None:
                        zy = zy + H[9, j] * x[i, j]
                    total[i, j] += activate(zy, code)


@kernel
def backward(first, end, rows, graph, dx, d_old, d, dc, Sw, c_old, c, w, x, H, b, dtotal, code, dH, db):
    """Blocks first … end of one shift, in reverse."""
    N, M = d.shape
    one = H.dtype.type(1)
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
                    zc, zf, zu, zw = H[0, j] * s, H[1, j] * s, H[2, j] * s, H[3, j] * s
                    if x is not None:
                        xj = x[i, j]
                        zc, zf = zc + H[5, j] * xj, zf + H[6, j] * xj
                        zu, zw = zu + H[7, j] * xj, zw + H[8, j] * xj
                    if b is not None:
                        zc, zf, zu, zw = zc + b[0, j], zf + b[1, j], zu + b[2, j], zw + b[3, j]
                    candidate, forget, update, state = tanh(zc), sigmoid(zf), sigmoid(zu), sigmoid(zw)
                    t = tanh(c[i, j])
                    wj = state * t
                    zy = H[4, j] * wj
                    if x is not None:
                        zy = zy + H[9, j] * x[i, j]
                    gy = through(dtotal[i, j], activate(zy, code), code)
                    dw = d[i, j] + gy * H[4, j]
                    dcj = dc[i, j] + dw * state * (one - t * t)
                    ac = dcj * update * (one - candidate * candidate)
                    af = dcj * c_old[i, j] * forget * (one - forget)
                    au = dcj * candidate * update * (one - update)
                    aw = dw * t * state * (one - state)
                    dc[i, j] = dcj * forget
                    d[i, j] = ac * H[0, j] + af * H[1, j] + au * H[2, j] + aw * H[3, j]
                    dH[block, 0, j] += ac * s
                    dH[block, 1, j] += af * s
                    dH[block, 2, j] += au * s
                    dH[block, 3, j] += aw * s
                    dH[block, 4, j] += gy * wj
                    if x is not None:
                        dH[block, 5, j] += ac * x[i, j]
                        dH[block, 6, j] += af * x[i, j]
                        dH[block, 7, j] += au * x[i, j]
                        dH[block, 8, j] += aw * x[i, j]
                        dH[block, 9, j] += gy * x[i, j]
                    if db is not None:
                        db[block, 0, j] += ac
                        db[block, 1, j] += af
                        db[block, 2, j] += au
                        db[block, 3, j] += aw
                    if dx is not None:
                        dx[i, j] += ac * H[5, j] + af * H[6, j] + au * H[7, j] + aw * H[8, j] + gy * H[9, j]


@kernel
def dense_forward(first, end, rows, z, zw, zx, Sw, c_old, c, w):
    """c_k and w_k from the gates' arguments z (rows, 4F): candidate, forget, update, state."""
    R, F = c.shape
    for i in range(first * rows, min(end * rows, R)):
        for j in range(F):
            cj = sigmoid(z[i, F + j]) * c_old[i, j] + sigmoid(z[i, 2 * F + j]) * tanh(z[i, j])
            c[i, j] = cj
            w[i, j] = sigmoid(z[i, 3 * F + j]) * tanh(cj)


@kernel
def dense_state(first, end, rows, z, zw, zx, Sw, c_old, c, w):
    """w_k again, from what was kept."""
    R, F = c.shape
    for i in range(first * rows, min(end * rows, R)):
        for j in range(F):
            w[i, j] = sigmoid(z[i, 3 * F + j]) * tanh(c[i, j])


@kernel
def dense_backward(first, end, rows, z, zw, zx, Sw, c_old, c, dw, dc):
    """z becomes its own gradient, dc goes from ∂/∂c_k to ∂/∂c_{k−1}."""
    R, F = c.shape
    one = z.dtype.type(1)
    for i in range(first * rows, min(end * rows, R)):
        for j in range(F):
            candidate, forget = tanh(z[i, j]), sigmoid(z[i, F + j])
            update, state = sigmoid(z[i, 2 * F + j]), sigmoid(z[i, 3 * F + j])
            t = tanh(c[i, j])
            dcj = dc[i, j] + dw[i, j] * state * (one - t * t)
            z[i, j] = dcj * update * (one - candidate * candidate)
            z[i, F + j] = dcj * c_old[i, j] * forget * (one - forget)
            z[i, 2 * F + j] = dcj * candidate * update * (one - update)
            z[i, 3 * F + j] = dw[i, j] * t * state * (one - state)
            dc[i, j] = dcj * forget


CELL = FusedCell(
    name="lssm",
    maps=("c", "f", "u", "w"),
    keeps=("Sw", "c"),
    memory=True,
    scalar=ScalarRecurrence,
    matrix=MatrixRecurrence,
    forward=forward,
    backward=backward,
    dense_forward=dense_forward,
    dense_state=dense_state,
    dense_backward=dense_backward,
)
