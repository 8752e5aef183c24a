"""A corpus: the excerpts of all authors as counts of words and word adjacency networks, tokenised once."""

import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from shiftstate.files import read_regular
from shiftstate.limits import MAX_TEXT_BYTES
from shiftstate.texts.array_file import load_arrays
from shiftstate.texts.folder import check_author, find_texts, title_of
from shiftstate.texts.reading import read_books
from shiftstate.texts.tokens import Sentences, excerpts, tokenize
from shiftstate.texts.word_lists import find_words, load_words
from shiftstate.texts.word_networks import wan, word_counts

FORMAT = 1
"""Version of the file format."""


@dataclass(frozen=True, eq=False)
class Excerpts:
    """The excerpts of one author, in the order of the books' file names."""

    counts: NDArray[np.int64]
    """(n, W): how often each word of the list occurs."""
    books: NDArray[np.int64]
    """(n): the position of the excerpt's book in ``titles``."""
    titles: tuple[str, ...]
    """File names without their ending; books that are too short for an excerpt are not among them."""

    def __len__(self) -> int:
        return len(self.books)


@dataclass(frozen=True, eq=False)
class Corpus:
    """Excerpts of equal length by author, and the WANs of those whose graph is asked for.

    Example:
        >>> from shiftstate.texts import Corpus
        >>> from tempfile import TemporaryDirectory
        >>> from pathlib import Path
        >>> with TemporaryDirectory() as folder:
        ...     for author, text in {"ann": "the cat and the dog. ", "bob": "a dog or a cat. "}.items():
        ...         _ = Path(folder, f"{author}_tale.txt").write_text(10 * text)
        ...     corpus = Corpus.read(folder, words="auto:4", length=10, authors=["ann"])
        >>> corpus.words, {author: len(own) for author, own in corpus.excerpts.items()}, corpus.wans["ann"].shape
        (('a', 'cat', 'dog', 'the'), {'ann': 5, 'bob': 5}, (5, 16))
    """

    words: tuple[str, ...]
    excerpts: Mapping[str, Excerpts]
    wans: Mapping[str, csr_matrix]
    """By author: (n, W²), a row the WAN of an excerpt, row by row."""

    @classmethod
    def read(
        cls,
        root: str | Path,
        *,
        authors: Iterable[str],
        words: str = "",
        length: int = 1000,
        window: int = 10,
        decay: float = 0.8,
    ) -> "Corpus":
        """Read, tokenise and count all texts below ``root``.

        Args:
            root: the folder of the texts; see `find_texts`.
            authors: those whose WANs are wanted.
            words: nothing for the ``function_words.txt`` in ``root`` or beside it, or the package's list where there
                is none; "package" for the latter; "auto:200" for the most frequent words of the texts.
            length: words in an excerpt.
            window: farthest distance of two words that counts.
            decay: of the count with the distance.
        """
        found = find_texts(root)
        wanted = [check_author(author, found) for author in authors]
        texts = iter(read_books(path for paths in found.values() for path in paths))
        tokens = {author: [tokenize(next(texts)) for _ in paths] for author, paths in found.items()}
        listed = _load_words(words, Path(root), tokens)
        cut = {author: [excerpts(book, length) for book in books] for author, books in tokens.items()}
        titles = {author: [title_of(path) for path in paths] for author, paths in found.items()}
        return cls(
            listed,
            {author: _count(books, titles[author], listed) for author, books in cut.items() if any(books)},
            {author: _networks(cut[author], listed, window, decay) for author in wanted if any(cut[author])},
        )

    def to_bytes(self) -> bytes:
        """All of it as an npz file."""
        arrays: dict[str, NDArray[np.generic]] = {}
        for author, own in self.excerpts.items():
            arrays[f"{author}/counts"] = own.counts.astype(np.uint16)
            arrays[f"{author}/books"] = own.books.astype(np.uint16)
        for author, networks in self.wans.items():
            for part in ("data", "indices", "indptr"):
                arrays[f"{author}/{part}"] = getattr(networks, part)
        titles = {author: own.titles for author, own in self.excerpts.items()}
        head = {"format": FORMAT, "words": self.words, "titles": titles, "wans": list(self.wans)}
        stream = io.BytesIO()
        np.savez_compressed(stream, allow_pickle=False, head=np.array(json.dumps(head)), **arrays)
        return stream.getvalue()

    @classmethod
    def load(cls, file: str | Path) -> "Corpus":
        """Read a file of `to_bytes`; one that is damaged raises a `ValueError`, whatever is wrong with it."""
        expected = "a prepared corpus of this version"
        try:
            arrays = load_arrays(file, expected)
            head = _parse_head(arrays)
            size = len(head.words)
            found = {author: _excerpts(arrays, author, titles, size) for author, titles in head.titles.items()}
            wans = {author: _network_rows(arrays, author, len(found[author]), size**2) for author in head.wans}
        except ValueError as error:
            cause = str(error)
            raise ValueError(
                f"{file} is no prepared corpus ({cause}); expected {expected}: remove it, and it is made anew"
            ) from None
        return cls(head.words, found, wans)


