"""Weights by column, for filters with scalar weights: a state (N, M) has a column for every signal and channel."""

import numpy as np

from shiftstate.filters.fused.compiling.compiler import kernel


@kernel
def spread(rows, table, starts):
    """Rows of weights (·, F·G), name by name, to table (k, name, b, F·G), for every b.

    Name p counts from k = starts[p]; the table's last k stays as it is.
    """
    row = 0
    for p in range(table.shape[1]):
        for k in range(starts[p], table.shape[0] - 1):
            for b in range(table.shape[2]):
                for j in range(table.shape[3]):
                    table[k, p, b, j] = rows[row, j]
            row += 1


@kernel
def gather(table, starts, grads):
    """The gradient of `spread`: sums over b of table (k, name, b, F·G), to grads (name, k, F·G), taken in float64."""
    total = np.empty(table.shape[3], np.float64)
    for p in range(table.shape[1]):
        for k in range(starts[p], table.shape[0] - 1):
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
