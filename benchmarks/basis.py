"""What Chebyshev's basis costs, forward and backward: against powers of S, and against the reference loop.

    python benchmarks/basis.py

The paper's shape (N = 50, B = 100, dense S), the filter of long reach (GSN, dense mixing, tied) and a sparse graph of
20,000 nodes and 200,000 edges. Outputs and gradients are compared with the reference first. One thread, float32. The
best of many calls counts, taken by turns, in processor time, so that other programs hardly disturb it.
"""

import copy
from collections.abc import Callable
from typing import Any

import torch
from products import best  # beside this file
from torch import Tensor

import shiftstate as ss
from shiftstate.layers import LAYERS

WAYS = [("chebyshev", "chebyshev", "fused"), ("powers", "powers", "fused"), ("reference", "chebyshev", "reference")]
SMALL = {"nodes": 50, "edges": 400, "batch": 100}
LARGE = {"nodes": 20_000, "edges": 200_000, "batch": 1}
CASES: list[tuple[str, tuple[int, int, int], dict[str, Any], dict[str, int]]] = [
    *((kind, (1, 4, 32), {"mixing": "bank"}, SMALL) for kind in LAYERS),
    ("gcnn", (4, 4, 32), {"mixing": "bank"}, SMALL),
    ("gsn", (8, 8, 32), {"mixing": "dense", "tied": True}, SMALL),
    *((kind, (16, 16, 16), {"mixing": "depthwise"}, LARGE) for kind in LAYERS),
    ("gsn", (16, 16, 16), {"mixing": "dense", "tied": True}, LARGE),
]


def undirected(nodes: int, edges: int) -> ss.Shift:
    """A random graph whose S is symmetric with eigenvalues within ±1."""
    ends = torch.randint(nodes, (2, edges // 2))
    both = torch.cat([ends, ends.flip(0)], 1)
    layout = "dense" if nodes <= 512 else "sparse"
    return ss.Shift.from_edges(both, num_nodes=nodes, layout=layout).normalized("symmetric")


def step(layer: ss.Layer, x: Tensor, shift: ss.Shift, dy: Tensor) -> Callable[[], list[Tensor]]:
    """Forward and backward by all weights."""
    weights = list(layer.parameters())

    def run() -> list[Tensor]:
        y = layer(x, shift)
        return [y.detach(), *torch.autograd.grad(y, weights, dy)]

    return run


def main() -> None:
    print(f"{'':>48} {'Chebyshev':>10} {'over powers':>12} {'reference over it':>18}")
    for kind, (G, F, K), options, size in CASES:
        torch.manual_seed(0)
        shift = undirected(size["nodes"], size["edges"])
        x, dy = torch.randn(size["batch"], size["nodes"], G), torch.randn(size["batch"], size["nodes"], F)
        layer = LAYERS[kind](G, F, K, basis="chebyshev", kernel="fused", **options)
        runs = {}
        for name, basis, kernel in WAYS:
            one = copy.deepcopy(layer)
            one.basis, one.kernel = basis, kernel
            runs[name] = step(one, x, shift, dy)
        for found, wanted in zip(runs["chebyshev"](), runs["reference"](), strict=True):
            assert float((found - wanted).abs().max()) <= 1e-3 * float(wanted.abs().max())
        times = best(runs, 2.0)
        name = f"{kind.upper()} N={size['nodes']} {G}→{F} {options['mixing']} K={K}"
        ours = times["chebyshev"]
        ratios = f"{ours / times['powers']:12.2f} {times['reference'] / ours:18.1f}"
        print(f"{name:>48} {1e3 * ours:7.2f} ms {ratios}", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
