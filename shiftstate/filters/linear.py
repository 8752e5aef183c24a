"""Products with a weight matrix whose gradient does not depend on the number of threads.

A weight's gradient is a sum over all nodes and signals. Some BLAS shares such a sum out among threads, and rounds it
otherwise for every number of them. In blocks of fixed size it is the same to the last bit.
"""

from typing import Any

import torch
from torch import Tensor

ROWS = 256
"""Rows of a block at most: too few for BLAS to share out."""


def summed_product(left: Tensor, right: Tensor) -> Tensor:
    """leftᵀ right for left (R, G) and right (R, F), as partial products of equally many rows, added in order."""
    count = max(1, -(-left.shape[0] // ROWS))
    rows = left.shape[0] // count
    whole = count * rows
    blocks = [side[:whole].reshape(count, rows, side.shape[1]) for side in (left, right)]
    total = torch.bmm(blocks[0].transpose(1, 2), blocks[1]).sum(0)
    return total if whole == left.shape[0] else total + left[whole:].T @ right[whole:]


class _Linear(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, weight: Tensor) -> Tensor:
        return x @ weight

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        dx = dy @ weight.T if ctx.needs_input_grad[0] else None
        dw = summed_product(x.flatten(0, -2), dy.flatten(0, -2)) if ctx.needs_input_grad[1] else None
        return dx, dw


def linear(x: Tensor, weight: Tensor) -> Tensor:
    """x @ weight for x (..., G) and weight (G, F)."""
    if x.device.type != "cpu" or not weight.requires_grad or torch.compiler.is_compiling():
        return x @ weight
    return _Linear.apply(x, weight)  # type: ignore[no-any-return,no-untyped-call]
