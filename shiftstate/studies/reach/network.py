"""The network that every model sits in: a pointwise encoder, the model's way through the graph, a pointwise decoder.

    x → W₂ relu(W₁ x) → core → V₂ relu(V₁ y)

Every model gets the same number of parameters. The width c of the core is the largest that leaves room for it; what is
left goes into the hidden width of encoder and decoder, which moves the size in small steps.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from shiftstate import machine as m
from shiftstate.studies.reach.cores import CORES

Build = Callable[[int, int], nn.Module]
"""Width of the core and hidden width of encoder and decoder → the network."""


@dataclass(frozen=True)
class Architecture:
    """What all models share, and the options of our filters."""

    parameters: int = 4_000
    order_share: float = 1.0
    """K of filters and depth of message passing, as a share of the distance d."""
    init: str = "far"
    mixing: str = "dense"
    tied: bool = True
    input: str = "every"
    gates: bool = True
    """False freezes all gates open."""


class Reacher(nn.Module):
    """Signals (B, N, G) → one number per node (B, N, 1)."""

    def __init__(self, trial: m.Trial, in_channels: int, width: int, hidden: int) -> None:
        super().__init__()
        self.channels = [width]
        self.encode = nn.Sequential(nn.Linear(in_channels, hidden), nn.ReLU(), nn.Linear(hidden, width))
        order = math.ceil(trial.settings.architecture.order_share * trial["hop_limit"])
        self.core = CORES[trial.model](width, order, trial.settings.architecture)
        self.decode = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, x: Tensor, shift: Any) -> Tensor:
        """One output per node."""
        y: Tensor = self.decode(self.core(self.encode(x), shift))
        return y


def build(trial: m.Trial, data: Any) -> nn.Module:
    """The trial's network, of the size that all get."""
    with m.drawing(trial.seed("weights", trial.unit)):
        goal, channels = trial.settings.architecture.parameters, data.train.x.shape[-1]
        return equal_size(lambda width, hidden: Reacher(trial, channels, width, hidden), goal)


def equal_size(network: Build, goal: int, least: int = 8) -> nn.Module:
    """The network nearest to ``goal`` parameters: the widest core that leaves ``least`` hidden channels around it.

    The size grows with the width, and by the same step with every hidden channel.
    """

    def size(width: int, hidden: int) -> int:
        return m.count_parameters(network(width, hidden))

    if size(1, least) > goal:
        raise ValueError(f"parameters is {goal}; expected at least {size(1, least)} for one channel")
    low, high = 1, 2
    while size(high, least) <= goal:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if size(middle, least) <= goal else (low, middle)
    step = size(low, least + 1) - size(low, least)
    return network(low, least + round((goal - size(low, least)) / step))
