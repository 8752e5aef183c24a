"""Memory for the kernels: uninitialised, and used again.

A training step asks for the same few megabytes every time. Given back to the system and asked for anew, they cost a
page fault for every 4 KiB, about a fifth of the computation; so a little of it is held for the next call.
"""

import math
import os
import threading
from collections import deque
from typing import Any

import numpy as np
import torch
from torch import Tensor

SMALL = 2**17  # bytes below which the allocator keeps what it is given back
HELD = 2**26  # bytes at most that wait for the next call; larger arrays get huge pages from NumPy instead

Both = tuple[Tensor, Any]
"""A tensor, and the array of the same memory."""


class Lock:
    """A lock that its holder may take again, and that a forked child finds open.

    A lease may end in the middle of another one's beginning, when garbage is collected; and a thread of the parent may
    have held the lock when the child was forked.
    """

    def __init__(self) -> None:
        self._renew()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


_free: deque[Any] = deque()
_lock = Lock()


class _Lease:
    """Hands its bytes to an array; takes them back when the last tensor that shares them is gone."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.__array_interface__ = raw.__array_interface__

    def __del__(self) -> None:
        with _lock:
            _free.append(self.raw)
            while sum(raw.nbytes for raw in _free) > HELD:
                _free.popleft()


def empty(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Uninitialised memory; every kernel writes before it reads."""
    size = math.prod(shape) * dtype.itemsize
    if size < SMALL:
        return torch.empty(shape, dtype=dtype)
    number = np.float32 if dtype == torch.float32 else np.float64
    if size > HELD:
        return torch.from_numpy(np.empty(shape, number))
    return torch.from_numpy(np.asarray(_Lease(_take(size))).view(number).reshape(shape))


def _take(size: int) -> Any:
    with _lock:
        for place, raw in enumerate(_free):
            if raw.nbytes == size:
                del _free[place]
                return raw
    return np.empty(size, np.uint8)
