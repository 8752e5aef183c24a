"""Targets as people hand them over: what can be taken is taken, what cannot is named."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from shiftstate.arrays import as_numpy


def as_numbers(y: Any, name: str, hint: str = "") -> Tensor:
    """A tensor from a tensor, an array, a pandas Series or a list of numbers."""
    if isinstance(y, Tensor):
        return y
    array = as_numpy(name, y)
    if array.dtype.kind in "OSUT":
        first = next(iter(array.flatten().tolist()), None)
        raise ValueError(f"{name} holds {first!r}, a {type(first).__name__}; expected numbers{hint}")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} holds {array.dtype}; expected numbers")
    return torch.from_numpy(np.array(array))  # a copy: an array may be read-only or have negative strides


def as_classes(y: Any, name: str) -> Tensor:
    """Classes as int64."""
    numbers = as_numbers(y, name, "; names become classes by np.unique(y, return_inverse=True)[1]")
    if numbers.is_floating_point() or numbers.is_complex():
        raise ValueError(
            f"{name} holds {_short(numbers)}; expected whole numbers, the classes counted from 0: y.long(); "
            "for measured values take a regression task, such as SignalRegression()"
        )
    return numbers.long()


def as_measurements(y: Any, name: str) -> Tensor:
    """Real numbers; whole ones become float32."""
    numbers = as_numbers(y, name)
    if numbers.is_complex():
        raise ValueError(f"{name} holds {_short(numbers)}; expected real numbers")
    return numbers if numbers.is_floating_point() else numbers.to(torch.float32)


def _short(numbers: Tensor) -> str:
    return str(numbers.dtype).removeprefix("torch.")
