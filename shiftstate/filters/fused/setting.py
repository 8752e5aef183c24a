"""What a fused call is besides its tensors."""

from dataclasses import dataclass
from functools import lru_cache

import torch
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

    @staticmethod
    @lru_cache
    def of(kind: str, dense: bool, state_activation: str, output_activation: str, checkpoint: int) -> "Setting":
        """The setting of these values, made once."""
        return Setting(kind, dense, state_activation, output_activation, checkpoint)

    def check(self, x: Tensor, w: Tensor, weights: dict[str, Tensor]) -> None:
        """Refuse sizes that do not belong together."""
        if self.kind not in MAPS:
            raise ValueError(f"there is no fused {self.kind!r} filter; expected one of {', '.join(map(repr, MAPS))}")
        h_yw = weights.get("h_yw")
        if h_yw is None or h_yw.dim() != 3 or x.dim() != (3 if self.dense else 4):
            raise ValueError(f"x {tuple(x.shape)} or h_yw does not have the axes that a {self.kind} filter needs")
        K, F = h_yw.shape[0] - 1, h_yw.shape[1]
        if not self.dense and x.shape[2] not in (1, F):
            raise ValueError(f"x has shape {tuple(x.shape)}; expected (N, B, 1 or {F}, channels)")
        expected = weight_shapes(self.kind, self.dense, "b_f" in weights, K, F, x.shape[-1])
        found = [(name, tuple(weight.shape)) for name, weight in weights.items()]
        if found != expected:
            raise ValueError(f"weights {found} were given; expected {expected} for x {tuple(x.shape)}")
        if self.dense and tuple(w.shape) != (*x.shape[:2], F):
            raise ValueError(f"w_0 has shape {tuple(w.shape)}; expected {(*x.shape[:2], F)}")
        if {self.state_activation, self.output_activation} - ACTIVATIONS.keys() or self.checkpoint < 0:
            raise ValueError(f"{self} names an unknown activation or a negative checkpoint")
        dtypes = {tensor.dtype for tensor in (x, w, *weights.values())}
        if len(dtypes) > 1 or x.dtype not in (torch.float32, torch.float64):
            raise ValueError(f"x, w_0 and the weights hold {dtypes}; expected one of float32 and float64")


@lru_cache
def weight_shapes(kind: str, dense: bool, gate_bias: bool, K: int, F: int, G: int) -> list[tuple[str, tuple[int, ...]]]:
    """Names and shapes of a filter's weights, in the order the kernels take them."""
    state, signal = ((F, F), (F, G)) if dense else ((F, G), (F, G))
    shapes: list[tuple[str, tuple[int, ...]]] = []
    for name in MAPS[kind]:
        count = K + (name == "y")
        shapes += [(f"h_{name}w", (count, *state)), (f"h_{name}x", (count, *signal))]
    if gate_bias:
        shapes += [(f"b_{name}", (K, F) if dense else (K, *signal)) for name in MAPS[kind][:-1]]
    return shapes
