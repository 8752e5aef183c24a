"""What held-out texts say: measures of every model with intervals, the model to trust, and what networks add."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shiftstate.attribution.attributor import COMBINED
from shiftstate.attribution.calibration import Calibration, calibrate
from shiftstate.attribution.evaluation.held_out import HeldOut
from shiftstate.attribution.metrics import answer_metrics, bootstrap
from shiftstate.attribution.models import MODELS
from shiftstate.attribution.models.base import standardize, z_scores
from shiftstate.attribution.verification import evaluate_verifier

FREQUENCIES = "frequencies"
"""The combination of the models that see no networks: what the others are compared with."""
GROUPS = (
    {name: [name] for name in MODELS}
    | {FREQUENCIES: [name for name, kind in MODELS.items() if not kind.network]}
    | {COMBINED: list(MODELS)}
)
LENGTHS = (1, 2, 5, 10)
"""Pieces that are judged together, for accuracy against length."""
CALIBRATION_FOLDS = 10


Judged = dict[str, NDArray[np.float64]]


def judge(held: HeldOut) -> dict[str, Judged]:
    """Probabilities by model: of "pieces", "halves", "texts", and of runs of pieces, each calibrated on other texts.

    The weights and the calibration of a text are learned from the held-out scores of the texts in nine other groups.
    """
    text = held.pieces.text[held.tested]
    texts = np.unique(text)
    groups = [tuple(range(start, len(texts), CALIBRATION_FOLDS)) for start in range(min(len(texts), CALIBRATION_FOLDS))]
    return {name: _judge_one(held, models, text, texts, groups) for name, models in GROUPS.items()}


def _judge_one(
    held: HeldOut, models: list[str], text: NDArray[np.int64], texts: NDArray[np.int64], groups: list[tuple[int, ...]]
) -> Judged:
    scores = [held.scores[name] for name in models]
    halves = [held.half_scores[name] for name in models]
    size = scores[0].shape[1]
    pieces = np.full((len(text), size), np.nan)
    half = np.full((len(held.half_text), size), np.nan)
    calibrations: dict[int, Calibration] = {}
    for group in groups:
        inside = np.isin(text, texts[list(group)])
        calibration = calibrate([one[~inside] for one in scores], held.author[text[~inside]], text[~inside])
        pieces[inside] = calibration.logarithms([one[inside] for one in scores])
        held_halves = np.isin(held.half_text, texts[list(group)])
        half[held_halves] = calibration.logarithms([one[held_halves] for one in halves])
        calibrations |= {int(texts[one]): calibration for one in group}
    found = {
        "pieces": np.exp(pieces),
        "halves": np.exp(half),
        "texts": np.stack([calibrations[int(one)].together(pieces[text == one]) for one in texts]),
    }
    for number in LENGTHS:
        spans = list(runs(text, number))
        if spans:
            found[f"runs {number}"] = np.stack([calibrations[int(text[s[0]])].together(pieces[s]) for s in spans])
    return found


def runs(text: NDArray[np.int64], number: int) -> list[NDArray[np.int64]]:
    """Places of ``number`` pieces in a row of one text, one run after the other."""
    found = []
    for one in np.unique(text):
        own = np.flatnonzero(text == one)
        found += [own[start : start + number] for start in range(0, len(own) - number + 1, number)]
    return found


def summarize(held: HeldOut, judged: dict[str, Judged]) -> dict[str, Any]:
    """Everything of `evaluation.json`."""
    text = held.pieces.text[held.tested]
    texts = np.unique(text)
    author = held.author
    models = {name: _measures(one, text, texts, author, held) for name, one in judged.items()}
    candidates = [name for name in models if name != FREQUENCIES]
    best = max(candidates, key=lambda name: (models[name]["accuracy_excerpts"], -models[name]["log_loss"]))
    return {
        "recommended": best,
        "why": _why(best, models, judged, author[text], text),
        "networks_add": _networks_add(judged, author[text], text),
        "models": models,
        "authors": _by_author(judged[best], text, texts, held),
        "verification": _verification(held),
        "texts": len(held.library.texts),
        "texts_held_out": len(texts),
        "excerpts_held_out": len(text),
        "num_authors": len(held.library.names),
        "length": held.length,
        "words": len(held.words),
        "folds": held.folds,
    }


def _measures(
    judged: Judged,
    text: NDArray[np.int64],
    texts: NDArray[np.int64],
    author: NDArray[np.int64],
    held: HeldOut,
) -> dict[str, Any]:
    pieces = answer_metrics(judged["pieces"], author[text])
    books = answer_metrics(judged["texts"], author[texts])
    right = (judged["pieces"].argmax(1) == author[text]).astype(float)
    right_books = (judged["texts"].argmax(1) == author[texts]).astype(float)
    found: dict[str, Any] = {
        "accuracy_excerpts": pieces.pop("accuracy"),
        "accuracy_excerpts_interval": bootstrap(right, text),
        "accuracy_books": books.pop("accuracy"),
        "accuracy_books_interval": bootstrap(right_books, texts),
        **pieces,
        **{f"{name}_books": value for name, value in books.items()},
    }
    half = judged["halves"].argmax(1) == author[held.half_text]
    lengths = {str(held.length // 2): float(half.mean())}
    for number in LENGTHS:
        spans = runs(text, number)
        if spans:
            truth = author[text[[span[0] for span in spans]]]
            lengths[str(number * held.length)] = float((judged[f"runs {number}"].argmax(1) == truth).mean())
    return found | {"accuracy_by_length": lengths}


def _why(
    best: str,
    models: dict[str, dict[str, Any]],
    judged: dict[str, Judged],
    truth: NDArray[np.int64],
    text: NDArray[np.int64],
) -> str:
    rivals = [name for name in ("delta", "logistic", "svm") if name != best]
    rival = max(rivals, key=lambda name: models[name]["accuracy_excerpts"])
    gap = _gap(judged[best], judged[rival], truth)
    low, high = bootstrap(gap, text)
    return (
        f"{best} tells {100 * models[best]['accuracy_excerpts']:.1f} % of the held-out excerpts right, {rival} "
        f"{100 * models[rival]['accuracy_excerpts']:.1f} %: {100 * gap.mean():+.1f} points "
        f"(95 % interval over texts {100 * low:+.1f} to {100 * high:+.1f})"
    )


def _networks_add(judged: dict[str, Judged], truth: NDArray[np.int64], text: NDArray[np.int64]) -> dict[str, Any]:
    gap = _gap(judged[COMBINED], judged[FREQUENCIES], truth)
    low, high = bootstrap(gap, text)
    verdict = "yes" if low > 0 else "no: they make it worse" if high < 0 else "not shown: the interval holds zero"
    return {"points": 100 * float(gap.mean()), "interval": (100 * low, 100 * high), "verdict": verdict}


def _gap(left: Judged, right: Judged, truth: NDArray[np.int64]) -> NDArray[np.float64]:
    hits = [(one["pieces"].argmax(1) == truth).astype(float) for one in (left, right)]
    difference: NDArray[np.float64] = hits[0] - hits[1]
    return difference


def _by_author(judged: Judged, text: NDArray[np.int64], texts: NDArray[np.int64], held: HeldOut) -> dict[str, Any]:
    """How hard every author is, and for whom the excerpts are taken."""
    names, author = held.library.names, held.author
    found: dict[str, Any] = {}
    for number in np.unique(author[texts]):
        own = author[text] == number
        answers = np.bincount(judged["pieces"][own].argmax(1), minlength=len(names)) / own.sum()
        books = judged["texts"][author[texts] == number].argmax(1) == number
        taken = sorted(
            (one for one in range(len(names)) if one != number and answers[one]), key=lambda one: -answers[one]
        )
        found[names[number]] = {
            "texts": len(books),
            "excerpts": int(own.sum()),
            "accuracy_excerpts": float(answers[number]),
            "accuracy_books": float(books.mean()),
            "taken_for": {names[one]: float(answers[one]) for one in taken},
        }
    return found


def _verification(held: HeldOut) -> dict[str, float]:
    z = z_scores(held.pieces, standardize(held.pieces))
    profiles = np.stack([z[held.pieces.text == one].mean(0) for one in range(len(held.library.texts))])
    return evaluate_verifier(profiles, held.author)
