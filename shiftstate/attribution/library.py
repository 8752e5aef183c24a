"""The texts of a run: read, cleaned of Gutenberg's lines, encoded as numbers, and checked against each other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from shiftstate.files import printable
from shiftstate.texts.folder import find_left_out, find_texts, title_of
from shiftstate.texts.readers import READERS, boilerplate_left, read_document, without_boilerplate
from shiftstate.texts.tokens import tokenize
from shiftstate.texts.word_networks import memory_bytes

SHINGLE = 8
"""Words in a row that two different books do not share by chance."""
SAME = 0.2
"""Share of them that makes two texts the same one."""
COPIES = 8
"""Texts that may share such a run and still be copies of one."""
FOREIGN = 0.4
"""Cosine of the frequent words of two texts, below which their languages are in doubt."""
LONG_WORD = 12
"""Letters per word, on average, that no language with spaces between its words has."""
Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Encoded:
    """A text as numbers: the word at every place, and its sentence."""

    ids: NDArray[np.int32]
    sentence: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.ids)

    def after(self, place: int) -> "Encoded":
        """The text from a place on."""
        return Encoded(self.ids[place:], self.sentence[place:])


class Vocabulary:
    """Words by number, growing with every text that is encoded; or fixed, and other words are −1."""

    def __init__(self, words: Sequence[str] = (), fixed: bool = False) -> None:
        self._numbers = {word: number for number, word in enumerate(words)}
        self._fixed = fixed

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def words(self) -> list[str]:
        """In the order of their numbers."""
        return list(self._numbers)

    def encode(self, text: str) -> Encoded:
        """A text as numbers of words."""
        sentences = tokenize(text)
        words = chain.from_iterable(sentences)
        known = self._numbers
        if self._fixed:
            numbers = [known.get(word, -1) for word in words]
        else:
            numbers = [known.setdefault(word, len(known)) for word in words]
        lengths = [len(sentence) for sentence in sentences]
        return Encoded(np.array(numbers, dtype=np.int32), np.repeat(np.arange(len(lengths), dtype=np.int32), lengths))


@dataclass(frozen=True, eq=False)
class Library:
    """Texts with their authors and titles."""

    texts: list[Encoded]
    authors: list[str]
    titles: list[str]
    vocabulary: Vocabulary

    @property
    def names(self) -> list[str]:
        """The different authors, sorted."""
        return sorted(set(self.authors))

    def label(self, text: int) -> str:
        """The title, with the author if others have the same title."""
        title = self.titles[text]
        return title if self.titles.count(title) == 1 else f"{self.authors[text]}/{title}"

    @property
    def author(self) -> NDArray[np.int64]:
        """(texts), the number of the author in ``names``."""
        number = {name: place for place, name in enumerate(self.names)}
        return np.array([number[one] for one in self.authors])


def read_library(root: Path, say: Say) -> Library:
    """All texts of a folder, by author; see `find_texts` for its form."""
    found = find_texts(root, tuple(READERS))
    vocabulary = Vocabulary()
    texts, authors, titles, cut, left = [], [], [], [], []
    for author, paths in found.items():
        for path in paths:
            title = title_of(path)
            say(f"reading {title}")
            text, boilerplate = without_boilerplate(read_document(path))
            if boilerplate:
                cut.append(title)
            if boilerplate_left(text):
                left.append(title)
            texts.append(vocabulary.encode(text))
            authors.append(author)
            titles.append(title)
    if cut:
        say(f"note: Project Gutenberg's header and licence were cut from {_some(cut)}")
    if left:
        say(f"warning: {_some(left)}: still speaks of Project Gutenberg; is a part of its header or licence left?")
    out = [printable(path.relative_to(root).as_posix()) for path in find_left_out(root, tuple(READERS))]
    if out:
        say(f"note: left out: {_some(out)}; expected author/title or Author_Title, in {', '.join(READERS)}")
    return check_library(Library(texts, authors, titles, vocabulary), say)


def check_library(library: Library, say: Say, least: int = 5000) -> Library:
    """Raise for fewer than two authors and for the same text twice; say what else makes answers doubtful."""
    if len(library.names) < 2:
        raise ValueError(f"the texts are by {len(library.names)} author; expected two or more to choose from")
    _check_size(library)
    _check_same(library)
    for author in library.names:
        own = [len(text) for text, name in zip(library.texts, library.authors, strict=True) if name == author]
        if sum(own) < least:
            say(f"warning: {author} has {sum(own):,} words; expected {least:,} or more for a reliable answer")
        if len(own) == 1:
            say(f"warning: {author} has one text: it cannot be held out, so nothing is known of this author's errors")
    foreign = _foreign(library)
    if foreign:
        say(f"warning: {_some(foreign)}: other frequent words than in the rest of the texts; another language?")
    unspaced = _unspaced(library)
    if unspaced:
        say(f"warning: {_some(unspaced)}: words of more than {LONG_WORD} letters on average; no spaces between them?")
    return library


def _check_size(library: Library) -> None:
    """Raise if a count of every word in every text would take more than a quarter of the machine's memory."""
    size = 8 * len(library.vocabulary) * len(library.texts)
    if size > memory_bytes() // 4:
        raise ValueError(
            f"{len(library.texts):,} texts with {len(library.vocabulary):,} different words need {size / 1e9:,.0f} GB "
            "of memory; expected fewer: are they texts?"
        )


