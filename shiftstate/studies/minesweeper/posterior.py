"""The ceiling: the chance of a mine in every cell, given all numbers that the board shows.

No score by cell can have a higher expected area under the ROC curve than this posterior itself. By belief propagation:
every shown number is a constraint on its up to eight neighbours, cells and constraints send each other messages until
they settle. The prior of a cell is the share of mines; the exact number of mines on the board is not used. On a graph
with cycles the result is an approximation, so its score bounds the best possible one from below; `by_enumeration` is
exact, for boards of up to some twenty cells.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shiftstate.studies.minesweeper.drawing import MOST, around, neighbours

Array = NDArray[np.float64]
TINY = 1e-6
"""Keeps a message finite where a number is impossible."""
SETTLED = 1e-4
LARGEST = 20
"""Cells that are enumerated at most: 2²⁰ boards."""


class Posterior(NamedTuple):
    """Chances of a mine (cells), and the largest change of a message in the last round."""

    chance: Array
    change: float


def by_propagation(
    shown: NDArray[np.int64], side: int, mines: float = 0.2, rounds: int = 200, damping: float = 0.7
) -> Posterior:
    """One board: shown (cells), −1 where hidden. Messages that do not settle are taken in the mean of the last half."""
    cells = side * side
    beside = neighbours(side)[shown >= 0]  # (constraints, 8)
    numbers, inside = shown[shown >= 0], beside < cells
    to_cell = np.zeros(beside.shape)  # log odds that a constraint tells a cell
    mean, change = np.zeros(cells), np.inf
    for number in range(rounds):
        total = np.full(cells + 1, np.log(mines / (1 - mines)))
        np.add.at(total, beside, to_cell)
        if number >= rounds // 2:
            mean += _sigmoid(total[:cells]) / (rounds - rounds // 2)
        chance = np.where(inside, _sigmoid(total[beside] - to_cell), 0.0)  # beyond the board there are no mines
        told = np.where(inside, _told(chance, numbers), 0.0)
        change = float(np.abs(told - to_cell).max(initial=0.0))
        to_cell = damping * to_cell + (1 - damping) * told
        if change < SETTLED:
            return Posterior(_sigmoid(total[:cells]), change)
    return Posterior(mean, change)


def _told(chance: Array, numbers: NDArray[np.int64]) -> Array:
    """Log odds of each of eight cells by a number, if the other seven have these chances: (constraints, 8)."""
    told = np.empty_like(chance)
    rows = np.arange(len(numbers))
    for cell in range(chance.shape[1]):
        counts = _counts(np.delete(chance, cell, 1))  # (constraints, 9): of 0 … 7 mines, and a 0 for 8
        if_mine, if_not = counts[rows, np.maximum(numbers - 1, 0)], counts[rows, numbers]
        if_mine = np.where(numbers == 0, 0.0, if_mine)
        many = numbers == MOST
        if_mine = np.where(many, counts[:, MOST - 1 :].sum(1), if_mine)
        if_not = np.where(many, counts[:, MOST:].sum(1), if_not)
        told[:, cell] = np.log(if_mine + TINY) - np.log(if_not + TINY)
    return told


def _counts(chance: Array) -> Array:
    """The distribution of the number of mines among independent cells: (n, cells) → (n, cells + 2)."""
    counts = np.zeros((len(chance), chance.shape[1] + 2))
    counts[:, 0] = 1.0
    for p in chance.T[..., None]:
        counts[:, 1:] = counts[:, 1:] * (1 - p) + counts[:, :-1] * p
        counts[:, :1] *= 1 - p
    return counts


def by_enumeration(shown: NDArray[np.int64], side: int, mines: float = 0.2) -> Array:
    """The exact posterior of one small board (cells): all boards that show these numbers, weighed by the prior."""
    cells = side * side
    if cells > LARGEST:
        raise ValueError(f"the board has {cells} cells; expected at most {LARGEST} to enumerate")
    boards = (np.arange(2**cells)[:, None] >> np.arange(cells)) & 1 == 1
    fits = np.where(shown >= 0, np.minimum(around(boards, side), MOST) == shown, True).all(1)
    weight = fits * np.power(mines / (1 - mines), boards.sum(1))
    if not weight.sum() > 0:
        raise ValueError("no board shows these numbers; expected a board that was drawn")
    chance: Array = weight @ boards / weight.sum()
    return chance


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-np.clip(x, -50, 50)))
