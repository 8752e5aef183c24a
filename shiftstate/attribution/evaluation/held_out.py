"""Leave-one-book-out: every text is judged by models that never saw it."""

import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from shiftstate.attribution.attributor import check_lengths
from shiftstate.attribution.folds import Fold, check_held_out, deal, leave_one_out, score_fold
from shiftstate.attribution.library import Library
from shiftstate.attribution.models import MODELS
from shiftstate.attribution.pieces import SHORTEST, Pieces, cut_texts
from shiftstate.attribution.threads import one_thread
from shiftstate.attribution.word_choice import WordChoice, choose_words
from shiftstate.checks import check_whole
from shiftstate.errors import SweepError, keep
from shiftstate.files import make_directory, remove_leftovers, write_whole
from shiftstate.machine.running.engines import make_engine
from shiftstate.machine.running.lock import locked
from shiftstate.machine.running.sweep import sweep
from shiftstate.texts.array_file import load_arrays

FORMAT = 3
"""Changes with the models: folds of another version are not taken over."""
SHARED = ".pieces.npz"
"""What workers read; gone after the run."""
Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Scores of all texts that were held out: of their pieces, and of pieces half as long."""

    library: Library
    words: list[str]
    length: int
    folds: int
    pieces: Pieces
    """Of all texts."""
    tested: NDArray[np.int64]
    """Pieces that were held out once."""
    scores: dict[str, NDArray[np.float64]]
    """By model, (tested, authors)."""
    half_text: NDArray[np.int64]
    """(halves), which text a half piece is from."""
    half_scores: dict[str, NDArray[np.float64]]

    @property
    def author(self) -> NDArray[np.int64]:
        """(texts), the author's number."""
        return self.library.author


