"""How good one can be at minesweeper: the table of docs/minesweeper.md.

    python benchmarks/ceiling.py                        # fresh boards, and small ones that can be enumerated
    python benchmarks/ceiling.py minesweeper.npz        # the published board with its ten splits

The area under the ROC curve of the exact chance of a mine, given the numbers of a strip of rows around a cell, for more
and more rows, and given all numbers of the board. Times are of one core.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from shiftstate.machine.arrays import load_arrays
from shiftstate.studies.minesweeper.drawing import draw_boards
from shiftstate.studies.minesweeper.posterior import DIGITS, by_enumeration, by_strips, posterior

Chances = NDArray[np.float64]
Numbers = NDArray[np.int64]


def by_rows(strip: int) -> Callable[[Numbers], Chances]:
    """Given the numbers of a strip, rounded as the posterior is."""
    return lambda shown: by_strips(shown, np.full(shown.shape, 0.2), strip).round(DIGITS)


WAYS = {**{f"{strip} rows": by_rows(strip) for strip in (3, 5, 7, 9, 11, 13)}, "whole board": posterior}


def area(mine: NDArray[np.bool_], chance: Chances) -> float:
    """ROC AUC in per cent."""
    return 100 * float(roc_auc_score(mine.ravel(), chance.ravel()))


def fresh(count: int = 10, side: int = 100) -> None:
    """Mean ± standard deviation over fresh boards."""
    boards = draw_boards(count, side, np.random.default_rng(0))
    mine, shown = (array.reshape(count, side, side) for array in (boards.mine, boards.shown))
    print(f"{count} boards of {side} × {side}\nnumbers | ROC AUC | cells without doubt | CPU s per board")
    for name, way in WAYS.items():
        began = time.process_time()
        chances = np.stack([way(one) for one in shown])
        seconds = (time.process_time() - began) / count
        areas = [area(*pair) for pair in zip(mine, chances, strict=True)]
        decided = 100 * np.mean((chances == 0) | (chances == 1))
        print(f"{name} | {spread(areas)} | {decided:.1f} % | {seconds:.2f}", flush=True)


def small(count: int = 40, side: int = 4) -> None:
    """Boards so small that all can be enumerated."""
    boards = draw_boards(count, side, np.random.default_rng(0))
    shown = boards.shown.reshape(count, side, side)
    exact, found = (np.stack([by(one) for one in shown]) for by in (by_enumeration, posterior))
    print(f"{count} boards of {side} × {side}: {area(boards.mine, exact.round(DIGITS)):.3f} by enumeration, ", end="")
    print(f"{area(boards.mine, found):.3f} by the posterior, at most {np.abs(exact - found).max():.1e} apart")


def published(path: Path) -> None:
    """Over all cells of the board, and over the test cells of its splits."""
    arrays = {name: array.numpy() for name, array in load_arrays(path).items()}
    side = round(len(arrays["node_labels"]) ** 0.5)
    shown = (arrays["node_features"].argmax(1) - 1).reshape(side, side)
    mine = arrays["node_labels"] == 1
    print("numbers | ROC AUC of all cells | of the test cells of the splits | cells without doubt")
    for name, way in WAYS.items():
        chance = way(shown).ravel()
        tests = [area(mine[mask], chance[mask]) for mask in arrays["test_masks"].astype(bool)]
        decided = 100 * np.mean((chance == 0) | (chance == 1))
        print(f"{name} | {area(mine, chance):.3f} | {spread(tests)} | {decided:.1f} %", flush=True)


def spread(areas: list[float]) -> str:
    """Mean ± standard deviation."""
    return f"{np.mean(areas):.3f} ± {np.std(areas, ddof=1):.3f}"


if __name__ == "__main__":
    posterior(np.full((3, 3), -1))  # compiles
    if len(sys.argv) > 1:
        published(Path(sys.argv[1]))
    else:
        fresh()
        small()
