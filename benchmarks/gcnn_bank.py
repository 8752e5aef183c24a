"""What a GCNN's bank costs, forward and backward, by three ways of its products with weights, side by side.

    python benchmarks/gcnn_bank.py

The library's; autograd over products of BLAS, as before the gradients of weights were summed in blocks; and the same
with those gradients in blocks of 256 rows. Each way has the same order of operations and the same product with S, by
torch. The paper's shape, N = 50 and B = 100, one thread, float32. The best of many calls counts, taken by turns, in
processor time, so that other programs hardly disturb it.
"""

from collections.abc import Callable
from typing import Any

import torch
from products import best, blocks_of_256  # beside this file
from torch import Tensor

import shiftstate as ss

N, B = 50, 100


class Blocks(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return x @ weight

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor | None, Tensor]:
        x, weight = ctx.saved_tensors
        dx = dy @ weight.T if ctx.needs_input_grad[0] else None
        return dx, blocks_of_256(x.flatten(0, -2), dy.flatten(0, -2))


def composed(x: Tensor, h: Tensor, S: Tensor, times: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """The filter from single products, in the order that shifts fewer channels."""

    def shifted(w: Tensor) -> Tensor:
        return (S @ w.reshape(N, -1)).view(w.shape)

    if x.shape[-1] < h.shape[1]:
        states = [x]
        for _ in h[1:]:
            states.append(shifted(states[-1]))
        if times is torch.matmul:
            return torch.einsum("knbg,kfg->nbf", torch.stack(states), h)
        return times(torch.stack(states, -2).flatten(-2), h.transpose(1, 2).flatten(0, 1))
    x = x.contiguous()
    *lower, highest = h
    u = times(x, highest.T)
    for weight in reversed(lower):
        u = shifted(u) + times(x, weight.T)
    return u


def main() -> None:
    matrix = torch.rand(N, N) < 0.3
    shift = ss.Shift.from_matrix((matrix | matrix.T).float(), layout="dense").normalized("symmetric")
    S = shift.to_dense()
    print(f"{'':>16} {'ours':>9} {'over BLAS':>10} {'over blocks of 256':>19}")
    for G, F, K in [(1, 4, 32), (4, 4, 32), (4, 4, 4), (4, 1, 32), (2, 8, 16), (32, 32, 8)]:
        layer, x, dy = ss.GCNN(G, F, K, bias=False), torch.randn(B, N, G), torch.randn(B, N, F)

        def step(y: Callable[[], Tensor], layer: ss.GCNN = layer, dy: Tensor = dy) -> Tensor:
            return torch.autograd.grad(y(), layer.h, dy)[0]

        def plain(times: Any, layer: ss.GCNN = layer, x: Tensor = x) -> Tensor:
            return composed(x.movedim(-2, 0), layer.h, S, times).movedim(0, -2)

        runs = {
            "ours": lambda step=step, layer=layer, x=x: step(lambda: layer(x, shift)),
            "BLAS": lambda step=step, plain=plain: step(lambda: plain(torch.matmul)),
            "blocks": lambda step=step, plain=plain: step(lambda: plain(Blocks.apply)),
        }
        wanted = runs["BLAS"]()
        for run in runs.values():
            assert float((run() - wanted).abs().max() / wanted.abs().max()) < 1e-4
        times = best(runs, 1.0)
        ours = times["ours"]
        ratios = f"{ours / times['BLAS']:10.2f} {ours / times['blocks']:19.2f}"
        print(f"{f'{G} → {F}, K = {K}':>16} {1e3 * ours:6.2f} ms {ratios}", flush=True)


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    main()
