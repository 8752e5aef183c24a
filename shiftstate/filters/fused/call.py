"""One call of a fused filter: as an autograd function, and as an operator of torch.library for traced graphs.

Both run `_forward` and `_backward` below. The operator costs a tenth of a millisecond more a call, so it is used where
it is needed: under torch.compile and torch.export.
"""

from typing import Any

import torch
from torch import Tensor

from shiftstate.filters.fused.compiled import announced
from shiftstate.filters.fused.matrix import MatrixRecurrence
from shiftstate.filters.fused.once import once, refuse_twice
from shiftstate.filters.fused.product import check_operator
from shiftstate.filters.fused.scalar import RECURRENCES
from shiftstate.filters.fused.setting import Setting


def _recurrence(setting: Setting, names: str, x: Tensor, w: Tensor, weights: list[Tensor], operator: list[Tensor]):
    """Check all sizes, so that no kernel can read outside its arrays, and set up the recurrence."""
    named = dict(zip(names.split(), weights, strict=True))
    check_operator(operator, x.shape[0])
    setting.check(x, w, named)
    x, named = x.detach(), {name: weight.detach() for name, weight in named.items()}
    if setting.dense:
        return MatrixRecurrence(setting, x, w.detach(), named, operator)
    return RECURRENCES[setting.kind](setting, x, named, operator)


def _forward(recurrence: Any, keep: bool) -> tuple[Tensor, list[Tensor]]:
    """The filter's output before the sum over g, and what a backward needs (nothing unless ``keep``)."""
    with announced(*recurrence.variant(), keep):
        return recurrence.forward(keep)


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
        recurrence = _recurrence(setting, names, x, w, list(weights), operator)
        y, kept = _forward(recurrence, keep)
        if keep:
            ctx.recurrence, ctx.names = recurrence, names
            # Weights and x are saved for autograd's sake: it notices if they are changed before the backward.
            ctx.save_for_backward(y, *kept, x, w, *weights)
        return _summed(setting, y)

    @staticmethod
    def backward(ctx, dy):
        y, *saved = ctx.saved_tensors
        count = len(ctx.names.split()) + 2
        kept, sources = saved[:-count], saved[-count:]
        with torch.no_grad():
            whole = dy if y.dim() == dy.dim() else dy.unsqueeze(-1)
            gradients = _backward(ctx.recurrence, ctx.names, ctx.needs_input_grad[4], whole, y, kept, sources[0])
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
    y, kept = _forward(_recurrence(setting, names, x, w, weights, operator), keep)
    return [y, *kept]


@filter_op.register_fake
def _(kind, dense, state_activation, output_activation, checkpoint, names, keep, x, w, weights, operator):
    h = dict(zip(names.split(), weights, strict=True))["h_yw"]
    K, N, B = h.shape[0] - 1, x.shape[0], x.shape[1]
    tail = (h.shape[1],) if dense else (h.shape[1], h.shape[2])
    flat = (N * B, h.shape[1]) if dense else (N, B * h.shape[1] * h.shape[2])
    y = x.new_empty(N, B, *tail)
    if not keep:
        return [y]
    if checkpoint:
        carried = 2 if dense or kind == "lssm" else 1
        return [y, x.new_empty(-(-K // checkpoint), carried, *flat)]
    states = x.new_empty(max(K + 1, 2), *flat)
    return [y, x.new_empty(max(K, 1), *flat), states] if kind == "lssm" else [y, states]


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
    recurrence = _recurrence(setting, names, x, w, weights, operator)
    gradients = _backward(recurrence, names, need_x, dy, y, kept, x)
    return [x.new_empty(0) if gradient is None else gradient.contiguous() for gradient in gradients]


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


def call(setting: Setting, x: Tensor, w: Tensor, weights: dict[str, Tensor], operator: Any) -> Tensor:
    """y (N, B, F) of a fused filter, differentiable once."""
    names, tensors = " ".join(weights), list(weights.values())
    keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (x, w, *tensors))
    if torch.compiler.is_compiling():
        return _summed(setting, filter_op(*setting.values(), names, keep, x, w, tensors, list(operator))[0])
    return _Fused.apply(setting, names, keep, list(operator), x, w, *tensors)


def _summed(setting: Setting, y: Tensor) -> Tensor:
    """Σ_g of a bank; a depthwise filter has one input a channel, and dense mixing has summed already."""
    return y if setting.dense else y.squeeze(-1) if y.shape[-1] == 1 else y.sum(-1)
