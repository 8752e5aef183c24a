"""Fresh boards: the recipe is the published one, the posterior is near the exact one, and the study runs."""

import json

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from shiftstate.machine.conduct import conduct
from shiftstate.machine.presets import load_preset
from shiftstate.studies.boards import STUDY
from shiftstate.studies.minesweeper.drawing import MOST, around, board_shift, draw_boards, neighbours
from shiftstate.studies.minesweeper.posterior import by_enumeration, by_propagation


def test_boards_have_the_shares_that_were_asked_for_and_count_their_neighbours():
    boards, side = draw_boards(3, 10, np.random.default_rng(0)), 10
    assert boards.mine.sum(1).tolist() == [20, 20, 20]
    assert (boards.shown < 0).sum(1).tolist() == [50, 50, 50]
    for board, cell in ((0, 0), (1, 37), (2, 99)):
        row, column = divmod(cell, side)
        square = boards.mine[board].reshape(side, side)[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
        count = int(square.sum()) - int(boards.mine[board, cell])
        assert int(around(boards.mine, side)[board, cell]) == count
        assert boards.shown[board, cell] in (-1, min(count, MOST))
    assert torch.equal(boards.features().sum(-1), torch.ones(3, 100))
    assert torch.equal(boards.features()[..., 0] == 1, torch.from_numpy(boards.shown < 0))


def test_neighbours_are_the_edges_of_the_board():
    shift = board_shift(4)
    assert shift.edges()[0].shape[1] == int((neighbours(4) < 16).sum()) == 84
    torch.testing.assert_close(shift @ torch.ones(16, 1), torch.ones(16, 1))


def test_the_posterior_is_near_the_exact_one_which_nothing_beats():
    boards = draw_boards(20, 4, np.random.default_rng(1))
    exact = np.stack([by_enumeration(shown, 4) for shown in boards.shown])
    found = np.stack([by_propagation(shown, 4).chance for shown in boards.shown])
    assert np.abs(exact - found).mean() < 0.05
    areas = [roc_auc_score(boards.mine.ravel(), chance.ravel()) for chance in (exact, found)]
    assert areas[0] > 0.97
    assert areas[0] >= areas[1] > areas[0] - 0.04  # numbers on so small a board form many cycles


def test_without_cycles_propagation_is_exact():
    """One number alone tells each of its neighbours the same."""
    shown = np.full(16, -1)
    shown[5] = 2
    np.testing.assert_allclose(by_propagation(shown, 4).chance, by_enumeration(shown, 4), atol=1e-3)
    shown[5] = MOST  # five or more
    np.testing.assert_allclose(by_propagation(shown, 4).chance, by_enumeration(shown, 4), atol=1e-3)


def test_what_cannot_be_enumerated_says_so():
    with pytest.raises(ValueError, match="the board has 25 cells; expected at most 20"):
        by_enumeration(np.full(25, -1), 5)
    impossible = np.full(9, -1)
    impossible[0], impossible[4] = 3, 0
    with pytest.raises(ValueError, match="no board shows these numbers"):
        by_enumeration(impossible, 3)


def test_the_study_runs_with_its_ceiling_and_judges_how_near_the_filters_come(here, tmp_path):
    pytest.importorskip("torch_geometric")
    wanted = ["side=12", "epochs=2", "deals=1", "parameters=3000", "blocks=2", 'filters=["rsn","tagconv"]']
    assert conduct(["boards"], load_preset(STUDY, "quick", None, wanted), tmp_path, here).stored == 3
    rows = {row["filter"]: row["mean"] for row in json.loads((tmp_path / "summary.json").read_text())}
    assert set(rows) == {"rsn", "tagconv", "ceiling"}
    assert rows["ceiling"] > 0.9
    claims = [claim["claim"] for claim in json.loads((tmp_path / "claims.json").read_text())]
    assert claims == ["RSN beats TAGConv", "RSN is within 1.5 points of the ceiling"]
