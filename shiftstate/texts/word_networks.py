"""Word adjacency networks: how an author's function words follow one another."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import chain
from math import floor, isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from shiftstate.checks import check_whole

BLOCK = 4_000_000
"""Pairs that are counted at once: bounds the memory."""
MAX_PAIRS = 2_000_000_000
"""Pairs of places that are looked at, at most: about a minute."""
EXACT = 10
"""100 · decay^p can be a whole number for p = 0, 1, 2 only (or for decay = 1): these and some more are exact."""


@dataclass(frozen=True, eq=False)
class AuthorGraph:
    """The shift of an author: symmetric, connected, of largest eigenvalue one."""

    adjacency: NDArray[np.float64]
    """(N, N)."""
    kept: NDArray[np.int64]
    """(N), the positions of its words in the list, ascending."""


def wan(
    sentences: Sequence[Sequence[str]], words: Sequence[str], window: int = 10, decay: float = 0.8
) -> NDArray[np.int64]:
    """W[i, j] = Σ ⌊100 · decay^(d − 1)⌋ over all places where word j follows word i by d = 1 … window words.

    Both stand in one sentence; the distance counts every word, in the list or not. W is directed and not
    normalised, (n, n) over all ``words`` in their order.

    Example:
        >>> from shiftstate.texts import tokenize, wan
        >>> wan(tokenize("The end of the day. The night."), ["the", "of"])
        array([[ 64,  80],
               [100,   0]])
    """
    n = len(words)
    check_network_size(n)
    longest = max(map(len, sentences), default=0)
    weights = distance_weights(window, decay, longest - 1)
    ids = _encode(sentences, words)
    sentence = np.repeat(np.arange(len(sentences)), [len(one) for one in sentences])
    counts = np.zeros(n * n)  # float64 sums of whole numbers are exact far beyond any text
    for _, pairs, values in follow_pairs(ids, sentence, n, weights):
        counts += np.bincount(pairs, values, minlength=n * n)
    return counts.astype(np.int64).reshape(n, n)


def follow_pairs(
    ids: NDArray[np.int64], sentence: NDArray[np.int64], n: int, weights: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """All places where listed words follow each other, in blocks: the first one's place, i · n + j, and the weight.

    Args:
        ids: the word at every place of the text, −1 where it is not in the list.
        sentence: the sentence of every place.
        n: words in the list.
        weights: by distance, from 1.
    """
    place = np.flatnonzero(ids >= 0)
    ids, sentence = ids[place], sentence[place]
    steps = min(len(weights), len(place) - 1)
    if steps * len(place) > MAX_PAIRS:
        raise ValueError(
            f"window reaches {len(weights):,} words within one sentence of a text of {len(place):,} listed words; "
            f"expected at most {MAX_PAIRS // len(place):,}; does the text have no sentence ends?"
        )
    found: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []
    waiting = 0
    # neighbours among the listed words: the m-th next one is at least m words away
    for step in range(1, steps + 1):
        distance = place[step:] - place[:-step]
        near = np.flatnonzero((distance <= len(weights)) & (sentence[step:] == sentence[:-step]))
        found.append((place[near], ids[near] * n + ids[near + step], weights[distance[near] - 1]))
        waiting += len(near)
        if waiting > BLOCK:
            yield _joined(found)
            found, waiting = [], 0
    if found:
        yield _joined(found)


def _joined(
    blocks: Sequence[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    places, pairs, weights = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return places, pairs, weights


def word_counts(sentences: Sequence[Sequence[str]], words: Sequence[str]) -> NDArray[np.int64]:
    """How often each of ``words`` occurs: (n)."""
    ids = _encode(sentences, words)
    return np.bincount(ids[ids >= 0], minlength=len(words))


def author_graph(matrix: ArrayLike) -> AuthorGraph:
    """S = A / λ_max(A), A = ½(P + Pᵀ) on its largest connected component, P the rows of W over their sums.

    Zero rows of W stay zero in P, and words whose column in it is zero are dropped before P is made symmetric.
    Self-loops stay. Of components of equal size the one of the earliest word is kept.

    Args:
        matrix: W, (n, n): the sum of the WANs of the author's training excerpts.
    """
    W = _checked(matrix)
    sums = W.sum(1, keepdims=True)
    P = np.divide(W, sums, out=np.zeros_like(W), where=sums > 0)
    kept = np.flatnonzero(P.any(0))
    P = P[np.ix_(kept, kept)]
    A = (P + P.T) / 2
    if not A.any():
        raise ValueError("the network has no edges between kept words; expected some; is the text long enough?")
    component = connected_components(A, directed=False)[1]
    largest = np.flatnonzero(component == np.bincount(component).argmax())
    A = A[np.ix_(largest, largest)]
    return AuthorGraph(A / np.linalg.eigvalsh(A)[-1], kept[largest])


def distance_weights(window: int, decay: float, farthest: int) -> NDArray[np.int64]:
    """⌊100 · decay^(d − 1)⌋ for d = 1 … window, without zeros at the end, and no farther than a text reaches."""
    check_whole("window", window, 1)
    if not 0 < decay <= 1:
        raise ValueError(f"decay is {decay!r}; expected a number above 0 and at most 1")
    exact = Fraction(str(float(decay)))  # in binary, 100 · 0.7² would fall below 49
    weights = [floor(100 * exact**power) for power in range(min(window, farthest, EXACT))]
    with localcontext(prec=60):
        # beyond EXACT no such number is whole, so sixty digits decide the floor; fractions would grow without end
        factor = Decimal(str(float(decay)))
        value = 100 * factor ** len(weights)
        while len(weights) < min(window, farthest) and value >= 1:
            weights.append(int(value))
            value *= factor
    return np.array([weight for weight in weights if weight], dtype=np.int64)


def check_network_size(n: int, networks: int = 1) -> None:
    """Raise if ``networks`` word adjacency networks of n words would not fit into half of the machine's memory."""
    arrays = networks + 2  # what counting needs beside them
    room = memory_bytes() // 2
    if 8 * arrays * n * n > room:
        raise ValueError(
            f"a network of {n:,} words needs {8 * arrays * n * n / 1e9:,.0f} GB of memory; "
            f"expected at most {isqrt(room // (8 * arrays)):,} words, which fit here; "
            "only the frequent words of a text tell something, as in auto:300"
        )


def memory_bytes() -> int:
    """Bytes of the machine's memory; 8 GB if the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 8 * 10**9


def _encode(sentences: Sequence[Sequence[str]], words: Sequence[str]) -> NDArray[np.int64]:
    """The position in ``words`` of every word of the text in turn, −1 where it is not in the list."""
    known = {word: i for i, word in enumerate(words)}
    if len(known) < len(words):
        twice = next(word for word, count in Counter(words).items() if count > 1)
        raise ValueError(f"words holds {twice!r} twice; expected every word once")
    return np.fromiter((known.get(word, -1) for word in chain.from_iterable(sentences)), np.int64)


def _checked(matrix: ArrayLike) -> NDArray[np.float64]:
    W = np.asarray(matrix, dtype=np.float64)
    if W.ndim != 2 or W.shape[0] != W.shape[1]:
        raise ValueError(f"matrix has shape {W.shape}; expected (n, n), the counts of a WAN")
    if not (np.isfinite(W).all() and (W >= 0).all()):
        raise ValueError("matrix holds negative or non-finite values; expected the counts of a WAN")
    return W
