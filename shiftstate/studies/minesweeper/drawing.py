"""Boards of our own, by the published recipe (Platonov et al., 2023), as it is found in the published board.

A share of the cells, drawn without replacement, are mines. Every cell counts the mines among its eight neighbours,
not itself; mines count too. A share of the cells, drawn without replacement whatever they are, hide their number. There
are seven features: hidden, or a number of 0, 1, 2, 3, 4, or 5 and more. The label of a cell is whether it is a mine.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shiftstate.graphs import Shift

MOST = 5
"""The last feature stands for this number and all above."""
HIDDEN = 0
"""The feature of a cell that hides its number."""
STEPS = [(down, right) for down in (0, 1, 2) for right in (0, 1, 2) if (down, right) != (1, 1)]
"""From a cell's place to its eight neighbours', on a board with a margin of one."""


@dataclass(frozen=True)
class Boards:
    """Boards of one size: (boards, cells), row by row."""

    mine: NDArray[np.bool_]
    shown: NDArray[np.int64]
    """The number that a cell shows, MOST for more; −1 if it hides it."""

    def features(self) -> Tensor:
        """One-hot: (boards, cells, 7)."""
        return torch.eye(MOST + 2)[torch.from_numpy(self.shown + 1)]


def draw_boards(
    count: int, side: int, generator: np.random.Generator, mines: float = 0.2, hidden: float = 0.5
) -> Boards:
    """So many boards of side × side cells."""
    cells = side * side
    mine = np.stack([generator.permutation(cells) < round(mines * cells) for _ in range(count)])
    hides = np.stack([generator.permutation(cells) < round(hidden * cells) for _ in range(count)])
    return Boards(mine, np.where(hides, -1, np.minimum(around(mine.reshape(-1, side, side)).reshape(mine.shape), MOST)))


def around(mine: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Mines among the neighbours of every cell: (boards, rows, columns) → (boards, rows, columns)."""
    _, rows, columns = mine.shape
    padded = np.pad(mine.astype(np.int64), ((0, 0), (1, 1), (1, 1)))
    return np.asarray(sum(padded[:, down : down + rows, right : right + columns] for down, right in STEPS))


def neighbours(rows: int, columns: int) -> NDArray[np.int64]:
    """Of every cell, eight numbers of cells; ``rows * columns`` where the board ends: (cells, 8)."""
    cells = rows * columns
    numbers = np.pad(np.arange(cells).reshape(rows, columns), 1, constant_values=cells)
    return np.stack([numbers[d : d + rows, r : r + columns].ravel() for d, r in STEPS], 1)


def board_shift(side: int, normalization: Any = "row") -> Shift:
    """Every cell joined to its neighbours."""
    beside = neighbours(side, side)
    target, slot = np.nonzero(beside < side * side)
    edges = torch.from_numpy(np.stack([beside[target, slot], target]))
    return Shift.from_edges(edges, num_nodes=side * side).normalized(normalization)
