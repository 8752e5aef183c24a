"""The trace: what happens inside a filter along k in one call."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shiftstate.filters import Step
from shiftstate.graphs import Shift

if TYPE_CHECKING:
    from shiftstate.layers.base import Layer


@dataclass(frozen=True)
class Trace:
    """A filter's inner life along k for one call; every entry is itself a signal (..., N, channels).

    The channels are those of the state: F·G in a bank (f first), F otherwise.
    """

    states: Tensor
    """w_k, k = 0 … K: (K + 1, ..., N, channels)."""
    memories: Tensor | None
    """c_k, k = 0 … K: (K + 1, ..., N, channels); None for filters without a memory."""
    gates: Mapping[str, Tensor]
    """γ_k by name, k = 1 … K: (K, ..., N, channels); empty for filters without gates."""
    outputs: Tensor
    """y_k, k = 0 … K: (K + 1, ..., N, channels)."""


def trace(layer: "Layer", x: Tensor, shift: Shift) -> Trace:
    """The trace of one call, by the reference recurrence."""
    steps: list[Step] = []
    outputs: list[Tensor] = []

    def observe(k: int, step: Step, y: Tensor) -> None:
        steps.append(step)
        outputs.append(y)

    layer.watch(x, shift, observe)
    N, batch = shift.num_nodes, x.shape[:-2]

    def stacked(signals: list[Tensor]) -> Tensor:
        full = outputs[0].shape  # w_0 of a bank, and every state of a GCNN, is the same for every f
        stack = torch.stack([signal.expand(full) for signal in signals])
        return stack.reshape(len(signals), N, *batch, math.prod(full[2:])).movedim(1, -2)

    memories = None if steps[-1].c is None or layer.K == 0 else stacked([s.c for s in steps if s.c is not None])
    gates = {name: stacked([step.gates[name] for step in steps[1:]]) for name in steps[-1].gates}
    return Trace(stacked([step.w for step in steps]), memories, gates, stacked(outputs))
