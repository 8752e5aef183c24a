"""The GCNN with one weight per shift and channel, in Horner's order: u_k = h_k x + S u_{k+1}. Nothing is kept but x.

In Chebyshev's basis it is Clenshaw's order: u_k = h_k x + 2 S u_{k+1} − u_{k+2}, and y = h_0 x + S u_1 − u_2.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from shiftstate.filters.fused.compiling.blocks import TILE, Stage, for_blocks, num_blocks, rows_per_block
from shiftstate.filters.fused.compiling.compiler import announced, kernel
from shiftstate.filters.fused.compiling.elementary import gather_row
from shiftstate.filters.fused.many_gradients import for_each
from shiftstate.filters.fused.memory.buffers import empty
from shiftstate.filters.fused.products.shifts import Product, both, check_operator
from shiftstate.filters.fused.products.terms import InTurn
from shiftstate.filters.fused.recurrences.columns import add_blocks
from shiftstate.filters.fused.second_derivative import only_first, raise_second
from shiftstate.graphs import Shift


@kernel
def _horner(first, end, rows, graph, u_old, u, x, h):
    """u = h x + S u_old; ``graph`` None: u holds S u_old already."""
    N, M = x.shape
    for i in range(first * rows, min(end * rows, N)):
        for column in range(0, M, TILE):
            start, stop = np.uint64(column), np.uint64(min(column + TILE, M))
            if graph is not None:
                gather_row(graph, u_old, i, start, stop, u[i])
            for j in range(start, stop):
                u[i, j] += h[j] * x[i, j]


@kernel
def _horner_backward(first, end, rows, graph, v_old, v, x, h, dx, dh):
    """v = Sᵀ v_old; dx += h v; each block's share of Σ v x goes into its slice of dh."""
    N, M = x.shape
    for block in range(first, end):
        dh[block] = 0
        for column in range(0, M, TILE):
            start, stop = np.uint64(column), np.uint64(min(column + TILE, M))
            for i in range(block * rows, min(block * rows + rows, N)):
                if graph is not None:
                    gather_row(graph, v_old, i, start, stop, v[i])
                for j in range(start, stop):
                    dh[block, 0, j] += v[i, j] * x[i, j]
                    if dx is not None:
                        dx[i, j] += h[j] * v[i, j]


def forward(x: Tensor, h: Tensor, operator: Sequence[Tensor], chebyshev: bool = False) -> Tensor:
    """Σ_k h_k S^k x for x (N, M) and one scalar a column and shift, h (K+1, M)."""
    check_operator(operator, x.shape[0], x.dtype)
    _check_columns(x, h)
    product, weights = Product.of(operator, doubled=chebyshev), h.detach().contiguous().numpy()
    x = x.detach().contiguous()
    ins, rows, blocks = x.numpy(), rows_per_block(*x.shape), num_blocks(*x.shape)
    K, u = h.shape[0] - 1, InTurn.made(lambda: both(empty(tuple(x.shape), x.dtype)), chebyshev)
    torch.mul(x, h[-1].detach(), out=u[0][0])
    with announced("GCNN", x.dtype, len(operator), chebyshev):
        for at in range(1, K + 1):  # u_{K − at}
            source, target, term = u.step(at, twice=at < K)
            for first, end, graph in product.stages(source, target, blocks, rows, term=term):
                for_blocks(end, _horner, rows, graph, source[1], target[1], ins, weights[K - at], first=first)
    return u[K][0]


