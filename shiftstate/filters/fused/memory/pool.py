"""Recurrences that are set up once and used by call after call.

A small filter spends as long on making its arrays as on using them. A recurrence is taken from the pool by a forward
and goes back at the end of the graph that needs it, so two calls never share one; those that are idle hold a bounded
amount of memory.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from torch import Tensor

from shiftstate.filters.fused.memory.buffers import HELD, Lock
from shiftstate.filters.fused.spec import Spec

POOLED = HELD // 4  # bytes up to which a recurrence is kept for the next call

_idle: OrderedDict[Any, list[Any]] = OrderedDict()  # the longest unused first
_lock = Lock()


class Taken:
    """A recurrence in use; it goes back to the pool when this object is forgotten."""

    def __init__(self, key: Any, recurrence: Any) -> None:
        self.key, self.recurrence = key, recurrence

    def __del__(self) -> None:
        self.recurrence.__dict__.pop("product", None)  # S belongs to the call
        with _lock:
            _idle.setdefault(self.key, []).append(self.recurrence)
            _idle.move_to_end(self.key)
            while sum(r.size for group in _idle.values() for r in group) > HELD:
                oldest = next(iter(_idle))
                _idle[oldest].pop()
                if not _idle[oldest]:
                    del _idle[oldest]


def prepare(
    spec: Spec, keep: bool, x: Tensor, w: Tensor, weights: Sequence[Tensor], operator: Sequence[Tensor]
) -> tuple[Any, Taken | None]:
    """A recurrence ready to run, and its place in the pool, to hold on to while it is needed.

    The place is None for large ones and for matrices as weights, which are made for one call.
    """
    if spec.dense:
        spec.check(x, w, weights)
        return spec.cell.matrix(spec, x.detach(), w.detach(), weights, operator, keep), None
    recurrence, taken = _take(spec, keep, x, w, weights)
    recurrence.load(x, weights, operator)
    return recurrence, taken


def _take(spec: Spec, keep: bool, x: Tensor, w: Tensor, weights: Sequence[Tensor]) -> tuple[Any, Taken | None]:
    """A recurrence for these shapes."""
    shapes = tuple([(weight.shape, weight.dtype) for weight in weights])
    key = (spec, keep, x.shape, x.dtype, w.dtype, shapes)
    with _lock:
        group = _idle.get(key)
        if group:
            recurrence = group.pop()
            if not group:
                del _idle[key]
            return recurrence, Taken(key, recurrence)
    spec.check(x, w, weights)
    recurrence = spec.cell.scalar(spec, x, weights, keep)
    return recurrence, Taken(key, recurrence) if recurrence.size <= POOLED else None
