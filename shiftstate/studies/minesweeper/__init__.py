"""Find the mines: LSSM, RSN, GCNN and PyTorch Geometric's TAGConv in one network, with equal parameters and trials.

The graph is a board of 100 × 100 cells, each joined to its eight neighbours (Platonov et al., ICLR 2023). Half of the
cells show how many of their neighbours are mines; the network says of every cell whether it is one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from shiftstate import machine as m
from shiftstate.graphs import Shift
from shiftstate.layers import LAYERS
from shiftstate.tasks import NodeClassification

URL = "https://github.com/yandex-research/heterophilous-graphs/raw/main/data/minesweeper.npz"
ARRAYS = ("node_features", "node_labels", "edges", "train_masks", "val_masks", "test_masks")
OPEN = {"gate_bias": True, "init": "alive"}
FIRST: dict[str, dict[str, Any]] = {
    "lssm": {**OPEN, "output_activation": "identity"}, "rsn": {"init": "alive"}, "gcnn": {}, "tagconv": {}
}  # fmt: skip
OWN: dict[str, dict[str, Any]] = {
    "lssm": {**OPEN, "output_activation": "relu"},
    "rsn": {"init": "alive", "state_activation": "leaky_relu", "output_activation": "identity"},
    "gcnn": {"mixing": "depthwise"},
    "tagconv": {"shift": "symmetric"},
}
VARIANTS: dict[str, Mapping[str, Mapping[str, Any]]] = {
    "chosen": {"lssm": {**FIRST["lssm"], "learning_rate": 0.06}, "rsn": OWN["rsn"], "tagconv": OWN["tagconv"]},
    "first": FIRST,
    "faster": {name: {**first, "learning_rate": 0.06} for name, first in FIRST.items()},
    "less dropout": {name: {**first, "dropout": 0.1} for name, first in FIRST.items()},
    "own": OWN,
    "paper": {},
    "identity": {"lssm": {"output_activation": "identity"}},
    "open": {"lssm": OPEN},
    "open, identity": FIRST,
}
"""What a cell changes: the best of the search, the four trials of every filter, and four starts of the LSSM."""


@dataclass(frozen=True)
class Board:
    """The board by its fingerprint, and the cells that scores are of: "test", or "val" in a search."""

    board: str = ""
    judged_on: str = "test"
    seed: int = 0


@dataclass(frozen=True)
class Blocks:
    """x ← dropout(relu(norm(filter(x, S) + x A))), so many times; as many channels as the parameters allow."""

    parameters: int = 15_500
    blocks: int = 6
    dropout: float = 0.2
    shift: str = "row"
    mixing: str = ""
    init: str = "paper"
    gate_bias: bool = False
    state_activation: str = "relu"
    output_activation: str = "relu"


@dataclass(frozen=True)
class Settings:
    """Everything that a training on the board depends on."""

    data: Board = field(default=Board())
    architecture: Blocks = field(default=Blocks())
    training: m.Training = field(
        default=m.Training(epochs=250, batch_size=0, learning_rate=(0.03,), schedule="onecycle", clip=1.0)
    )


def load(trial: m.Trial, prepared: Path | None) -> SimpleNamespace:
    """Cells x (N, 7), mines y (N), S, and the masks of a split."""
    arrays = m.load_arrays(prepared)
    edges = torch.cat([arrays["edges"].T, arrays["edges"].T.flip(0)], 1)
    shift = Shift.from_edges(edges, num_nodes=len(arrays["node_labels"]))
    train, valid, test = (
        arrays[f"{name}_masks"][trial.unit % len(arrays["train_masks"])]
        for name in ("train", "val", trial.settings.data.judged_on)
    )
    x, y = arrays["node_features"].float(), arrays["node_labels"].long()
    shift = shift.normalized(trial.settings.architecture.shift)
    return SimpleNamespace(x=x, y=y, shift=shift, train=train, valid=valid, test=test)


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
        self.encode = nn.Linear(data.x.shape[-1], channels)
        convs = [_conv(trial, channels) for _ in range(settings.blocks)]
        self.blocks = nn.ModuleList(Block(conv, channels, settings.dropout) for conv in convs)
        self.decode = nn.Sequential(nn.BatchNorm1d(channels), nn.Linear(channels, 1))

    def forward(self, x: Tensor, shift: Shift) -> Tensor:
        """A logit per cell."""
        x = self.encode(x)
        for block in self.blocks:
            x = block(x, shift)
        logits: Tensor = self.decode(x)
        return logits


def _conv(trial: m.Trial, channels: int) -> nn.Module:
    if trial.model == "tagconv":
        return _TAGConv(channels, trial["K"])
    kind, given = LAYERS[trial.model], vars(trial.settings.architecture)
    options = {key: value for key, value in given.items() if key in kind.option_names()}
    options["mixing"] = options["mixing"] or ("bank" if trial.model == "gcnn" else "depthwise")
    return kind(channels, channels, trial["K"], bias=True, **options)


class _TAGConv(nn.Module):
    """PyTorch Geometric's filter, given the same S as a CSR tensor."""

    def __init__(self, channels: int, K: int) -> None:
        super().__init__()
        self.conv = import_module("torch_geometric.nn").TAGConv(channels, channels, K, normalize=False)
        self.shift: Shift | None = None
        self.csr: Tensor | None = None

    def forward(self, x: Tensor, shift: Shift) -> Tensor:
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


def claims(cells: Iterable[m.Cell], presets: Mapping[str, str]) -> list[list[m.Claim]]:
    """A nonlinear state beats the linear filter."""
    ours = [cell for cell in cells if cell["filter"] in ("rsn", "lssm") and cell["variant"] == "chosen"]
    return [[m.beats(f"{cell['filter'].upper()} beats TAGConv", cell, cell.at(filter="tagconv")) for cell in ours]]


MINESWEEPER = m.Experiment(
    "minesweeper",
    "Minesweeper",
    settings=Settings,
    axes=(
        m.Axis("filter", ("lssm", "rsn", "gcnn", "tagconv"), key="filters"),
        m.Axis("variant", ("chosen",), known=tuple(VARIANTS)),
        m.Axis("K", (2,), int, least=1),
    ),
    model="filter",
    place=("variant", "K"),
    unit=m.Count("split", 10, "splits"),
    metric=m.Measure("roc_auc", "ROC AUC", digits=2),
    data=load,
    models=dict.fromkeys(FIRST, build),
    task=lambda trial, data: NodeClassification("roc_auc", ["roc_auc"]),
    options=lambda trial, data: {"look_every": 10},
    facts=lambda data: {"train": int(data.train.sum()), "test": int(data.test.sum())},
    overlap=lambda facts: facts["test"] / facts["train"],
    source=m.array_file("board", ARRAYS, f"get it with: curl -LO {URL}"),
    requires=lambda trials: [
        m.Requirement("torch_geometric", "TAGConv needs PyTorch Geometric: pip install 'shiftstate[pyg]'")
    ],
    overrides=lambda cell: VARIANTS[cell["variant"]].get(cell["filter"], {}),
    chance=lambda settings: 0.5,
    about="Which cells of a board are mines? All filters sit in the same network with the same number of parameters.",
    note="ROC AUC in %, of the test cells; the splits share one board, so they overlap.",
    colors={"lssm": "#c8553d", "rsn": "#3b76b8", "gcnn": "#7f8c9b", "tagconv": "#b58900"},
)

STUDY = m.Study("minesweeper", (MINESWEEPER,), m.read_presets(__name__, ("record", "search", "gates")), claims)
