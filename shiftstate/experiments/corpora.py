"""Prepared corpora: the texts are tokenised once for a directory of results, and its workers read the counts."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from shiftstate.experiments.config import Realization
from shiftstate.experiments.data import authorship_data
from shiftstate.experiments.protocols import AuthorshipProtocol, Protocol
from shiftstate.files import write_whole
from shiftstate.texts.corpus import FORMAT, Corpus
from shiftstate.texts.folder import check_author, find_texts
from shiftstate.texts.network_files import GET_TEXTS

NO_TEXTS = f"table2 needs texts; {GET_TEXTS}"


def corpus_file(directory: Path, protocol: Protocol) -> Path | None:
    """Where the corpus of a protocol lies; the name holds what it is made of. None for data without texts."""
    if not isinstance(protocol, AuthorshipProtocol):
        return None
    recipe = (FORMAT, protocol.corpus, protocol.words, protocol.excerpt_length, protocol.window, protocol.decay)
    return directory / f"corpus-{hashlib.sha256(repr(recipe).encode()).hexdigest()[:12]}.npz"


def prepare(texts: Path, planned: Sequence[Realization], directory: Path) -> dict[Path, Corpus]:
    """The corpora that these realizations need and the directory does not have, by the file to write them to.

    Bad texts, authors that are not there and splits that cannot be made are found here. A file that lacks an author is
    read again with its own authors and the new ones: earlier results need theirs.
    """
    found = find_texts(texts)
    firsts: dict[tuple[Protocol, str], Realization] = {}
    for realization in planned:
        if realization.author is not None:
            check_author(realization.author, found)
            firsts.setdefault((realization.protocol, realization.author), realization)
    authors = sorted({author for _, author in firsts})
    new: dict[Path, Corpus] = {}
    for protocol in dict.fromkeys(protocol for protocol, _ in firsts):
        file = corpus_file(directory, protocol)
        if file is None or not isinstance(protocol, AuthorshipProtocol):
            continue
        known = Corpus.load(file) if file.exists() else None
        if known is not None and known.wans.keys() >= set(authors):
            corpus = known
        else:
            corpus = new[file] = _read(texts, sorted({*authors, *(known.wans if known else ())}), protocol)
        for author in authors:
            _check_split(firsts[protocol, author], corpus, protocol)
    return new


def write_corpora(corpora: Mapping[Path, Corpus]) -> None:
    """Write what `prepare` found missing."""
    for file, corpus in corpora.items():
        write_whole(file, corpus.to_bytes())


def _read(texts: Path, authors: Sequence[str], protocol: AuthorshipProtocol) -> Corpus:
    corpus = Corpus.read(
        texts,
        authors=authors,
        words=protocol.words,
        length=protocol.excerpt_length,
        window=protocol.window,
        decay=protocol.decay,
    )
    for author in authors:
        if author not in corpus.excerpts:
            raise ValueError(f"no text of {author!r} has {protocol.excerpt_length} words; expected one excerpt or more")
    return corpus


def _check_split(realization: Realization, corpus: Corpus, protocol: AuthorshipProtocol) -> None:
    count = len(authorship_data(realization, corpus).train.y)
    if count < protocol.batch_size:
        raise ValueError(
            f"{realization.author!r} has {count} training excerpts with the others'; expected {protocol.batch_size} or "
            "more, a batch: are the texts long enough? try --set batch_size"
        )
