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
        tensors = tuple(weights.values())
        dtypes = frozenset(tensor.dtype for tensor in (x, w, *tensors))
        _check(self, x.shape, w.shape, tuple(weights), tuple(weight.shape for weight in tensors), dtypes)


@lru_cache
def _check(
    setting: Setting,
    x: torch.Size,
    w: torch.Size,
    names: tuple[str, ...],
    shapes: tuple[torch.Size, ...],
    dtypes: frozenset[torch.dtype],
) -> None:
    """Sizes that were good once are good for ever; what is refused is looked at anew."""
    kind, dense, found = setting.kind, setting.dense, [(name, tuple(h)) for name, h in zip(names, shapes, strict=True)]
    if kind not in MAPS:
        raise ValueError(f"there is no fused {kind!r} filter; expected one of {', '.join(map(repr, MAPS))}")
    h_yw = dict(found).get("h_yw")
    if h_yw is None or len(h_yw) != 3 or len(x) != (3 if dense else 4):
        raise ValueError(f"x {tuple(x)} or h_yw does not have the axes that a {kind} filter needs")
    K, F = h_yw[0] - 1, h_yw[1]
    if not dense and x[2] not in (1, F):
        raise ValueError(f"x has shape {tuple(x)}; expected (N, B, 1 or {F}, channels)")
    expected = weight_shapes(kind, dense, "b_f" in names, K, F, x[-1])
    if found != expected:
        raise ValueError(f"weights {found} were given; expected {expected} for x {tuple(x)}")
    if dense and tuple(w) != (*x[:2], F):
        raise ValueError(f"w_0 has shape {tuple(w)}; expected {(*x[:2], F)}")
    if {setting.state_activation, setting.output_activation} - ACTIVATIONS.keys() or setting.checkpoint < 0:
        raise ValueError(f"{setting} names an unknown activation or a negative checkpoint")
    if len(dtypes) > 1 or next(iter(dtypes)) not in (torch.float32, torch.float64):
        raise ValueError(f"x, w_0 and the weights hold {set(dtypes)}; expected one of float32 and float64")


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
