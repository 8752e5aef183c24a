"""Minesweeper on fresh boards: trained on some boards, tested on others, beside the best that can be known.

Boards are drawn by the published recipe (`shiftstate.studies.minesweeper.drawing`) and put beside each other as one
graph without edges between them. Training, validation and test cells are whole boards: nothing is learned from answers
of a board that is tested on. (Batch norm sees the features of all boards, as it does in the published splits.) The
network, its size and its training are those of the study `minesweeper`. "ceiling" is no network: the chance of a mine
given all numbers of the board (`shiftstate.studies.minesweeper.posterior`). It is exact: the best that can be known.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from shiftstate import machine as m
from shiftstate.graphs import Shift
from shiftstate.studies.minesweeper import FIRST, VARIANTS
from shiftstate.studies.minesweeper.drawing import board_shift, draw_boards
from shiftstate.studies.minesweeper.network import Blocks, build
from shiftstate.studies.minesweeper.posterior import posterior
from shiftstate.tasks import NodeClassification

TASK = NodeClassification("roc_auc", ["roc_auc"])


@dataclass(frozen=True)
class FreshBoards:
    """How many boards are drawn, and how."""

    seed: int = 0
    side: int = 100
    train: int = 2
    valid: int = 1
    test: int = 1
    mines: float = 0.2
    hidden: float = 0.5


@dataclass(frozen=True)
class FreshBoardSettings:
    """Everything that a training on fresh boards depends on."""

    data: FreshBoards = field(default=FreshBoards())
    architecture: Blocks = field(default=Blocks())
    training: m.Training = field(
        default=m.Training(epochs=250, batch_size=0, learning_rate=(0.03,), schedule="onecycle", clip=1.0)
    )


def data(trial: m.Trial, prepared: Path | None) -> SimpleNamespace:
    """All boards of a unit as one graph: x (cells, 7), mines y (cells), S, and the cells of each part."""
    settings = trial.settings.data
    counts = {"train": settings.train, "valid": settings.valid, "test": settings.test}
    generator = np.random.default_rng(trial.seed("data", trial.unit))
    boards = draw_boards(sum(counts.values()), settings.side, generator, settings.mines, settings.hidden)
    one = board_shift(settings.side, trial.settings.architecture.shift)
    part = np.repeat(list(counts), [count * settings.side**2 for count in counts.values()])
    return SimpleNamespace(
        x=boards.features().flatten(0, 1),
        y=torch.from_numpy(boards.mine.ravel()).long(),
        shift=Shift.batch([one] * len(boards.mine)),
        boards=boards,
        **{name: torch.from_numpy(part == name) for name in counts},
    )


def ceiling(trial: m.Trial, drawn: Any) -> m.Outcome:
    """The posterior of every test cell, as if it were a model."""
    began, settings = time.perf_counter(), trial.settings.data
    shown = drawn.boards.shown[-settings.test :].reshape(-1, settings.side, settings.side)
    chance = np.stack([posterior(board, settings.mines) for board in shown]).ravel().clip(1e-12, 1 - 1e-12)
    odds = torch.from_numpy(np.log(chance / (1 - chance)))
    score = TASK.scores(odds, drawn.y[drawn.test])
    return m.Outcome(score, score, seconds=time.perf_counter() - began)


def claims(cells: Iterable[m.Cell], presets: Mapping[str, str]) -> list[list[m.Claim]]:
    """Stated before the runs: a nonlinear state beats TAGConv, and comes within 1.5 points of the ceiling."""
    ours = [cell for cell in cells if cell["filter"] in ("rsn", "lssm")]
    ahead = [m.beats(f"{cell['filter'].upper()} beats TAGConv", cell, cell.at(filter="tagconv")) for cell in ours]
    near = [
        m.beats(f"{cell['filter'].upper()} is within 1.5 points of the ceiling", cell, best, -0.015)
        for cell in ours
        for best in [cell.at(filter="ceiling", K=0)]
    ]
    return [ahead, near]


BOARDS = m.Experiment(
    "boards",
    "Minesweeper on fresh boards",
    settings=FreshBoardSettings,
    axes=(
        m.Axis("filter", tuple(FIRST), key="filters"),
        m.Axis("variant", ("chosen",), known=tuple(VARIANTS)),
        m.Axis("K", (2,), int, least=1, absent=0),
    ),
    model="filter",
    place=("variant", "K"),
    unit=m.Count("deal", 3, "deals"),
    metric=m.Measure("roc_auc", "ROC AUC", digits=2),
    data=data,
    models=dict.fromkeys(FIRST, build),
    baselines={"ceiling": ceiling},
    task=lambda trial, data: TASK,
    options=lambda trial, data: {"look_every": 10},
    requires=lambda trials: [
        m.Requirement("torch_geometric", "TAGConv needs PyTorch Geometric: pip install 'shiftstate[pyg]'")
    ],
    overrides=lambda cell: VARIANTS[cell["variant"]].get(cell["filter"], {}),
    chance=lambda settings: 0.5,
    about="Which cells of a board that was never seen are mines?",
    note="ROC AUC in %, of the test boards; every deal has boards of its own.",
    colors={"lssm": "#c8553d", "rsn": "#3b76b8", "gcnn": "#7f8c9b", "tagconv": "#b58900", "ceiling": "#222222"},
)

STUDY = m.Study("boards", (BOARDS,), m.read_presets(__name__, ("quick", "record")), claims)
