"""What a model of authors is."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shiftstate.attribution.pieces import Pieces

Array = NDArray[np.float32]
EXACT = 2**24
"""Whole numbers up to this one are exact in float32."""
DIVISORS = ("deviation", "scale")
"""Arrays that others are divided by."""


class Model(ABC):
    """Learns from pieces and the numbers of their authors; gives (n, authors) scores, the larger the likelier.

    What was learned is a table of arrays, so that a model is stored without pickle.
    """

    title: ClassVar[str]
    """For tables and pages."""
    network: ClassVar[bool] = False
    """Whether it sees which words follow which."""
    shrinks: ClassVar[bool] = False
    """Whether its scores become smaller by themselves where few words make them noisy, as cosines do."""

    def __init__(self) -> None:
        self.learned: dict[str, NDArray[Any]] = {}

    @abstractmethod
    def fit(self, pieces: Pieces, author: NDArray[np.int64], num_authors: int) -> "Model":
        """Learn; every author has a piece."""

    @abstractmethod
    def scores(self, pieces: Pieces) -> NDArray[np.float64]:
        """(n, authors)."""

    @abstractmethod
    def shapes(self, num_authors: int, num_words: int) -> dict[str, tuple[int, ...]]:
        """The shapes of ``learned``; sizes that were found while learning are taken from it."""

    def positions(self, num_words: int) -> dict[str, int]:
        """The arrays of ``learned`` that hold ascending whole numbers, and what these are below."""
        return {}

    def restore(self, learned: Mapping[str, NDArray[Any]], num_authors: int, num_words: int) -> "Model":
        """The model that learned these arrays; arrays that no model has learned raise."""
        positions = self.positions(num_words)
        self.learned = dict(learned) | {name: read_positions(name, learned, below) for name, below in positions.items()}
        check_arrays(self.learned, self.shapes(num_authors, num_words), positions)
        return self


def check_arrays(
    arrays: Mapping[str, NDArray[Any]], shapes: Mapping[str, tuple[int, ...]], whole: Collection[str] = ()
) -> None:
    """Raise unless these are the names, and every array has its shape, its dtype, and finite values.

    The dtype is float32, and int64 for those in ``whole``.
    """
    if arrays.keys() != shapes.keys():
        raise ValueError(f"it holds {', '.join(sorted(arrays))}; expected {', '.join(sorted(shapes))}")
    for name, shape in shapes.items():
        array, dtype = arrays[name], "int64" if name in whole else "float32"
        if array.dtype != dtype or array.shape != shape:
            raise ValueError(f"{name} is {array.dtype} of shape {array.shape}; expected {dtype} of shape {shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds NaN or infinity; expected finite numbers")
        if name in DIVISORS and not (array > 0).all():
            raise ValueError(f"{name} holds a number that is not above zero; expected divisors")


def read_positions(name: str, learned: Mapping[str, NDArray[Any]], below: int) -> NDArray[np.int64]:
    """Ascending whole numbers from 0 to ``below`` − 1; older files have them as float32, exact below `EXACT`."""
    array = learned.get(name, np.zeros(0))
    exact = array.dtype == np.int64 or (array.dtype == np.float32 and below <= EXACT)
    if not exact or array.ndim != 1 or not array.size or not ((array >= 0) & (array < below)).all():
        raise ValueError(f"{name} is {array.dtype} of shape {array.shape}; expected positions from 0 to {below - 1}")
    positions = array.astype(np.int64)
    if (positions != array).any() or (np.diff(positions) <= 0).any():
        raise ValueError(f"{name} holds positions that are not whole or do not ascend; expected a list in order")
    return positions


def standardize(pieces: Pieces) -> dict[str, NDArray[Any]]:
    """Mean and deviation of every word's frequency, which make its z-score."""
    deviation = pieces.counts.std(0)
    return {"mean": pieces.counts.mean(0), "deviation": np.where(deviation > 0, deviation, 1).astype(np.float32)}


def z_scores(pieces: Pieces, learned: Mapping[str, NDArray[Any]]) -> Array:
    """(n, V)."""
    scores: Array = (pieces.counts - learned["mean"]) / learned["deviation"]
    return scores


def scaling_shapes(num_words: int) -> dict[str, tuple[int, ...]]:
    """Of what `standardize` gives."""
    return {"mean": (num_words,), "deviation": (num_words,)}