def _check_same(library: Library) -> None:
    """Sampled runs of eight words, equal in a few texts; what many share is a phrase, or printed in every book."""
    samples = [_shingles(text.ids) for text in library.texts]
    values = np.concatenate(samples)
    owner = np.repeat(np.arange(len(samples)), [len(one) for one in samples])
    order = np.argsort(values, kind="stable")
    values, owner = values[order], owner[order]
    starts = np.flatnonzero(np.r_[True, values[1:] != values[:-1]]) if len(values) else np.zeros(0, dtype=int)
    counts = np.diff(np.r_[starts, len(values)])
    shared: dict[tuple[int, int], int] = {}
    for run in np.flatnonzero((counts > 1) & (counts <= COPIES)):
        for pair in combinations(owner[starts[run] : starts[run] + counts[run]].tolist(), 2):
            shared[pair] = shared.get(pair, 0) + 1
    for (first, second), count in shared.items():
        if count > max(2, SAME * min(len(samples[first]), len(samples[second]))):
            names = [f"{library.titles[one]} ({library.authors[one]})" for one in (first, second)]
            raise ValueError(f"{names[0]} and {names[1]} hold the same text; expected every book once")


def _shingles(ids: NDArray[np.int32]) -> NDArray[np.uint64]:
    """One in sixteen of the hashes of all runs of eight words."""
    if len(ids) < SHINGLE:
        return np.zeros(0, dtype=np.uint64)
    with np.errstate(over="ignore"):
        total = np.zeros(len(ids) - SHINGLE + 1, dtype=np.uint64)
        for step in range(SHINGLE):
            total = total * np.uint64(0x9E3779B97F4A7C15) + ids[step : len(total) + step].astype(np.uint64)
        total ^= total >> np.uint64(29)
    return np.unique(total[total % np.uint64(16) == 0])


def _foreign(library: Library) -> list[str]:
    """Titles whose frequent words are not those of the largest group of texts."""
    size = len(library.vocabulary)
    counts = np.stack([np.bincount(text.ids, minlength=size) for text in library.texts]).astype(np.float32)
    shares = counts / np.maximum(1, counts.sum(1, keepdims=True))
    top = np.argsort(-shares.sum(0))[:100]
    lengths = np.maximum(1e-12, np.linalg.norm(shares[:, top], axis=1, keepdims=True))
    near = (shares[:, top] / lengths) @ (shares[:, top] / lengths).T >= FOREIGN
    group = connected_components(near, directed=False)[1]
    rest = group != np.bincount(group).argmax()
    return [library.label(int(text)) for text in np.flatnonzero(rest)]


def _unspaced(library: Library) -> list[str]:
    """Titles of texts whose words are too long to be words."""
    letters = np.array([len(word) for word in library.vocabulary.words])
    long = (number for number, text in enumerate(library.texts) if len(text) and letters[text.ids].mean() > LONG_WORD)
    return [library.label(number) for number in long]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
