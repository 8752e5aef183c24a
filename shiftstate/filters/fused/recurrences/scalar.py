"""K shifts of a recurrence with scalar weights, there and back: the order of things around a cell's kernels.

A state is (N, M), nodes first, with a column for every signal of the batch and channel of the state, M = B·F·G; each
shift is then one product, and each weight one number per column.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from shiftstate.filters.fused.compiling.blocks import Stage, for_blocks, num_blocks, rows_per_block
from shiftstate.filters.fused.compiling.elementary import encode
from shiftstate.filters.fused.memory.buffers import Both, empty
from shiftstate.filters.fused.products.shifts import Product
from shiftstate.filters.fused.products.terms import Term
from shiftstate.filters.fused.recurrences import columns, outputs
from shiftstate.filters.fused.recurrences.states import Slots, States
from shiftstate.filters.fused.spec import Spec


class ScalarRecurrence:
    """A cell on all its shifts.

    Made for shapes; `load` fills in the numbers, so that one can serve many calls.

    Args:
        spec: the cell and its options.
        x: an input of the right shape, (N, B, 1, G) of a bank or (N, B, F, 1) of a depthwise filter.
        weights: weights of the right shapes in the order of `Spec.names`, (K or K+1, F, G).
        keep: whether a backward will follow.
    """

    def __init__(self, spec: Spec, x: Tensor, weights: Sequence[Tensor], keep: bool) -> None:
        self.spec, self.cell, self.keep = spec, spec.cell, keep
        self.maps = len(self.cell.maps)
        self.K, (self.F, self.G) = weights[self.maps].shape[0] - 1, weights[self.maps].shape[1:]
        self.N, self.B = x.shape[:2]
        self.whole = (self.N, self.B, self.F, self.G)
        self.shape = (self.N, self.B * self.F * self.G)
        self.dtype = x.dtype
        self.number: Any = np.float32 if self.dtype == torch.float32 else np.float64
        self.codes = [encode(name, self.number) for name in spec.activations]
        self.rows, self.blocks = rows_per_block(*self.shape), num_blocks(*self.shape)
        self.spread_input = x.shape[2] != self.F
        self.x = self.blank()
        self.x_array = self.x.numpy()
        self.input = self.x_array if spec.input else None
        starts = [*[1] * self.maps, 0]  # updates count from k = 1, outputs from k = 0
        self.starts = np.array(starts * (2 if spec.input else 1))
        self.H = self._table(len(self.starts))  # (K + 2, P or 2P, M): index k, the last all zero
        self.b = self._table(self.maps) if spec.gate_bias else None
        self.states: Any = States.empty(spec, self.K if keep and not spec.checkpoint else 0, self.blank)
        shifts = 0 if spec.checkpoint else self.K
        arrays = shifts * len(self.cell.keeps) + 10 + 2 * spec.chebyshev
        self.size = arrays * self.x.nbytes + 2 * self.H.nbytes  # bytes, nearly
        self.steps: Any = [self._arguments(k, k - 1, self.states) for k in range(1, self.K + 1)]
        self.steps_back: Any = None

    def blank(self, *shape: int) -> Tensor:
        """Memory that is written before it is read."""
        return empty((*shape, *self.shape), self.dtype)

    def _table(self, names: int) -> Any:
        """Room for weights by shift and column."""
        table = empty((self.K + 2, names, self.shape[1]), self.dtype).numpy()
        table[0], table[-1] = 0, 0  # no update before the first shift, and none after the last
        return table

    def variant(self) -> tuple[Any, ...]:
        """What decides which kernels are compiled, the filter's name first."""
        return self.cell.name.upper(), self.spec, self.dtype, self.product.matrix is None

    def load(self, x: Tensor, weights: Sequence[Tensor], operator: Sequence[Tensor]) -> None:
        """The numbers of one call."""
        self.product = Product.of(operator, doubled=self.spec.chebyshev)
        self.x.view(self.whole).copy_(x)  # spread over f, if it is a bank's
        self._spread(weights[: len(self.starts)], self.H, self.starts)
        if self.b is not None:
            self._spread(weights[len(self.starts) :], self.b, self._bias_starts())

    def _spread(self, weights: Sequence[Tensor], table: Any, starts: Any) -> None:
        """Weights with a number for every column, by shift."""
        rows = torch.cat(list(weights))  # (K or K + 1 of every name, F, G)
        columns.spread(rows.flatten(1).numpy(), table.reshape(*table.shape[:2], self.B, -1), starts)

    def _bias_starts(self) -> Any:
        return self.starts[: self.maps]

    def forward(self) -> Tensor:
        """σ_y(Σ_k y_k) as (N, B, F, G)."""
        total = self.blank()
        array = total.numpy()
        outputs.first_output(self.x_array, *self._output_weights(), array, self.codes[-1])
        self.states.begin(self.x)
        segment = self.spec.checkpoint if self.keep else 0
        self.saved: Any = self.blank(-(-self.K // segment), self.spec.carried()) if segment else None
        for slot, arguments in enumerate(self.steps):
            if self.saved is not None and slot % segment == 0:
                self.states.save(slot, self.saved[slot // segment])
            self._step(arguments, array)
        outputs.finish(array, self.codes[-1])
        return total.view(self.whole)

    def _output_weights(self) -> tuple[Any, Any]:
        """h_0yw and h_0yx by column."""
        return self.H[0, self.maps], self.H[0, -1] if self.spec.input else None

    def _arguments(self, k: int, slot: int, states: States) -> Any:
        """Source, target and term of shift k's product, and the arrays of the kernel."""
        assert states.w is not None
        w_old, w = states.w[slot], states.w[slot + 1]
        Sw = None if states.Sw is None else states.Sw[slot]
        c_old, c = (None, None) if states.c is None else (states.c[slot][1], states.c[slot + 1][1])
        b = None if self.b is None else self.b[k]
        arrays = (w_old[1], None if Sw is None else Sw[1], c_old, c, w[1], self.input, self.H[k], b)
        return w_old, w if Sw is None else Sw, self._term(2 if k > 1 else 1, states.w, slot - 1), arrays

    def _term(self, factor: int, arrays: Slots, slot: int) -> Term | None:
        """The term of a product: in Chebyshev's basis the array before its source."""
        return Term.of(factor, arrays[slot]) if self.spec.chebyshev else None

    def _step(self, arguments: Any, total: Any) -> None:
        """One shift; outputs are added to ``total`` unless it is None."""
        source, target, term, arrays = arguments
        for first, end, graph in self.product.stages(source, target, self.blocks, self.rows, term=term):
            for_blocks(end, self.cell.forward, self.rows, graph, *arrays, total, *self.codes, first=first)

    def backward(self, dy: Tensor, y: Tensor, kept: Sequence[Tensor] | None, need_x: bool) -> Any:
        """Gradients of x, of w_0 (which is x) and of the weights; None if not needed.

        ``kept`` None: all is still in place.
        """
        if not hasattr(self, "dH"):
            self._prepare_backward()
        dy = dy.expand(self.whole).reshape(self.shape).contiguous()
        outputs.finish_backward(dy.numpy(), y.view(self.shape).numpy(), self.dtotal, self.codes[-1])
        self.dx = np.zeros(self.shape, self.number) if need_x else None
        self.d[1][0].zero_()  # nothing reaches the last shift from beyond
        if self.spec.chebyshev:
            self.d[0][0].zero_()  # nor the one before it from two beyond
        if self.dc is not None:
            self.dc.fill(0)
        segment = self.spec.checkpoint or max(self.K, 1)
        states = States.empty(self.spec, min(segment, self.K), self.blank) if self.spec.checkpoint else None
        for first in range(((self.K - 1) // segment) * segment + 1, 0, -segment):
            last = min(first + segment - 1, self.K)
            for k, arguments in reversed(self._steps_back(first, last, kept, states)):
                self._step_back(k, arguments)
        self.finish_backward()
        grads = self._gathered(self.dH, self.starts)
        if self.b is not None:
            grads += self._gathered(self.db, self._bias_starts())
        dx = None if self.dx is None else torch.from_numpy(self.dx).view(self.whole)
        self.dx = None
        if self.states is None:  # not of the pool: nothing outlives the backward
            del self.dtotal, self.dH, self.db, self.d, self.dc
        return dx.sum(2, keepdim=True) if dx is not None and self.spread_input else dx, None, grads

    def _steps_back(self, first: int, last: int, kept: Sequence[Tensor] | None, states: States | None) -> Any:
        """Shifts first … last with the arguments of their backward; made once where all is still in place.

        ``states`` is where a segment is computed again: one room for all of them.
        """
        if kept is None and not self.spec.checkpoint:
            if self.steps_back is None:
                self.steps_back = [(k, self._back_arguments(k, k - 1, self.states)) for k in range(1, self.K + 1)]
            return self.steps_back
        if states is None:
            states = States.restored(self.spec, kept or [])
        else:
            self._again(states, first, last, self.saved if kept is None else kept[0])
        return [(k, self._back_arguments(k, k - first, states)) for k in range(first, last + 1)]

    def _prepare_backward(self) -> None:
        """Arrays of the backward: two or three states' gradients in turn, that of the memory, sums by weight."""
        self.dtotal, self.d = self.blank().numpy(), Slots(self.blank(2 + self.spec.chebyshev))
        self.dc: Any = self.blank().numpy() if self.cell.memory else None
        self.dH = empty((self.K + 2, 1, *self.H.shape[1:]), self.dtype).numpy()
        self.db = None if self.b is None else empty((self.K + 2, 1, *self.b.shape[1:]), self.dtype).numpy()

    def release(self) -> list[Tensor]:
        """What the backward needs, no longer held here: the graph frees it as soon as it can."""
        kept = self.kept()
        self.states = self.steps = self.steps_back = self.saved = None
        return kept

    def kept(self) -> list[Tensor]:
        """What the backward needs."""
        kept: list[Tensor] = self.states.kept() if self.saved is None else [self.saved]
        return kept

    def _again(self, states: States, first: int, last: int, saved: Tensor) -> None:
        """A segment's arrays, computed once more from the state at its start."""
        states.begin(*saved[(first - 1) // self.spec.checkpoint])
        for k in range(first, last + 1):
            self._step(self._arguments(k, k - first, states), None)

    def _back_arguments(self, k: int, slot: int, states: States) -> Any:
        """Source, target and term of the product of shift k in reverse, the arrays of the kernel, and its sums."""
        d_old, d = self.d[self.K - k], self.d[self.K - k + 1]
        Sw = None if states.Sw is None else states.Sw[slot][1]
        c_old, c = (None, None) if states.c is None else (states.c[slot][1], states.c[slot + 1][1])
        w = states.w[slot + 1][1] if states.w is not None and "w" in self.cell.keeps else None
        b, db = (None, None) if self.b is None or self.db is None else (self.b[k], self.db[k])
        arrays = (d_old[1], d[1], self.dc, Sw, c_old, c, w, self.input, *self.weights_back(k), b, self.dtotal)
        return d_old, d, self._term(2, self.d, self.K - k - 1), (*arrays, *self.codes), (self.dH[k], db)

    def weights_back(self, k: int) -> tuple[Any, ...]:
        """The weights that the backward kernel of shift k takes."""
        return (self.H[k],)

    def _step_back(self, k: int, arguments: Any) -> None:
        """Shift k in reverse; nothing is gathered for the last, which nothing reaches from beyond."""
        source, target, term, arrays, sums = arguments
        stages: Iterable[Stage] = [(0, self.blocks, None)]
        if k != self.K:
            stages = self.product.stages(source, target, self.blocks, self.rows, transpose=True, term=term)
        self._in_blocks(self.cell.backward, stages, (self.dx if self.spec.input else None, *arrays), sums)

    def _in_blocks(self, kernel: Any, stages: Iterable[Stage], arguments: Sequence[Any], sums: Sequence[Any]) -> None:
        """Run a backward kernel whose blocks each fill a slice of their own, then add up the slices in order.

        ``sums`` are (1, P, M), or None for what is not wanted.
        """
        slices = sums
        if self.blocks != 1:
            shapes = [None if total is None else (self.blocks, *total.shape[1:]) for total in sums]
            slices = [None if shape is None else np.empty(shape, self.number) for shape in shapes]
        for first, end, graph in stages:
            for_blocks(end, kernel, self.rows, graph, *arguments, *slices, first=first)
        if self.blocks == 1:
            return
        for total, parts in zip(sums, slices, strict=True):
            if total is not None:
                columns.add_blocks(parts, total[0])

    def finish_backward(self) -> None:
        """w_0 = x: its gradient is Sᵀ of the last one, wanted only if x's is."""
        v = self.last_product()[1] if self.dx is not None and self.K else None
        self.input_gradients(v, np.ones(self.shape[1], self.number))

    def last_product(self) -> Both:
        """Sᵀ of what the first shift's backward left, and its term."""
        source, target = self.d[self.K], self.d[self.K + 1]
        self.product.shift(source, target, transpose=True, term=self._term(1, self.d, self.K - 1))
        return target

    def input_gradients(self, v: Any, scale: Any) -> Any:
        """The k = 0 end: gradients of y_0 and of w_0 = x; returns Σ v x."""
        sums = np.empty((1, 2, self.shape[1]), self.number)
        arguments = (scale, self.x_array, *self._output_weights(), self.dtotal, self.dx, self.codes[-1])
        self._in_blocks(outputs.first_output_backward, [(0, self.blocks, v)], arguments, [sums])
        self.dH[0, 0, self.maps :: self.maps + 1] = sums[0, 1]
        return sums[0, 0]

    def _gathered(self, sums: Any, starts: Any) -> list[Tensor | None]:
        """Gradients of the weights from the sums by shift and column; None without a shift to use them."""
        grads = torch.empty((len(starts), self.K + 1, self.F, self.G), dtype=self.dtype)
        columns.gather(sums[:, 0].reshape(self.K + 2, len(starts), self.B, -1), starts, grads.flatten(2).numpy())
        return [(grad[start:] if self.K or not start else None) for grad, start in zip(grads, starts, strict=True)]
