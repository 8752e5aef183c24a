"""Fresh boards: the recipe is the published one, and the study runs with its ceiling."""

import json

import numpy as np
import pytest
import torch

from shiftstate.machine.conduct import conduct
from shiftstate.machine.presets import load_preset
from shiftstate.studies.boards import STUDY
from shiftstate.studies.minesweeper.drawing import MOST, around, board_shift, draw_boards, neighbours


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
    wanted = ["side=12", "epochs=2", "deals=1", "parameters=3000", "blocks=2", 'filters=["rsn","tagconv"]']
    assert conduct(["boards"], load_preset(STUDY, "quick", None, wanted), tmp_path, here).stored == 3
    rows = {row["filter"]: row["mean"] for row in json.loads((tmp_path / "summary.json").read_text())}
    assert set(rows) == {"rsn", "tagconv", "ceiling"}
    assert rows["ceiling"] > 0.98
    claims = [claim["claim"] for claim in json.loads((tmp_path / "claims.json").read_text())]
    assert claims == ["RSN beats TAGConv", "RSN is within 1.5 points of the ceiling"]
