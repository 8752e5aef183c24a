"""The LSSM's recurrence in one pass a shift, with its backward, for scalar weights (bank and depthwise mixing).

Weights come as rows of H, one number a column: c̃, forget, update and state gate on S w and on x by turns, then the
output's two: cw cx fw fx uw ux ww wx yw yx. Kept for the backward are S w_{k−1} and c_k; the gates are computed again.
"""

import numpy as np

from shiftstate.filters.fused.blocks import TILE
from shiftstate.filters.fused.compiled import kernel
from shiftstate.filters.fused.elementary import activate, gather_row, sigmoid, tanh, through


@kernel
def forward(first, end, rows, graph, w_old, Sw, x, H, b, c_old, c, w, total, code):
    """Blocks first … end of one shift. ``graph`` None: Sw holds S w_{k−1} already. ``total`` None: no outputs."""
    N, M = x.shape
    for i in range(first * rows, min(end * rows, N)):
        for column in range(0, M, TILE):
            start, stop = np.uint64(column), np.uint64(min(column + TILE, M))
            if graph is not None:
                gather_row(graph, w_old, i, start, stop, Sw[i])
            for j in range(start, stop):
                s, xj = Sw[i, j], x[i, j]
                zc = H[0, j] * s + H[1, j] * xj
                zf = H[2, j] * s + H[3, j] * xj
                zu = H[4, j] * s + H[5, j] * xj
                zw = H[6, j] * s + H[7, j] * xj
                if b is not None:
                    zc, zf, zu, zw = zc + b[0, j], zf + b[1, j], zu + b[2, j], zw + b[3, j]
                cj = sigmoid(zf) * c_old[i, j] + sigmoid(zu) * tanh(zc)
                wj = sigmoid(zw) * tanh(cj)
                c[i, j] = cj
                w[i, j] = wj
                if total is not None:
                    total[i, j] += activate(H[8, j] * wj + H[9, j] * xj, code)


@kernel
def backward(first, end, rows, graph, dx, d_old, d, Sw, x, H, b, c_old, c, dtotal, dc, code, dH, db):
    """Blocks first … end of one shift, in reverse.

    d holds ∂/∂w_k on entry (``graph`` None) or is gathered from d_old = ∂/∂(S w_k); it leaves as ∂/∂(S w_{k−1}).
    dc goes from ∂/∂c_k to ∂/∂c_{k−1}. Each block fills its own slice of dH and db.
    """
    N, M = x.shape
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
                    s, xj = Sw[i, j], x[i, j]
                    zc = H[0, j] * s + H[1, j] * xj
                    zf = H[2, j] * s + H[3, j] * xj
                    zu = H[4, j] * s + H[5, j] * xj
                    zw = H[6, j] * s + H[7, j] * xj
                    if b is not None:
                        zc, zf, zu, zw = zc + b[0, j], zf + b[1, j], zu + b[2, j], zw + b[3, j]
                    candidate, forget, update, state = tanh(zc), sigmoid(zf), sigmoid(zu), sigmoid(zw)
                    t = tanh(c[i, j])
                    wj = state * t
                    gy = through(dtotal[i, j], activate(H[8, j] * wj + H[9, j] * xj, code), code)
                    dw = d[i, j] + gy * H[8, j]
                    dcj = dc[i, j] + dw * state * (one - t * t)
                    ac = dcj * update * (one - candidate * candidate)
                    af = dcj * c_old[i, j] * forget * (one - forget)
                    au = dcj * candidate * update * (one - update)
                    aw = dw * t * state * (one - state)
                    dc[i, j] = dcj * forget
                    d[i, j] = ac * H[0, j] + af * H[2, j] + au * H[4, j] + aw * H[6, j]
                    dH[block, 0, j] += ac * s
                    dH[block, 1, j] += ac * xj
                    dH[block, 2, j] += af * s
                    dH[block, 3, j] += af * xj
                    dH[block, 4, j] += au * s
                    dH[block, 5, j] += au * xj
                    dH[block, 6, j] += aw * s
                    dH[block, 7, j] += aw * xj
                    dH[block, 8, j] += gy * wj
                    dH[block, 9, j] += gy * xj
                    if db is not None:
                        db[block, 0, j] += ac
                        db[block, 1, j] += af
                        db[block, 2, j] += au
                        db[block, 3, j] += aw
                    if dx is not None:
                        dx[i, j] += ac * H[1, j] + af * H[3, j] + au * H[5, j] + aw * H[7, j] + gy * H[9, j]
