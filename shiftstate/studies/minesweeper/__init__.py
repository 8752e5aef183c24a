"""Find the mines: LSSM, RSN, GCNN and PyTorch Geometric's TAGConv in one network, with equal parameters and trials.

The graph is a board of 100 × 100 cells, each joined to its eight neighbours (Platonov et al., ICLR 2023). Half of the
cells show how many of their neighbours are mines; the network says of every cell whether it is one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from shiftstate import machine as m
from shiftstate.graphs import Shift
from shiftstate.studies.minesweeper.network import Blocks, build
from shiftstate.studies.reach.trivial import build_rule
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
FEWER_NORMS = {"dropout": 0.1, "last_norm": False}
WIDE: dict[str, dict[str, Any]] = {
    "rsn": {
        **FEWER_NORMS,
        "init": "far",
        "mixing": "dense",
        "tied": True,
        "state_activation": "tanh",
        "output_activation": "identity",
    },
    "tagconv": {**FEWER_NORMS, **OWN["tagconv"]},
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
    "wide": WIDE,
    "hiding": {name: {**wide, "hide": 0.25} for name, wide in WIDE.items()},
}
"""What a cell changes: the best of the search, the four trials of every filter, four starts of the LSSM, and the large
networks without and with more numbers hidden in training."""


@dataclass(frozen=True)
class Board:
    """The board by its fingerprint, and the cells that scores are of: "test", or "val" in a search."""

    board: str = ""
    judged_on: str = "test"
    seed: int = 0


@dataclass(frozen=True)
class BoardSettings:
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


def claims(cells: Iterable[m.Cell], presets: Mapping[str, str]) -> list[list[m.Claim]]:
    """A nonlinear state beats the linear filter; with numbers hidden in training the RSN has 97 and is the best."""
    cells = list(cells)
    ours = [cell for cell in cells if cell["filter"] in ("rsn", "lssm") and cell["variant"] == "chosen"]
    hiding = [cell for cell in cells if cell["filter"] == "rsn" and cell["variant"] == "hiding"]
    return [
        [m.beats(f"{cell['filter'].upper()} beats TAGConv", cell, cell.at(filter="tagconv")) for cell in ours],
        [m.beats("RSN, hiding: 97 or more", cell, cell.at(filter="average"), 0.47) for cell in hiding],
        [
            claim
            for cell in hiding
            for claim in (
                m.beats("RSN, hiding: more than without hiding", cell, cell.at(variant="wide")),
                m.beats("RSN, hiding: more than TAGConv, hiding", cell, cell.at(filter="tagconv")),
            )
        ],
    ]


MINESWEEPER = m.Experiment(
    "minesweeper",
    "Minesweeper",
    settings=BoardSettings,
    axes=(
        m.Axis("filter", tuple(FIRST), key="filters", known=("average", *FIRST)),
        m.Axis("variant", ("chosen",), known=tuple(VARIANTS)),
        m.Axis("K", (2,), int, least=1),
    ),
    model="filter",
    place=("variant", "K"),
    unit=m.Count("split", 10, "splits"),
    metric=m.Measure("roc_auc", "ROC AUC", digits=2),
    data=load,
    models={"average": build_rule, **dict.fromkeys(FIRST, build)},
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

STUDY = m.Study(
    "minesweeper", (MINESWEEPER,), m.read_presets(__name__, ("record", "search", "gates", "hiding")), claims
)
