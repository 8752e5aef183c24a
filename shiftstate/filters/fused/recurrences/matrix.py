"""K shifts of a recurrence with matrices for weights (dense mixing), there and back.

A state is (N·B, F) to a weight matrix and (N, B·F) to S: two views of the same memory. All maps of a shift come from
one product of S w_{k−1} with their stacked matrices, added to one of x.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from shiftstate.filters.fused.compiling.blocks import for_blocks, num_blocks, rows_per_block
from shiftstate.filters.fused.compiling.elementary import encode
from shiftstate.filters.fused.memory.buffers import empty
from shiftstate.filters.fused.products.shifts import Product, both
from shiftstate.filters.fused.products.terms import Term
from shiftstate.filters.fused.recurrences import outputs
from shiftstate.filters.fused.recurrences.states import States
from shiftstate.filters.fused.spec import Spec
from shiftstate.filters.linear import product, summed_product

Arguments = tuple[Tensor, Tensor | None, Tensor | None]
"""z of the maps whose two parts are added; state part and input part of those that stay apart, if there are any."""


class Stack:
    """Maps whose weights are used together: their matrices one below the other, by shift."""

    def __init__(self, maps: Sequence[str], weights: dict[str, Tensor]) -> None:
        self.maps = maps
        self.w = torch.cat([weights[f"h_{name}w"] for name in maps], 1)  # (K, maps·F, F)
        with_input, with_bias = f"h_{maps[0]}x" in weights, f"b_{maps[0]}" in weights
        self.x = torch.cat([weights[f"h_{name}x"] for name in maps], 1) if with_input else None  # (K, maps·F, G)
        self.b = torch.cat([weights[f"b_{name}"] for name in maps], 1) if with_bias else None  # (K, maps·F)


class MatrixRecurrence:
    """A cell on all its shifts.

    Args:
        spec: the cell and its options.
        x: (N, B, G).
        w: w_0 (N, B, F).
        weights: in the order of `Spec.names`: state weights (·, F, F), input weights (·, F, G), gate biases (K, F).
        operator: the tensors of S.
        keep: whether a backward will follow.
    """

    def __init__(
        self, spec: Spec, x: Tensor, w: Tensor, weights: Sequence[Tensor], operator: Sequence[Tensor], keep: bool
    ) -> None:
        self.spec, self.cell, self.keep = spec, spec.cell, keep
        self.weights = {name: weight.detach() for name, weight in zip(spec.names(), weights, strict=True)}
        self.K, self.F = self.weights["h_yw"].shape[0] - 1, self.weights["h_yw"].shape[1]
        self.N, self.B, self.G = x.shape
        self.dtype = x.dtype
        self.R = self.N * self.B
        self.x = x.detach().reshape(self.R, self.G).contiguous() if spec.input else None
        self.w0 = w.detach().reshape(self.R, self.F).contiguous()
        self.product = Product.of(operator, doubled=spec.chebyshev)
        number = np.float32 if self.dtype == torch.float32 else np.float64
        *self.codes, self.code_y = (encode(name, number) for name in spec.activations)
        self.rows, self.blocks = rows_per_block(self.R, self.F), num_blocks(self.R, self.F)
        self.added = Stack([name for name in self.cell.maps if name not in self.cell.apart], self.weights)
        self.apart = Stack(self.cell.apart, self.weights) if self.cell.apart else None

    def variant(self) -> tuple[Any, ...]:
        """What decides which kernels are compiled, the filter's name first."""
        return self.cell.name.upper(), self.spec, self.dtype, self.product.matrix is None

    def blank(self, *shape: int) -> Tensor:
        """Memory that is written before it is read."""
        return empty((*shape, self.R, self.F), self.dtype)

    def in_rows(self, kernel: Any, *arguments: Any) -> None:
        """Run a kernel on blocks of rows."""
        arrays = [value.numpy() if isinstance(value, Tensor) else value for value in arguments]
        for_blocks(self.blocks, kernel, self.rows, *arrays)

    def shift(self, k: int, source: Tensor, target: Tensor, before: Tensor | None, transpose: bool = False) -> None:
        """target = S source, or Sᵀ source, of shift k; in Chebyshev's basis with a term of what was before source."""
        wide, term = (self.N, self.B * self.F), None
        if before is not None:
            term = Term.of(2 if k > 1 else 1, both(before.view(wide)))
        self.product.shift(both(source.view(wide)), both(target.view(wide)), transpose, term)

    def _arguments(self, k: int, Sw: Tensor) -> Arguments:
        """What the nonlinearities of shift k act on: each (N·B, maps·F)."""
        z = _affine(Sw, self.added.w[k - 1], self._input_part(self.added, k))
        if self.added.b is not None:
            z.add_(self.added.b[k - 1])
        if self.apart is None:
            return z, None, None
        zx = self._input_part(self.apart, k)
        if self.apart.b is not None:
            b = self.apart.b[k - 1]
            zx = b.expand(self.R, -1).contiguous() if zx is None else zx.add_(b)
        return z, _affine(Sw, self.apart.w[k - 1], None), zx

    def _input_part(self, stack: Stack, k: int) -> Tensor | None:
        return None if self.x is None or stack.x is None else product(self.x, stack.x[k - 1].T)

    def _output(self, k: int, w: Tensor) -> Tensor:
        """The argument of y_k's nonlinearity."""
        x_part = None if self.x is None else product(self.x, self.weights["h_yx"][k].T)
        return _affine(w, self.weights["h_yw"][k], x_part)

    def forward(self) -> Tensor:
        """y (N, B, F)."""
        total = self._output(0, self.w0)
        self.in_rows(outputs.activate_rows, total, self.code_y)
        segment = self.spec.checkpoint if self.keep else 0
        self.states = States.empty(self.spec, self.K if self.keep and not segment else 0, self.blank)
        self.states.begin(self.w0)
        self.saved = self.blank(-(-self.K // segment), self.spec.carried()) if segment else None
        for k in range(1, self.K + 1):
            if self.saved is not None and (k - 1) % segment == 0:
                self.states.save(k - 1, self.saved[(k - 1) // segment])
            w = self._step(k, k - 1, self.states)
            self.in_rows(outputs.add_activated, self._output(k, w), total, self.code_y)
        self.in_rows(outputs.activate_rows, total, self.code_y)
        return total.view(self.N, self.B, self.F)

    def kept(self) -> list[Tensor]:
        """What the backward needs."""
        return self.states.kept() if self.saved is None else [self.saved]

    def release(self) -> list[Tensor]:
        """What the backward needs, no longer held here: the graph frees it as soon as it can."""
        kept = self.kept()
        del self.states, self.saved
        return kept

    def _step(self, k: int, slot: int, states: States) -> Tensor:
        """One shift; returns w_k."""
        assert states.w is not None
        (w_old, _), (w, _) = states.w[slot], states.w[slot + 1]
        Sw = None if states.Sw is None else states.Sw[slot][0]
        c_old, c = (None, None) if states.c is None else (states.c[slot][0], states.c[slot + 1][0])
        target = self.blank() if Sw is None else Sw
        self.shift(k, w_old, target, states.w[slot - 1][0] if self.spec.chebyshev else None)
        self.in_rows(self.cell.dense_forward, *self._arguments(k, target), Sw, c_old, c, w, *self.codes)
        return w

    def backward(self, dy: Tensor, y: Tensor, kept: Sequence[Tensor], need_x: bool) -> Any:
        """Gradients of x (N, B, G), of w_0 (N, B, F) and of the weights; None if x or a weight is not used."""
        self.dtotal = dy.reshape(self.R, self.F).clone(memory_format=torch.contiguous_format)
        self.in_rows(outputs.through_value, y.reshape(self.R, self.F), self.dtotal, self.code_y)
        self.dx = None if self.x is None else torch.zeros_like(self.x)
        self.grads = {name: torch.zeros_like(weight) for name, weight in self.weights.items()}
        self.dc = torch.zeros(self.R, self.F, dtype=self.dtype) if self.cell.memory else None
        d = torch.zeros(self.R, self.F, dtype=self.dtype)  # ∂/∂w_k from the shifts above k
        self.above = torch.zeros_like(d) if self.spec.chebyshev else None  # ∂/∂(S w_k), for the shift after the next
        segment = self.spec.checkpoint or max(self.K, 1)
        states = (  # where a segment is computed again: one room for all of them
            States.empty(self.spec, min(segment, self.K), self.blank)
            if self.spec.checkpoint
            else States.restored(self.spec, kept)
        )
        for first in range(((self.K - 1) // segment) * segment + 1, 0, -segment):
            last = min(first + segment - 1, self.K)
            if self.spec.checkpoint:
                self._again(states, first, last, kept[0])
            for k in range(last, first - 1, -1):
                d = self.step_back(k, k - first, d, states)
        dw0 = d + self.output_back(0, self.w0)
        dx = None if self.dx is None else self.dx.view(self.N, self.B, self.G)
        grads = [grad if grad.shape[0] else None for grad in self.grads.values()]
        del self.dtotal, self.dc, self.dx, self.grads, self.above  # nothing outlives the backward
        return dx, dw0.view(self.N, self.B, self.F), grads

    def _again(self, states: States, first: int, last: int, saved: Tensor) -> None:
        """A segment's arrays, computed once more from the state at its start."""
        states.begin(*saved[(first - 1) // self.spec.checkpoint])
        for k in range(first, last + 1):
            self._step(k, k - first, states)

    def output_back(self, k: int, w: Tensor) -> Tensor:
        """Gradients of y_k; returns the share of w_k."""
        z = self._output(k, w)
        self.in_rows(outputs.through_argument, z, self.dtotal, self.code_y)
        self.grads["h_yw"][k] = summed_product(z, w)
        if self.x is not None and self.dx is not None:
            self.grads["h_yx"][k] = summed_product(z, self.x)
            product(z, self.weights["h_yx"][k], self.dx, add=True)
        return product(z, self.weights["h_yw"][k])

    def step_back(self, k: int, slot: int, d: Tensor, states: States) -> Tensor:
        """Shift k in reverse: from ∂/∂w_k, without y_k's share, to ∂/∂w_{k−1}, for a cell that keeps S w."""
        assert states.Sw is not None
        Sw, w, below = states.Sw[slot][0], self.blank(), self.blank()
        c_old, c = (None, None) if states.c is None else (states.c[slot][0], states.c[slot + 1][0])
        z, zw, zx = self._arguments(k, Sw)
        self.in_rows(self.cell.dense_state, z, zw, zx, Sw, c_old, c, w, *self.codes)
        dw = d + self.output_back(k, w)
        self.in_rows(self.cell.dense_backward, z, zw, zx, Sw, c_old, c, dw, self.dc, *self.codes)
        self.weights_back(self.added, k, z, summed_product(z, Sw))
        dSw = product(z, self.added.w[k - 1], dw if self.cell.direct else None, add=True)
        if self.apart is not None and zw is not None:
            self.weights_back(self.apart, k, zx, summed_product(zw, Sw))
            product(zw, self.apart.w[k - 1], dSw, add=True)
        self.shift(k, dSw, below, self.above, transpose=True)
        self.above = dSw if self.spec.chebyshev else None
        return below

    def weights_back(self, stack: Stack, k: int, z: Tensor | None, state: Tensor) -> None:
        """Gradients of a stack's weights at shift k: ``state`` is that of the state weights, z that of the argument."""
        signal = bias = None
        if z is not None and stack.x is not None and self.x is not None and self.dx is not None:
            signal = summed_product(z, self.x)
            product(z, stack.x[k - 1], self.dx, add=True)
        if z is not None and stack.b is not None:
            bias = summed_product(z, torch.ones(self.R, 1, dtype=self.dtype))
        for place, name in enumerate(stack.maps):
            rows = slice(place * self.F, (place + 1) * self.F)
            self.grads[f"h_{name}w"][k - 1] = state[rows]
            if signal is not None:
                self.grads[f"h_{name}x"][k - 1] = signal[rows]
            if bias is not None:
                self.grads[f"b_{name}"][k - 1] = bias[rows, 0]


def _affine(w: Tensor, weight: Tensor, x_part: Tensor | None) -> Tensor:
    """w weightᵀ, added to the input's part if there is one."""
    return product(w, weight.T, x_part, add=True)
