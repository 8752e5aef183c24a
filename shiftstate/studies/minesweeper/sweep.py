"""The exact chance of a mine in every cell of a narrow board, by dynamic programming from column to column.

Cells are settled one by one, down the columns. The cells behind matter to those ahead only by what each open number
(one whose neighbours are settled in part) still asks for. Such a state is a row of bits with a field of up to three per
open number. States that agree are one state, and states that cannot be fulfilled any more are dropped. Weights from
the left and from the right then give the posterior. The number of states grows with the rows, not with the columns, and
is small: a strip of 9 rows with half of its numbers has some 50 in the mean; its last two columns alone could be in
2¹⁸.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shiftstate.studies.minesweeper.drawing import MOST

WORDS, BITS = 2, 63
"""Integers of a state, and bits of each, shared by the numbers that are open at once."""
STATES = 5 * 10**7
"""Of all cells together, at most: 16 bytes each."""
WORD, SHIFT, MASK, CAPPED, WAITING = range(5)
"""What is known of a number beside a cell: where its field is, its bits, whether it is MOST, the neighbours to come."""


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # nowhere to write: neither beside the package nor in the home
        return njit(nogil=True)(function)


def sweep(shown: NDArray[np.int64], prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """One board: numbers (rows, columns), −1 where hidden; prior and result are chances of a mine in every cell.

    A prior of 0 or 1 is a cell that is known. Numbers that no board shows raise a ValueError.
    """
    posterior: NDArray[np.float64] = _sweep(np.ascontiguousarray(shown), np.ascontiguousarray(prior))
    return posterior


@_compiled
def _sweep(shown, prior):
    successors, weights = _forward(shown, prior)
    return _backward(successors, weights, prior)


@_compiled
def _forward(shown, prior):
    """Of every cell: what each state before it becomes without and with a mine there, and the weights of the states."""
    rows, columns = shown.shape
    waiting = _neighbours(rows, columns)
    asked, place, free = _asked(shown, waiting), np.full((rows, columns), -1), np.ones(WORDS * BITS, np.bool_)
    keys, weight = np.zeros((1, WORDS), np.int64), np.ones(1)  # (states, words), (states)
    successors, weights, total = [], [], 0
    for cell in range(rows * columns):
        column, row = divmod(cell, rows)
        opened, beside = _beside(row, column, shown, asked, waiting, place, free)
        keys += opened
        chance = prior[row, column]
        keys, to = _merge(_settle(keys, beside, 0, chance < 1), _settle(keys, beside, 1, chance > 0))
        keys, to = _close(keys, to, beside, free)
        total += len(keys)
        if total > STATES:
            raise ValueError("the board has too many states; expected fewer rows, or more numbers that are shown")
        successors.append(to)
        weights.append(weight)
        weight = _spread(weight, to, chance, len(keys))
    return successors, weights


@_compiled
def _neighbours(rows, columns):
    """How many neighbours every cell has."""
    count = np.zeros((rows, columns), np.int64)
    for row in range(rows):
        for column in range(columns):
            high = min(row + 2, rows) - max(row - 1, 0)
            wide = min(column + 2, columns) - max(column - 1, 0)
            count[row, column] = high * wide - 1
    return count


@_compiled
def _asked(shown, neighbours):
    """What a number asks for: so many mines; for MOST, at most so many neighbours without."""
    asked = shown.copy()
    for row in range(shown.shape[0]):
        for column in range(shown.shape[1]):
            if shown[row, column] == MOST:
                asked[row, column] = neighbours[row, column] - MOST
            if shown[row, column] > neighbours[row, column]:
                raise ValueError("no board shows these numbers; expected a board that was drawn")
    return asked


@_compiled
def _beside(row, column, shown, asked, waiting, place, free):
    """The numbers that a cell counts for, one per row, and what is added to a state for those that open here."""
    beside, count, opened = np.zeros((8, 5), np.int64), 0, np.zeros(WORDS, np.int64)
    for r in range(max(row - 1, 0), min(row + 2, shown.shape[0])):
        for c in range(max(column - 1, 0), min(column + 2, shown.shape[1])):
            if shown[r, c] < 0 or (r == row and c == column):
                continue
            mask = _mask(asked[r, c])
            if place[r, c] < 0:
                place[r, c] = _take(free, mask)
                opened[place[r, c] // BITS] += asked[r, c] << (place[r, c] % BITS)
            waiting[r, c] -= 1
            beside[count, WORD] = place[r, c] // BITS
            beside[count, SHIFT] = place[r, c] % BITS
            beside[count, MASK] = mask
            beside[count, CAPPED] = shown[r, c] == MOST
            beside[count, WAITING] = waiting[r, c]
            count += 1
    return opened, beside[:count]


@_compiled
def _mask(most):
    """The lowest bits that hold 0 … most."""
    mask = np.int64(0)
    while mask < most:
        mask = 2 * mask + 1
    return mask


@_compiled
def _take(free, mask):
    """The first of as many bits of one word as the mask has, which are then no longer free."""
    width = np.int64(0)
    while mask >> width:
        width += 1
    for place in range(WORDS * BITS):
        if place % BITS + width <= BITS and free[place : place + width].all():
            free[place : place + width] = False
            return place
    raise ValueError("too many numbers are open at once; expected fewer rows, or more cells that hide their number")


@_compiled
def _settle(keys, beside, mine, possible):
    """States after a cell with or without a mine; −1 for those that cannot be."""
    settled = np.full(keys.shape, -1)
    if not possible:
        return settled
    step = np.zeros(WORDS, np.int64)
    for one in range(len(beside)):
        if beside[one, CAPPED] != mine:
            step[beside[one, WORD]] += np.int64(1) << beside[one, SHIFT]
    for state in range(len(keys)):
        fits = True
        for one in range(len(beside)):
            asked = (keys[state, beside[one, WORD]] >> beside[one, SHIFT]) & beside[one, MASK]
            if beside[one, CAPPED] != mine:
                asked -= 1
            if asked < 0 or (not beside[one, CAPPED] and asked > beside[one, WAITING]):
                fits = False
                break
        if fits:
            for word in range(WORDS):
                settled[state, word] = keys[state, word] - step[word]
    return settled


@_compiled
def _merge(empty, mine):
    """The different states of both, in order, and which of them each becomes: (states, words), (states before, 2).

    Both are in order already, except those that cannot be: what is subtracted is the same for all.
    """
    before, states = len(empty), 0
    keys, to = np.empty((2 * before, WORDS), np.int64), np.full((before, 2), -1, np.int32)
    first = second = 0
    while True:
        while first < before and empty[first, 0] < 0:
            first += 1
        while second < before and mine[second, 0] < 0:
            second += 1
        if first == before and second == before:
            break
        if second == before or (first < before and not _after(empty, first, mine, second)):
            states = _append(keys, states, empty, first)
            to[first, 0] = states - 1
            first += 1
        else:
            states = _append(keys, states, mine, second)
            to[second, 1] = states - 1
            second += 1
    if states == 0:
        raise ValueError("no board shows these numbers; expected a board that was drawn")
    return keys[:states].copy(), to


@_compiled
def _append(keys, states, others, other):
    """Put a state after the last one, unless it is the same; how many there are then."""
    if states > 0 and not _after(others, other, keys, states - 1):
        return states
    for word in range(WORDS):
        keys[states, word] = others[other, word]
    return states + 1


@_compiled
def _after(keys, one, others, other):
    """Whether a state comes after another one, in the order of the first word in which they differ."""
    for word in range(WORDS):
        if keys[one, word] != others[other, word]:
            return keys[one, word] > others[other, word]
    return False


@_compiled
def _close(keys, to, beside, free):
    """Bits of numbers without neighbours to come are free again; what MOST still allowed is forgotten."""
    for one in range(len(beside)):
        if beside[one, WAITING] > 0:
            continue
        word, field = beside[one, WORD], beside[one, MASK] << beside[one, SHIFT]
        for bit in range(BITS):
            if (field >> bit) & 1:
                free[word * BITS + bit] = True
                if beside[one, CAPPED]:
                    keys, to = _forget(keys, to, word, np.int64(1) << bit)
    return keys, to


@_compiled
def _forget(keys, to, word, bit):
    """States that differ in this bit become one; those without it are in order, and so are those with it."""
    low, high = keys.copy(), keys.copy()
    for state in range(len(keys)):
        if keys[state, word] & bit:
            low[state, 0] = -1
            high[state, word] -= bit
        else:
            high[state, 0] = -1
    kept, renamed = _merge(low, high)
    for state in range(len(to)):
        for mine in range(2):
            if to[state, mine] >= 0:
                to[state, mine] = max(renamed[to[state, mine], 0], renamed[to[state, mine], 1])
    return kept, to


@_compiled
def _spread(weight, to, chance, states):
    """Weights of the states after a cell, of sum 1."""
    after, total = np.zeros(states), 0.0
    for state in range(len(weight)):
        for mine in range(2):
            if to[state, mine] >= 0:
                share = weight[state] * (chance if mine else 1 - chance)
                after[to[state, mine]] += share
                total += share
    for state in range(states):
        after[state] /= total
    return after


@_compiled
def _backward(successors, weights, prior):
    """The posterior of every cell from the weights on its left and those on its right."""
    posterior, ahead = np.empty(prior.shape), np.ones(successors[-1].max() + 1)
    for cell in range(len(successors) - 1, -1, -1):
        column, row = divmod(cell, prior.shape[0])
        to, weight, chance = successors[cell], weights[cell], prior[row, column]
        behind, total = np.zeros(len(weight)), np.zeros(2)
        for state in range(len(weight)):
            for mine in range(2):
                if to[state, mine] >= 0:
                    share = ahead[to[state, mine]] * (chance if mine else 1 - chance)
                    behind[state] += share
                    total[mine] += weight[state] * share
        posterior[row, column] = total[1] / (total[0] + total[1])
        ahead = behind / (total[0] + total[1])
    return posterior
