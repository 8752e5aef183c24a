"""A corpus: the excerpts of all authors as counts of words and word adjacency networks, tokenised once."""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from shiftstate.texts.folder import check_author, find_texts
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
        titles = {author: [path.stem for path in paths] for author, paths in found.items()}
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
        """Read a file of `to_bytes`."""
        try:
            with Path(file).open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
                head = json.loads(str(arrays["head"]))
                if head["format"] != FORMAT:
                    raise ValueError(f"format {head['format']}")
                found = {
                    author: Excerpts(
                        arrays[f"{author}/counts"].astype(np.int64),
                        arrays[f"{author}/books"].astype(np.int64),
                        tuple(titles),
                    )
                    for author, titles in head["titles"].items()
                }
                size = len(head["words"]) ** 2
                wans = {
                    author: csr_matrix(
                        tuple(arrays[f"{author}/{part}"] for part in ("data", "indices", "indptr")),
                        shape=(len(found[author]), size),
                    )
                    for author in head["wans"]
                }
        except (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
            cause = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ValueError(
                f"{file} is no prepared corpus ({cause}); expected one of this version: remove it, and it is made anew"
            ) from None
        return cls(tuple(head["words"]), found, wans)


def fingerprint(root: str | Path) -> str:
    """Sixteen digits that change with any text, name or order of the texts, and with the list beside them."""
    digest = hashlib.sha256()
    for author, paths in find_texts(root).items():
        for path in paths:
            digest.update(f"{author}/{path.stem}:{hashlib.sha256(_bytes(path)).hexdigest()}\n".encode())
    listed = find_words(root)
    if listed is not None:
        digest.update(hashlib.sha256(_bytes(listed)).digest())
    return digest.hexdigest()[:16]


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}); expected a text file") from None


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
