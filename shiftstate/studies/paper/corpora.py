"""Prepared corpora: the texts are tokenised once for a directory of results, and its workers read the counts."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from shiftstate.machine.settings import Settings
from shiftstate.machine.study import Source
from shiftstate.machine.trial import Trial
from shiftstate.texts.corpus import FORMAT, Corpus, fingerprint
from shiftstate.texts.folder import check_author, find_texts
from shiftstate.texts.network_files import GET_TEXTS
from shiftstate.texts.word_lists import find_words

NO_TEXTS = f"table2 needs texts; {GET_TEXTS}"


def corpus_file(directory: Path, settings: Settings) -> Path:
    """Where the corpus of some settings lies; the name holds what it is made of."""
    data = settings.data
    recipe = (FORMAT, data.corpus, data.words, data.excerpt_length, data.window, data.decay)
    return directory / f"corpus-{hashlib.sha256(repr(recipe).encode()).hexdigest()[:12]}.npz"


def prepare(texts: Path, planned: Sequence[Trial], directory: Path) -> dict[Path, bytes]:
    """The corpora that these trials need and the directory does not have, by the file to write them to.

    Bad texts, authors that are not there and splits that cannot be made are found here. A file that lacks an author is
    read again with its own authors and the new ones: earlier results need theirs.
    """
    found = find_texts(texts)
    firsts: dict[tuple[Settings, str], Trial] = {}
    for trial in planned:
        check_author(trial["author"], found)
        firsts.setdefault((trial.settings, trial["author"]), trial)
    authors = sorted({author for _, author in firsts})
    new: dict[Path, bytes] = {}
    for settings in dict.fromkeys(settings for settings, _ in firsts):
        file = corpus_file(directory, settings)
        known = Corpus.load(file) if file.exists() else None
        if known is not None and known.wans.keys() >= set(authors):
            corpus = known
        else:
            corpus = _read(texts, sorted({*authors, *(known.wans if known else ())}), settings)
            new[file] = corpus.to_bytes()
        for author in authors:
            _check_split(firsts[settings, author], corpus)
    return new


def load_corpus(file: Path) -> Corpus:
    """A prepared corpus."""
    return _load(file, file.stat().st_mtime_ns)


def files(texts: Path) -> list[Path]:
    """The texts, and the list of words in or beside their folder."""
    listed = find_words(texts)
    return [*(path for paths in find_texts(texts).values() for path in paths), *([] if listed is None else [listed])]


def take_authors(texts: Path, design: Mapping[str, Any]) -> dict[str, Any]:
    """The preset's authors that the folder has; all of the folder's if it has none of them."""
    if "authors" not in design:
        return {}
    found = list(find_texts(texts))
    known = [author for author in design["authors"] if author in found]
    return {} if len(known) == len(design["authors"]) else {"authors": known or found}


TEXTS = Source(
    "--texts",
    "TEXTS",
    NO_TEXTS,
    "corpus",
    fingerprint,
    prepare,
    corpus_file,
    lambda file, trial: trial["author"] in Corpus.load(file).wans,
    take_authors,
    files,
)


@lru_cache(maxsize=1)
def _load(file: Path, written: int) -> Corpus:
    """A worker reads it once, and again after it was written anew: authors may have come to it."""
    return Corpus.load(file)


def _read(texts: Path, authors: Sequence[str], settings: Settings) -> Corpus:
    data = settings.data
    corpus = Corpus.read(
        texts,
        authors=authors,
        words=data.words,
        length=data.excerpt_length,
        window=data.window,
        decay=data.decay,
    )
    for author in authors:
        if author not in corpus.excerpts:
            raise ValueError(f"no text of {author!r} has {data.excerpt_length} words; expected one excerpt or more")
    return corpus


def _check_split(trial: Trial, corpus: Corpus) -> None:
    from shiftstate.studies.paper.authorship import split_corpus  # it imports this module

    count, batch_size = len(split_corpus(trial, corpus).train.y), trial.settings.training.batch_size
    if count < batch_size:
        raise ValueError(
            f"{trial['author']!r} has {count} training excerpts with the others'; expected {batch_size} or "
            "more, a batch: are the texts long enough? try --set batch_size"
        )
