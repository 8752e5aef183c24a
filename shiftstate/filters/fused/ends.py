"""The two ends of a filter with scalar weights: y_0 = σ_y(h_0yw x + h_0yx x), where w_0 = x, and y = σ_y(Σ_k y_k).

The two weights of y_0 are not added first: at x = ∞ the two products may cancel to NaN, and their sum may not.
"""

import numpy as np

from shiftstate.filters.fused.blocks import TILE
from shiftstate.filters.fused.compiled import kernel
from shiftstate.filters.fused.elementary import activate, through


@kernel
def first_output(x, yw, yx, total, code):
    """total = y_0."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total[i, j] = activate(yw[j] * x[i, j] + yx[j] * x[i, j], code)


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
                    gy = through(dtotal[i, j], activate(yw[j] * x[i, j] + yx[j] * x[i, j], code), code)
                    dH[block, 1, j] += gy * x[i, j]
                    if v is not None:
                        dH[block, 0, j] += v[i, j] * x[i, j]
                    if dx is not None:
                        dx[i, j] += gy * yw[j] + gy * yx[j]
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
def spread(rows, table, outputs):
    """Rows of weights (·, F·G), name by name, to table (k, name, b, F·G), for every b.

    The last ``outputs`` names start at k = 0, the others at k = 1; the table's last k stays as it is.
    """
    row = 0
    for p in range(table.shape[1]):
        for k in range(0 if p >= table.shape[1] - outputs else 1, table.shape[0] - 1):
            for b in range(table.shape[2]):
                for j in range(table.shape[3]):
                    table[k, p, b, j] = rows[row, j]
            row += 1


@kernel
def gather(table, outputs, grads):
    """The gradient of `spread`: sums over b of table (k, name, b, F·G), to grads (name, k, F·G), taken in float64."""
    total = np.empty(table.shape[3], np.float64)
    for p in range(table.shape[1]):
        for k in range(0 if p >= table.shape[1] - outputs else 1, table.shape[0] - 1):
            total[:] = 0
            for b in range(table.shape[2]):
                for j in range(table.shape[3]):
                    total[j] += table[k, p, b, j]
            for j in range(table.shape[3]):
                grads[p, k, j] = total[j]


@kernel
def add_blocks(parts, total):
    """The blocks' partial sums, added in order."""
    total[:] = 0
    for block in range(parts.shape[0]):
        for p in range(parts.shape[1]):
            for j in range(parts.shape[2]):
                total[p, j] += parts[block, p, j]
