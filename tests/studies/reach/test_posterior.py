"""The ceiling of minesweeper: the sweep is exact, and strips bound the best possible score from both sides."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from shiftstate.studies.minesweeper.drawing import MOST, around, draw_boards
from shiftstate.studies.minesweeper.posterior import by_enumeration, by_strips
from shiftstate.studies.minesweeper.sweep import sweep


def board(rows, columns, generator, mines=0.2, hidden=0.5):
    """Mines and what is shown of one board that need not be square."""
    mine = generator.random((rows, columns)) < mines
    return mine, np.where(generator.random((rows, columns)) < hidden, -1, np.minimum(around(mine[None])[0], MOST))


@given(st.integers(1, 4), st.integers(1, 3), st.sampled_from([0.1, 0.2, 0.7]), st.sampled_from([0.0, 0.5, 0.8]),
       st.integers(0, 2**32))  # fmt: skip
@settings(max_examples=60)
def test_the_sweep_is_the_enumeration_of_all_boards(rows, columns, mines, hidden, seed):
    """With 0.7 mines, many numbers are capped."""
    _, shown = board(rows, columns, np.random.default_rng(seed), mines, hidden)
    expected = by_enumeration(shown, mines)
    np.testing.assert_allclose(sweep(shown, np.full(shown.shape, mines)), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (2, 8)])
@pytest.mark.parametrize("mines", [0.2, 0.6])
def test_a_strip_of_the_whole_board_is_the_enumeration(shape, mines):
    _, shown = board(*shape, np.random.default_rng(0), mines)
    np.testing.assert_allclose(by_strips(shown, mines, strip=9), by_enumeration(shown, mines), atol=1e-12)


@given(st.integers(0, 2**32))
@settings(max_examples=10)
def test_a_strip_knows_its_inner_numbers_only_and_all_numbers_if_told_what_lies_beyond(seed):
    mine, shown = board(6, 2, np.random.default_rng(seed))
    inner = shown.copy()
    inner[[0, 1, 2, 4, 5]] = -1  # the strip of row 3 has the rows 2, 3 and 4; only the numbers of 3 depend on it alone
    np.testing.assert_allclose(by_strips(shown, strip=3)[3], by_enumeration(inner)[3], atol=1e-12)
    strips = ((np.arange(2**6)[:, None] >> np.arange(6)) & 1 == 1).reshape(-1, 3, 2)
    boards = np.repeat(mine[None], 2**6, 0)
    boards[:, 2:5] = strips
    fits = np.where(shown >= 0, np.minimum(around(boards), MOST) == shown, True).all((1, 2))
    weight = fits * 0.25 ** strips.sum((1, 2))
    expected = np.tensordot(weight, strips, 1)[1] / weight.sum()
    np.testing.assert_allclose(by_strips(shown, strip=3, told=mine)[3], expected, atol=1e-12)


@pytest.fixture(scope="module")
def large():
    """A board of 60 × 60, and its posteriors by strips."""
    drawn = draw_boards(1, 60, np.random.default_rng(0))
    mine, shown = drawn.mine.reshape(60, 60), drawn.shown.reshape(60, 60)
    below = {strip: by_strips(shown, strip=strip) for strip in (3, 5, 9, 13)}
    return mine, below, {strip: by_strips(shown, strip=strip, told=mine) for strip in (3, 9, 13)}


def test_taller_strips_know_more_and_are_bounded_by_those_that_are_told_more(large):
    mine, below, above = large
    rising = [roc_auc_score(mine.ravel(), chance.ravel()) for chance in below.values()]
    falling = [roc_auc_score(mine.ravel(), chance.ravel()) for chance in above.values()]
    assert rising == sorted(rising)
    assert falling == sorted(falling, reverse=True)
    assert 0.995 < rising[-1] < falling[-1] < rising[-1] + 0.004


@pytest.mark.parametrize("strip", [5, 13])
def test_chances_are_what_happens(large, strip):
    """Of the cells with a chance of p, a share of p are mines: within four standard errors for each fifth."""
    mine, below, _ = large
    certain = (below[strip] < 1e-9) | (below[strip] > 1 - 1e-9)
    assert (mine == (below[strip] > 0.5))[certain].all()
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        chosen = ~certain & (below[strip] >= low) & (below[strip] < low + 0.2)
        p = below[strip][chosen]
        assert abs(mine[chosen].sum() - p.sum()) < 4 * np.sqrt((p * (1 - p)).sum()) + 1e-9


def test_what_cannot_be_says_so():
    with pytest.raises(ValueError, match="the board has 25 cells; expected at most 20"):
        by_enumeration(np.full((5, 5), -1))
    impossible = np.full((3, 3), -1)
    impossible[0, 0], impossible[1, 1] = 3, 0
    capped = np.full((2, 2), -1)
    capped[0, 0] = MOST
    for shown in (impossible, capped):
        for posterior in (by_enumeration, by_strips):
            with pytest.raises(ValueError, match="no board shows these numbers"):
                posterior(shown)
    with pytest.raises(ValueError, match="the strip has 4 rows; expected an odd number"):
        by_strips(impossible, strip=4)
    many = np.full((90, 4), -1)
    many[:, 1:3] = MOST
    with pytest.raises(ValueError, match="too many numbers are open at once; expected fewer rows"):
        sweep(many, np.ones((90, 4)))
