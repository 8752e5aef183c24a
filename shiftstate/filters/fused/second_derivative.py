"""Gradients written by hand have no gradients of their own: they may be used, and raise when differentiated."""

from collections.abc import Sequence

import torch
from torch import Tensor

MESSAGE = (
    "the fused kernels have no second derivative; expected one backward; "
    'for gradients of gradients build the layer with kernel="reference"'
)


def raise_second(ctx, *grads):
    """The backward of every backward."""
    raise RuntimeError(MESSAGE)


class _OnlyFirst(torch.autograd.Function):
    @staticmethod
    def forward(ctx, count, *gradients_and_sources):
        return gradients_and_sources[:count]

    backward = staticmethod(raise_second)


def only_first(gradients: Sequence[Tensor | None], sources: Sequence[Tensor]) -> Sequence[Tensor | None]:
    """The gradients as they are, tied under create_graph=True to what they depend on, so that a second one raises."""
    if not torch.is_grad_enabled():
        return gradients
    result: Sequence[Tensor | None] = _OnlyFirst.apply(len(gradients), *gradients, *sources)
    return result
