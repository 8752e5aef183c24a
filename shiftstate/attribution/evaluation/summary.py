"""What held-out texts say: measures of every model with intervals, the model to trust, and what networks add."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shiftstate.attribution.certainty.calibration import cross_calibrate
from shiftstate.attribution.certainty.impostors import Impostors, learn_impostors
from shiftstate.attribution.certainty.strangers import learn_strangers
from shiftstate.attribution.certainty.trust import gap, most_trusted, why
from shiftstate.attribution.evaluation.held_out import HeldOut
from shiftstate.attribution.evaluation.two_hands import measure_hands
from shiftstate.attribution.metrics import answer_metrics, bootstrap
from shiftstate.attribution.models import MODELS
from shiftstate.attribution.models.base import standardize, z_scores
from shiftstate.attribution.stored import COMBINED
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


Probabilities = dict[str, NDArray[np.float64]]


def judge(held: HeldOut) -> dict[str, Probabilities]:
    """Probabilities by model: of "pieces", "halves", "texts", and of runs of pieces, each calibrated on other texts."""
    text = held.pieces.text[held.tested]
    return {name: _judge_one(held, models, text) for name, models in GROUPS.items()}


def _judge_one(held: HeldOut, models: list[str], text: NDArray[np.int64]) -> Probabilities:
    judged = cross_calibrate([held.scores[name] for name in models], held.author[text], text)
    halves = [held.half_scores[name] for name in models]
    half = np.full(halves[0].shape, np.nan)
    for one, calibration in judged.by_text.items():
        own = held.half_text == one
        half[own] = calibration.logarithms([scores[own] for scores in halves], 0.5)
    found = {"pieces": np.exp(judged.logarithms), "halves": np.exp(half), "texts": judged.texts(text)}
    for number in LENGTHS:
        spans = runs(text, number)
        if spans:
            found[f"runs {number}"] = np.stack(
                [judged.by_text[int(text[span[0]])].together(judged.logarithms[span]) for span in spans]
            )
    return found


def runs(text: NDArray[np.int64], number: int) -> list[NDArray[np.int64]]:
    """Places of ``number`` pieces in a row of one text, one run after the other."""
    found = []
    for one in np.unique(text):
        own = np.flatnonzero(text == one)
        found += [own[start : start + number] for start in range(0, len(own) - number + 1, number)]
    return found


def summarize(held: HeldOut, judged: dict[str, Probabilities]) -> dict[str, Any]:
    """Everything of `evaluation.json`."""
    text = held.pieces.text[held.tested]
    texts = np.unique(text)
    author = held.author
    z = z_scores(held.pieces, standardize(held.pieces))
    impostors = learn_impostors(z, held.pieces.text, author.tolist())
    models = {name: _measures(one, text, texts, author, held) for name, one in judged.items()}
    best = most_trusted({name: one for name, one in models.items() if name != FREQUENCIES}, "accuracy_excerpts")
    again = cross_calibrate([held.scores[name] for name in GROUPS[best]], author[text], text)
    strangers = learn_strangers(again.logarithms, author[text], text)
    return {
        "recommended": best,
        "why": why(best, {name: one["pieces"] for name, one in judged.items()}, author[text], text),
        "networks_add": _networks_add(judged, author[text], text),
        "models": models,
        "authors": _by_author(judged[best], text, texts, held),
        "verification": _verification(impostors, held),
        "two_hands": measure_hands(again, author, text),
        "strangers": [{"words": held.length * int(one.pop("pieces")), **one} for one in strangers.power()],
        "texts": len(held.library.texts),
        "texts_held_out": len(texts),
        "excerpts_held_out": len(text),
        "num_authors": len(held.library.names),
        "length": held.length,
        "words": len(held.words),
        "folds": held.folds,
    }


def _measures(
    judged: Probabilities,
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


def _networks_add(
    judged: dict[str, Probabilities], truth: NDArray[np.int64], text: NDArray[np.int64]
) -> dict[str, Any]:
    """What the combination with networks adds to that without, and the filter to itself without its graph."""
    right = {name: one["pieces"].argmax(1) == truth for name, one in judged.items()}
    points, low, high = gap(right[COMBINED], right[FREQUENCIES], text)
    verdict = "yes" if low > 0 else "no: they make it worse" if high < 0 else "not shown: the interval holds zero"
    graph, graph_low, graph_high = gap(right["filter"], right["no_graph"], text)
    return {
        "points": points,
        "interval": (low, high),
        "verdict": verdict,
        "filter_over_no_graph": {"points": graph, "interval": (graph_low, graph_high)},
    }


def _by_author(
    judged: Probabilities, text: NDArray[np.int64], texts: NDArray[np.int64], held: HeldOut
) -> dict[str, Any]:
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


def _verification(impostors: Impostors, held: HeldOut) -> dict[str, Any]:
    """Measures of pairs of the longest texts, and by length."""
    by_size = evaluate_verifier(impostors.spans, held.author)
    if not by_size:
        return {}
    return by_size[max(by_size)] | {"by_length": {str(size * held.length): one for size, one in by_size.items()}}
