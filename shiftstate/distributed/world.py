"""The processes that torchrun started: they find each other, and tell each other why they end."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

import torch
import torch.distributed as dist

from shiftstate.distributed.failures import RankError, publish

TIMEOUT = 300.0
"""Seconds that a process waits for another one."""


@contextmanager
def world(timeout: float = TIMEOUT) -> Iterator[int]:
    """The number of this process, 0 if torchrun did not start it; a group of processes as long as the context lasts.

    An error in one process reaches the others: their next exchange ends with one line that tells it.

    Args:
        timeout: seconds that an exchange may take; a process that hangs is given up then.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield 0
        return
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    try:
        dist.init_process_group(backend, timeout=timedelta(seconds=timeout))
    except (RuntimeError, ValueError) as error:
        cause = " ".join(str(error).split())[:200]
        raise RankError(f"the ranks did not find each other ({cause}); are MASTER_ADDR and the ports right?") from None
    rank = dist.get_rank()
    try:
        yield rank
    except RankError:
        raise
    except BaseException as error:
        publish(rank, " ".join(f"{error}".split()) or type(error).__name__)
        raise
    finally:
        with suppress(RuntimeError):
            dist.destroy_process_group()
        gc.collect()  # what still holds the group would end it after Python, and abort the process
