"""The recurrences compiled, with a backward written by hand, for the CPU: same signature as the reference.

Hundreds of elementwise operations become one pass over the state a shift, and what is kept for the backward is the
least it can do with. Everything here is compared with `shiftstate.filters.reference` on outputs and all gradients.
"""

import torch
from torch import Tensor

from shiftstate.filters.fused.call import call
from shiftstate.filters.fused.gcnn import run_gcnn
from shiftstate.filters.reference import Filter
from shiftstate.graphs import Shift


def obstacle(filter: Filter, x: Tensor, shift: Shift) -> str | None:
    """Why the fused kernels cannot run this call; None if they can."""
    if filter.fused is None:
        return f"{type(filter).__name__} has no fused kernel"
    if filter.fused == "gcnn" and filter.mixing != "depthwise":
        return _functional_obstacle(x)  # two orders of ordinary products: as general as they are
    if x.device.type != "cpu":
        return f"the signals are on {x.device}"
    if x.dtype not in (torch.float32, torch.float64):
        return f"the signals are {x.dtype}"
    callables = [name for name in ("state_activation", "output_activation") if callable(getattr(filter, name, None))]
    if callables:
        return f"{callables[0]} is a callable"
    if shift.requires_grad:
        return "the edge weights require gradients"
    return _functional_obstacle(x)


def _functional_obstacle(x: Tensor) -> str | None:
    if x.numel() == 0:
        return "the batch is empty"
    if torch._C._are_functorch_transforms_active():
        return "a torch.func transform is active"
    return None


def run(filter: Filter, x: Tensor, shift: Shift, checkpoint: int | None = None) -> Tensor:
    """x (N, B, G) → y (N, B, F) through K shifts."""
    if filter.fused == "gcnn":
        return run_gcnn(filter, x, shift, checkpoint)
    updates = filter.update_weights()
    biases = {name: updates.pop(name) for name in list(updates) if name.startswith("b_")}
    weights = {**updates, **filter.output_weights(), **biases}  # the order the kernels take them in
    state_activation = getattr(filter, "state_activation", "identity")
    setting = (filter.fused or "", filter.dense_taps(), state_activation, filter.output_activation, checkpoint or 0)
    x, w = filter.start(x)
    return call(setting, x, w, weights, shift.operator)
