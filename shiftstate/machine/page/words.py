"""Networks of words as the page draws them: the words with most weight, and the strongest edges between them."""

from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from shiftstate.files import open_regular
from shiftstate.machine.page.contract import NetworkSection, ShownNetwork
from shiftstate.machine.parsing import parse_table, read_text
from shiftstate.places import fill, places, push_apart
from shiftstate.texts.array_file import load_arrays

WORDS = 60
"""Words drawn."""
EDGES = 160
"""Strongest edges drawn, beside the strongest of every word."""
ROOM = np.array([0.1, 0.075])
"""What a word with its label takes of the picture's width and height."""
GAP = 0.01
"""Between two words, in widths of the picture."""
LARGEST = 1e100
"""Of a weight: sums of larger ones would not be finite."""
BEST = 6
"""Edges named for each word, in and out."""


def read_words(directory: Path) -> NetworkSection | None:
    """Every .npz of the directory that holds a `matrix` W and its `words`; others are left alone.

    W[i, j] is the weight of word j after word i.
    """
    found = [_describe(path, *content) for path in sorted(directory.glob("*.npz")) if (content := _read(path))]
    if not found:
        return None
    return {
        "name": "words",
        "title": "Words",
        "about": "A word adjacency network: an edge from one function word to another counts how often, and how near, "
        "the second follows the first.",
        "one": "word",
        "many": "words",
        "after": "followed by",
        "before": "follows",
        "networks": found,
    }


def _read(path: Path) -> tuple[NDArray[np.float64], list[str]] | None:
    expected = "a word network: `matrix` and `words`"
    try:
        with open_regular(path, expected) as file, ZipFile(file) as archive:
            if not {"matrix.npy", "words.npy"} <= set(archive.namelist()):
                return None
        arrays = load_arrays(path, expected)
    except (ValueError, OSError, BadZipFile, NotImplementedError) as error:
        raise ValueError(f"{path} cannot be read ({error}); expected {expected}") from None
    matrix, words = arrays["matrix"], arrays["words"]
    if matrix.shape != (words.size, words.size) or words.shape != (words.size,) or matrix.dtype.kind not in "iuf":
        raise ValueError(
            f"{path} holds a matrix of shape {matrix.shape} for words of shape {words.shape}; expected numbers, "
            "a row and a column for each word"
        )
    numbers = matrix.astype(np.float64)
    if not np.isfinite(numbers).all() or np.abs(numbers).max(initial=0.0) > LARGEST:
        raise ValueError(f"{path} holds a weight that is not finite, or above {LARGEST:g}; expected numbers below")
    return numbers, [str(word) for word in words]


def _describe(path: Path, matrix: NDArray[np.float64], words: list[str]) -> ShownNetwork:
    size = np.abs(matrix)
    np.fill_diagonal(size, 0.0)
    weight = size.sum(0) + size.sum(1)
    shown = np.argsort(-weight, kind="stable")[: min(WORDS, np.count_nonzero(weight))]
    part = size[np.ix_(shown, shown)]
    drawn = _strongest(part)
    edges = [(int(i), int(j)) for i, j in np.argwhere(drawn)]
    return {
        "title": _title(path),
        "names": [words[one] for one in shown],
        "of": len(words),
        "edges_of": int(np.count_nonzero(size)),
        "weight": _short(weight[shown]),
        "places": [_short(place) for place in _places(part * drawn)],
        "edges": [[i, j, *_short(matrix[shown[i], shown[j]])] for i, j in edges],
        "after": [_best(words, matrix[one], size[one]) for one in shown],
        "before": [_best(words, matrix[:, one], size[:, one]) for one in shown],
    }


def _strongest(size: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The strongest edges of all, and every word's own: without those a rare word would float alone."""
    drawn = np.zeros(size.shape, dtype=bool)
    drawn.flat[np.argsort(-size, axis=None, kind="stable")[:EDGES]] = True
    both = size + size.T
    for word, other in enumerate(both.argmax(1)):
        drawn[(word, other) if size[word, other] >= size[other, word] else (other, word)] = True
    return drawn & (size > 0)


def _places(size: NDArray[np.float64]) -> NDArray[np.float64]:
    """Places (n, 2) in the unit square, neighbours near each other, and room for every word.

    A few words carry most of the weight and would draw all others into one knot: weights are flattened first.
    """
    at = fill(places((size > 0) * (0.2 + np.sqrt(size / max(size.max(initial=0.0), 1e-300))), even=True))
    return fill(push_apart(at, np.tile(ROOM, (len(at), 1)), GAP))


def _title(path: Path) -> str:
    """The first text that a .json beside the network holds, which says whose it is, and the network's file."""
    try:
        told = parse_table(read_text(path.with_suffix(".json"), "the network's story"))
        whose = next(value for value in told.values() if isinstance(value, str))
    except (ValueError, StopIteration):
        return path.name
    return f"\u2068{whose}\u2069 ({path.name})"


def _best(words: list[str], values: NDArray[np.float64], size: NDArray[np.float64]) -> list[list[Any]]:
    """The strongest edges of one word: the words at their other ends, with the weights."""
    order = np.argsort(-size, kind="stable")[:BEST]
    return [[words[one], *_short(values[one])] for one in order if size[one] > 0]


def _short(values: Any) -> list[float]:
    return [float(f"{value:.4g}") for value in np.atleast_1d(values)]
