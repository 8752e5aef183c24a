"""Take many gradients at once through a backward written by hand: one after the other.

``torch.autograd.functional.jacobian(vectorize=True)``, ``torch.autograd.grad(is_grads_batched=True)`` and
``torch.vmap`` over gradients call a backward once, with a tensor that stands for all of them. Compiled code needs the
numbers of each.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch._C import _functorch

Gradients = Sequence[Tensor | None]


def for_each(backward: Callable[[Tensor], Gradients], dy: Tensor) -> Gradients:
    """What ``backward(dy)`` gives, also for a dy that stands for many gradients."""
    if _functorch.is_legacy_batchedtensor(dy):  # that of torch.autograd
        level = torch._C._vmapmode_increment_nesting() - 1
        torch._C._vmapmode_decrement_nesting()
        rows = torch._remove_batch_dim(dy, level, 0, 0)
        return _stacked(backward, rows, lambda stack: torch._add_batch_dim(stack, 0, level))
    if _functorch.is_batchedtensor(dy):  # that of torch.func
        level = _functorch.maybe_get_level(dy)
        rows = _functorch._remove_batch_dim(dy, level, 0, 0)
        return _stacked(backward, rows, lambda stack: _functorch._add_batch_dim(stack, 0, level))
    return backward(dy)


def _stacked(backward: Callable[[Tensor], Gradients], rows: Tensor, wrap: Callable[[Tensor], Tensor]) -> Gradients:
    found = zip(*(for_each(backward, row) for row in rows), strict=True)
    return [None if many[0] is None else wrap(torch.stack(many)) for many in found]
