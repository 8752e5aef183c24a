"""What a fused call is besides its tensors."""

from dataclasses import astuple, dataclass
from typing import Any

from torch import Tensor

from shiftstate.filters.activations import ACTIVATIONS

MAPS = {"lssm": ("c", "f", "u", "w", "y"), "rsn": ("w", "y")}


@dataclass(frozen=True)
class Setting:
    """Kind of filter, nonlinearities, and what is kept for the backward."""

    kind: str
    """lssm or rsn."""
    dense: bool
    """Whether weights are matrices (dense mixing) or scalars (bank and depthwise)."""
    state_activation: str
    output_activation: str
    checkpoint: int
    """Shifts between two kept states; 0 keeps what every shift needs."""

    def values(self) -> tuple[Any, ...]:
        """The fields in order."""
        return astuple(self)

    def check(self, x: Tensor, w: Tensor, weights: dict[str, Tensor]) -> None:
        """Refuse sizes that do not belong together."""
        expected = self._shapes(x, weights.get("h_yw"))
        found = {name: tuple(weight.shape) for name, weight in weights.items()}
        biases = {f"b_{name}" for name in MAPS[self.kind][:-1]}
        if not biases & set(found):
            expected = {name: shape for name, shape in expected.items() if name not in biases}
        if list(found.items()) != list(expected.items()):
            raise ValueError(f"weights of shapes {found} were given; expected {expected} for x {tuple(x.shape)}")
        if self.dense and tuple(w.shape) != (*x.shape[:2], found["h_yw"][1]):
            raise ValueError(f"w_0 has shape {tuple(w.shape)}; expected {(*x.shape[:2], found['h_yw'][1])}")
        if {self.state_activation, self.output_activation} - set(ACTIVATIONS) or self.checkpoint < 0:
            raise ValueError(f"{self} names an unknown activation or a negative checkpoint")
        if len({tensor.dtype for tensor in (x, w, *weights.values())}) > 1:
            raise ValueError("x, w_0 and the weights have different dtypes; expected one")

    def _shapes(self, x: Tensor, h_yw: Tensor | None) -> dict[str, tuple[int, ...]]:
        """The weights that go with x, in the order the kernels take them; K and F are read off h_yw."""
        if h_yw is None or h_yw.dim() != 3 or x.dim() != (3 if self.dense else 4):
            raise ValueError(f"x {tuple(x.shape)} or h_yw does not have the axes a {self.kind} filter needs")
        K, F, G = h_yw.shape[0] - 1, h_yw.shape[1], x.shape[-1]
        if not self.dense and x.shape[2] not in (1, F):
            raise ValueError(f"x has shape {tuple(x.shape)}; expected (N, B, 1 or {F}, channels)")
        state, signal = ((F, F), (F, G)) if self.dense else ((F, G), (F, G))
        shapes: dict[str, tuple[int, ...]] = {}
        for name in MAPS[self.kind]:
            count = K + (name == "y")
            shapes |= {f"h_{name}w": (count, *state), f"h_{name}x": (count, *signal)}
        bias = (F,) if self.dense else signal
        return shapes | ({f"b_{name}": (K, *bias) for name in MAPS[self.kind][:-1]} if self.kind == "lssm" else {})
