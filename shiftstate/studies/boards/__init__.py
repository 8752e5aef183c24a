"""Minesweeper on fresh boards: trained on some boards, tested on others, beside the best that can be known.

Specification. Boards are drawn by the published recipe (`shiftstate.studies.minesweeper.drawing`): 20 % of the cells
are mines, half of the cells hide their number. Validation and test boards have 100 × 100 cells, as the published one.
Training boards have 50 × 50: more steps in the same time, and no model knows how large a board is. Every deal draws its
boards anew. To be predicted in every cell: whether it is a mine. The score is the area under the ROC curve over all
cells of the test boards.

Every model sits in the network of `shiftstate.studies.boards.network`, with the same number of parameters, and sees 12
cells far: in blocks of K hops, 12 / K of them. "ceiling" is no network: the chance of a mine given all numbers of the
board (`shiftstate.studies.minesweeper.posterior`). It is exact: the best that can be known.
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
from shiftstate.studies.boards.network import BoardArchitecture, build
from shiftstate.studies.minesweeper.drawing import board_shift, draw_boards
from shiftstate.studies.minesweeper.posterior import posterior
from shiftstate.studies.reach.cores import CORES, PEERS
from shiftstate.studies.reach.shared import COLORS, VARIANTS, requires_pyg
from shiftstate.studies.reach.trivial import build_rule
from shiftstate.tasks import NodeClassification

TASK = NodeClassification("roc_auc", ["roc_auc"])


@dataclass(frozen=True)
class FreshBoards:
    """How many boards are drawn, and how."""

    seed: int = 0
    side: int = 100
    train_side: int = 50
    train: int = 500
    valid: int = 1
    test: int = 2
    mines: float = 0.2
    hidden: float = 0.5
    shift: str = "row"


@dataclass(frozen=True)
class FreshBoardSettings:
    """Everything that a training on fresh boards depends on."""

    data: FreshBoards = field(default=FreshBoards())
    architecture: BoardArchitecture = field(default=BoardArchitecture())
    training: m.Training = field(
        default=m.Training(epochs=2, batch_size=1, learning_rate=(0.01, 0.02), schedule="onecycle", clip=1.0)
    )


def data(trial: m.Trial, prepared: Path | None) -> SimpleNamespace:
    """The boards of a deal: x (boards, cells, 7) and mines y (boards, cells), each part on its own graph."""
    settings = trial.settings.data
    generator = np.random.default_rng(trial.seed("data", trial.unit))

    def part(count: int, side: int) -> SimpleNamespace:
        boards = draw_boards(count, side, generator, settings.mines, settings.hidden)
        shift = board_shift(side, settings.shift)
        return SimpleNamespace(x=boards.features(), y=torch.from_numpy(boards.mine).long(), shift=shift, boards=boards)

    train = part(settings.train, settings.train_side)
    valid, test = (part(count, settings.side) for count in (settings.valid, settings.test))
    return SimpleNamespace(shift=train.shift, train=train, valid=valid, test=test)


def ceiling(trial: m.Trial, drawn: Any) -> m.Outcome:
    """The posterior of every test cell, as if it were a model."""
    began, settings = time.perf_counter(), trial.settings.data
    shown = drawn.test.boards.shown.reshape(-1, settings.side, settings.side)
    chance = np.stack([posterior(board, settings.mines) for board in shown]).ravel().clip(1e-12, 1 - 1e-12)
    odds = torch.from_numpy(np.log(chance / (1 - chance)))
    score = TASK.scores(odds, drawn.test.y.flatten())
    return m.Outcome(score, score, seconds=time.perf_counter() - began)


def claims(cells: Iterable[m.Cell], presets: Mapping[str, str]) -> list[list[m.Claim]]:
    """Stated before the runs: the far RSN beats every peer, is within 1.5 of the ceiling, and needs its parts."""
    cells = list(cells)
    ours = [cell for cell in cells if cell["filter"] == "rsn" and cell["variant"] == "far"]
    rivals = [cell for cell in cells if cell["filter"] in (*PEERS, "gcnn")]
    ahead = [m.best(f"RSN is ahead of every peer, K = {cell['K']}", cell, rivals) for cell in ours if rivals]
    near = [
        m.beats(
            f"RSN is within 1.5 points of the ceiling, K = {cell['K']}", cell, cell.at(filter="ceiling", K=0), -0.015
        )
        for cell in ours
    ]
    parts = [
        m.beats(f"RSN far beats {name}, K = {cell['K']}", cell, cell.at(variant=name))
        for cell in ours
        for name in VARIANTS
        if name != "far" and cell.at(variant=name) in cells
    ]
    return [ahead, near, parts]


BOARDS = m.Experiment(
    "boards",
    "Minesweeper on fresh boards",
    settings=FreshBoardSettings,
    axes=(
        m.Axis("filter", ("average", *CORES), key="filters"),
        m.Axis("variant", ("far",), known=tuple(VARIANTS)),
        m.Axis("K", (2,), int, least=1, absent=0),
    ),
    model="filter",
    place=("variant", "K"),
    unit=m.Count("deal", 3, "deals"),
    metric=m.Measure("roc_auc", "ROC AUC", digits=2),
    data=data,
    models={"average": build_rule, **dict.fromkeys(CORES, build)},
    baselines={"ceiling": ceiling},
    task=lambda trial, data: TASK,
    requires=requires_pyg,
    overrides=lambda cell: VARIANTS[cell["variant"]],
    chance=lambda settings: 0.5,
    about="Which cells of a board that was never seen are mines? All models have as many parameters.",
    note="ROC AUC in %, of the test boards; every deal has boards of its own.",
    colors={**COLORS, "ceiling": "#222222"},
)

STUDY = m.Study("boards", (BOARDS,), m.read_presets(__name__, ("quick", "record", "short", "parts")), claims)
