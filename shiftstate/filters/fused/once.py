"""Gradients by hand have no gradients: they may be used, and refuse to be differentiated."""

from collections.abc import Sequence

import torch
from torch import Tensor

TWICE = (
    "the fused kernels have no second derivative; expected one backward; "
    'for gradients of gradients build the layer with kernel="reference"'
)


def refuse_twice(ctx, *grads):
    """The backward of every backward."""
    raise RuntimeError(TWICE)


class _Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, count, *gradients_and_sources):
        return gradients_and_sources[:count]

    backward = staticmethod(refuse_twice)


def once(gradients: Sequence[Tensor | None], sources: Sequence[Tensor]) -> Sequence[Tensor | None]:
    """The gradients as they are, tied under create_graph=True to what they depend on, so that a second one fails."""
    if not torch.is_grad_enabled():
        return gradients
    result: Sequence[Tensor | None] = _Once.apply(len(gradients), *gradients, *sources)
    return result
