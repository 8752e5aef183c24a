"""Fresh boards: the recipe is the published one, and the study runs with its ceiling."""

import json

import numpy as np
import pytest
import torch

from shiftstate.machine import count_parameters
from shiftstate.machine.conduct import conduct
from shiftstate.machine.presets import load_preset
from shiftstate.studies.boards import STUDY, data
from shiftstate.studies.minesweeper.drawing import MOST, around, board_shift, draw_boards, neighbours
from shiftstate.studies.reach.cores import CORES


def test_boards_have_the_shares_that_were_asked_for_and_count_their_neighbours():
    boards, side = draw_boards(3, 10, np.random.default_rng(0)), 10
    assert boards.mine.sum(1).tolist() == [20, 20, 20]
    assert (boards.shown < 0).sum(1).tolist() == [50, 50, 50]
    for board, cell in ((0, 0), (1, 37), (2, 99)):
        row, column = divmod(cell, side)
        square = boards.mine[board].reshape(side, side)[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
        count = int(square.sum()) - int(boards.mine[board, cell])
        assert int(around(boards.mine.reshape(-1, side, side))[board, row, column]) == count
        assert boards.shown[board, cell] in (-1, min(count, MOST))
    assert torch.equal(boards.features().sum(-1), torch.ones(3, 100))
    assert torch.equal(boards.features()[..., 0] == 1, torch.from_numpy(boards.shown < 0))


def test_neighbours_are_the_edges_of_the_board():
    shift = board_shift(4)
    assert shift.edges()[0].shape[1] == int((neighbours(4, 4) < 16).sum()) == 84
    torch.testing.assert_close(shift @ torch.ones(16, 1), torch.ones(16, 1))


def test_the_study_runs_with_its_ceiling_and_judges_how_near_the_filters_come(here, tmp_path):
    pytest.importorskip("torch_geometric")
    wanted = [
        "side=12",
        "train_side=8",
        "train=20",
        "deals=1",
        "parameters=3000",
        "hops=4",
        'filters=["rsn","tagconv"]',
    ]
    assert conduct(["boards"], load_preset(STUDY, "quick", None, wanted), tmp_path, here).stored == 3
    rows = {row["filter"]: row["mean"] for row in json.loads((tmp_path / "summary.json").read_text())}
    assert set(rows) == {"rsn", "tagconv", "ceiling"}
    assert rows["ceiling"] > 0.98
    claims = [claim["claim"] for claim in json.loads((tmp_path / "claims.json").read_text())]
    assert claims == ["RSN is ahead of every peer, K = 2", "RSN is within 1.5 points of the ceiling, K = 2"]


def test_every_model_has_the_same_size_and_sees_as_many_cells():
    pytest.importorskip("torch_geometric")
    wanted = [
        "side=9",
        "train_side=9",
        "train=1",
        "deals=1",
        "hops=4",
        f"filters={json.dumps(list(CORES))}",
        "K=[1,2]",
    ]
    for trial in load_preset(STUDY, "record", None, wanted).trials("boards"):
        if trial.model == "ceiling":
            continue
        drawn = data(trial, None)
        network = trial.experiment.models[trial.model](trial, drawn).double()
        assert abs(count_parameters(network) - 16_000) < 800
        x = drawn.train.x.double()
        shift, moved = drawn.shift.to(torch.float64), x.clone()
        moved[:, 0] += 100.0
        felt = ((network(moved, shift) - network(x, shift)).abs() > 1e-12).reshape(9, 9)
        assert not felt[5:].any()
        assert not felt[:, 5:].any()
        assert felt[4].any() == (trial.model != "mlp")
