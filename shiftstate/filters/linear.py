"""Products with weight matrices: y = x W, and the gradient xᵀ dy, by kernels of our own wherever they can.

A weight's gradient is a sum over all nodes and signals. BLAS shares such sums out among threads, on every processor in
its own way, and rounds them differently for every number of threads. Our kernels do not, and products of a tall matrix
with a narrow one are bound by memory, so nothing is lost (`benchmarks/products.py`).
"""

import math
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

LARGEST = 2**18
"""Weights of a matrix up to which products are ours; larger ones are BLAS's, and nothing is said of their bits."""

_PLAIN = {Tensor, torch.nn.Parameter}
_DTYPES = {torch.float32, torch.float64}


def computed_here(left: Tensor, right: Tensor, weights: int) -> bool:
    """Whether a product is by our kernels: plain float32 or float64 numbers on the CPU, and not too many weights."""
    return (
        weights <= LARGEST
        and left.is_cpu
        and right.is_cpu
        and left.dtype == right.dtype
        and left.dtype in _DTYPES
        and type(left) in _PLAIN
        and type(right) in _PLAIN
        and not _transformed()
    )


def _transformed() -> bool:
    """Whether tensors may be more than their numbers: under torch.func, in forward mode, or many gradients at once."""
    return (
        torch._C._are_functorch_transforms_active()
        or forward_ad._current_level >= 0
        or torch._C._dispatch_tls_is_dispatch_key_included("VmapMode")
    )


@cache
def _kernels() -> tuple[Any, Any]:
    """The compiled products, and what announces them: Numba is imported by the first product, not before."""
    from shiftstate.filters.fused.compiling.compiler import announced
    from shiftstate.filters.fused.products import matrices

    return matrices, announced


def _array(matrix: Tensor, either: bool = False) -> Any:
    """The numbers of a matrix, row by row, or with ``either`` column by column if they lie so."""
    matrix = matrix.detach()
    if not (matrix.is_contiguous() or (either and matrix.T.is_contiguous())):
        matrix = matrix.contiguous()
    return matrix.numpy()


def product(x: Tensor, weight: Tensor, out: Tensor | None = None, add: bool = False) -> Tensor:
    """x W for x (R, G) and W (G, F), which need no gradient; in ``out`` (contiguous) if given, or added to it."""
    if not computed_here(x, weight, weight.numel()):
        whole = x @ weight
        return whole if out is None else out.add_(whole) if add else out.copy_(whole)
    if out is None:
        out, add = torch.empty((x.shape[0], weight.shape[1]), dtype=x.dtype), False
    kernels, announced = _kernels()
    with announced("product", x.dtype, x.is_contiguous()):
        kernels.multiply(_array(x, either=True), _array(weight), out.numpy(), add)
    return out


def summed_product(left: Tensor, right: Tensor) -> Tensor:
    """leftᵀ right for left (R, G) and right (R, F), which need no gradient: a sum over many rows."""
    if not computed_here(left, right, left.shape[1] * right.shape[1]):
        return left.T @ right
    if left.shape[1] > right.shape[1] and left.is_contiguous():
        return summed_product(right, left).T  # the wider one is taken many columns at a time
    total = torch.empty((left.shape[1], right.shape[1]), dtype=left.dtype)
    kernels, announced = _kernels()
    with announced("product", left.dtype, left.is_contiguous(), "transposed"):
        kernels.multiply_transposed(_array(left, either=True), _array(right), total.numpy())
    return total


class _LinearProduct(torch.autograd.Function):
    """x W; its gradients are one product of each kind."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, weight: Tensor) -> Tensor:
        return product(x, weight)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        dx = _LinearProduct.apply(dy, weight.T) if ctx.needs_input_grad[0] else None  # type: ignore[no-untyped-call]
        dw = _SummedProduct.apply(x, dy) if ctx.needs_input_grad[1] else None  # type: ignore[no-untyped-call]
        return dx, dw


class _SummedProduct(torch.autograd.Function):
    """leftᵀ right; its gradients are two products of the first kind."""

    generate_vmap_rule = True

    @staticmethod
    def forward(left: Tensor, right: Tensor) -> Tensor:
        return summed_product(left, right)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, dw: Tensor) -> Any:
        left, right = ctx.saved_tensors
        dleft = _LinearProduct.apply(right, dw.T) if ctx.needs_input_grad[0] else None  # type: ignore[no-untyped-call]
        dright = _LinearProduct.apply(left, dw) if ctx.needs_input_grad[1] else None  # type: ignore[no-untyped-call]
        return dleft, dright


def linear(x: Tensor, weight: Tensor) -> Tensor:
    """x W for x (..., G) and W (G, F), differentiable any number of times."""
    if torch.compiler.is_compiling() or not computed_here(x, weight, weight.numel()):
        return x @ weight
    rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
    y: Tensor = _LinearProduct.apply(rows, weight)  # type: ignore[no-untyped-call]
    return y.view(*x.shape[:-1], weight.shape[1])
