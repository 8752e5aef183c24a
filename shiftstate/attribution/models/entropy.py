"""Relative entropy between word adjacency networks."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from shiftstate.attribution.models.base import Model
from shiftstate.attribution.pieces import Pieces

PRIOR = 30_000 / 100_000
"""How much of the pooled chain is mixed into an author's, in pieces of text: what is unseen is rare, not impossible."""


class WanEntropy(Model):
    """score_a = −Σ_ij π_i P_ij log(P_ij / P_a,ij) up to a term that no author changes.

    Markov chains of function words (Segarra, Eisen and Ribeiro, 2015): P of the piece's network, P_a of the network of
    all the author's pieces, π the share of time that the chain spends at a word. Two choices differ from the paper, for
    short pieces and long lists: π is the share of all weight that leaves a word instead of the limiting distribution of
    a chain of a thousand words, and the author's chain is mixed with the pooled chain of all authors instead of
    leaving out pairs that the author never used.
    """

    title = "relative entropy of word networks"
    network = True

    def fit(self, pieces: Pieces, author: NDArray[np.int64], num_authors: int) -> "WanEntropy":
        """Add up every author's network."""
        size = pieces.num_words
        rows = csr_matrix(
            (np.ones(len(author), dtype=np.float32), (author, np.arange(len(author)))), (num_authors, len(author))
        )
        weight = np.asarray((rows @ pieces.pairs).todense(), dtype=np.float64).reshape(num_authors, size, size)
        pooled = weight.sum(0)
        pooled /= max(pooled.sum(), 1e-12)
        prior = (pooled + 1e-6 / size) / (pooled + 1e-6 / size).sum(1, keepdims=True)
        chains = (weight + PRIOR * prior) / (weight.sum(2, keepdims=True) + PRIOR)
        self.learned = {"logarithms": np.log(chains).reshape(num_authors, -1).astype(np.float32)}
        return self

    def shapes(self, num_authors: int, num_words: int) -> dict[str, tuple[int, ...]]:
        """One chain per author."""
        return {"logarithms": (num_authors, num_words**2)}

    def scores(self, pieces: Pieces) -> NDArray[np.float64]:
        """Negative relative entropies, up to the piece's own entropy."""
        products: NDArray[np.float64] = np.asarray(pieces.pairs @ self.learned["logarithms"].T, dtype=np.float64)
        return products
