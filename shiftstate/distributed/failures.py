"""When a process is lost: the others end too, each with one line that says which one and why."""

import time
from typing import Any

import torch.distributed as dist

from shiftstate.errors import SweepError

GRACE = 3.0
"""Seconds in which a process that is still alive reports, after the first exchange has failed."""


class RankError(SweepError):
    """The processes cannot go on together."""


def publish(rank: int, cause: str) -> None:
    """Tell the others, should they ask, why this process ends."""
    store = _store()
    if store is not None:
        try:
            store.set(_key(rank), cause)
        except (RuntimeError, OSError):
            return  # whoever held the store is gone


def lost(rank: int, members: list[int], what: str, error: BaseException) -> RankError:
    """One line for an exchange that failed: which process did not take part, and its own account of why."""
    complaint = " ".join(str(error).split())
    publish(rank, f"waiting: {complaint}")
    accounts = _accounts(members)
    if accounts is None:
        return RankError(f"rank {rank}: {what} failed; the process that holds the store is gone ({complaint[:200]})")
    silent = [other for other in members if other not in accounts]
    causes = [f"rank {other} ended: {text}" for other, text in accounts.items() if not text.startswith("waiting: ")]
    if causes:
        return RankError(f"rank {rank}: {what} failed; {'; '.join(causes)}")
    if silent:
        names = ", ".join(map(str, silent))
        return RankError(
            f"rank {rank}: {what} failed; rank {names} of {len(members)} did not answer within {GRACE:.0f} s: it was "
            f"killed, has crashed or hangs ({complaint[:200]})"
        )
    return RankError(f"rank {rank}: {what} failed on all ranks ({complaint[:200]})")


def _accounts(members: list[int]) -> dict[int, str] | None:
    """What every process that reports within the time of grace says; None if nobody keeps the reports."""
    store, end = _store(), time.monotonic() + GRACE
    found: dict[int, str] = {}
    try:
        while store is not None:
            for other in members:
                if other not in found and store.check([_key(other)]):
                    found[other] = store.get(_key(other)).decode()
            if len(found) == len(members) or time.monotonic() > end:
                return found
            time.sleep(0.05)
    except (RuntimeError, OSError):
        return None
    return None


def _key(rank: int) -> str:
    return f"shiftstate/ended/{rank}"


def _store() -> Any:
    """The store by which the processes found each other."""
    try:
        return dist.distributed_c10d._get_default_store()
    except (RuntimeError, ValueError):
        return None
