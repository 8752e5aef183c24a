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

from shiftstate.filters.fused import ends, lssm, rsn
from shiftstate.filters.fused.blocks import for_blocks, num_blocks, rows_per_block
from shiftstate.filters.fused.buffers import empty
from shiftstate.filters.fused.elementary import encode
from shiftstate.filters.fused.product import Product
from shiftstate.filters.fused.setting import Setting


class Slots:
    """Arrays of one shape, taken in turn: as many as shifts when all are kept, two when only the last counts."""

    def __init__(self, tensors: Tensor) -> None:
        self.tensor = tensors
        self.tensors = tensors.unbind(0)
        self.arrays = list(tensors.numpy())

    def __getitem__(self, slot: int) -> tuple[Tensor, Any]:
        slot %= len(self.arrays)
        return self.tensors[slot], self.arrays[slot]


class Recurrence(ABC):
    """The part that LSSM and RSN share: columns, weights by shift, and the two ends of the filter.

    Args:
        setting: kind, activations and checkpointing.
        x: the input as (N, B, 1, G) of a bank or (N, B, F, 1) of a depthwise filter.
        weights: all weights of the filter by name, (K or K+1, F, G).
        operator: the tensors of S.
    """

    carried: ClassVar[int]
    """Arrays that go from shift to shift."""

    @abstractmethod
    def storage(self, shifts: int) -> Any:
        """Room for so many shifts, or for the current one alone."""

    @abstractmethod
    def begin(self, slots: Any) -> None:
        """The state before the first shift."""

    @abstractmethod
    def save(self, slots: Any, slot: int, place: Tensor) -> None:
        """Put the current state aside."""

    @abstractmethod
    def load(self, slots: Any, place: Tensor) -> None:
        """Go on from a state put aside."""

    @abstractmethod
    def kept(self, slots: Any) -> list[Tensor]:
        """What the backward needs."""

    @abstractmethod
    def restored(self, kept: list[Tensor]) -> Any:
        """The storage again."""

    @abstractmethod
    def step(self, k: int, slot: int, slots: Any, total: Any) -> None:
        """Shift k; outputs are added to ``total`` unless it is None."""

    @abstractmethod
    def begin_backward(self) -> None:
        """The gradients from beyond the last shift."""

    @abstractmethod
    def step_back(self, k: int, slot: int, slots: Any) -> None:
        """Shift k in reverse."""

    @abstractmethod
    def finish_backward(self) -> None:
        """The gradients that reach w_0 = x."""

    def __init__(self, setting: Setting, x: Tensor, weights: dict[str, Tensor], operator: Sequence[Tensor]) -> None:
        self.setting = setting
        self.names = [name for name in weights if name.startswith("h_")]
        self.biases = [name for name in weights if name.startswith("b_")]
        self.weights = weights
        self.K, (self.F, self.G) = weights["h_yw"].shape[0] - 1, weights["h_yw"].shape[1:]
        self.N, self.B = x.shape[:2]
        self.shape = (self.N, self.B * self.F * self.G)
        self.dtype = x.dtype
        self.product = Product.of(tuple(operator))
        self.x = x.expand(self.N, self.B, self.F, self.G).reshape(self.shape).contiguous()
        self.x_array = self.x.numpy()
        self.H = self._columns(self.names)  # (K + 2, P, M): index k, the last all zero
        self.b = self._columns(self.biases) if self.biases else None
        number = np.float32 if self.dtype == torch.float32 else np.float64
        self.code_w = encode(setting.state_activation, number)
        self.code_y = encode(setting.output_activation, number)
        self.rows, self.blocks = rows_per_block(*self.shape), num_blocks(*self.shape)

    def _columns(self, names: list[str]) -> Any:
        """Weights with a number for every column, by shift: those of the state update count from k = 1."""
        C = self.F * self.G
        table = np.zeros((self.K + 2, len(names), self.B, C), self.x_array.dtype)
        for first, part in self._parts(names):
            weights = torch.stack([self.weights[name] for name in names[part]])
            ends.spread(weights.view(len(weights), self.K + 1 - first, C).numpy(), table, part.start, first)
        return table.reshape(self.K + 2, len(names), self.B * C)

    def _parts(self, names: list[str]) -> list[tuple[int, slice]]:
        """The weights of the state update and those of the output: the k each starts from, and its places."""
        updates = len(names) if names is self.biases else len(names) - 2
        return [(1, slice(0, updates)), (0, slice(updates, len(names)))][: 1 + (names is self.names)]

    def variant(self) -> tuple[Any, ...]:
        """What decides which kernels are compiled, the filter's name first."""
        return self.setting.kind.upper(), self.setting, self.dtype, self.b is None, self.product.matrix is None

    def blank(self, *shape: int) -> Tensor:
        """Memory that is written before it is read."""
        return empty((*shape, *self.shape), self.dtype)

    def forward(self, keep: bool) -> tuple[Tensor, list[Tensor]]:
        """σ_y(Σ_k y_k) as (N, B, F, G), and what the backward needs: all shifts' arrays, or segments' first states."""
        total = self.blank()
        array = total.numpy()
        ends.first_output(self.x_array, self.H[0, -2], self.H[0, -1], array, self.code_y)
        segment = self.setting.checkpoint
        slots = self.storage(self.K if keep and not segment else 0)
        self.begin(slots)
        starts = self.blank(-(-self.K // segment), self.carried) if keep and segment else None
        for k in range(1, self.K + 1):
            if starts is not None and (k - 1) % segment == 0:
                self.save(slots, k - 1, starts[(k - 1) // segment])
            self.step(k, k - 1, slots, array)
        ends.finish(array, self.code_y)
        kept = [] if not keep else [starts] if starts is not None else self.kept(slots)
        return total.view(self.N, self.B, self.F, self.G), kept

    def backward(
        self, dy: Tensor, y: Tensor, kept: list[Tensor], need_x: bool
    ) -> tuple[Tensor | None, dict[str, Tensor]]:
        """Gradients of x as (N, B, F, G), and of every weight, from that of y."""
        dtotal = self.blank()
        dy = dy.expand(self.N, self.B, self.F, self.G).reshape(self.shape).contiguous()
        ends.finish_backward(dy.numpy(), y.reshape(self.shape).numpy(), dtotal.numpy(), self.code_y)
        self.dtotal = dtotal.numpy()
        self.dx = torch.zeros(self.shape, dtype=self.dtype).numpy() if need_x else None
        self.dH = np.zeros(self.H.shape, self.H.dtype)
        self.db = None if self.b is None else np.zeros(self.b.shape, self.b.dtype)
        self.begin_backward()
        segment = self.setting.checkpoint or max(self.K, 1)
        for first in range(((self.K - 1) // segment) * segment + 1, 0, -segment):
            last = min(first + segment - 1, self.K)
            slots = self._again(first, last, kept[0]) if self.setting.checkpoint else self.restored(kept)
            for k in range(last, first - 1, -1):
                self.step_back(k, k - first, slots)
        self.finish_backward()
        grads = self._gathered(self.names, self.dH) | self._gathered(self.biases, self.db)
        shape = (self.N, self.B, self.F, self.G)
        return (None if self.dx is None else torch.from_numpy(self.dx).view(shape)), grads

    def _again(self, first: int, last: int, starts: Tensor) -> Any:
        """A segment's arrays, computed once more from the state at its start."""
        slots = self.storage(last - first + 1)
        self.load(slots, starts[(first - 1) // self.setting.checkpoint])
        for k in range(first, last + 1):
            self.step(k, k - first, slots, None)
        return slots

    def in_blocks(self, kernel: Any, arguments: Sequence[Any], sums: Sequence[Any]) -> None:
        """Run a backward kernel whose blocks each fill a slice of their own, then add up the slices in order."""
        if self.blocks == 1:
            kernel(0, 1, self.rows, *arguments, *(None if total is None else total[None] for total in sums))
            return
        slices = [None if total is None else np.empty((self.blocks, *total.shape), total.dtype) for total in sums]
        for_blocks(self.blocks, kernel, self.rows, *arguments, *slices)
        for total, parts in zip(sums, slices, strict=True):
            if total is not None:
                ends.add_blocks(parts, total)

    def input_gradients(self, v: Any, scale: Any) -> Any:
        """The k = 0 end: gradients of y_0 and of w_0 = x; returns Σ v x."""
        sums = np.empty((2, self.shape[1]), self.H.dtype)
        yw, yx = self.H[0, -2], self.H[0, -1]
        arguments = (v, scale, self.x_array, yw, yx, self.dtotal, self.dx, self.code_y)
        self.in_blocks(ends.first_output_backward, arguments, [sums])
        self.dH[0, -2:] = sums[1]
        return sums[0]

    def _gathered(self, names: list[str], sums: Any) -> dict[str, Tensor]:
        if not names:
            return {}
        table = torch.from_numpy(sums).view(self.K + 2, len(names), self.B, self.F * self.G).sum(2)
        grads: dict[str, Tensor] = {}
        for first, part in self._parts(names):
            shape = (part.stop - part.start, self.K + 1 - first, self.F, self.G)
            weights = table[first : self.K + 1, part].transpose(0, 1).reshape(shape)
            grads |= zip(names[part], weights.unbind(0), strict=True)
        return grads


class LSSM(Recurrence):
    """Carried: w and c. Kept for the backward: S w_{k−1} and c_k of every shift."""

    carried = 2

    def storage(self, shifts: int) -> Any:
        """Room for so many shifts, or for the current one alone."""
        return Slots(self.blank(max(shifts, 1))), Slots(self.blank(max(shifts + 1, 2))), Slots(self.blank(2))

    def begin(self, slots: Any) -> None:
        """w_0 = x, c_0 = 0."""
        slots[1][0][0].zero_()
        slots[2][0][0].copy_(self.x)

    def save(self, slots: Any, slot: int, place: Tensor) -> None:
        """Put the current c and w aside."""
        place[0], place[1] = slots[1][slot][0], slots[2][slot][0]

    def load(self, slots: Any, place: Tensor) -> None:
        """Go on from a c and w put aside."""
        slots[1][0][0].copy_(place[0])
        slots[2][0][0].copy_(place[1])

    def kept(self, slots: Any) -> list[Tensor]:
        """What the backward needs."""
        return [slots[0].tensor, slots[1].tensor]

    def restored(self, kept: list[Tensor]) -> Any:
        """The storage again."""
        return Slots(kept[0]), Slots(kept[1])

    def step(self, k: int, slot: int, slots: Any, total: Any) -> None:
        """Shift k."""
        (w_old, w_array), (_, w) = slots[2][slot], slots[2][slot + 1]
        Sw, Sw_array = slots[0][slot]
        c_old, c = slots[1][slot][1], slots[1][slot + 1][1]
        self.product.prepare(w_old, Sw)
        H, b = self.H[k], None if self.b is None else self.b[k]
        arguments = (w_array, Sw_array, self.x_array, H, b, c_old, c, w, total, self.code_y)
        for_blocks(self.blocks, lssm.forward, self.rows, self.product.rows, *arguments)

    def begin_backward(self) -> None:
        """∂/∂w_K and ∂/∂c_K from beyond the last shift are zero."""
        self.d = Slots(self.blank(2))
        self.d[0][0].zero_()
        self.dc = np.zeros(self.shape, self.H.dtype)

    def step_back(self, k: int, slot: int, slots: Any) -> None:
        """Shift k in reverse."""
        (d_old, d_old_array), (d, d_array) = self.d[self.K - k], self.d[self.K - k + 1]
        graph = None
        if k == self.K:
            d.zero_()
        else:
            self.product.prepare(d_old, d, transpose=True)
            graph = self.product.t_rows
        Sw, c_old, c = slots[0][slot][1], slots[1][slot][1], slots[1][slot + 1][1]
        H, b = self.H[k], None if self.b is None else self.b[k]
        arguments = (graph, d_old_array, d_array, Sw, self.x_array, H, b, c_old, c, self.dtotal, self.dc, self.dx)
        self.in_blocks(lssm.backward, (*arguments, self.code_y), [self.dH[k], None if self.db is None else self.db[k]])

    def finish_backward(self) -> None:
        """w_0 = x: its gradient is Sᵀ of the last one, wanted only where x's is."""
        v = None
        if self.dx is not None and self.K:
            d, target = self.d[self.K][0], self.d[self.K + 1]
            self.product.apply(d, target[0], transpose=True)
            v = target[1]
        self.input_gradients(v, np.ones(self.shape[1], self.H.dtype))


class RSN(Recurrence):
    """Carried and kept: w_k."""

    carried = 1

    def storage(self, shifts: int) -> Any:
        """Room for so many shifts, or for the current one alone."""
        return Slots(self.blank(max(shifts + 1, 2)))

    def begin(self, slots: Any) -> None:
        """w_0 = x."""
        slots[0][0].copy_(self.x)

    def save(self, slots: Any, slot: int, place: Tensor) -> None:
        """Put the current w aside."""
        place[0] = slots[slot][0]

    def load(self, slots: Any, place: Tensor) -> None:
        """Go on from a w put aside."""
        slots[0][0].copy_(place[0])

    def kept(self, slots: Any) -> list[Tensor]:
        """What the backward needs."""
        return [slots.tensor]

    def restored(self, kept: list[Tensor]) -> Any:
        """The storage again."""
        return Slots(kept[0])

    def step(self, k: int, slot: int, slots: Any, total: Any) -> None:
        """Shift k."""
        (w_old, w_old_array), (w, w_array) = slots[slot], slots[slot + 1]
        self.product.prepare(w_old, w)
        arguments = (w_old_array, w_array, self.x_array, self.H[k], total, self.code_w, self.code_y)
        for_blocks(self.blocks, rsn.forward, self.rows, self.product.rows, *arguments)

    def begin_backward(self) -> None:
        """No gradient comes from beyond the last shift."""
        self.a = Slots(self.blank(2))

    def step_back(self, k: int, slot: int, slots: Any) -> None:
        """Shift k in reverse."""
        (a_old, a_old_array), (a, a_array) = self.a[self.K - k], self.a[self.K - k + 1]
        graph = None
        if k == self.K:
            a.zero_()
        else:
            self.product.prepare(a_old, a, transpose=True)
            graph = self.product.t_rows
        w = slots[slot + 1][1]
        sums = np.empty(self.dH[k].shape, self.dH.dtype)
        arguments = (graph, a_old_array, a_array, w, self.x_array, self.H[k], self.H[k + 1, 0], self.dtotal, self.dx)
        self.in_blocks(rsn.backward, (*arguments, self.code_w, self.code_y), [sums])
        self.dH[k + 1, 0], self.dH[k, 1:] = sums[0], sums[1:]

    def finish_backward(self) -> None:
        """Sᵀ a_1 gives the gradients of h_1ww and of w_0 = x."""
        v = None
        if self.K:
            a, target = self.a[self.K][0], self.a[self.K + 1]
            self.product.apply(a, target[0], transpose=True)
            v = target[1]
        state_weight = self.input_gradients(v, self.H[1, 0])
        if self.K:
            self.dH[1, 0] = state_weight


RECURRENCES: dict[str, type[Recurrence]] = {"lssm": LSSM, "rsn": RSN}
