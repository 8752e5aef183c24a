"""The nonlinearities that have a name; any callable works in their place on the reference path."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from shiftstate.checks import check_name

Activation = Callable[[Tensor], Tensor]


def identity(x: Tensor) -> Tensor:
    """x."""
    return x


ACTIVATIONS: dict[str, Activation] = {
    "identity": identity,
    "relu": functional.relu,
    "leaky_relu": functional.leaky_relu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
}


def activation(name: str | Activation) -> Activation:
    """The nonlinearity of this name, or the callable itself."""
    return name if callable(name) else ACTIVATIONS[check_name("activation", name, ACTIVATIONS)]
