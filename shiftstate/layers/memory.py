"""The memory guard: a bank whose states cannot fit is refused before the machine begins to swap."""

from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from shiftstate.layers.base import Layer

SMALL = 2**28
"""States of fewer bytes need no look at the system."""


def available_bytes(device: torch.device) -> int | None:
    """Memory that can still be had on this device, or None where nobody tells."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return None


def check_bank_fits(layer: "Layer", x: Tensor) -> None:
    """Refuse a call whose states alone exceed the memory there is.

    Counted are the F·G states of every shift that a backward keeps (three at a time without one): a lower
    bound for every kernel, so nothing that could have run is refused.
    """
    if torch.compiler.is_compiling():
        return
    kept = layer.K + 1 if torch.is_grad_enabled() and layer.checkpoint is None else min(layer.K + 1, 3)
    states = kept * layer.states_per_channel() * x.numel() * x.element_size()
    available = available_bytes(x.device) if states > SMALL else None
    if available is not None and states > available:
        remedy = 'mixing="depthwise"' if layer.in_channels > 1 else 'checkpoint="sqrt" or smaller batches'
        raise ValueError(
            f"the states of this bank need {states:,} bytes ({kept} states of {layer.out_channels} × "
            f"{layer.in_channels} channels on {tuple(x.shape)[:-1]} nodes) and {available:,} are free; "
            f"expected a smaller layer: use {remedy}"
        )
