"""Products with weight matrices and with a dense S: ours against BLAS, one thread, float32 and float64.

    python benchmarks/products.py

x W for x (R, G) and W (G, F), the gradient xᵀ dy, and S w. Each ratio is our time over that of torch.mm, or, in the
last column, over the gradient in blocks of 256 rows by torch.bmm, which it replaced: below 1 ours is faster. The best
of many calls counts, taken by turns, in processor time, so that other programs hardly disturb it.
"""

import time
from collections.abc import Callable

import torch
from torch import Tensor

from shiftstate.filters.fused.products.shifts import Product
from shiftstate.filters.linear import product, summed_product

SHAPES = [
    (5000, 1, 4),  # the paper's: 50 nodes, 100 signals
    (5000, 4, 4),
    (5000, 4, 16),
    (5000, 16, 4),
    (5000, 33, 4),
    (5000, 8, 8),
    (5000, 7, 7),
    (5000, 16, 16),
    (5000, 32, 32),
    (5000, 64, 64),
    (24000, 1, 2),
    (2708, 1433, 64),  # a citation graph
    (2708, 256, 256),
    (200_000, 32, 32),  # a large graph
]
GRAPHS = [(50, 100), (50, 400), (61, 333), (200, 400), (512, 512)]


def blocks_of_256(left: Tensor, right: Tensor) -> Tensor:
    """leftᵀ right as partial products of at most 256 rows, by BLAS: what our kernels replaced."""
    count = max(1, -(-left.shape[0] // 256))
    rows = left.shape[0] // count
    whole = count * rows
    parts = [side[:whole].reshape(count, rows, side.shape[1]) for side in (left, right)]
    total = torch.bmm(parts[0].transpose(1, 2), parts[1]).sum(0)
    return total if whole == left.shape[0] else total + left[whole:].T @ right[whole:]


def best(runs: dict[str, Callable[[], object]], seconds: float = 0.4) -> dict[str, float]:
    """Seconds of the fastest call of each."""
    found = dict.fromkeys(runs, float("inf"))
    for run in runs.values():
        run()
    end = time.perf_counter() + seconds * len(runs)
    rounds = 0
    while rounds < 5 or (rounds < 300 and time.perf_counter() < end):
        rounds += 1
        for name, run in runs.items():
            for _ in range(2):
                start = time.thread_time()
                run()
                found[name] = min(found[name], time.thread_time() - start)
    return found


def main() -> None:
    for dtype in (torch.float32, torch.float64):
        print(f"{dtype}: ours over BLAS\n{'R × G × F':>18} {'x W':>6} {'xᵀ dy':>6} {'xᵀ dy over blocks of 256':>25}")
        for R, G, F in SHAPES:
            x, W, dy = torch.randn(R, G, dtype=dtype), torch.randn(G, F, dtype=dtype), torch.randn(R, F, dtype=dtype)
            out = torch.empty(R, F, dtype=dtype)
            times = best(
                {
                    "forward": lambda x=x, W=W, out=out: product(x, W, out),
                    "mm": lambda x=x, W=W, out=out: torch.mm(x, W, out=out),
                    "gradient": lambda x=x, dy=dy: summed_product(x, dy),
                    "mm gradient": lambda x=x, dy=dy: torch.mm(x.T, dy),
                    "bmm gradient": lambda x=x, dy=dy: blocks_of_256(x, dy),
                }
            )
            forward, gradient = times["forward"] / times["mm"], times["gradient"] / times["mm gradient"]
            old = times["gradient"] / times["bmm gradient"]
            print(f"{f'{R:,} × {G} × {F}':>18} {forward:6.2f} {gradient:6.2f} {old:25.2f}", flush=True)
        print(f"{'S':>12} {'w':>10} {'S w':>6} {'Sᵀ w':>6}")
        for N, M in GRAPHS:
            S, w, out = torch.randn(N, N, dtype=dtype), torch.randn(N, M, dtype=dtype), torch.empty(N, M, dtype=dtype)
            ours = Product.of((S,))
            times = best(
                {
                    "ours": lambda ours=ours, w=w, out=out: ours.apply(w, out),
                    "ours transposed": lambda ours=ours, w=w, out=out: ours.apply(w, out, transpose=True),
                    "mm": lambda S=S, w=w, out=out: torch.mm(S, w, out=out),
                }
            )
            ratios = times["ours"] / times["mm"], times["ours transposed"] / times["mm"]
            print(f"{f'{N} × {N}':>12} {f'{N} × {M}':>10} {ratios[0]:6.2f} {ratios[1]:6.2f}", flush=True)


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    main()
