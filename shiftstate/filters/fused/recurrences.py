"""What tells the LSSM from the RSN around their kernels: what is carried, what is kept, and a shift there and back."""

from typing import Any

import numpy as np
from torch import Tensor

from shiftstate.filters.fused import lssm, rsn
from shiftstate.filters.fused.blocks import for_blocks
from shiftstate.filters.fused.scalar import Recurrence, Slots


class LSSM(Recurrence):
    """Carried: w and c. Kept for the backward: S w_{k−1} and c_k of every shift."""

    carried = 2

    def storage(self, shifts: int) -> Any:
        """Room for so many shifts, or for the current one alone."""
        return Slots(self.blank(max(shifts, 1))), Slots(self.blank(max(shifts + 1, 2))), Slots(self.blank(2))

    def begin(self) -> None:
        """w_0 = x, c_0 = 0."""
        self.slots[1][0][0].zero_()
        self.slots[2][0][0].copy_(self.x)

    def save(self, slot: int, place: Tensor) -> None:
        """Put the current c and w aside."""
        place[0], place[1] = self.slots[1][slot][0], self.slots[2][slot][0]

    def load_state(self, slots: Any, place: Tensor) -> None:
        """Go on from a c and w put aside."""
        slots[1][0][0].copy_(place[0])
        slots[2][0][0].copy_(place[1])

    def kept(self) -> list[Tensor]:
        """What the backward needs."""
        return [self.slots[0].tensor, self.slots[1].tensor]

    def restored(self, kept: list[Tensor]) -> Any:
        """The storage again."""
        return Slots(kept[0]), Slots(kept[1])

    def arguments(self, k: int, slot: int, slots: Any) -> tuple[Any, ...]:
        """Source and target of shift k's product, then the arrays of the kernel."""
        w_old, (_, w), Sw = slots[2][slot], slots[2][slot + 1], slots[0][slot]
        b = None if self.b is None else self.b[k]
        return w_old, Sw, w_old[1], Sw[1], self.x_array, self.H[k], b, slots[1][slot][1], slots[1][slot + 1][1], w

    def step(self, arguments: tuple[Any, ...], total: Any) -> None:
        """One shift."""
        self.product.prepare(arguments[0], arguments[1])
        for_blocks(self.blocks, lssm.forward, self.rows, self.product.rows, *arguments[2:], total, self.code_y)

    def begin_backward(self) -> None:
        """∂/∂w_K and ∂/∂c_K from beyond the last shift are zero."""
        self.d[1][0].zero_()
        self.dc.fill(0)

    def back_arguments(self, k: int, slot: int, slots: Any) -> tuple[Any, ...]:
        """Source and target of the product, the arrays of the kernel, and its sums."""
        d_old, d = self.d[self.K - k], self.d[self.K - k + 1]
        Sw, c_old, c = slots[0][slot][1], slots[1][slot][1], slots[1][slot + 1][1]
        b, db = (None, None) if self.b is None or self.db is None else (self.b[k], self.db[k])
        arrays = (d_old[1], d[1], Sw, self.x_array, self.H[k], b, c_old, c, self.dtotal, self.dc, self.code_y)
        return d_old, d, arrays, (self.dH[k], db)

    def step_back(self, k: int, arguments: tuple[Any, ...]) -> None:
        """Shift k in reverse."""
        d_old, d, arrays, sums = arguments
        self.in_blocks(lssm.backward, (self.gathered_from(k, d_old, d), self.dx, *arrays), sums)

    def finish_backward(self) -> None:
        """w_0 = x: its gradient is Sᵀ of the last one, wanted only where x's is."""
        v = None
        if self.dx is not None and self.K:
            d, target = self.d[self.K][0], self.d[self.K + 1]
            self.product.apply(d, target[0], transpose=True)
            v = target[1]
        self.input_gradients(v, np.ones(self.shape[1], self.number))


class RSN(Recurrence):
    """Carried and kept: w_k."""

    carried = 1

    def storage(self, shifts: int) -> Any:
        """Room for so many shifts, or for the current one alone."""
        return Slots(self.blank(max(shifts + 1, 2)))

    def begin(self) -> None:
        """w_0 = x."""
        self.slots[0][0].copy_(self.x)

    def save(self, slot: int, place: Tensor) -> None:
        """Put the current w aside."""
        place[0] = self.slots[slot][0]

    def load_state(self, slots: Any, place: Tensor) -> None:
        """Go on from a w put aside."""
        slots[0][0].copy_(place[0])

    def kept(self) -> list[Tensor]:
        """What the backward needs."""
        return [self.slots.tensor]

    def restored(self, kept: list[Tensor]) -> Any:
        """The storage again."""
        return Slots(kept[0])

    def arguments(self, k: int, slot: int, slots: Any) -> tuple[Any, ...]:
        """Source and target of shift k's product, then the arrays of the kernel."""
        w_old, w = slots[slot], slots[slot + 1]
        return w_old, w, w_old[1], w[1], self.x_array, self.H[k]

    def step(self, arguments: tuple[Any, ...], total: Any) -> None:
        """One shift."""
        self.product.prepare(arguments[0], arguments[1])
        codes = (self.code_w, self.code_y)
        for_blocks(self.blocks, rsn.forward, self.rows, self.product.rows, *arguments[2:], total, *codes)

    def begin_backward(self) -> None:
        """No gradient comes from beyond the last shift."""
        self.d[1][0].zero_()

    def back_arguments(self, k: int, slot: int, slots: Any) -> tuple[Any, ...]:
        """Source and target of the product, the arrays of the kernel, and its sums."""
        a_old, a = self.d[self.K - k], self.d[self.K - k + 1]
        w, H, ww = slots[slot + 1][1], self.H[k], self.H[k + 1, 0]
        arrays = (a_old[1], a[1], w, self.x_array, H, ww, self.dtotal, self.code_w, self.code_y)
        return a_old, a, arrays, (self.sums(*self.dH[k].shape),)

    def step_back(self, k: int, arguments: tuple[Any, ...]) -> None:
        """Shift k in reverse."""
        a_old, a, arrays, (sums,) = arguments
        self.in_blocks(rsn.backward, (self.gathered_from(k, a_old, a), self.dx, *arrays), (sums,))
        self.dH[k + 1, 0, 0], self.dH[k, 0, 1:] = sums[0, 0], sums[0, 1:]

    def finish_backward(self) -> None:
        """Sᵀ a_1 gives the gradients of h_1ww and of w_0 = x."""
        v = None
        if self.K:
            a, target = self.d[self.K][0], self.d[self.K + 1]
            self.product.apply(a, target[0], transpose=True)
            v = target[1]
        state_weight = self.input_gradients(v, self.H[1, 0])
        if self.K:
            self.dH[1, 0, 0] = state_weight


RECURRENCES: dict[str, type[Recurrence]] = {"lssm": LSSM, "rsn": RSN}
