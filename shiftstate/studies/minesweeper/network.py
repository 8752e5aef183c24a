"""The network that all filters sit in: x ← dropout(relu(norm(filter(x, S) + x A))), with equal parameters for each."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from shiftstate import machine as m
from shiftstate.graphs import Shift
from shiftstate.layers import LAYERS
from shiftstate.studies.minesweeper.drawing import HIDDEN


@dataclass(frozen=True)
class Blocks:
    """x ← dropout(relu(norm(filter(x, S) + x A))), so many times; as many channels as the parameters allow."""

    parameters: int = 15_500
    blocks: int = 6
    dropout: float = 0.2
    hide: float = 0.0
    """Share of the cells whose number is hidden in training, drawn anew in every step."""
    last_norm: bool = True
    """A batch norm before the last linear map. What dropout and hiding change in training disturbs it most."""
    shift: str = "row"
    mixing: str = ""
    init: str = "paper"
    tied: bool = False
    gate_bias: bool = False
    state_activation: str = "relu"
    output_activation: str = "relu"


class Block(nn.Module):
    """The noise falls on all of x, not only on what the filter adds."""

    def __init__(self, conv: nn.Module, channels: int, dropout: float) -> None:
        super().__init__()
        self.conv, self.linear = conv, nn.Linear(channels, channels)
        self.after = nn.Sequential(nn.BatchNorm1d(channels), nn.ReLU(), nn.Dropout(dropout))

    def forward(self, x: Tensor, graph: Any) -> Tensor:
        """One block: (N, channels) → (N, channels)."""
        y: Tensor = self.after(self.conv(x, graph) + self.linear(x))
        return y


class Sweeper(nn.Module):
    """Features (N, 7) → channels, the blocks, and one logit per cell (N, 1)."""

    def __init__(self, trial: m.Trial, data: Any, channels: int) -> None:
        super().__init__()
        self.channels, settings = [channels], trial.settings.architecture
        self.hide = settings.hide
        self.encode = nn.Linear(data.x.shape[-1], channels)
        convs = [_conv(trial, channels) for _ in range(settings.blocks)]
        self.blocks = nn.ModuleList(Block(conv, channels, settings.dropout) for conv in convs)
        last: list[nn.Module] = [nn.BatchNorm1d(channels)] if settings.last_norm else []
        self.decode = nn.Sequential(*last, nn.Linear(channels, 1))

    def forward(self, x: Tensor, shift: Shift) -> Tensor:
        """A logit per cell."""
        x = self.encode(hide_numbers(x, self.hide) if self.training and self.hide else x)
        for block in self.blocks:
            x = block(x, shift)
        logits: Tensor = self.decode(x)
        return logits


def hide_numbers(x: Tensor, share: float) -> Tensor:
    """Cells x (N, 7) of which a share, drawn at random, hide their number: another board with the same mines."""
    hidden = torch.zeros_like(x[0])
    hidden[HIDDEN] = 1.0
    hides = torch.rand(x.shape[:-1], device=x.device) < share
    return torch.where(hides[..., None], hidden, x)


def _conv(trial: m.Trial, channels: int) -> nn.Module:
    if trial.model == "tagconv":
        return TAGConvOnShift(channels, trial["K"])
    kind, given = LAYERS[trial.model], vars(trial.settings.architecture)
    options = {key: value for key, value in given.items() if key in kind.option_names()}
    options["mixing"] = options["mixing"] or ("bank" if trial.model == "gcnn" else "depthwise")
    return kind(channels, channels, trial["K"], bias=True, **options)


class TAGConvOnShift(nn.Module):
    """PyTorch Geometric's filter, given the same S as a CSR tensor."""

    def __init__(self, channels: int, K: int) -> None:
        super().__init__()
        self.conv = import_module("torch_geometric.nn").TAGConv(channels, channels, K, normalize=False)
        self.shift: Shift | None = None
        self.csr: Tensor | None = None

    def forward(self, x: Tensor, shift: Shift) -> Tensor:
        """Filter x (N, channels); S is turned into CSR once."""
        if self.shift is not shift:
            (source, target), weight = shift.edges()
            to_csr = import_module("torch_geometric.utils").to_torch_csr_tensor
            self.shift, self.csr = shift, to_csr(torch.stack([target, source]), weight, size=shift.num_nodes)
        y: Tensor = self.conv(x, self.csr)
        return y


def build(trial: m.Trial, data: Any) -> Sweeper:
    """The network whose number of channels brings it nearest to the parameters that all get."""
    with m.drawing(trial.seed("weights", trial.unit)):
        sizes = lambda channels: m.count_parameters(Sweeper(trial, data, channels))  # noqa: E731
        return Sweeper(trial, data, m.nearest_channels(sizes, trial.settings.architecture.parameters))
