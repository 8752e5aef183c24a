"""When is a dense S faster than a sparse one? The rule of Shift's layout="auto" is read off this table.

One LSSM, K = 8, forward + backward on one thread, float32, the kernel that "auto" takes; the ratio sparse / dense, so
that above 1 dense wins.
"""

import itertools
import time

import torch
from rich.console import Console
from rich.table import Table

import shiftstate as ss

NODES = (32, 64, 128, 256, 512, 1024)
SHARES = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)
COLUMNS = (32, 400)  # one wide signal, and the paper's batch


def best(run, rounds=5, calls=3):
    return min(_once(run) for _ in range(rounds * calls))


def _once(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def runs(nodes, share, columns):
    generator = torch.Generator().manual_seed(0)
    matrix = (torch.rand(nodes, nodes, generator=generator) < share).float() / (share * nodes)
    layer = ss.LSSM(1, 4, 8, bias=False)
    x = torch.randn(columns // 4, nodes, 1, generator=generator)
    for layout in ("sparse", "dense"):
        shift = ss.Shift.from_matrix(matrix, layout=layout)
        yield lambda shift=shift: torch.autograd.grad(layer(x, shift).sum(), list(layer.parameters()))


def main():
    torch.set_num_threads(1)
    for columns in COLUMNS:
        table = Table(title=f"sparse / dense, {columns} columns")
        for heading in ("N", *(f"1/{round(1 / share)}" for share in SHARES)):
            table.add_column(heading, justify="right")
        cells = {}
        for nodes, share in itertools.product(NODES, SHARES):
            sparse, dense = (best(run) for run in runs(nodes, share, columns))
            cells[nodes, share] = sparse / dense
        for nodes in NODES:
            table.add_row(str(nodes), *(f"{cells[nodes, share]:.2f}" for share in SHARES))
        Console().print(table)


if __name__ == "__main__":
    main()
