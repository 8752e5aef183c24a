"""Prepared corpora: the texts are tokenised once for a directory of results, and its workers read the counts."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from shiftstate.datasets.corpus import FORMAT, Corpus
from shiftstate.datasets.texts import check_author, find_texts
from shiftstate.experiments.config import Realization
from shiftstate.experiments.files import make_directory, write_whole
from shiftstate.experiments.networks import GET_TEXTS
from shiftstate.experiments.protocols import AuthorshipProtocol, Protocol

NO_TEXTS = f"table2 needs texts; {GET_TEXTS}"


def corpus_file(directory: Path, protocol: Protocol) -> Path | None:
    """Where the corpus of a protocol lies; the name holds what it is made of. None for data without texts."""
    if not isinstance(protocol, AuthorshipProtocol):
        return None
    recipe = (FORMAT, protocol.corpus, protocol.words, protocol.excerpt_length, protocol.window, protocol.decay)
    return directory / f"corpus-{hashlib.sha256(repr(recipe).encode()).hexdigest()[:12]}.npz"


def prepare(texts: Path, planned: Sequence[Realization], directory: Path) -> None:
    """Write the corpora that these realizations need and the directory does not have; it is made if need be.

    Bad texts and authors that are not there are found here, before anything is written.
    """
    authors = sorted({realization.author for realization in planned if realization.author is not None})
    found = find_texts(texts)
    for author in authors:
        check_author(author, found)
    for protocol in dict.fromkeys(realization.protocol for realization in planned):
        file = corpus_file(directory, protocol)
        if isinstance(protocol, AuthorshipProtocol) and file is not None and not _has(file, authors):
            corpus = Corpus.read(
                texts,
                authors=authors,
                words=protocol.words,
                length=protocol.excerpt_length,
                window=protocol.window,
                decay=protocol.decay,
            )
            _check_long_enough(corpus, authors, protocol.excerpt_length)
            make_directory(directory)
            write_whole(file, corpus.to_bytes())


def _has(file: Path, authors: Sequence[str]) -> bool:
    return file.exists() and set(authors) <= set(Corpus.load(file).wans)


def _check_long_enough(corpus: Corpus, authors: Sequence[str], length: int) -> None:
    for author in authors:
        if author not in corpus.excerpts:
            raise ValueError(f"no text of {author!r} has {length} words; expected at least one excerpt of that length")
