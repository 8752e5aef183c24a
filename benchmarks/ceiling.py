"""How good one can be at minesweeper: the tables of docs/minesweeper.md.

    python benchmarks/ceiling.py                        # fresh boards, and small ones that can be enumerated
    python benchmarks/ceiling.py minesweeper.npz        # the published board with its ten splits

By strips of more and more rows, the area under the ROC curve of the exact posterior given the strip's numbers (at
least that is possible), and told what lies beyond the strip (more than that is not).
"""

import sys
import time

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from shiftstate.machine.arrays import load_arrays
from shiftstate.studies.minesweeper.drawing import draw_boards
from shiftstate.studies.minesweeper.posterior import by_enumeration, by_strips

STRIPS = (3, 5, 7, 9, 11, 13, 15)


def area(mine: NDArray[np.bool_], chance: NDArray[np.float64]) -> float:
    """ROC AUC in per cent."""
    return 100 * float(roc_auc_score(mine.ravel(), chance.ravel()))


def fresh(count: int = 10, side: int = 100) -> None:
    """Mean ± standard deviation over fresh boards."""
    boards = draw_boards(count, side, np.random.default_rng(0))
    mine, shown = (array.reshape(count, side, side) for array in (boards.mine, boards.shown))
    print(f"{count} boards of {side} × {side}\nstrip | at least | at most | decided cells | CPU s per board")
    for strip in STRIPS:
        began = time.process_time()
        chances = np.stack([by_strips(one, strip=strip) for one in shown])
        seconds = (time.process_time() - began) / count
        least = [area(*pair) for pair in zip(mine, chances, strict=True)]
        decided = 100 * np.mean((chances < 1e-9) | (chances > 1 - 1e-9))
        told = [by_strips(one, strip=strip, told=truth) for one, truth in zip(shown, mine, strict=True)]
        most = [area(*pair) for pair in zip(mine, told, strict=True)]
        print(f"{strip} | {spread(least)} | {spread(most)} | {decided:.1f} % | {seconds:.2f}", flush=True)


def small(count: int = 40, side: int = 4) -> None:
    """Boards so small that all can be enumerated."""
    boards = draw_boards(count, side, np.random.default_rng(0))
    shown = boards.shown.reshape(count, side, side)
    exact, found = (np.stack([by(one) for one in shown]) for by in (by_enumeration, by_strips))
    print(f"{count} boards of {side} × {side}: {area(boards.mine, exact):.3f} by enumeration, ", end="")
    print(f"{area(boards.mine, found):.3f} by strips, at most {np.abs(exact - found).max():.1e} apart")


def published(path: str) -> None:
    """Over all cells of the board, and over the test cells of its splits."""
    arrays = {name: array.numpy() for name, array in load_arrays(path).items()}
    shown = arrays["node_features"].argmax(1) - 1
    side = round(len(shown) ** 0.5)
    mine = arrays["node_labels"] == 1
    print("strip | at least, all cells | at least, test cells | at most, test cells")
    for strip in STRIPS:
        chance = by_strips(shown.reshape(side, side), strip=strip).ravel()
        told = by_strips(shown.reshape(side, side), strip=strip, told=mine.reshape(side, side)).ravel()
        tests = [by_split(arrays, mine, one) for one in (chance, told)]
        print(f"{strip} | {area(mine, chance):.3f} | {tests[0]} | {tests[1]}", flush=True)


def by_split(arrays: dict[str, NDArray], mine: NDArray[np.bool_], chance: NDArray[np.float64]) -> str:
    """Of the test cells of each split."""
    return spread([area(mine[mask], chance[mask]) for mask in arrays["test_masks"].astype(bool)])


def spread(areas: list[float]) -> str:
    """Mean ± standard deviation."""
    return f"{np.mean(areas):.3f} ± {np.std(areas, ddof=1):.3f}"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        published(sys.argv[1])
    else:
        fresh()
        small()
