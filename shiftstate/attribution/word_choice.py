"""The list of words: given, or the most frequent ones of the texts that a model learns from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shiftstate.attribution.library import Library, Say
from shiftstate.texts.word_lists import load_words
from shiftstate.texts.word_networks import check_network_size


@dataclass(frozen=True, eq=False)
class WordChoice:
    """Words that texts are counted over, and which of them a model sees that does not know all of the texts.

    A held-out text has no say in the list: its most frequent words are not those of a model that never read it.
    """

    words: list[str]
    """All that any fold needs, by frequency in all texts together, or in the order of the list that was given."""
    number: int
    """How many of them a model sees."""
    totals: NDArray[np.int64] | None
    """(texts, words): how often each occurs; None for a list that was given."""

    def without(self, fold: Sequence[int]) -> NDArray[np.int64]:
        """The places of the words for a model that learns from the texts outside of ``fold``."""
        if self.totals is None:
            return np.arange(len(self.words))
        counts = self.totals.sum(0) - self.totals[list(fold)].sum(0)
        return _most_frequent(counts, self.words, self.number)

    @property
    def listed(self) -> list[str]:
        """The words of a model that learns from all texts."""
        return self.words[: self.number]


def choose_words(
    spec: str, library: Library, folds: Sequence[Sequence[int]] = (), say: Say = lambda line: None
) -> WordChoice:
    """The words of "auto:300", or all if there are fewer, or of a file; a list that does not fit into memory raises."""
    if not spec.startswith("auto:"):
        words = list(load_words(spec))
        check_network_size(len(words), len(library.names))
        return WordChoice(words, len(words), None)
    number = spec.removeprefix("auto:")
    if not (number.isascii() and number.isdigit() and int(number) > 1):
        raise ValueError(f"words are {spec!r}; expected auto: and a whole number of at least 2, as in auto:300")
    return _automatic(int(number), library, folds, say)


def _automatic(number: int, library: Library, folds: Sequence[Sequence[int]], say: Say) -> WordChoice:
    known = library.vocabulary.words
    counts = np.stack([np.bincount(text.ids, minlength=len(known)) for text in library.texts])
    everything = counts.sum(0)
    different = int((everything > 0).sum())
    if different < 2:
        raise ValueError(f"the texts have {different} different words; expected two or more")
    if different < number:
        say(f"note: the texts have {different} different words; all of them are in the list, which {number} were to be")
    number = min(number, different)
    check_network_size(number, len(library.names))
    chosen = [everything, *(everything - counts[list(fold)].sum(0) for fold in folds)]
    needed = np.unique(np.concatenate([_most_frequent(one, known, number) for one in chosen]))
    order = needed[_most_frequent(everything[needed], [known[word] for word in needed], len(needed))]
    return WordChoice([known[word] for word in order], number, counts[:, order])


def _most_frequent(counts: NDArray[np.int64], words: Sequence[str], number: int) -> NDArray[np.int64]:
    """Places of the largest counts above zero, largest first, then by letter."""
    least = max(1, int(np.partition(counts, -number)[-number])) if number <= len(counts) else 1
    places = np.flatnonzero(counts >= least).tolist()
    return np.array(sorted(places, key=lambda word: (-counts[word], words[word]))[:number], dtype=np.int64)
