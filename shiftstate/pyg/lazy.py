"""``in_channels=-1``: parameters without a size until the first call, or the first state dict, tells it."""

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn.parameter import UninitializedParameter

from shiftstate.graphs.operators import ordinary_tensors
from shiftstate.layers import Layer


def make_lazy(layer: Layer) -> Layer:
    """The same layer with its sizes and numbers forgotten."""
    for name, _ in list(layer.named_parameters()):
        setattr(layer, name, UninitializedParameter())
    layer.in_channels = -1
    return layer


@torch.no_grad()
def materialize(layer: Layer, in_channels: int) -> None:
    """Draw the parameters for so many channels, on the device and in the dtype the layer has been moved to.

    The parameters stay the objects they are, so an optimizer that was given them keeps them.
    """
    options = layer.options() | {"init": "paper"}
    with ordinary_tensors():  # the first call may be one of inference, the next one of training
        drawn = type(layer)(in_channels, layer.out_channels, layer.K, **options)
        wanted = dict(drawn.named_parameters())
        for name, parameter in list(layer.named_parameters()):
            if name in wanted:
                parameter.materialize(wanted[name].shape)  # type: ignore[attr-defined]
            else:
                delattr(layer, name)  # a dense layer with as many channels in as out needs no projection
        layer.in_channels = in_channels
        layer.reset_parameters()


def channels_in(state: Mapping[str, Tensor], prefix: str, layer: Layer) -> int | None:
    """How many input channels a state dict of this kind of layer was made for; None if it does not say."""
    for name in ("mix", "project"):
        if f"{prefix}{name}" in state:
            return state[f"{prefix}{name}"].shape[0]
    if layer.mixing == "depthwise":
        return None
    for name in ("h", "h_yx", "h_yw"):  # without a weight on x: of a bank, or of a dense layer with as many in as out
        if f"{prefix}{name}" in state:
            return state[f"{prefix}{name}"].shape[-1]
    return None
