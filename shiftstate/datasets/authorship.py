"""Authorship attribution: is an excerpt by this author, or by one of the others?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shiftstate.checks import check_name, check_seed, check_whole
from shiftstate.datasets.samples import Samples, Scaling, scaled
from shiftstate.graphs import Shift
from shiftstate.texts.corpus import Corpus
from shiftstate.texts.word_networks import author_graph, word_counts

SPLITS = ("excerpts", "books")
TRANSFORMS = {"none": lambda counts: counts, "sqrt": torch.sqrt, "log": torch.log1p}
"""Of the counts; a word's variance grows with its mean, and a root (Poisson) or log(1 + count) evens that out."""


class Excerpt(NamedTuple):
    """An excerpt of the corpus: author, and its position among the author's own."""

    author: str
    number: int


Part = list[Excerpt]


class Parts(NamedTuple):
    """The excerpts of a split; in each part the author's own come first, then as many of the others."""

    train: Part
    valid: Part
    test: Part


@dataclass(frozen=True, eq=False)
class Authorship:
    """x = counts of the function words of an excerpt, on the author's word adjacency network; y = 1: the author's.

    S is `author_graph` of the summed WANs of the author's training excerpts: neither validation nor test excerpts,
    nor anybody else's, are seen by it. Nodes are the words it keeps.
    """

    shift: Shift
    train: Samples
    valid: Samples
    test: Samples
    parts: Parts
    words: tuple[str, ...]
    """Of the nodes."""
    book: int | None
    """The author's book that is held out, by its number; None where excerpts of all books are."""
    transform: str = "none"
    """Of the counts."""
    scaling: Scaling | None = None
    """How the signals were standardized, in float64; None if they were not."""

    @classmethod
    def generate(
        cls,
        corpus: Corpus,
        author: str,
        *,
        split: Literal["excerpts", "books"] = "excerpts",
        number: int = 0,
        test: float = 0.05,
        valid: float = 0.087,
        outside: Sequence[str] = (),
        kin: Sequence[str] = (),
        transform: Literal["none", "sqrt", "log"] = "none",
        standardize: bool = False,
        seed: int | np.random.Generator,
        dtype: torch.dtype = torch.float32,
    ) -> "Authorship":
        """Split the author's excerpts at random, add as many of the pooled others to each part, build the graph.

        Args:
            corpus: excerpts of all authors, with the WANs of this one.
            author: whose excerpts are to be told from the others'.
            split: "excerpts": a share ``test`` of the author's excerpts is held out, whatever book they are from.
                "books": the author's book ``number`` (counted on from the first after the last) is the test, and of
                every other author who has two or more one book, drawn at random, serves the test and no training.
            number: of the split; chooses the book to be held out.
            test: share of the author's excerpts, of the "excerpts" split.
            valid: share of what is not held out, for validation.
            outside: authors who are in nobody's pool; names that are not in the corpus are ignored, here and in kin.
            kin: authors who are not in each other's pools.
            transform: of every count, before anything else: its square root, or log(1 + count).
            standardize: subtract each node's mean over the training set and divide by its standard deviation.
            seed: a whole number, or a generator to go on drawing from.
            dtype: of signals and shift.
        """
        check_name("author", author, corpus.excerpts)
        check_name("split", split, SPLITS)
        check_name("transform", transform, TRANSFORMS)
        if author not in corpus.wans:
            raise ValueError(f"the corpus has no networks of {author!r}; expected one of the authors it was read for")
        generator = check_seed(seed)
        left_out = {author, *outside, *(kin if author in kin else ())}
        pool = [other for other in corpus.excerpts if other not in left_out]
        if not pool:
            raise ValueError(f"the corpus has nobody to tell {author!r} from; expected texts of two or more authors")
        if split == "books":
            book: int | None = check_whole("number", number, 0) % _book_count(corpus, author)
            parts = _hold_out_books(corpus, author, pool, book or 0, valid, generator)
        else:
            book, parts = None, _hold_out_excerpts(corpus, author, pool, test, valid, generator)
        training = [number for name, number in parts.train if name == author]
        size = len(corpus.words)
        graph = author_graph(np.asarray(corpus.wans[author][training].sum(0)).reshape(size, size))
        counted = [_samples(corpus, part, author, graph.kept) for part in parts]
        splits = [Samples(TRANSFORMS[transform](x), y) for x, y in counted]
        scaling = Scaling.of(splits[0].x) if standardize else None
        train, valid_, test_ = (Samples(x.to(dtype), y) for x, y in scaled(splits, scaling))
        shift = Shift.from_matrix(torch.from_numpy(graph.adjacency).to(dtype))
        words = tuple(corpus.words[word] for word in graph.kept)
        return cls(shift, train, valid_, test_, parts, words, book, transform, scaling)

    def signals(self, texts: Sequence[Sequence[Sequence[str]]]) -> Tensor:
        """New excerpts as signals, (n, N, 1): counted, transformed and scaled like the training data.

        Args:
            texts: each a list of sentences, as `tokenize` and `excerpts` give them; of the corpus's length.
        """
        counts = np.stack([word_counts(text, self.words) for text in texts])
        x = TRANSFORMS[self.transform](torch.from_numpy(counts).double().unsqueeze(-1))
        return (x if self.scaling is None else self.scaling(x)).to(self.train.x.dtype)


