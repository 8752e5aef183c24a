"""S w_{k−1}, c_k and w_k along the shifts: every one of what the backward needs, of the rest two in turn."""

from collections.abc import Callable, Sequence

from torch import Tensor

from shiftstate.filters.fused.memory.buffers import Both
from shiftstate.filters.fused.spec import Spec, slots


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

    Slot 0 holds w and c before the first of these shifts, and S w of the first.

    Args:
        spec: what the cell keeps.
        arrays: its arrays by name.
    """

    def __init__(self, spec: Spec, arrays: dict[str, Slots]) -> None:
        self.keeps = spec.cell.keeps
        self.Sw, self.c, self.w = (arrays.get(name) for name in ("Sw", "c", "w"))

    @classmethod
    def empty(cls, spec: Spec, shifts: int, blank: Callable[[int], Tensor]) -> "States":
        """Room to keep so many shifts; 0 for the current one alone."""
        keeps = spec.cell.keeps
        names = {*keeps, "w", *(["c"] if spec.cell.memory else [])}
        return cls(spec, {name: Slots(blank(slots(name, shifts if name in keeps else 0))) for name in names})

    @classmethod
    def restored(cls, spec: Spec, kept: Sequence[Tensor]) -> "States":
        """From what was kept."""
        return cls(spec, dict(zip(spec.cell.keeps, map(Slots, kept), strict=True)))

    def kept(self) -> list[Tensor]:
        """What the backward needs."""
        return [getattr(self, name).tensor for name in self.keeps]

    def begin(self, w: Tensor, c: Tensor | None = None) -> None:
        """The state before the first shift: w_0, and c_0 = 0 unless given."""
        assert self.w is not None
        self.w[0][0].copy_(w)
        if self.c is not None:
            self.c[0][0].zero_() if c is None else self.c[0][0].copy_(c)

    def save(self, slot: int, place: Tensor) -> None:
        """Put the current state aside."""
        assert self.w is not None
        place[0] = self.w[slot][0]
        if self.c is not None:
            place[1] = self.c[slot][0]
