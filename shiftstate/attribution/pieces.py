"""Texts cut into pieces of equal length, each as counts of words and weights of word pairs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from shiftstate.attribution.library import Encoded
from shiftstate.texts.word_networks import distance_weights, follow_pairs

WINDOW, DECAY = 10, 0.8
"""Of the word adjacency networks, as in Segarra, Eisen and Ribeiro (2015)."""
SHORTEST = 100
"""Words that a text must have."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """Pieces of texts: n of them, over a list of V words."""

    counts: NDArray[np.float32]
    """(n, V), how often each word occurs, divided by the words of the piece."""
    pairs: csr_matrix
    """(n, V²), the word adjacency network of each piece, row by row, divided by its sum."""
    text: NDArray[np.int64]
    """(n), which text the piece is from."""

    def __len__(self) -> int:
        return len(self.text)

    @property
    def num_words(self) -> int:
        """V."""
        return int(self.counts.shape[1])

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> "Pieces":
        """Some of the pieces."""
        return Pieces(self.counts[chosen], self.pairs[chosen], self.text[chosen])

    def over(self, words: NDArray[np.int64]) -> "Pieces":
        """The same pieces over some of the words, in the order given."""
        size = self.num_words
        if np.array_equal(words, np.arange(size)):
            return self
        rank = np.full(size, -1, dtype=np.int64)
        rank[words] = np.arange(len(words))
        first, second = rank[self.pairs.indices // size], rank[self.pairs.indices % size]
        known = (first >= 0) & (second >= 0)
        ends = np.concatenate([[0], np.cumsum(known)])[self.pairs.indptr]
        pairs = csr_matrix(
            (self.pairs.data[known], (first * len(words) + second)[known], ends), (len(self), len(words) ** 2)
        )
        pairs.sort_indices()
        return Pieces(self.counts[:, words], _shares(pairs), self.text)


def cut_texts(
    texts: Sequence[Encoded], words: Sequence[str], length: int, vocabulary: Sequence[str] | None = None
) -> Pieces:
    """Cut every text into pieces of ``length`` words; a remainder is dropped, a shorter text is one piece.

    Args:
        texts: encoded with ``vocabulary``, or with ``words`` itself if that is None.
        words: the list.
        length: words of a piece.
        vocabulary: of the texts.
    """
    place = {word: number for number, word in enumerate(words)}
    rank = np.arange(len(words)) if vocabulary is None else np.array([place.get(word, -1) for word in vocabulary])
    cut = [_cut(text, rank, len(words), length) for text in texts]
    return Pieces(
        np.concatenate([counts for counts, _ in cut]),
        vstack([pairs for _, pairs in cut], format="csr", dtype=np.float32),
        np.repeat(np.arange(len(cut)), [len(counts) for counts, _ in cut]),
    )


def _cut(text: Encoded, rank: NDArray[np.int64], n: int, length: int) -> tuple[NDArray[np.float32], csr_matrix]:
    length = min(length, len(text))
    number = len(text) // length
    used = number * length
    ids = np.where(text.ids[:used] >= 0, np.append(rank, -1)[text.ids[:used]], -1)
    piece = np.arange(used) // length
    known = ids >= 0
    counts = np.bincount(piece[known] * n + ids[known], minlength=number * n).reshape(number, n)
    sentence = text.sentence[:used] + piece * (int(text.sentence[-1]) + 1)  # nothing follows across a cut
    weights = distance_weights(WINDOW, DECAY, WINDOW)
    blocks = list(follow_pairs(ids, sentence, n, weights))
    places, pairs, values = (np.concatenate(parts) for parts in zip(*blocks, strict=True)) if blocks else [[]] * 3
    matrix = csr_matrix(
        (np.asarray(values, dtype=np.float32), (np.asarray(places, dtype=np.int64) // length, pairs)),
        shape=(number, n * n),
    )
    return (counts / length).astype(np.float32), _shares(matrix)


def _shares(matrix: csr_matrix) -> csr_matrix:
    """Rows divided by their sums; a row of zeros stays."""
    total = np.asarray(matrix.sum(1)).ravel()
    matrix.data /= np.repeat(np.where(total > 0, total, 1), np.diff(matrix.indptr)).astype(np.float32)
    return matrix
