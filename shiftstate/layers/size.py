"""How much memory a layer takes: too much raises before it is taken, much of it warns."""

import math
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shiftstate.memory import SMALL, check_fits

if TYPE_CHECKING:
    from shiftstate.layers.base import Layer

LARGE = 10**9
"""Bytes from which a bank warns."""


class LargeBankWarning(UserWarning):
    """A bank takes more than 1 GB where depthwise mixing would do with a fraction of it."""


def check_parameters(layer: "Layer", shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise before parameters are made that do not fit into memory; warn about a bank of more than 1 GB."""
    device = torch.get_default_device()
    size = sum(math.prod(shape) for shape in shapes.values()) * torch.get_default_dtype().itemsize
    kind = f"a {layer.mixing} of {layer.out_channels} × {layer.in_channels} channels and K = {layer.K}"
    check_fits(size, device, f"the parameters of this layer need {{}} bytes ({kind})", _remedy(layer, "a smaller K"))
    if device.type != "meta":
        _warn_if_large(layer, size, "parameters")


def check_states(layer: "Layer", x: Tensor) -> None:
    """Raise before a call of a bank whose states alone exceed the memory there is; warn if they take more than 1 GB.

    Counted are the F·G states of every shift that a backward keeps, three at a time without one. A filter without
    weights in its state update has states of G channels, or of F in another order of operations, and keeps none.
    It is a lower bound for every kernel, so nothing that could have run is stopped.
    """
    if layer.mixing != "bank" or torch.compiler.is_compiling():
        return
    all_kept = layer.updates and torch.is_grad_enabled() and layer.checkpoint is None
    kept = layer.K + 1 if all_kept else min(layer.K + 1, 3)
    F, G = layer.out_channels, layer.in_channels
    channels = F * G if layer.updates else min(F, G)
    size = kept * channels * (x.numel() // G) * x.element_size()
    if size <= SMALL:  # this is asked in every call, and most are small
        return
    counted = f"{kept} states of {channels} channels on {tuple(x.shape)[:-1]} nodes"
    remedy = _remedy(layer, 'checkpoint="sqrt" or smaller batches') if layer.updates else "smaller batches"
    check_fits(size, x.device, f"the states of this bank need {{}} bytes ({counted})", remedy)
    if layer.updates:
        _warn_if_large(layer, size, "states")


def _remedy(layer: "Layer", otherwise: str) -> str:
    """Depthwise mixing, where it helps: a bank of one input channel is as small already."""
    wide = layer.mixing == "bank" and layer.in_channels > 1
    return "a smaller layer: use " + ('mixing="depthwise"' if wide else otherwise)


def _warn_if_large(layer: "Layer", size: int, what: str) -> None:
    if size > LARGE and layer.mixing == "bank" and layer.in_channels > 1:
        warnings.warn(
            f"the {what} of this bank of {layer.out_channels} × {layer.in_channels} filters take {size / 1e9:.1f} GB; "
            f'mixing="depthwise" takes {what} for {layer.out_channels} filters only',
            LargeBankWarning,
            stacklevel=2,
        )
