"""One call of a fused filter: as an autograd function, and as an operator of torch.library for traced graphs.

Both run `_forward` and `_backward` below. The operator costs a tenth of a millisecond more a call, so it is used where
it is needed: under torch.compile and torch.export.
"""

from typing import Any

import torch
from torch import Tensor

from shiftstate.filters.fused.borrow import borrow
from shiftstate.filters.fused.compiled import announced
from shiftstate.filters.fused.matrix import MatrixRecurrence
from shiftstate.filters.fused.once import once, refuse_twice
from shiftstate.filters.fused.product import check_operator
from shiftstate.filters.fused.setting import Setting


def _matrix(setting: Setting, x: Tensor, w: Tensor, weights: dict[str, Tensor], operator: Any) -> MatrixRecurrence:
    setting.check(x, w, weights)
    with torch.no_grad():
        return MatrixRecurrence(setting, x.detach(), w.detach(), weights, operator)


def _forward(setting: Setting, names: str, keep: bool, x, w, weights, operator) -> tuple[Tensor, list[Tensor], Any]:
    """The filter's output before the sum over g, what a backward needs, and the recurrence with its loan.

    A recurrence on loan keeps what the backward needs itself.
    """
    check_operator(operator, x.shape[0], x.dtype)
    named = dict(zip(names.split(), weights, strict=True))
    if setting.dense:
        matrix = _matrix(setting, x, w, named, operator)
        with announced(*matrix.variant(), keep):
            return *matrix.forward(keep), (matrix, None)
    recurrence, loan = borrow(setting, x, w, named, keep)
    with torch.no_grad():
        recurrence.load(x, named, operator)
    with announced(*recurrence.variant(), keep):
        y = recurrence.forward()
    return y, [] if loan or not keep else recurrence.release(), (recurrence, loan)


def _backward(recurrence: Any, names: str, need_x: bool, dy, y, kept, x) -> list[Tensor | None]:
    """Gradients of x, of w_0 and of the weights; None where nobody needs them."""
    with announced(*recurrence.variant(), "backward", need_x):
        if recurrence.setting.dense:
            dx, dw, grads = recurrence.backward(dy, y, kept)
        else:
            dx, grads = recurrence.backward(dy, y, kept, need_x)
            dx, dw = None if dx is None else _like(dx, x), None
    return [dx, dw, *(grads[name] for name in names.split())]


def _like(dx: Tensor, x: Tensor) -> Tensor:
    """The gradient of an x that was spread over f."""
    return dx.sum(2, keepdim=True) if x.shape[2] != dx.shape[2] else dx


class _Fused(torch.autograd.Function):
    @staticmethod
    def forward(ctx, setting, names, keep, operator, x, w, *weights):
        y, kept, held = _forward(setting, names, keep, x, w, weights, operator)
        if keep:
            ctx.recurrence, ctx.loan = held
            ctx.names, ctx.kept = names, len(kept)
            # Weights, x and S are saved for autograd's sake: it notices if they are changed before the backward.
            ctx.save_for_backward(y, *kept, x, w, *weights, *operator)
        return _summed(setting.dense, y)

    @staticmethod
    def backward(ctx, dy):
        y, *saved = ctx.saved_tensors
        kept, sources = saved[: ctx.kept], saved[ctx.kept :][: len(ctx.names.split()) + 2]
        with torch.no_grad():
            whole = dy if y.dim() == dy.dim() else dy.unsqueeze(-1)
            arrays = None if ctx.loan else list(kept)
            need_x = ctx.needs_input_grad[4]
            gradients = _backward(ctx.recurrence, ctx.names, need_x, whole, y, arrays, sources[0])
        return None, None, None, None, *once(gradients, (*sources, dy))


@torch.library.custom_op("shiftstate::filter", mutates_args=())
def filter_op(
    kind: str,
    dense: bool,
    state_activation: str,
    output_activation: str,
    checkpoint: int,
    names: str,
    keep: bool,
    x: Tensor,
    w: Tensor,
    weights: list[Tensor],
    operator: list[Tensor],
) -> list[Tensor]:
    """[y, *kept] of a fused filter on plain tensors."""
    setting = Setting(kind, dense, state_activation, output_activation, checkpoint)
    y, kept, (recurrence, loan) = _forward(setting, names, keep, x, w, weights, operator)
    if loan and keep:
        starts = recurrence.starts
        kept = [array.clone() for array in ([starts] if starts is not None else recurrence.kept())]
    return [y, *kept]


@filter_op.register_fake
def _(kind, dense, state_activation, output_activation, checkpoint, names, keep, x, w, weights, operator):
    h = dict(zip(names.split(), weights, strict=True))["h_yw"]
    setting = Setting(kind, dense, state_activation, output_activation, checkpoint)
    shapes = _result_shapes(setting, x, h)
    return [x.new_empty(shape) for shape in (shapes if keep else shapes[:1])]


