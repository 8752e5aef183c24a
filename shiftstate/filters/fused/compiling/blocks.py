"""Rows in fixed blocks, shared out among threads.

The blocks depend on the shape alone and their partial sums are added in order, so results do not depend on the number
of threads. The threads are Python's: kernels release the GIL, and neither concurrent calls nor a fork trouble them.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any

import torch

ELEMENTS = 32_768  # a block: large enough to hide its overhead, small enough to share out evenly
TILE = 512  # columns at a time: the weights and their gradients of one tile stay in the fastest cache

Stage = tuple[int, int, Any]
"""Blocks (first, end, graph) for a kernel to go over; with graph None, S w is in its target already."""

_pool: ThreadPoolExecutor | None = None


def _forget_pool() -> None:
    global _pool  # a forked child has none of the parent's threads
    _pool = None


os.register_at_fork(after_in_child=_forget_pool)


def rows_per_block(num_rows: int, width: int) -> int:
    """Rows of one block."""
    return max(1, min(num_rows, ELEMENTS // max(width, 1)))


def num_blocks(num_rows: int, width: int) -> int:
    """Blocks in all."""
    return -(-num_rows // rows_per_block(num_rows, width))


def for_blocks(end: int, kernel: Callable[..., Any], *arguments: Any, first: int = 0) -> None:
    """Run ``kernel(from, to, *arguments)`` on ranges of blocks that cover first … end, on torch's number of threads."""
    count = end - first
    threads = 1 if count == 1 else min(torch.get_num_threads(), count)
    if threads <= 1:
        kernel(first, end, *arguments)
        return
    pieces = min(count, 4 * threads)  # graphs have rows of unequal length
    edges = [first + piece * count // pieces for piece in range(pieces + 1)]
    pool = _threads(threads)
    futures = [pool.submit(kernel, low, high, *arguments) for low, high in pairwise(edges)]
    wait(futures)
    for future in futures:
        future.result()


def _threads(count: int) -> ThreadPoolExecutor:
    global _pool
    if _pool is None or _pool._max_workers < count:
        _pool = ThreadPoolExecutor(count, thread_name_prefix="shiftstate")
    return _pool
