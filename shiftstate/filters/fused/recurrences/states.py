"""S w_{k−1}, c_k and w_k along the shifts: every one of what the backward needs, of the rest two in turn."""

from collections.abc import Callable, Sequence
from itertools import zip_longest

from torch import Tensor

from shiftstate.filters.fused.memory.buffers import Both
from shiftstate.filters.fused.spec import Spec


class Slots:
    """Arrays of one shape, taken in turn: as many as shifts when all are kept, two when only the last counts."""

    def __init__(self, tensors: Tensor) -> None:
        self.tensor = tensors
        self.tensors = tensors.unbind(0)
        self.arrays = list(tensors.numpy())

    def __getitem__(self, slot: int) -> Both:
        slot %= len(self.arrays)
        return self.tensors[slot], self.arrays[slot]


class States:
    """The arrays of some shifts; those that a cell does not have are None.

    Slot 0 holds w and c before the first of these shifts, and S w of the first. In Chebyshev's basis slot −1, which is
    the last one, holds the w before that; before k = 0 it is zero.

    Args:
        spec: what the cell keeps.
        arrays: its arrays by name.
    """

    def __init__(self, spec: Spec, arrays: dict[str, Slots]) -> None:
        self.keeps, self.chebyshev = spec.cell.keeps, spec.chebyshev
        self.Sw, self.c, self.w = (arrays.get(name) for name in ("Sw", "c", "w"))

    @classmethod
    def empty(cls, spec: Spec, shifts: int, blank: Callable[[int], Tensor]) -> "States":
        """Room to keep so many shifts; 0 for the current one alone."""
        keeps = spec.cell.keeps
        names = {*keeps, "w", *(["c"] if spec.cell.memory else [])}
        return cls(spec, {name: Slots(blank(spec.slots(name, shifts if name in keeps else 0))) for name in names})

    @classmethod
    def restored(cls, spec: Spec, kept: Sequence[Tensor]) -> "States":
        """From what was kept."""
        return cls(spec, dict(zip(spec.cell.keeps, map(Slots, kept), strict=True)))

    def kept(self) -> list[Tensor]:
        """What the backward needs."""
        return [getattr(self, name).tensor for name in self.keeps]

    def _carried(self, slot: int) -> list[Tensor]:
        """What one shift hands to the next, as `Spec.carried` counts it."""
        assert self.w is not None
        carried = [self.w[slot][0]] if self.c is None else [self.w[slot][0], self.c[slot][0]]
        return [*carried, self.w[slot - 1][0]] if self.chebyshev else carried

    def begin(self, *carried: Tensor) -> None:
        """The state before the first shift: w_0, and c_0 = 0 unless given, or what was saved."""
        for array, value in zip_longest(self._carried(0), carried):
            array.zero_() if value is None else array.copy_(value)

    def save(self, slot: int, place: Tensor) -> None:
        """Put the current state aside."""
        for array, saved in zip(self._carried(slot), place, strict=True):
            saved.copy_(array)
