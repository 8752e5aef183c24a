"""What a fused call is besides its tensors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from shiftstate.filters.activations import ACTIVATIONS

if TYPE_CHECKING:
    from shiftstate.filters.fused.cell import FusedCell

Shape = tuple[int, ...]


class Spec(NamedTuple):
    """The cell, its options and nonlinearities, and what is kept for the backward."""

    cell: "FusedCell"
    dense: bool
    """Whether weights are matrices (dense mixing) or scalars (bank and depthwise)."""
    input: bool
    """Whether x enters at every shift; otherwise as w_0 only."""
    gate_bias: bool
    """Whether every map of the state update has a bias."""
    activations: tuple[str, ...]
    """Names of the nonlinearities, in the order of the cell's."""
    checkpoint: int
    """Shifts between two kept states; 0 keeps what every shift needs."""
    chebyshev: bool = False
    """Whether 2 S w_{k−1} − w_{k−2} stands for S w_{k−1}."""

    def names(self) -> list[str]:
        """The weights in the order the kernels take them: on the state, on x, biases; map by map, the output's last."""
        maps, ends = self.cell.maps, "wx" if self.input else "w"
        weights = [f"h_{name}{end}" for end in ends for name in (*maps, "y")]
        return weights + [f"b_{name}" for name in maps] if self.gate_bias else weights

    def carried(self) -> int:
        """Arrays that one shift hands to the next: w, c if there is one, and in Chebyshev's basis the w before."""
        return 1 + self.cell.memory + self.chebyshev

    def slots(self, name: str, shifts: int) -> int:
        """How many of S w, c or w there are in so many shifts, never none.

        Of the latter two one more, for k = 0, and in Chebyshev's basis one w more, for k = −1.
        """
        if name == "Sw":
            return max(shifts, 1)
        return max(shifts + 1, 2) + (self.chebyshev and name == "w")

    def result_shapes(self, x: Tensor, h_yw: Tensor) -> list[Shape]:
        """Shapes of y, and of all that is kept for the backward."""
        (N, B), (count, F, G) = x.shape[:2], h_yw.shape
        y = (N, B, F) if self.dense else (N, B, F, G)
        state = (N * B, F) if self.dense else (N, B * F * G)
        if self.checkpoint:
            return [y, (-(-(count - 1) // self.checkpoint), self.carried(), *state)]
        return [y, *((self.slots(name, count - 1), *state) for name in self.cell.keeps)]

    def check(self, x: Tensor, w: Tensor, weights: Sequence[Tensor]) -> None:
        """Raise where sizes do not belong together."""
        names, kind = self.names(), self.cell.name
        if len(weights) != len(names):
            raise ValueError(f"{len(weights)} weights were given; expected {len(names)} of a {kind} filter: {names}")
        h_yw = weights[len(self.cell.maps)]
        if h_yw.dim() != 3 or x.dim() != (3 if self.dense else 4):
            raise ValueError(f"x {tuple(x.shape)} or h_yw does not have the axes that a {kind} filter needs")
        K, F = h_yw.shape[0] - 1, h_yw.shape[1]
        if not self.dense and x.shape[2] not in (1, F):
            raise ValueError(f"x has shape {tuple(x.shape)}; expected (N, B, 1 or {F}, channels)")
        expected = dict(zip(names, self._weight_shapes(K, F, x.shape[-1]), strict=True))
        found = dict(zip(names, (tuple(weight.shape) for weight in weights), strict=True))
        if found != expected:
            raise ValueError(f"weights {found} were given; expected {expected} for x {tuple(x.shape)}")
        if self.dense and tuple(w.shape) != (*x.shape[:2], F):
            raise ValueError(f"w_0 has shape {tuple(w.shape)}; expected {(*x.shape[:2], F)}")
        dtypes = {tensor.dtype for tensor in (x, w, *weights)}
        if len(dtypes) > 1 or x.dtype not in (torch.float32, torch.float64):
            raise ValueError(f"x, w_0 and the weights hold {dtypes}; expected one of float32 and float64")
        unknown = [name for name in self.activations if name not in ACTIVATIONS]
        if unknown or len(self.activations) != len(self.cell.activations) or self.checkpoint < 0:
            raise ValueError(f"{self} names an unknown activation or a negative checkpoint")

    def _weight_shapes(self, K: int, F: int, G: int) -> list[Shape]:
        maps, state = len(self.cell.maps), (F, F) if self.dense else (F, G)
        shapes: list[Shape] = [*[(K, *state)] * maps, (K + 1, *state)]
        shapes += [*[(K, F, G)] * maps, (K + 1, F, G)] if self.input else []
        return shapes + ([(K, F) if self.dense else (K, F, G)] * maps if self.gate_bias else [])

    def pack(self) -> str:
        """As text, for the operators of torch.library, which take no other objects."""
        flags = [str(int(value)) for value in (self.dense, self.input, self.gate_bias, self.checkpoint)]
        name = f"{self.cell.name}:chebyshev" if self.chebyshev else self.cell.name
        return " ".join([name, *flags, *self.activations])

    @classmethod
    def unpack(cls, text: str) -> "Spec":
        """From `pack`."""
        from shiftstate.filters.fused.cell import FusedCell  # here, because the cells import this module
        from shiftstate.filters.fused.cells import CELLS

        first, *fields = text.split(" ")
        name, *basis = first.split(":")
        cell = CELLS.get(name)
        if not isinstance(cell, FusedCell) or len(fields) < 4 or basis not in ([], ["chebyshev"]):
            known = ", ".join(repr(name) for name, cell in CELLS.items() if isinstance(cell, FusedCell))
            raise ValueError(f"there is no fused recurrence {text!r}; expected one of {known} and its options")
        dense, input, gate_bias, checkpoint = map(int, fields[:4])
        cell = cell.in_chebyshev() if basis else cell
        return cls(cell, bool(dense), bool(input), bool(gate_bias), tuple(fields[4:]), checkpoint, bool(basis))
