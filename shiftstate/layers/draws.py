"""The draws of a layer's first weights."""

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from shiftstate.layers.base import Layer

FRONT = {"powers": 2.0, "chebyshev": 1.0}
"""Gain of one shift with init="far": what one of two neighbours brings under an averaging S keeps its size.

By basis: 2 S w_{k−1} has the factor already.
"""


def draw_uniform(layer: "Layer") -> None:
    """Every parameter from U(±bound): "paper"."""
    scalar = 1 / math.sqrt((1 if layer.mixing == "depthwise" else layer.in_channels) * (layer.K + 1))
    for name, parameter in layer.named_parameters(recurse=False):
        if name in ("mix", "project"):
            bound = 1 / math.sqrt(parameter.shape[0])
        elif layer.dense_taps() and name.startswith("h"):
            bound = 1 / math.sqrt(parameter.shape[-1])
        else:
            bound = 0.0 if name.startswith("b_") else scalar
        parameter.uniform_(-bound, bound)


def center_front(layer: "Layer", weight: Tensor, value: float) -> None:
    """`center` for init="far".

    In powers of S channels mix from the start, since the state is bounded; in Chebyshev's basis the recurrence itself
    keeps the size, which other channels would only disturb.
    """
    center(layer, weight, value, narrow=layer.basis == "chebyshev")


def center(layer: "Layer", weight: Tensor, value: float, narrow: bool = True) -> None:
    """Centre a weight on the state at ``value``: every scalar, or the diagonal of a matrix.

    The draw of a matrix is narrowed to that of the scalars, or K products of them would explode; where the state is
    bounded and channels are to mix from the start, ``narrow=False`` leaves it.
    """
    if layer.dense_taps():
        if narrow:
            weight /= math.sqrt(layer.K + 1)
        weight += value * torch.eye(weight.shape[-1], device=weight.device)
    else:
        weight += value


def sigmoid(bias: float) -> float:
    """How far a gate with this bias is open for a small signal."""
    return 1 / (1 + math.exp(-bias))
