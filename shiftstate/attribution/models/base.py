"""What a model of authors is."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shiftstate.attribution.pieces import Pieces

Array = NDArray[np.float32]


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
        self.learned: dict[str, Array] = {}

    @abstractmethod
    def fit(self, pieces: Pieces, author: NDArray[np.int64], num_authors: int) -> "Model":
        """Learn; every author has a piece."""

    @abstractmethod
    def scores(self, pieces: Pieces) -> NDArray[np.float64]:
        """(n, authors)."""

    def restore(self, learned: Mapping[str, Array]) -> "Model":
        """The model that learned these arrays."""
        self.learned = dict(learned)
        return self


def standardize(pieces: Pieces) -> dict[str, Array]:
    """Mean and deviation of every word's frequency, which make its z-score."""
    deviation = pieces.counts.std(0)
    return {"mean": pieces.counts.mean(0), "deviation": np.where(deviation > 0, deviation, 1).astype(np.float32)}


def z_scores(pieces: Pieces, learned: Mapping[str, Array]) -> Array:
    """(n, V)."""
    scores: Array = (pieces.counts - learned["mean"]) / learned["deviation"]
    return scores