def _hold_out_excerpts(
    corpus: Corpus, author: str, pool: list[str], test: float, valid: float, generator: np.random.Generator
) -> Parts:
    own = [Excerpt(author, number) for number in range(len(corpus.excerpts[author]))]
    others = [Excerpt(other, number) for other in pool for number in range(len(corpus.excerpts[other]))]
    kept = len(own) - max(1, round(test * len(own)))
    sizes = _sizes(author, kept, valid)
    mine = _draw(own, (*sizes, len(own) - kept), generator)
    theirs = _draw(others, (*sizes, len(own) - kept), generator)
    return Parts(*(ours + rest for ours, rest in zip(mine, theirs, strict=True)))


def _hold_out_books(
    corpus: Corpus, author: str, pool: list[str], book: int, valid: float, generator: np.random.Generator
) -> Parts:
    own, held = _by_book(corpus, author, book)
    others: Part = []
    others_held: Part = []
    for other in pool:
        count = len(corpus.excerpts[other].titles)
        kept, out = _by_book(corpus, other, int(generator.integers(count)) if count > 1 else None)
        others += kept
        others_held += out
    sizes = _sizes(author, len(own), valid)
    mine, theirs = _draw(own, sizes, generator), _draw(others, sizes, generator)
    (test,) = _draw(others_held, (len(held),), generator)
    return Parts(mine[0] + theirs[0], mine[1] + theirs[1], held + test)


def _by_book(corpus: Corpus, author: str, book: int | None) -> tuple[Part, Part]:
    """The author's excerpts outside a book, and in it."""
    books: NDArray[np.int64] = corpus.excerpts[author].books
    kept: Part = [Excerpt(author, number) for number in range(len(books)) if books[number] != book]
    return kept, [Excerpt(author, number) for number in range(len(books)) if books[number] == book]


def _book_count(corpus: Corpus, author: str) -> int:
    count = len(corpus.excerpts[author].titles)
    if count < 2:
        raise ValueError(f"{author!r} has {count} book; expected two or more, to hold one out")
    return count


def _sizes(author: str, kept: int, valid: float) -> tuple[int, int]:
    """Excerpts for training and for validation."""
    sizes = kept - max(1, round(valid * kept)), max(1, round(valid * kept))
    if sizes[0] < 1:
        raise ValueError(
            f"{author!r} has {kept} excerpts to learn from; expected two or more; are the author's texts long enough?"
        )
    return sizes


def _draw(excerpts: Part, sizes: tuple[int, ...], generator: np.random.Generator) -> list[Part]:
    """Disjoint parts of these sizes."""
    if sum(sizes) > len(excerpts):
        raise ValueError(
            f"the other authors have {len(excerpts)} excerpts; expected {sum(sizes)}, as many as the author"
        )
    order = generator.permutation(len(excerpts))[: sum(sizes)]
    return [[excerpts[index] for index in piece] for piece in np.split(order, np.cumsum(sizes)[:-1])]


def _samples(corpus: Corpus, part: Part, author: str, kept: NDArray[np.int64]) -> Samples:
    counts = np.stack([corpus.excerpts[name].counts[number][kept] for name, number in part])
    labels = torch.tensor([int(name == author) for name, _ in part])
    return Samples(torch.from_numpy(counts).double().unsqueeze(-1), labels)
