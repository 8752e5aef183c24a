"""The ceiling: the chance of a mine in every cell, given all numbers that the board shows.

No score by cell can be expected to have a larger area under the ROC curve than this posterior. It is exact. Most cells
are decided by the numbers near them: what a strip of some rows leaves no doubt about is known. Cells in doubt depend on
each other only if a number counts both; what so hangs together is small and computed as a whole (`sweep`). The prior of
a cell is the share of mines; that the board has exactly so many is not used.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from shiftstate.studies.minesweeper.drawing import MOST, around, neighbours
from shiftstate.studies.minesweeper.sweep import sweep

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
STRIPS = (5, 7, 9, 9)
"""Rows of the strips that decide cells, one after the other; they change the time that it takes and nothing else."""
LARGEST = 20
"""Cells that are enumerated at most: 2²⁰ boards."""
DIGITS = 12
"""Of a chance, so that those that are equal are equal in a ranking too; the rounding errors of a sweep are smaller."""


def posterior(shown: Numbers, mines: float = 0.2, strips: Sequence[int] = STRIPS) -> Array:
    """Chances of a mine in every cell of one board: (rows, columns), shown is −1 where hidden."""
    chance = np.full(shown.shape, mines)
    for strip in strips:
        found = by_strips(shown, chance, strip)
        chance = np.where((found == 0) | (found == 1), found, chance)
    known = chance.copy()
    for numbers, cells in _together(shown, (known > 0) & (known < 1)):
        top, left = np.maximum(np.argwhere(numbers).min(0) - 1, 0)
        bottom, right = np.argwhere(numbers).max(0) + 2
        box = slice(top, bottom), slice(left, right)
        part = _narrow(np.where(numbers, shown, -1)[box], known[box])
        chance[box] = np.where(cells[box], part, chance[box])
    return chance.round(DIGITS)


def by_strips(shown: Numbers, prior: Array, strip: int) -> Array:
    """Each row by the numbers of the strip of rows around it alone.

    Of a strip's outermost rows the cells count and the numbers do not, for they depend on cells beyond.
    """
    if strip < 1 or strip % 2 == 0:
        raise ValueError(f"the strip has {strip} rows; expected an odd number: as many above a row as below")
    chance = np.empty(shown.shape)
    for row in range(len(shown)):
        top, bottom = max(row - strip // 2, 0), min(row + strip // 2 + 1, len(shown))
        numbers = shown[top:bottom].copy()
        numbers[: top > 0] = -1
        numbers[len(numbers) - (bottom < len(shown)) :] = -1
        chance[row] = sweep(numbers, prior[top:bottom])[row - top]
    return chance


def _together(shown: Numbers, doubtful: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Numbers and doubtful cells that hang together, each as a mask of the board."""
    beside, size = neighbours(*shown.shape), shown.size
    number, slot = np.nonzero((beside < size) & (shown.reshape(-1, 1) >= 0))
    cell = beside[number, slot]
    counts = doubtful.ravel()[cell]
    pairs = number[counts], size + cell[counts]
    _, part = connected_components(coo_array((np.ones(len(pairs[0])), pairs), (2 * size, 2 * size)), directed=False)
    for one in np.unique(part[pairs[0]]):
        yield (part[:size] == one).reshape(shown.shape), (part[size:] == one).reshape(shown.shape)


def _narrow(shown: Numbers, prior: Array) -> Array:
    """By columns or by rows, whichever are shorter."""
    return sweep(shown, prior) if shown.shape[0] <= shown.shape[1] else sweep(shown.T, prior.T).T


def by_enumeration(shown: Numbers, mines: float = 0.2) -> Array:
    """The same of one small board: all boards that show these numbers, weighed by the prior."""
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
