"""Recurrences that are set up once and lent to call after call.

A small filter spends as long on making its arrays as on using them. A recurrence is lent from the forward to the end of
the graph that needs it, so two calls never share one; those that are idle hold a bounded amount of memory.
"""

from collections import OrderedDict
from typing import Any

import torch
from torch import Tensor

from shiftstate.filters.fused.buffers import HELD, Lock
from shiftstate.filters.fused.recurrences import RECURRENCES
from shiftstate.filters.fused.scalar import Recurrence
from shiftstate.filters.fused.setting import Setting

LENT = HELD // 4  # bytes up to which a recurrence is kept for the next call

_idle: OrderedDict[Any, list[Recurrence]] = OrderedDict()  # the longest unused first
_lock = Lock()


class Loan:
    """A recurrence on loan; it goes back when the loan is forgotten."""

    def __init__(self, key: Any, recurrence: Recurrence) -> None:
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


def borrow(setting: Setting, x: Tensor, w: Tensor, weights: dict[str, Tensor], keep: bool) -> tuple[Recurrence, Any]:
    """A recurrence for these shapes, and the loan to hold on to while it is needed (None for large ones)."""
    shapes = tuple((name, weight.shape, weight.dtype) for name, weight in weights.items())
    key = (setting, keep, x.shape, x.dtype, w.dtype, shapes)
    with _lock:
        group = _idle.get(key)
        if group:
            recurrence = group.pop()
            if not group:
                del _idle[key]
            return recurrence, Loan(key, recurrence)
    setting.check(x, w, weights)
    with torch.no_grad():
        recurrence = RECURRENCES[setting.kind](setting, x, weights, keep)
    return recurrence, Loan(key, recurrence) if recurrence.size <= LENT else None
