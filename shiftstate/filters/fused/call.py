"""One call of a fused recurrence: as an autograd function, and as an operator of torch.library for traced graphs.

Both run `_forward` and the recurrence's backward. The operator costs a tenth of a millisecond more per call, so it is
used where it is needed: under torch.compile and torch.export.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from shiftstate.filters.fused.compiling.compiler import announced
from shiftstate.filters.fused.many_gradients import for_each
from shiftstate.filters.fused.memory.pool import prepare
from shiftstate.filters.fused.products.shifts import check_operator
from shiftstate.filters.fused.second_derivative import only_first, raise_second
from shiftstate.filters.fused.spec import Spec
from shiftstate.graphs.operators import ordinary_tensors


def call(spec: Spec, x: Tensor, w: Tensor, weights: list[Tensor], operator: Sequence[Tensor]) -> Tensor:
    """y (N, B, F), differentiable once.

    Args:
        spec: the cell and its options.
        x: the input as the recurrence sees it: (N, B, 1, G) of a bank, (N, B, F, 1) of a depthwise filter, (N, B, G) of
            dense mixing.
        w: w_0; other than x only with dense mixing, (N, B, F).
        weights: in the order of `Spec.names`.
        operator: the tensors of S.
    """
    keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (x, w, *weights))
    if torch.compiler.is_compiling():
        return _summed(spec, filter_op(spec.pack(), keep, x, w, weights, list(operator))[0])
    return _Fused.apply(spec, keep, operator, x, w, *weights)


def _summed(spec: Spec, y: Tensor) -> Tensor:
    """Σ_g of a bank; a depthwise filter has one input per channel, and dense mixing has summed already."""
    return y if spec.dense else y.squeeze(-1) if y.shape[-1] == 1 else y.sum(-1)


def _forward(spec: Spec, keep: bool, x, w, weights, operator) -> tuple[Tensor, Any, Any]:
    """The filter's output before the sum over g, and the recurrence with its place in the pool."""
    check_operator(operator, x.shape[0], x.dtype)
    with torch.no_grad(), ordinary_tensors():  # one of the pool serves later calls of every kind
        recurrence, taken = prepare(spec, keep, x, w, weights, operator)
        with announced(*recurrence.variant(), keep):
            return recurrence.forward(), recurrence, taken


def _backward(recurrence: Any, need_x: bool, dy, y, kept) -> list[Tensor | None]:
    """Gradients of x, of w_0 and of the weights; None for what is not used or not needed."""
    with torch.no_grad(), ordinary_tensors(), announced(*recurrence.variant(), "backward", need_x):
        dx, dw, grads = recurrence.backward(dy, y, kept, need_x)
    return [dx, dw, *grads]


class _Fused(torch.autograd.Function):
    @staticmethod
    def forward(ctx, spec, keep, operator, x, w, *weights):
        y, recurrence, taken = _forward(spec, keep, x, w, weights, operator)
        if keep:
            kept = [] if taken else recurrence.release()  # one of the pool keeps it all itself
            ctx.recurrence, ctx.taken, ctx.kept = recurrence, taken, len(kept)
            # Weights, x and S are saved for autograd's sake: it notices if they are changed before the backward.
            ctx.save_for_backward(y, *kept, x, w, *weights, *operator)
        return _summed(spec, y)

    @staticmethod
    def backward(ctx, dy):
        y, *saved = ctx.saved_tensors
        kept, sources = saved[: ctx.kept], saved[ctx.kept :]

        def gradients(dy):
            whole = dy if y.dim() == dy.dim() else dy.unsqueeze(-1)
            found = _backward(ctx.recurrence, ctx.needs_input_grad[3], whole, y, None if ctx.taken else kept)
            return only_first(found, (*sources[: len(found)], dy))

        return None, None, None, *for_each(gradients, dy)


