"""Cosine Delta."""

import numpy as np
from numpy.typing import NDArray

from shiftstate.attribution.models.base import Model, scaling_shapes, standardize, z_scores
from shiftstate.attribution.pieces import Pieces


class Delta(Model):
    """score_a = cos(z, z_a): z-scores of the word frequencies, z_a their mean over the author's pieces.

    Cosine Delta of Smith and Aldridge (2011), the yardstick of stylometry.
    """

    title = "Cosine Delta"
    shrinks = True

    def fit(self, pieces: Pieces, author: NDArray[np.int64], num_authors: int) -> "Delta":
        """Take the means of all authors."""
        self.learned = standardize(pieces)
        z = z_scores(pieces, self.learned)
        self.learned["centres"] = np.stack([z[author == one].mean(0) for one in range(num_authors)])
        return self

    def shapes(self, num_authors: int, num_words: int) -> dict[str, tuple[int, ...]]:
        """One centre per author."""
        return {**scaling_shapes(num_words), "centres": (num_authors, num_words)}

    def scores(self, pieces: Pieces) -> NDArray[np.float64]:
        """Cosines, −1 … 1."""
        return cosines(z_scores(pieces, self.learned), self.learned["centres"])


def cosines(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float64]:
    """(n, m): of every row with every row; 0 for rows of zeros."""
    lengths = np.linalg.norm(left, axis=1)[:, None] * np.linalg.norm(right, axis=1)[None]
    products: NDArray[np.float64] = (left @ right.T).astype(np.float64) / np.maximum(lengths, 1e-12)
    return products