def _result_shapes(setting: Setting, x: Tensor, h: Tensor) -> list[tuple[int, ...]]:
    """Shapes of y and of all that is kept; h is h_yw."""
    K, N, B = h.shape[0] - 1, x.shape[0], x.shape[1]
    y = (N, B, h.shape[1]) if setting.dense else (N, B, h.shape[1], h.shape[2])
    flat = (N * B, h.shape[1]) if setting.dense else (N, B * h.shape[1] * h.shape[2])
    if setting.checkpoint:
        carried = 2 if setting.dense or setting.kind == "lssm" else 1
        return [y, (-(-K // setting.checkpoint), carried, *flat)]
    states = (max(K + 1, 2), *flat)
    return [y, (max(K, 1), *flat), states] if setting.kind == "lssm" else [y, states]


@torch.library.custom_op("shiftstate::filter_backward", mutates_args=())
def filter_backward_op(
    kind: str,
    dense: bool,
    state_activation: str,
    output_activation: str,
    checkpoint: int,
    names: str,
    need_x: bool,
    dy: Tensor,
    y: Tensor,
    kept: list[Tensor],
    x: Tensor,
    w: Tensor,
    weights: list[Tensor],
    operator: list[Tensor],
) -> list[Tensor]:
    """Gradients of x, w and the weights."""
    setting = Setting(kind, dense, state_activation, output_activation, checkpoint)
    check_operator(operator, x.shape[0], x.dtype)
    named = dict(zip(names.split(), weights, strict=True))
    setting.check(x, w, named)
    expected = _result_shapes(setting, x, named["h_yw"])
    found = [tuple(tensor.shape) for tensor in (dy, y, *kept)]
    if found != [expected[0], *expected] or any(tensor.dtype != x.dtype for tensor in (dy, y, *kept)):
        raise ValueError(f"gradient, output and kept states {found} were given; expected {[expected[0], *expected]}")
    recurrence: Any = _matrix(setting, x, w, named, operator) if dense else None
    loan = None
    if not dense:
        recurrence, loan = borrow(setting, x, w, named, keep=False)
        with torch.no_grad():
            recurrence.load(x, named, operator)
    gradients = _backward(recurrence, names, need_x, dy, y, kept, x)
    del loan
    plain = torch.contiguous_format  # results of an operator may not share memory
    return [x.new_empty(0) if one is None else one.clone(memory_format=plain) for one in gradients]


@filter_backward_op.register_fake
def _(
    kind, dense, state_activation, output_activation, checkpoint, names, need_x, dy, y, kept, x, w, weights, operator
):
    nothing = x.new_empty(0)
    dx = torch.empty_like(x, memory_format=torch.contiguous_format) if need_x or dense else nothing
    dw = torch.empty_like(w, memory_format=torch.contiguous_format) if dense else nothing
    return [dx, dw, *(weight.new_empty(weight.shape) for weight in weights)]


def _op_context(ctx, inputs, output) -> None:
    *ctx.setting, ctx.names, _, x, w, weights, operator = inputs
    y, *kept = output
    ctx.counts = len(weights), len(kept)
    ctx.need_x = ctx.needs_input_grad[7]
    ctx.save_for_backward(x, w, y, *weights, *kept, *operator)


def _op_backward(ctx, grads):
    x, w, y, *rest = ctx.saved_tensors
    weights, rest = rest[: ctx.counts[0]], rest[ctx.counts[0] :]
    kept, operator = rest[: ctx.counts[1]], rest[ctx.counts[1] :]
    dx, dw, *dweights = filter_backward_op(
        *ctx.setting, ctx.names, ctx.need_x, grads[0], y, kept, x, w, weights, operator
    )
    dx = dx if ctx.need_x else None
    dw = dw if ctx.setting[1] else None
    return None, None, None, None, None, None, None, dx, dw, dweights, [None] * len(operator)


filter_op.register_autograd(_op_backward, setup_context=_op_context)
filter_backward_op.register_autograd(refuse_twice)


def call(
    setting: tuple[str, bool, str, str, int], x: Tensor, w: Tensor, weights: dict[str, Tensor], operator: Any
) -> Tensor:
    """y (N, B, F) of a fused filter, differentiable once; ``setting`` holds the fields of a `Setting`."""
    names, tensors = " ".join(weights), list(weights.values())
    keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (x, w, *tensors))
    if torch.compiler.is_compiling():
        return _summed(setting[1], filter_op(*setting, names, keep, x, w, tensors, list(operator))[0])
    return _Fused.apply(Setting.of(*setting), names, keep, list(operator), x, w, *tensors)


def _summed(dense: bool, y: Tensor) -> Tensor:
    """Σ_g of a bank; a depthwise filter has one input a channel, and dense mixing has summed already."""
    return y if dense else y.squeeze(-1) if y.shape[-1] == 1 else y.sum(-1)
