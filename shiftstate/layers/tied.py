"""Weights that all shifts share, as the recurrences take them: one set per shift."""

from torch import Tensor
from torch.nn.functional import pad


def at_every_shift(weight: Tensor, K: int) -> Tensor:
    """(1, ...) → (K, ...): the same at every shift; gradients are summed over the shifts."""
    return weight.expand(K, *weight.shape[1:])  # a view: K sets in the memory of one


def at_the_last(weight: Tensor, K: int) -> Tensor:
    """(1, F, G) → (K + 1, F, G): zero for k < K."""
    return pad(weight, (0, 0, 0, 0, K, 0))
