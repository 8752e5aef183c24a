"""Whole texts held out: never pieces of one text on both sides."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from shiftstate.attribution.models import MODELS
from shiftstate.attribution.pieces import Pieces
from shiftstate.attribution.word_choice import WordChoice

Fold = tuple[int, ...]
"""The texts that are held out together."""


def leave_one_out(authors: Sequence[str]) -> list[Fold]:
    """Every text of an author who has another one, each for itself."""
    return [(text,) for text, author in enumerate(authors) if list(authors).count(author) > 1]


def deal(authors: Sequence[str], number: int) -> list[Fold]:
    """The same texts in ``number`` folds; an author's texts go to different ones as far as there are enough."""
    folds: list[list[int]] = [[] for _ in range(number)]
    next_fold = 0
    for author in sorted(set(authors)):
        own = [text for text, name in enumerate(authors) if name == author]
        if len(own) > 1:
            for step, text in enumerate(own):
                folds[(next_fold + step) % number].append(text)
            next_fold += len(own)
    return [tuple(fold) for fold in folds if fold]


def check_held_out(authors: Sequence[str]) -> None:
    """Raise if fewer than two authors have two texts."""
    several = [author for author in set(authors) if list(authors).count(author) > 1]
    if len(several) < 2:
        raise ValueError(
            f"{len(several)} of the authors have two texts or more; expected two such authors or more, so that whole "
            "texts can be held out; one long text can be given as two books"
        )


def score_fold(
    pieces: Pieces,
    author: NDArray[np.int64],
    num_authors: int,
    fold: Fold,
    names: Sequence[str],
    choice: WordChoice,
    more: Sequence[Pieces] = (),
) -> dict[str, list[NDArray[np.float64]]]:
    """Scores of the held-out texts by models that learned from all others: of their pieces, and of other cuts of them.

    Args:
        pieces: of all texts.
        author: (texts), the author's number.
        num_authors: how many there are.
        fold: the texts to hold out.
        names: of the models.
        choice: of the words; held-out texts have no say in it.
        more: other cuts of all texts; their held-out pieces are scored as well.
    """
    out = np.isin(pieces.text, fold)
    words = choice.without(fold)
    train = pieces.take(~out).over(words)
    tests = [cut.take(np.isin(cut.text, fold)).over(words) for cut in (pieces, *more)]
    scores: dict[str, list[NDArray[np.float64]]] = {}
    for name in names:
        model = MODELS[name]().fit(train, author[train.text], num_authors)
        scores[name] = [model.scores(test) for test in tests]
    return scores


def held_out_scores(
    pieces: Pieces,
    author: NDArray[np.int64],
    num_authors: int,
    folds: Sequence[Fold],
    names: Sequence[str],
    choice: WordChoice,
    say: Callable[[str], None],
) -> tuple[NDArray[np.int64], Mapping[str, NDArray[np.float64]]]:
    """The pieces that were held out once, and the scores of each model for them."""
    found: dict[str, NDArray[np.float64]] = {name: np.full((len(pieces), num_authors), np.nan) for name in names}
    for number, fold in enumerate(folds, 1):
        say(f"holding out {len(fold)} texts: {number} of {len(folds)}")
        for name, (scores, *_) in score_fold(pieces, author, num_authors, fold, names, choice).items():
            found[name][np.isin(pieces.text, fold)] = scores
    tested = np.flatnonzero(np.isin(pieces.text, [text for fold in folds for text in fold]))
    return tested, {name: scores[tested] for name, scores in found.items()}
