"""K shifts of a filter with scalar weights, there and back: the order of things around the kernels.

A state is (N, M), nodes first, with a column for every signal of the batch and channel of the state, M = B·F·G; each
shift is then one product, and each weight one number a column.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from shiftstate.filters.fused import ends
from shiftstate.filters.fused.blocks import for_blocks, num_blocks, rows_per_block
from shiftstate.filters.fused.buffers import empty
from shiftstate.filters.fused.elementary import encode
from shiftstate.filters.fused.product import Both, Product
from shiftstate.filters.fused.setting import Setting


class Slots:
    """Arrays of one shape, taken in turn: as many as shifts when all are kept, two when only the last counts."""

    def __init__(self, tensors: Tensor) -> None:
        self.tensor = tensors
        self.tensors = tensors.unbind(0)
        self.arrays = list(tensors.numpy())

    def __getitem__(self, slot: int) -> Both:
        slot %= len(self.arrays)
        return self.tensors[slot], self.arrays[slot]


class Recurrence(ABC):
    """The part that LSSM and RSN share: columns, weights by shift, and the two ends of the filter.

    Made for shapes; `load` fills in the numbers, so that one can serve many calls.

    Args:
        setting: kind, activations and checkpointing.
        x: an input of the right shape, (N, B, 1, G) of a bank or (N, B, F, 1) of a depthwise filter.
        weights: weights of the right shapes by name, (K or K+1, F, G).
        keep: whether a backward will follow.
    """

    carried: ClassVar[int]
    """Arrays that go from shift to shift."""

    @abstractmethod
    def storage(self, shifts: int) -> Any:
        """Room for so many shifts, or for the current one alone."""

    @abstractmethod
    def begin(self) -> None:
        """The state before the first shift."""

    @abstractmethod
    def save(self, slot: int, place: Tensor) -> None:
        """Put the current state aside."""

    @abstractmethod
    def load_state(self, slots: Any, place: Tensor) -> None:
        """Go on from a state put aside."""

    @abstractmethod
    def kept(self) -> list[Tensor]:
        """What the backward needs."""

    @abstractmethod
    def restored(self, kept: list[Tensor]) -> Any:
        """The storage again."""

    @abstractmethod
    def arguments(self, k: int, slot: int, slots: Any) -> tuple[Any, ...]:
        """Source and target of shift k's product, then the arrays of the kernel."""

    @abstractmethod
    def step(self, arguments: tuple[Any, ...], total: Any) -> None:
        """One shift; outputs are added to ``total`` unless it is None."""

    @abstractmethod
    def begin_backward(self) -> None:
        """The gradients from beyond the last shift."""

    @abstractmethod
    def back_arguments(self, k: int, slot: int, slots: Any) -> tuple[Any, ...]:
        """Source and target of the product of shift k in reverse, the arrays of the kernel, and its sums."""

    @abstractmethod
    def step_back(self, k: int, arguments: tuple[Any, ...]) -> None:
        """Shift k in reverse."""

    @abstractmethod
    def finish_backward(self) -> None:
        """The gradients that reach w_0 = x."""

    def __init__(self, setting: Setting, x: Tensor, weights: dict[str, Tensor], keep: bool) -> None:
        self.setting, self.keep = setting, keep
        self.names = [name for name in weights if name.startswith("h_")]
        self.biases = [name for name in weights if name.startswith("b_")]
        self.K, (self.F, self.G) = weights["h_yw"].shape[0] - 1, weights["h_yw"].shape[1:]
        self.N, self.B = x.shape[:2]
        self.whole = (self.N, self.B, self.F, self.G)
        self.shape = (self.N, self.B * self.F * self.G)
        self.dtype = x.dtype
        self.number: Any = np.float32 if self.dtype == torch.float32 else np.float64
        self.code_w = encode(setting.state_activation, self.number)
        self.code_y = encode(setting.output_activation, self.number)
        self.rows, self.blocks = rows_per_block(*self.shape), num_blocks(*self.shape)
        self.x = self.blank()
        self.x_array = self.x.numpy()
        self.H = self._table(self.names)  # (K + 2, P, M): index k, the last all zero
        self.b = self._table(self.biases) if self.biases else None
        self.slots = self.storage(self.K if keep and not setting.checkpoint else 0)
        shifts = 0 if setting.checkpoint else self.K
        self.size = (shifts * self.carried + 10) * self.x.nbytes + 2 * self.H.nbytes  # bytes, nearly
        self.steps: Any = [self.arguments(k, k - 1, self.slots) for k in range(1, self.K + 1)]
        self.steps_back: Any = None

    def blank(self, *shape: int) -> Tensor:
        """Memory that is written before it is read."""
        return empty((*shape, *self.shape), self.dtype)

    def sums(self, *shape: int) -> Any:
        """An array for sums that a kernel fills."""
        return np.empty(shape, self.number)

    def _table(self, names: list[str]) -> Any:
        """Room for weights by shift and column."""
        table = empty((self.K + 2, len(names), self.shape[1]), self.dtype).numpy()
        table[0], table[-1] = 0, 0  # no update before the first shift, and none after the last
        return table

    def variant(self) -> tuple[Any, ...]:
        """What decides which kernels are compiled, the filter's name first."""
        return self.setting.kind.upper(), self.setting, self.dtype, self.b is None, self.product.matrix is None

    def load(self, x: Tensor, weights: dict[str, Tensor], operator: Sequence[Tensor]) -> None:
        """The numbers of one call."""
        self.product = Product.of(tuple(operator))
        self.x.view(self.whole).copy_(x)  # spread over f, if it is a bank's
        self._spread(self.names, weights, self.H, outputs=2)
        if self.biases:
            self._spread(self.biases, weights, self.b, outputs=0)

    def _spread(self, names: list[str], weights: dict[str, Tensor], table: Any, outputs: int) -> None:
        """Weights with a number for every column, by shift: those of the state update count from k = 1."""
        rows = torch.cat([weights[name] for name in names])  # (K or K + 1 of every name, F, G)
        ends.spread(rows.flatten(1).numpy(), table.reshape(*table.shape[:2], self.B, -1), outputs)

    def forward(self) -> Tensor:
        """σ_y(Σ_k y_k) as (N, B, F, G)."""
        total = self.blank()
        array = total.numpy()
        ends.first_output(self.x_array, self.H[0, -2], self.H[0, -1], array, self.code_y)
        self.begin()
        segment = self.setting.checkpoint if self.keep else 0
        self.starts: Any = self.blank(-(-self.K // segment), self.carried) if segment else None
        for slot, arguments in enumerate(self.steps):
            if self.starts is not None and slot % segment == 0:
                self.save(slot, self.starts[slot // segment])
            self.step(arguments, array)
        ends.finish(array, self.code_y)
        return total.view(self.whole)

    def backward(self, dy: Tensor, y: Tensor, kept: list[Tensor] | None, need_x: bool) -> Any:
        """Gradients of x as (N, B, F, G), and of every weight, from that of y; ``kept`` None: all is still in place."""
        if not hasattr(self, "dH"):
            self._prepare_backward()
        dy = dy.expand(self.whole).reshape(self.shape).contiguous()
        ends.finish_backward(dy.numpy(), y.view(self.shape).numpy(), self.dtotal, self.code_y)
        self.dx = np.zeros(self.shape, self.number) if need_x else None
        self.begin_backward()
        segment = self.setting.checkpoint or max(self.K, 1)
        for first in range(((self.K - 1) // segment) * segment + 1, 0, -segment):
            last = min(first + segment - 1, self.K)
            for k, arguments in reversed(self._steps_back(first, last, kept)):
                self.step_back(k, arguments)
        self.finish_backward()
        grads = self._gathered(self.names, self.dH, outputs=2)
        if self.biases:
            grads |= self._gathered(self.biases, self.db, outputs=0)
        dx = None if self.dx is None else torch.from_numpy(self.dx).view(self.whole)
        self.dx = None
        if self.slots is None:  # not on loan: nothing outlives the backward
            del self.dtotal, self.dH, self.db, self.d, self.dc
        return dx, grads

    def _steps_back(self, first: int, last: int, kept: list[Tensor] | None) -> Any:
        """Shifts first … last with the arguments of their backward; made once where all is still in place."""
        if kept is None and not self.setting.checkpoint:
            if self.steps_back is None:
                self.steps_back = [(k, self.back_arguments(k, k - 1, self.slots)) for k in range(1, self.K + 1)]
            return self.steps_back
        if self.setting.checkpoint:
            slots = self._again(first, last, self.starts if kept is None else kept[0])
        else:
            slots = self.restored(kept or [])
        return [(k, self.back_arguments(k, k - first, slots)) for k in range(first, last + 1)]

    def _prepare_backward(self) -> None:
        """Arrays of the backward: two of states' gradients in turn, that of the memory, sums by weight."""
        self.dtotal, self.d = self.blank().numpy(), Slots(self.blank(2))
        self.dc: Any = self.blank().numpy() if self.carried == 2 else None
        self.dH = empty((self.K + 2, 1, *self.H.shape[1:]), self.dtype).numpy()
        self.db = None if self.b is None else empty((self.K + 2, 1, *self.b.shape[1:]), self.dtype).numpy()

    def release(self) -> list[Tensor]:
        """What the backward needs, no longer held here: the graph frees it as soon as it can."""
        kept = self.kept() if self.starts is None else [self.starts]
        self.slots = self.steps = self.steps_back = self.starts = None
        return kept

    def _again(self, first: int, last: int, starts: Any) -> Any:
        """A segment's arrays, computed once more from the state at its start."""
        slots = self.storage(last - first + 1)
        self.load_state(slots, starts[(first - 1) // self.setting.checkpoint])
        for k in range(first, last + 1):
            self.step(self.arguments(k, k - first, slots), None)
        return slots

    def in_blocks(self, kernel: Any, arguments: Sequence[Any], sums: Sequence[Any]) -> None:
        """Run a backward kernel whose blocks each fill a slice of their own, then add up the slices in order.

        ``sums`` are (1, P, M), or None for what is not wanted.
        """
        if self.blocks == 1:
            kernel(0, 1, self.rows, *arguments, *sums)
            return
        slices = [None if total is None else np.empty((self.blocks, *total.shape[1:]), total.dtype) for total in sums]
        for_blocks(self.blocks, kernel, self.rows, *arguments, *slices)
        for total, parts in zip(sums, slices, strict=True):
            if total is not None:
                ends.add_blocks(parts, total[0])

    def gathered_from(self, k: int, source: Both, target: Both) -> Any:
        """Sᵀ source in target, if S is dense; otherwise the rows of Sᵀ, for the kernel to gather by.

        Nothing reaches the last shift from beyond.
        """
        if k == self.K:
            return None
        self.product.prepare(source, target, transpose=True)
        return self.product.t_rows

    def input_gradients(self, v: Any, scale: Any) -> Any:
        """The k = 0 end: gradients of y_0 and of w_0 = x; returns Σ v x."""
        sums = self.sums(1, 2, self.shape[1])
        yw, yx = self.H[0, -2], self.H[0, -1]
        arguments = (v, scale, self.x_array, yw, yx, self.dtotal, self.dx, self.code_y)
        self.in_blocks(ends.first_output_backward, arguments, [sums])
        self.dH[0, 0, -2:] = sums[0, 1]
        return sums[0, 0]

    def _gathered(self, names: list[str], sums: Any, outputs: int) -> dict[str, Tensor]:
        """Gradients by name from the sums by shift and column."""
        grads = torch.empty((len(names), self.K + 1, self.F, self.G), dtype=self.dtype)
        ends.gather(sums[:, 0].reshape(self.K + 2, len(names), self.B, -1), outputs, grads.flatten(2).numpy())
        updates = len(names) - outputs
        return dict(zip(names, (*grads[:updates, 1:].unbind(0), *grads[updates:].unbind(0)), strict=True))
