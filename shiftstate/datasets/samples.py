"""Samples: signals with their labels, as every data set has them."""

from typing import NamedTuple

import torch
from torch import Tensor


class Samples(NamedTuple):
    """Signals and their labels."""

    x: Tensor
    """(n, N, 1)."""
    y: Tensor
    """(n), the class."""


def standardized(splits: list[Samples]) -> list[Samples]:
    """Each node less its mean over the first split, over its standard deviation there; constant ones only centred."""
    train = splits[0].x
    mean, deviation = train.mean(0), train.std(0, correction=0)
    constant = (train == train[0]).all(0)  # its deviation is zero only up to rounding
    scale = torch.where(constant, 1.0, deviation)
    return [Samples((x - mean) / scale, y) for x, y in splits]