def backward(
    dy: Tensor, x: Tensor, h: Tensor, operator: Sequence[Tensor], need_x: bool, chebyshev: bool = False
) -> tuple[Tensor | None, Tensor]:
    """Gradients of x and of h: with v_k = (Sᵀ)^k dy, Σ_k h_k v_k and Σ v_k x."""
    check_operator(operator, x.shape[0], x.dtype)
    _check_columns(x, h)
    if dy.shape != x.shape or dy.dtype != x.dtype:
        raise ValueError(f"the gradient has shape {tuple(dy.shape)}, {dy.dtype}; expected {tuple(x.shape)}, {x.dtype}")
    product, weights = Product.of(operator, doubled=chebyshev), h.detach().contiguous().numpy()
    ins, rows, blocks = x.detach().contiguous().numpy(), rows_per_block(*x.shape), num_blocks(*x.shape)
    v = InTurn.made(lambda: both(empty(tuple(x.shape), x.dtype)), chebyshev)
    v[0][0].copy_(dy.detach())
    dx = torch.zeros(x.shape, dtype=x.dtype) if need_x else None
    total = None if dx is None else dx.numpy()
    dh, parts = np.empty(h.shape, ins.dtype), np.empty((blocks, 1, x.shape[1]), ins.dtype)
    with announced("GCNN", x.dtype, len(operator), need_x, chebyshev):
        for k in range(h.shape[0]):
            stages: Iterable[Stage] = [(0, blocks, None)]
            source, target, term = v.step(k, twice=k > 1)
            if k:
                stages = product.stages(source, target, blocks, rows, transpose=True, term=term)
            for first, end, graph in stages:
                arrays = (graph, source[1], target[1], ins, weights[k], total, parts)
                for_blocks(end, _horner_backward, rows, *arrays, first=first)
            add_blocks(parts, dh[k : k + 1])
    return dx, torch.from_numpy(dh)


class _DepthwiseFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, h, operator, chebyshev):
        ctx.save_for_backward(x, h)
        ctx.operator, ctx.chebyshev = operator, chebyshev
        return forward(x, h, operator, chebyshev)

    @staticmethod
    def backward(ctx, dy):
        x, h = ctx.saved_tensors

        def gradients(dy):
            with torch.no_grad():
                found = backward(dy, x, h, ctx.operator, ctx.needs_input_grad[0], ctx.chebyshev)
            return only_first(found, (x, h, dy))

        return *for_each(gradients, dy), None, None


@torch.library.custom_op("shiftstate::polynomial", mutates_args=())
def polynomial_op(x: Tensor, h: Tensor, operator: list[Tensor], chebyshev: bool) -> Tensor:
    """The forward on plain tensors, for traced graphs."""
    return forward(x, h, operator, chebyshev)


@polynomial_op.register_fake
def _(x, h, operator, chebyshev):
    return x.new_empty(x.shape)


@torch.library.custom_op("shiftstate::polynomial_backward", mutates_args=())
def polynomial_backward_op(
    dy: Tensor, x: Tensor, h: Tensor, operator: list[Tensor], need_x: bool, chebyshev: bool
) -> tuple[Tensor, Tensor]:
    """The backward on plain tensors; the gradient of x is empty unless needed."""
    dx, dh = backward(dy, x, h, operator, need_x, chebyshev)
    return x.new_empty(0) if dx is None else dx, dh


@polynomial_backward_op.register_fake
def _(dy, x, h, operator, need_x, chebyshev):
    return x.new_empty(x.shape if need_x else 0), h.new_empty(h.shape)


def _context(ctx, inputs, output) -> None:
    x, h, operator, ctx.chebyshev = inputs
    ctx.save_for_backward(x, h, *operator)


def _op_backward(ctx, dy):
    x, h, *operator = ctx.saved_tensors
    dx, dh = polynomial_backward_op(dy, x, h, operator, ctx.needs_input_grad[0], ctx.chebyshev)
    return dx if ctx.needs_input_grad[0] else None, dh, [None] * len(operator), None


polynomial_op.register_autograd(_op_backward, setup_context=_context)
polynomial_backward_op.register_autograd(raise_second)


def _check_columns(x: Tensor, h: Tensor) -> None:
    fits = x.dim() == h.dim() == 2 and x.shape[1] == h.shape[1] and h.shape[0] > 0
    if not fits or x.dtype != h.dtype or x.dtype not in (torch.float32, torch.float64):
        raise ValueError(f"x {tuple(x.shape)} and h {tuple(h.shape)} do not go together; expected (N, M) and (K+1, M)")


def run_depthwise(x: Tensor, h: Tensor, shift: Shift, chebyshev: bool = False) -> Tensor:
    """x (N, B, F) → y (N, B, F) for one weight per shift and channel, h (K+1, F)."""
    N, B, F = x.shape
    columns = h.unsqueeze(1).expand(-1, B, -1).reshape(-1, B * F)
    rows = x.reshape(N, B * F)
    if torch.compiler.is_compiling():
        return polynomial_op(rows, columns, list(shift.operator), chebyshev).view(N, B, F)
    return _DepthwiseFunction.apply(rows, columns, shift.operator, chebyshev).view(N, B, F)
