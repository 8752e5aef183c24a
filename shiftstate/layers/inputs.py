"""What a layer may be called with: a signal on the graph of a shift, with the layer's channels, dtype and device."""

from typing import Any

from torch import Tensor

from shiftstate.graphs import Shift
from shiftstate.graphs.signals import cast, is_wider


def check_call(x: Any, shift: Any, in_channels: int, parameter: Tensor) -> None:
    """Raise if a layer with this number of channels and such a parameter cannot filter x on the shift."""
    if not isinstance(shift, Shift):
        raise ValueError(
            f"shift is a {type(shift).__name__}; expected a Shift: Shift.from_edges, from_matrix or from_networkx"
        )
    shift.check_signal(x)
    if x.shape[-1] != in_channels:
        raise ValueError(f"x has {x.shape[-1]} channels; this layer expected {in_channels} (in_channels)")
    dtype, device = parameter.dtype, parameter.device
    if x.dtype != dtype:
        cheaper = f"{cast(dtype)} with shift.to({dtype}), or the slower "
        remedy = f"{cheaper if is_wider(x.dtype, dtype) else ''}layer.to(x.dtype)"
        raise ValueError(f"x is {x.dtype} and the layer {dtype}; expected one dtype: {remedy}")
    if x.device != device:
        raise ValueError(f"x is on {x.device} and the layer on {device}; expected one device: layer.to(x.device)")
