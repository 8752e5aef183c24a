"""The network on boards: x ← x + relu(norm(core(x) + A x)), so many times, between a pointwise encoder and decoder."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from shiftstate import machine as m
from shiftstate.studies.reach.cores import CORES
from shiftstate.studies.reach.network import equal_size
from shiftstate.studies.reach.settings import FilterOptions


@dataclass(frozen=True)
class BoardArchitecture(FilterOptions):
    """What all models share, and the options of our filters."""

    parameters: int = 16_000
    hops: int = 12
    """Cells that every model sees far: blocks times K."""


class ResidualBlock(nn.Module):
    """A way through the graph of some hops, with a residual."""

    def __init__(self, core: nn.Module, width: int) -> None:
        super().__init__()
        self.core, self.linear, self.norm = core, nn.Linear(width, width), nn.LayerNorm(width)

    def forward(self, x: Tensor, shift: Any) -> Tensor:
        """(B, N, c) → (B, N, c)."""
        y: Tensor = self.norm(self.core(x, shift) + self.linear(x))
        return x + y.relu()


class BoardNetwork(nn.Module):
    """Features (B, N, 7) → one logit per cell (B, N, 1)."""

    def __init__(self, trial: m.Trial, in_channels: int, width: int, hidden: int) -> None:
        super().__init__()
        self.channels, settings = [width], trial.settings.architecture
        self.encode = nn.Sequential(nn.Linear(in_channels, hidden), nn.ReLU(), nn.Linear(hidden, width))
        cores = [CORES[trial.model](width, trial["K"], settings) for _ in range(max(1, settings.hops // trial["K"]))]
        self.blocks = nn.ModuleList(ResidualBlock(core, width) for core in cores)
        self.decode = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, x: Tensor, shift: Any) -> Tensor:
        """A logit per cell."""
        y = self.encode(x)
        for block in self.blocks:
            y = block(y, shift)
        logits: Tensor = self.decode(y)
        return logits


def build(trial: m.Trial, data: Any) -> nn.Module:
    """The trial's network, of the size that all get."""
    with m.drawing(trial.seed("weights", trial.unit)):
        goal, channels = trial.settings.architecture.parameters, data.train.x.shape[-1]
        return equal_size(lambda width, hidden: BoardNetwork(trial, channels, width, hidden), goal)