def hold_out(
    library: Library, out: Path, words: str, length: int, folds: int | None, workers: int, say: Say
) -> HeldOut:
    """Score every text by models of all the others, fold by fold; what an earlier call finished is taken over.

    Args:
        library: the texts.
        out: directory of the results; folds are kept in ``out/folds``.
        words: as of `Attributor`.
        length: words of a piece.
        folds: None for one fold per text; otherwise the texts are dealt into so many.
        workers: processes.
        say: is told every step.
    """
    check_whole("length", length, 2 * SHORTEST)
    check_whole("workers", workers, 1)
    check_held_out(library.authors)
    check_lengths(library, length, say)
    dealt = leave_one_out(library.authors) if folds is None else deal(library.authors, check_whole("folds", folds, 2))
    choice = choose_words(words, library, dealt, say)
    vocabulary = library.vocabulary.words
    say("counting words and pairs")
    cuts = [cut_texts(library.texts, choice.words, size, vocabulary) for size in (length, length // 2)]
    given = Given(cuts, library.author, len(library.names), choice)
    place = out / "folds"
    make_directory(place)
    recipe = _fingerprint(library, choice.words, length, dealt)
    files = {fold: place / f"{recipe}-{number:03d}.npz" for number, fold in enumerate(dealt)}
    with locked(place):
        remove_leftovers(place)
        (place / SHARED).unlink(missing_ok=True)  # of a run that was killed
        missing = [fold for fold, file in files.items() if not file.exists()]
        if len(missing) < len(dealt):
            keep()
        say(f"{len(dealt)} folds, {len(dealt) - len(missing)} were there")
        number = count(1)

        def finished(fold: Fold, scores: Scored) -> None:
            write_whole(files[fold], _packed(scores))
            say(f"fold {next(number)} of {len(missing)}: {library.titles[fold[0]]}{' …' if len(fold) > 1 else ''}")

        _compute(given, missing, workers, place / SHARED, finished)
    return _gather(library, choice, length, cuts, files)


def _gather(
    library: Library, choice: WordChoice, length: int, cuts: Sequence[Pieces], files: dict[Fold, Path]
) -> HeldOut:
    size = len(library.names)
    found = [{name: np.full((len(cut), size), np.nan) for name in MODELS} for cut in cuts]
    for fold, file in files.items():
        arrays = load_arrays(file, "scores of held-out texts")
        for number, cut in enumerate(cuts):
            held = np.isin(cut.text, fold)
            for name in MODELS:
                stored = arrays.get(f"{name}/{number}")
                if stored is None or stored.shape != (int(held.sum()), size) or stored.dtype.kind != "f":
                    raise ValueError(f"{file} does not belong to these texts; remove it, and it is made anew")
                found[number][name][held] = stored
    texts = [text for fold in files for text in fold]
    tested, halves = (np.flatnonzero(np.isin(cut.text, texts)) for cut in cuts)
    return HeldOut(
        library,
        choice.listed,
        length,
        len(files),
        cuts[0].over(np.arange(choice.number)),
        tested,
        {name: scores[tested] for name, scores in found[0].items()},
        cuts[1].text[halves],
        {name: scores[halves] for name, scores in found[1].items()},
    )


Scored = dict[str, list[NDArray[np.float64]]]


@dataclass(frozen=True, eq=False)
class Given:
    """What all folds share."""

    cuts: list[Pieces]
    author: NDArray[np.int64]
    size: int
    choice: WordChoice

    def score(self, fold: Fold) -> Scored:
        """The scores of one fold by all models."""
        return score_fold(self.cuts[0], self.author, self.size, fold, list(MODELS), self.choice, self.cuts[1:])

    def to_bytes(self) -> bytes:
        """All of it as an npz file, for other processes."""
        arrays: dict[str, NDArray[np.generic]] = {
            "author": self.author,
            "size": np.array(self.size),
            "words": np.array(self.choice.words),
            "number": np.array(self.choice.number),
        }
        if self.choice.totals is not None:
            arrays["totals"] = self.choice.totals
        for number, cut in enumerate(self.cuts):
            parts = {"data": cut.pairs.data, "indices": cut.pairs.indices, "indptr": cut.pairs.indptr}
            parts |= {"counts": cut.counts, "text": cut.text}
            arrays |= {f"{number}/{key}": value for key, value in parts.items()}
        return _npz(arrays)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "Given":
        """What `to_bytes` wrote."""
        cuts = []
        for number in (0, 1):
            counts, data, indices, indptr, text = (
                arrays[f"{number}/{key}"] for key in ("counts", "data", "indices", "indptr", "text")
            )
            pairs = csr_matrix((data, indices, indptr), shape=(len(text), counts.shape[1] ** 2))
            cuts.append(Pieces(counts, pairs, text))
        choice = WordChoice(arrays["words"].tolist(), int(arrays["number"]), arrays.get("totals"))
        return cls(cuts, arrays["author"], int(arrays["size"]), choice)


def _compute(
    given: Given, folds: Sequence[Fold], workers: int, shared: Path, finished: Callable[[Fold, Scored], None]
) -> None:
    """Score the folds, here or in processes of the machine's engine; each is handed to ``finished`` as it is done."""
    if workers == 1 or len(folds) < 2:
        for fold in folds:
            with one_thread():
                scored = given.score(fold)
            finished(fold, scored)
        return
    write_whole(shared, given.to_bytes())
    try:
        sweep(folds, make_engine("local", min(workers, len(folds))), finished, task=partial(_work, str(shared)))
    except SweepError as error:
        if isinstance(error.__cause__, ValueError):
            raise ValueError(str(error.__cause__)) from None
        raise
    finally:
        shared.unlink(missing_ok=True)


_given: dict[str, Given] = {}
"""In a worker: what all folds share, by its file."""


def _work(shared: str, fold: Fold) -> Scored:
    with one_thread():
        if shared not in _given:
            _given[shared] = Given.from_arrays(load_arrays(shared, "pieces of texts"))
        return _given[shared].score(fold)


def _packed(scores: Scored) -> bytes:
    return _npz(
        {f"{name}/{number}": one.astype(np.float32) for name, cuts in scores.items() for number, one in enumerate(cuts)}
    )


def _npz(arrays: dict[str, NDArray[np.generic]]) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **arrays)
    return stream.getvalue()


def _fingerprint(library: Library, words: Sequence[str], length: int, folds: Sequence[Fold]) -> str:
    digest = hashlib.sha256(repr((FORMAT, list(MODELS), library.authors, list(words), length, list(folds))).encode())
    for text in library.texts:
        digest.update(text.ids.tobytes())
    return digest.hexdigest()[:12]