@torch.library.custom_op("shiftstate::filter", mutates_args=())
def filter_op(
    spec: str, keep: bool, x: Tensor, w: Tensor, weights: list[Tensor], operator: list[Tensor]
) -> list[Tensor]:
    """[y, *kept] of a fused recurrence on plain tensors; ``spec`` is a packed `Spec`."""
    y, recurrence, taken = _forward(Spec.unpack(spec), keep, x, w, weights, operator)
    if not keep:
        return [y]
    return [y, *([array.clone() for array in recurrence.kept()] if taken else recurrence.release())]


@filter_op.register_fake
def _(spec, keep, x, w, weights, operator):
    shapes = _result_shapes(Spec.unpack(spec), x, weights)
    return [x.new_empty(shape) for shape in (shapes if keep else shapes[:1])]


def _result_shapes(spec: Spec, x: Tensor, weights: Sequence[Tensor]) -> list[tuple[int, ...]]:
    return spec.result_shapes(x, weights[len(spec.cell.maps)])


@torch.library.custom_op("shiftstate::filter_backward", mutates_args=())
def filter_backward_op(
    spec: str,
    need_x: bool,
    dy: Tensor,
    y: Tensor,
    kept: list[Tensor],
    x: Tensor,
    w: Tensor,
    weights: list[Tensor],
    operator: list[Tensor],
) -> list[Tensor]:
    """Gradients of x, w and the weights; those that nobody needs are empty."""
    unpacked = Spec.unpack(spec)
    check_operator(operator, x.shape[0], x.dtype)
    unpacked.check(x, w, weights)
    expected = _result_shapes(unpacked, x, weights)
    found = [tuple(tensor.shape) for tensor in (dy, y, *kept)]
    if found != [expected[0], *expected] or any(tensor.dtype != x.dtype for tensor in (dy, y, *kept)):
        raise ValueError(f"gradient, output and kept states {found} were given; expected {[expected[0], *expected]}")
    with torch.no_grad(), ordinary_tensors():
        recurrence, taken = prepare(unpacked, False, x, w, weights, operator)
    gradients = _backward(recurrence, need_x, dy, y, kept)
    del taken
    return [
        torch.empty(shape, dtype=x.dtype) if one is None else one.clone(memory_format=torch.contiguous_format)
        for one, shape in zip(gradients, _gradient_shapes(unpacked, need_x, x, w, weights), strict=True)
    ]  # copies: results of an operator may not share memory


@filter_backward_op.register_fake
def _(spec, need_x, dy, y, kept, x, w, weights, operator):
    return [x.new_empty(shape) for shape in _gradient_shapes(Spec.unpack(spec), need_x, x, w, weights)]


def _gradient_shapes(spec: Spec, need_x: bool, x: Tensor, w: Tensor, weights: Sequence[Tensor]) -> list[Any]:
    with_x = spec.input if spec.dense else need_x
    return [x.shape if with_x else (0,), w.shape if spec.dense else (0,), *(weight.shape for weight in weights)]


def _op_context(ctx, inputs, output) -> None:
    ctx.spec, _, x, w, weights, operator = inputs
    y, *kept = output
    ctx.counts = len(weights), len(kept)
    ctx.needs = ctx.needs_input_grad[2:4]
    ctx.save_for_backward(x, w, y, *weights, *kept, *operator)


def _op_backward(ctx, grads):
    x, w, y, *rest = ctx.saved_tensors
    weights, rest = rest[: ctx.counts[0]], rest[ctx.counts[0] :]
    kept, operator = rest[: ctx.counts[1]], rest[ctx.counts[1] :]
    gradients = filter_backward_op(ctx.spec, ctx.needs[0], grads[0], y, kept, x, w, weights, operator)
    dx, dw, *dweights = [gradient if gradient.numel() else None for gradient in gradients]
    return None, None, dx if ctx.needs[0] else None, dw, dweights, [None] * len(operator)


filter_op.register_autograd(_op_backward, setup_context=_op_context)
filter_backward_op.register_autograd(raise_second)
