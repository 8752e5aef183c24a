"""Memory is asked for before it is taken: too much of it is an error in one line, not a process that is killed."""

from pathlib import Path

import torch

SMALL = 2**28
"""Fewer bytes need no look at the system."""
LARGEST = 2**63 - 1
"""More bytes than this no array can have."""


def available_bytes(device: torch.device) -> int | None:
    """Memory that can still be had on this device; None if unknown."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    if device.type != "cpu":
        return None
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return None


def check_fits(size: int, device: torch.device, what: str, remedy: str) -> None:
    """Raise if ``size`` bytes are more than there are.

    Args:
        size: how many bytes are about to be taken; a lower bound, so that nothing that could run is stopped.
        device: where.
        what: what takes them, as the beginning of the message: "the states of this bank need {} bytes".
        remedy: what to do, as its end.
    """
    if torch.compiler.is_compiling() or size <= SMALL:
        return
    taken = what.format(f"{size:,}")
    if size > LARGEST:
        raise ValueError(f"{taken}, which no machine has; expected {remedy}")
    available = available_bytes(device)
    if available is not None and size > available:
        raise ValueError(f"{taken} and {available:,} are free; expected {remedy}")
