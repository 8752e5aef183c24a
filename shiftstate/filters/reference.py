"""The recurrence over shifts as a plain loop: any filter, any device, any dtype. Everything fast is compared with it.

w_0 = x,   y = finish(Σ_{k=0..K} output(w_k, x)),   (w_k, c_k) = update(S w_{k−1}, x, c_{k−1}),  k = 1 … K

In Chebyshev's basis 2 S w_{k−1} − w_{k−2} stands for S w_{k−1} from k = 2 on.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint as recompute

from shiftstate.graphs import Shift


class Step(NamedTuple):
    """What one state update gives: the state w_k, the memory c_k if there is one, and the gates by name."""

    w: Tensor
    c: Tensor | None = None
    gates: Mapping[str, Tensor] = {}


class Taps:
    """The weights h at one shift k, applied as the mixing says: times a scalar, or times a matrix."""

    def __init__(self, weights: Mapping[str, Tensor], dense: bool) -> None:
        self._weights = weights
        self._dense = dense

    def __call__(self, name: str, w: Tensor, x: Tensor, gate: Tensor | None = None) -> Tensor:
        """gate ∘ (h_{k,name,w} w) + h_{k,name,x} x + b_{k,name}, without what the call or the layer does not have."""
        affine = self.times(f"h_{name}w", w)
        if gate is not None:
            affine = gate * affine
        if f"h_{name}x" in self._weights:
            affine = affine + self.times(f"h_{name}x", x)
        bias = self._weights.get(f"b_{name}")
        return affine if bias is None else affine + bias

    def times(self, parameter: str, signal: Tensor) -> Tensor:
        """One weight of this shift applied to a signal."""
        weight = self._weights[parameter]
        return signal @ weight.T if self._dense else signal * weight


class Filter(Protocol):
    """What the loop needs to know of a filter; every layer is one."""

    K: int
    mixing: str
    basis: str
    kernel: str
    fused: str | None
    output_activation: Any

    def start(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The input as the recurrence sees it, and w_0."""

    def update_weights(self) -> dict[str, Tensor]:
        """Weights of the state update, leading axis K."""

    def output_weights(self) -> dict[str, Tensor]:
        """Weights of the outputs, leading axis K + 1."""

    def update(self, h: Taps, Sw: Tensor, x: Tensor, c: Tensor) -> Step:
        """(w_k, c_k) from S w_{k−1}, x and c_{k−1}."""

    def output(self, h: Taps, w: Tensor, x: Tensor) -> Tensor:
        """y_k from w_k and x."""

    def finish(self, total: Tensor) -> Tensor:
        """Y from Σ_k y_k."""

    def dense_taps(self) -> bool:
        """Whether weights are matrices between channels rather than one scalar per channel."""


Observer = Callable[[int, Step, Tensor], None]


def run(
    filter: Filter, x: Tensor, shift: Shift, checkpoint: int | None = None, observe: Observer | None = None
) -> Tensor:
    """x (N, B, G) → y (N, B, F) through K shifts.

    Args:
        filter: the layer.
        x: signals, nodes first.
        shift: S.
        checkpoint: keep only every so many states for the backward and recompute the rest.
        observe: called with (k, step, y_k) for k = 0 … K.
    """
    updates, outputs = filter.update_weights(), filter.output_weights()
    dense = filter.dense_taps()
    x, w = filter.start(x)
    w = w.view_as(w)  # where w_0 is x itself, the derivative by the one must not hold that by the other

    def output(k: int, w: Tensor) -> Tensor:
        return filter.output(Taps({name: h[k] for name, h in outputs.items()}, dense), w, x)

    def shifts(first: int, last: int, w: Tensor, c: Tensor, total: Tensor, w_before: Tensor) -> tuple[Tensor, ...]:
        for k in range(first, last + 1):
            taps = Taps({name: h[k - 1] for name, h in updates.items()}, dense)
            Sw = shift.shift_nodes(w)
            if filter.basis == "chebyshev" and k > 1:
                Sw = 2 * Sw - w_before
            step = filter.update(taps, Sw, x, c)
            w_before, w, c = w, step.w, c if step.c is None else step.c
            y = output(k, w)
            total = total + y
            if observe:
                observe(k, step, y)
        return w, c, total, w_before

    c, total, w_before = torch.zeros_like(w), output(0, w), w
    if observe:
        observe(0, Step(w, c), total)
    length = checkpoint or max(filter.K, 1)
    for first in range(1, filter.K + 1, length):
        last = min(first + length - 1, filter.K)
        if checkpoint and torch.is_grad_enabled():
            w, c, total, w_before = recompute(shifts, first, last, w, c, total, w_before, use_reentrant=False)
        else:
            w, c, total, w_before = shifts(first, last, w, c, total, w_before)
    y = filter.finish(total)
    return y if dense else y.sum(-1)  # Σ_g of the bank; a depthwise filter has one input per channel
