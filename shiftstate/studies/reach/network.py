"""The network that every model sits in: a pointwise encoder, the model's way through the graph, a pointwise decoder.

    x → W₂ relu(W₁ x) → core → V₂ relu(V₁ y)

Every model gets the same number of parameters. The width c of the core is the largest that leaves room for it; what is
left goes into the hidden width of encoder and decoder, which moves the size in small steps.
"""

import math
from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from shiftstate import machine as m
from shiftstate.studies.reach.cores import CORES, cut_to
from shiftstate.tasks import Task
from shiftstate.training import fit

Build = Callable[[int, int], nn.Module]
"""Width of the core and hidden width of encoder and decoder → the network."""


WARM_UP_RATE = 0.005
"""The highest learning rate of a warm-up."""


class Reacher(nn.Module):
    """Signals (B, N, G) → one number per node (B, N, 1)."""

    def __init__(self, trial: m.Trial, in_channels: int, width: int, hidden: int) -> None:
        super().__init__()
        self.channels = [width]
        self.encode = nn.Sequential(nn.Linear(in_channels, hidden), nn.ReLU(), nn.Linear(hidden, width))
        self.core = CORES[trial.model](width, _order(trial, trial["hop_limit"]), trial.settings.architecture)
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


def warmed_up(trial: m.Trial, network: nn.Module, data: Callable[[int, int], Any], task: Task) -> nn.Module:
    """The network after the shorter distances of the settings, the same for every model.

    Args:
        trial: names the distances, and the seeds.
        network: a `Reacher`; it is left with its full order.
        data: distance and number of signals → what `fit` takes, without a test set.
        task: as in the training that follows.
    """
    settings, training, full = trial.settings.architecture, trial.settings.training, _order(trial, trial["hop_limit"])
    for hops in settings.warm_up:
        if hops >= trial["hop_limit"] or not isinstance(network, Reacher):
            continue
        cut_to(network.core, _order(trial, hops))
        drawn = data(hops, settings.warm_up_signals)
        options = {"batch_size": training.batch_size, "schedule": "onecycle", "clip": training.clip or None}
        seed = trial.seed("batches", trial.unit, hops)
        fit(network, drawn.shift, drawn, task=task, epochs=1, learning_rate=WARM_UP_RATE, seed=seed, **options)
        cut_to(network.core, full)
    return network


def _order(trial: m.Trial, hops: int) -> int:
    share: float = trial.settings.architecture.order_share
    return math.ceil(share * hops)


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
