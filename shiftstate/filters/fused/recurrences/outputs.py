"""The outputs of a recurrence: y_k = σ_y(h_kyw w_k + h_kyx x), and y = σ_y(Σ_k y_k).

With scalar weights y_1 … y_K belong to the cells' kernels; here are the two ends, y_0 and y. The two weights of y_0 are
not added first: at x = ∞ the two products may cancel to NaN, and their sum may not. With matrices for weights all
outputs are the same for every cell: the last four functions.
"""

import numpy as np

from shiftstate.filters.fused.compiling.blocks import TILE
from shiftstate.filters.fused.compiling.compiler import kernel
from shiftstate.filters.fused.compiling.elementary import activate, through


@kernel
def first_output(x, yw, yx, total, code):
    """total = y_0, where w_0 = x; ``yx`` None: x enters as w_0 only."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z = yw[j] * x[i, j]
            if yx is not None:
                z = z + yx[j] * x[i, j]
            total[i, j] = activate(z, code)


@kernel
def first_output_backward(first, end, rows, v, scale, x, yw, yx, dtotal, dx, code, dH):
    """Gradients that reach x at k = 0: of y_0, and of w_0 as ``scale`` · v with v = Sᵀ(…) (None: not asked for).

    dH gets Σ v x and Σ ∂y_0 x, the latter the gradient of h_0yw and of h_0yx alike.
    """
    N, M = x.shape
    for block in range(first, end):
        dH[block] = 0
        for column in range(0, M, TILE):
            start, stop = np.uint64(column), np.uint64(min(column + TILE, M))
            for i in range(block * rows, min(block * rows + rows, N)):
                for j in range(start, stop):
                    z = yw[j] * x[i, j]
                    if yx is not None:
                        z = z + yx[j] * x[i, j]
                    gy = through(dtotal[i, j], activate(z, code), code)
                    dH[block, 1, j] += gy * x[i, j]
                    if v is not None:
                        dH[block, 0, j] += v[i, j] * x[i, j]
                    if dx is not None:
                        share = gy * yw[j]
                        if yx is not None:
                            share = share + gy * yx[j]
                        dx[i, j] += share
                        if v is not None:
                            dx[i, j] += scale[j] * v[i, j]


@kernel
def finish(total, code):
    """total = σ_y(total), in place."""
    for i in range(total.shape[0]):
        for j in range(total.shape[1]):
            total[i, j] = activate(total[i, j], code)


@kernel
def finish_backward(dy, y, dtotal, code):
    """Σ_k y_k's gradient from y's; y holds σ_y(Σ_k y_k)."""
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            dtotal[i, j] = through(dy[i, j], y[i, j], code)


@kernel
def activate_rows(first, end, rows, z, code):
    """z = σ(z), in place."""
    for i in range(first * rows, min(end * rows, z.shape[0])):
        for j in range(z.shape[1]):
            z[i, j] = activate(z[i, j], code)


@kernel
def add_activated(first, end, rows, z, total, code):
    """Total += σ(z)."""
    for i in range(first * rows, min(end * rows, z.shape[0])):
        for j in range(z.shape[1]):
            total[i, j] += activate(z[i, j], code)


@kernel
def through_argument(first, end, rows, z, d, code):
    """z becomes d σ'(z)."""
    for i in range(first * rows, min(end * rows, z.shape[0])):
        for j in range(z.shape[1]):
            z[i, j] = through(d[i, j], activate(z[i, j], code), code)


@kernel
def through_value(first, end, rows, value, d, code):
    """d becomes d σ'(z), with σ(z) given."""
    for i in range(first * rows, min(end * rows, d.shape[0])):
        for j in range(d.shape[1]):
            d[i, j] = through(d[i, j], value[i, j], code)
