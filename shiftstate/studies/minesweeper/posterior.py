"""The ceiling: the chance of a mine in every cell, given the numbers that the board shows.

No score by cell can be expected to have a larger area under the ROC curve than the posterior given all that is known.
The posterior of a row given the numbers around it, a strip of the board, is computed exactly (`sweep`). It knows a part
of the numbers, so its area bounds the best possible one from below; told what lies beyond the strip, it knows more than
any score could, and bounds it from above. (Both in expectation.) Taller strips bring the two together. The prior of a
cell is the share of mines; that the board has exactly so many is not used.
"""

import numpy as np
from numpy.typing import NDArray

from shiftstate.studies.minesweeper.drawing import MOST, around
from shiftstate.studies.minesweeper.sweep import sweep

Array = NDArray[np.float64]
STRIP = 15
"""Rows of a strip."""
DIGITS = 12
"""Of a chance; the rounding errors of a sweep are smaller."""
LARGEST = 20
"""Cells that are enumerated at most: 2²⁰ boards."""


def by_strips(
    shown: NDArray[np.int64], mines: float = 0.2, strip: int = STRIP, told: NDArray[np.bool_] | None = None
) -> Array:
    """Chances of a mine (rows, columns), each row by the numbers of the strip around it; shown is −1 where hidden.

    Of a strip's outermost rows the cells count and the numbers do not, for they depend on cells beyond. If ``told``
    where the mines are, all cells beyond the strip are known, and all numbers that depend on its cells count. Chances
    are rounded, so that those that are equal are equal in a ranking too.
    """
    if strip < 1 or strip % 2 == 0:
        raise ValueError(f"the strip has {strip} rows; expected an odd number: as many above a row as below")
    chance, known = np.empty(shown.shape), 0 if told is None else 2
    for row in range(len(shown)):
        top, bottom = row - strip // 2, row + strip // 2 + 1
        first, last = max(top - known, 0), min(bottom + known, len(shown))
        numbers, prior = shown[first:last].copy(), np.full((last - first, shown.shape[1]), mines)
        numbers[: first > 0] = -1
        numbers[len(numbers) - (last < len(shown)) :] = -1
        if told is not None:
            beyond = (np.arange(first, last) < top) | (np.arange(first, last) >= bottom)
            prior[beyond] = told[first:last][beyond]
        chance[row] = sweep(numbers, prior)[row - first]
    return chance.round(DIGITS)


def by_enumeration(shown: NDArray[np.int64], mines: float = 0.2) -> Array:
    """The same of one small board (rows, columns): all boards that show these numbers, weighed by the prior."""
    cells = shown.size
    if cells > LARGEST:
        raise ValueError(f"the board has {cells} cells; expected at most {LARGEST} to enumerate")
    boards = ((np.arange(2**cells)[:, None] >> np.arange(cells)) & 1 == 1).reshape(-1, *shown.shape)
    fits = np.where(shown >= 0, np.minimum(around(boards), MOST) == shown, True).all((1, 2))
    weight = fits * np.power(mines / (1 - mines), boards.sum((1, 2)))
    if not weight.sum() > 0:
        raise ValueError("no board shows these numbers; expected a board that was drawn")
    chance: Array = np.tensordot(weight, boards, 1) / weight.sum()
    return chance