class _Head(NamedTuple):
    words: tuple[str, ...]
    titles: dict[str, tuple[str, ...]]
    wans: tuple[str, ...]


def _parse_head(arrays: Mapping[str, NDArray[np.generic]]) -> _Head:
    stored = _array(arrays, "head", "U", 0)
    try:
        head = json.loads(str(stored))
    except (ValueError, RecursionError):
        raise ValueError("its head is no JSON") from None
    if not isinstance(head, dict) or head.keys() != {"format", "words", "titles", "wans"}:
        raise ValueError("its head lacks entries")
    if isinstance(head["format"], bool) or head["format"] != FORMAT:
        raise ValueError(f"format {str(head['format'])[:40]}")
    titles = head["titles"]
    if not isinstance(titles, dict):
        raise ValueError("its titles are no table")
    words, wans = _names(head["words"], "words"), _names(head["wans"], "networks")
    if not words or not set(wans) <= set(titles):
        raise ValueError("its head contradicts itself")
    return _Head(words, {author: _names(names, "titles") for author, names in titles.items()}, wans)


def _names(value: object, what: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value) or len(set(value)) < len(value):
        raise ValueError(f"its {what} are no list of different names")
    return tuple(value)


def _array(arrays: Mapping[str, NDArray[np.generic]], name: str, kinds: str, ndim: int) -> NDArray[np.generic]:
    if name not in arrays:
        raise ValueError(f"{name} is missing")
    array = arrays[name]
    if array.dtype.kind not in kinds or array.ndim != ndim:
        raise ValueError(f"{name} has dtype {array.dtype} and shape {array.shape}")
    return array


def _whole(arrays: Mapping[str, NDArray[np.generic]], name: str, ndim: int, below: int) -> NDArray[np.int64]:
    """Whole numbers from 0 to ``below`` − 1."""
    array = _array(arrays, name, "iu", ndim)
    if array.size and not (int(array.min()) >= 0 and int(array.max()) < below):
        raise ValueError(f"{name} holds {int(array.min())} to {int(array.max())}")
    return array.astype(np.int64)


def _excerpts(arrays: Mapping[str, NDArray[np.generic]], author: str, titles: tuple[str, ...], words: int) -> Excerpts:
    counts = _whole(arrays, f"{author}/counts", 2, 2**31)
    books = _whole(arrays, f"{author}/books", 1, len(titles))
    if counts.shape != (len(books), words) or set(books.tolist()) != set(range(len(titles))):
        raise ValueError(f"the excerpts of {author!r} are not those of {len(titles)} books and {words} words")
    return Excerpts(counts, books, titles)


def _network_rows(arrays: Mapping[str, NDArray[np.generic]], author: str, rows: int, columns: int) -> csr_matrix:
    data = _whole(arrays, f"{author}/data", 1, 2**31).astype(np.int32)
    indices = _whole(arrays, f"{author}/indices", 1, columns)
    indptr = _whole(arrays, f"{author}/indptr", 1, len(data) + 1)
    fits = len(indptr) == rows + 1 and len(indices) == len(data)
    if not fits or indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise ValueError(f"the networks of {author!r} contradict themselves")
    return csr_matrix((data, indices.astype(np.int32), indptr.astype(np.int32)), shape=(rows, columns))


def fingerprint(root: str | Path) -> str:
    """Sixteen digits that change with any text, name or order of the texts, and with the list beside them."""
    digest = hashlib.sha256()
    for author, paths in find_texts(root).items():
        for path in paths:
            content = hashlib.sha256(read_regular(path, "a text file", MAX_TEXT_BYTES)).hexdigest()
            digest.update(f"{author}/{path.stem}:{content}\n".encode())
    listed = find_words(root)
    if listed is not None:
        digest.update(hashlib.sha256(read_regular(listed, "a list of words", MAX_TEXT_BYTES)).digest())
    return digest.hexdigest()[:16]


def _load_words(spec: str, root: Path, tokens: Mapping[str, list[Sentences]]) -> tuple[str, ...]:
    if spec.startswith("auto:"):
        return load_words(spec, (book for books in tokens.values() for book in books))
    return load_words(None if spec == "package" else find_words(root))


def _count(books: list[list[Sentences]], titles: list[str], words: tuple[str, ...]) -> Excerpts:
    kept = [(title, book) for title, book in zip(titles, books, strict=True) if book]
    return Excerpts(
        np.stack([word_counts(excerpt, words) for _, book in kept for excerpt in book]),
        np.repeat(np.arange(len(kept)), [len(book) for _, book in kept]),
        tuple(title for title, _ in kept),
    )


def _networks(books: list[list[Sentences]], words: tuple[str, ...], window: int, decay: float) -> csr_matrix:
    """Sparse row by row: a thousand words have a few thousand of the W² pairs."""
    rows = [
        csr_matrix(wan(excerpt, words, window, decay).astype(np.int32).reshape(1, -1))
        for book in books
        for excerpt in book
    ]
    return vstack(rows, format="csr", dtype=np.int32)
