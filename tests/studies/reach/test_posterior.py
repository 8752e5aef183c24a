"""The ceiling of minesweeper: the posterior is exact, on small boards by enumeration and on others by one sweep."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from shiftstate.studies.minesweeper.drawing import MOST, around, draw_boards
from shiftstate.studies.minesweeper.posterior import by_enumeration, by_strips, posterior
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


@given(st.integers(1, 4), st.integers(1, 3), st.sampled_from([(), (1,), (3,), (5, 5)]), st.integers(0, 2**32))
def test_the_posterior_is_the_enumeration_whatever_is_decided_first(rows, columns, strips, seed):
    _, shown = board(rows, columns, np.random.default_rng(seed))
    np.testing.assert_allclose(posterior(shown, 0.2, strips), by_enumeration(shown), rtol=0, atol=1e-12)


@pytest.mark.parametrize("mines", [0.2, 0.6])
@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (2, 8)])
def test_boards_of_sixteen_cells(shape, mines):
    _, shown = board(*shape, np.random.default_rng(0), mines)
    np.testing.assert_allclose(posterior(shown, mines), by_enumeration(shown, mines), rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", [(12, 12), (12, 60), (60, 12)])
def test_parts_of_a_board_give_what_the_whole_gives(shape):
    """Higher than any strip, and with parts that hang together and parts that do not; either way round."""
    _, shown = board(*shape, np.random.default_rng(1))
    turned = shown if shape[0] == 12 else shown.T
    whole = sweep(turned, np.full(turned.shape, 0.2))
    np.testing.assert_allclose(posterior(shown), whole if shape[0] == 12 else whole.T, rtol=0, atol=1e-11)


@given(st.integers(0, 2**32))
@settings(max_examples=10)
def test_a_strip_knows_its_inner_numbers_only(seed):
    _, shown = board(6, 2, np.random.default_rng(seed))
    inner = shown.copy()
    inner[[0, 1, 2, 4, 5]] = -1  # the strip of row 3 has the rows 2, 3 and 4; only the numbers of 3 depend on it alone
    found = by_strips(shown, np.full(shown.shape, 0.2), 3)
    np.testing.assert_allclose(found[3], by_enumeration(inner)[3], rtol=0, atol=1e-12)


@pytest.fixture(scope="module")
def large():
    """Mines of a board of 60 × 60, what it shows, and the posterior."""
    drawn = draw_boards(1, 60, np.random.default_rng(0))
    mine, shown = drawn.mine.reshape(60, 60), drawn.shown.reshape(60, 60)
    return mine, shown, posterior(shown)


def test_taller_strips_know_more_and_nothing_knows_more_than_the_posterior(large):
    mine, shown, exact = large
    strips = [by_strips(shown, np.full(shown.shape, 0.2), strip) for strip in (3, 5, 9, 13)]
    areas = [roc_auc_score(mine.ravel(), chance.ravel()) for chance in (*strips, exact)]
    assert areas == sorted(areas)
    assert areas[0] < 0.9
    assert areas[-1] > 0.995


def test_chances_are_what_happens(large):
    """What is certain is true; of other cells of chance p, a share of p are mines, within four standard errors."""
    mine, _, exact = large
    certain = (exact == 0) | (exact == 1)
    assert 0.9 < certain.mean() < 1
    assert (mine == (exact == 1))[certain].all()
    for low in (0.0, 0.25, 0.5, 0.75):
        p, true = (one[~certain & (exact >= low) & (exact < low + 0.25)] for one in (exact, mine))
        assert abs(true.sum() - p.sum()) < 4 * np.sqrt((p * (1 - p)).sum())


def test_what_cannot_be_says_so():
    with pytest.raises(ValueError, match="the board has 25 cells; expected at most 20"):
        by_enumeration(np.full((5, 5), -1))
    impossible = np.full((3, 3), -1)
    impossible[0, 0], impossible[1, 1] = 3, 0
    capped = np.full((2, 2), -1)
    capped[0, 0] = MOST
    for shown in (impossible, capped):
        for by in (by_enumeration, posterior):
            with pytest.raises(ValueError, match="no board shows these numbers"):
                by(shown)
    with pytest.raises(ValueError, match="the strip has 4 rows; expected an odd number"):
        by_strips(impossible, np.full((3, 3), 0.2), 4)
    many = np.full((90, 4), -1)
    many[:, 1:3] = MOST
    with pytest.raises(ValueError, match="too many numbers are open at once; expected fewer rows"):
        sweep(many, np.ones((90, 4)))
