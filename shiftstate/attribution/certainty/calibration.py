"""From scores of models to probabilities: weights learned on held-out texts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar

from shiftstate.attribution.models.linear import log_softmax

Scores = NDArray[np.float64]
RIDGE = 0.1
"""Of the weights, divided by the number of texts: a few texts that are all told right allow no certainty."""
CROSS_FOLDS = 10
SHORT = 1 / 3
"""Scores of a piece of fewer words than the calibration was learned from count (share of the words)^SHORT times.

A rule of thumb: calibrated on 1,000 words, it brings the calibration error of the combined model from 0.14 to 0.02 at
250 words and from 0.27 to 0.04 at 125 (twelve French authors), from 0.11 to 0.03 and from 0.24 to 0.02 (twelve English
ones; benchmarks/attribution_short_texts.py).
"""


@dataclass(frozen=True)
class Calibration:
    """p(a | piece) = softmax(Σ_m w_m s_m), w ≥ 0; p(a | n pieces) ∝ exp(n^power · mean of log p(a | piece)).

    One weight per model, so a single model is calibrated and several are combined (stacked) by the same formula. Pieces
    of one text are not independent: power = 1 would take them as such, power = 0 as copies of one piece.
    """

    weights: tuple[float, ...]
    power: float

    def logarithms(self, scores: Sequence[Scores], share: float = 1.0) -> Scores:
        """log p of every piece, (n, authors); ``share`` is its words divided by those of a whole piece, at most 1."""
        return log_softmax(share**SHORT * np.tensordot(self.weights, np.stack(scores), 1))

    def together(self, logarithms: Scores) -> NDArray[np.float64]:
        """p of a text, (authors), from log p of its pieces."""
        joined: NDArray[np.float64] = np.exp(
            log_softmax(len(logarithms) ** self.power * logarithms.mean(0, keepdims=True))
        )[0]
        return joined


def calibrate(scores: Sequence[Scores], author: NDArray[np.int64], text: NDArray[np.int64]) -> Calibration:
    """The weights and the power under which held-out pieces and texts are likeliest.

    Args:
        scores: of each model, (n, authors), for pieces that it did not learn from.
        author: (n), who wrote the piece.
        text: (n), which text it is from; pieces of a text stand in its order.
    """
    weights = _weights(scores, author, RIDGE / len(np.unique(text)))
    one = Calibration(weights, 1.0)
    return Calibration(weights, _power(one.logarithms(scores), author, text))


@dataclass(frozen=True, eq=False)
class Judged:
    """Held-out pieces by calibrations that were learned from other texts."""

    logarithms: Scores
    """(n, authors): log p of every piece."""
    by_text: dict[int, Calibration]
    """What each text was judged by."""

    def texts(self, text: NDArray[np.int64]) -> NDArray[np.float64]:
        """p of every text as a whole, (texts, authors)."""
        return np.stack([self.by_text[int(one)].together(self.logarithms[text == one]) for one in np.unique(text)])


def cross_calibrate(scores: Sequence[Scores], author: NDArray[np.int64], text: NDArray[np.int64]) -> Judged:
    """Judge the pieces of every text by weights that were learned from the texts of nine other groups."""
    texts = np.unique(text)
    logarithms = np.full(scores[0].shape, np.nan)
    by_text: dict[int, Calibration] = {}
    for start in range(min(len(texts), CROSS_FOLDS)):
        group = texts[start::CROSS_FOLDS]
        inside = np.isin(text, group)
        calibration = calibrate([one[~inside] for one in scores], author[~inside], text[~inside])
        logarithms[inside] = calibration.logarithms([one[inside] for one in scores])
        by_text |= {int(one): calibration for one in group}
    return Judged(logarithms, by_text)


def _weights(scores: Sequence[Scores], author: NDArray[np.int64], ridge: float) -> tuple[float, ...]:
    """Minimal log loss, convex in the weights; scores are brought to one scale first."""
    scales = np.array([max(float((one - one.mean(1, keepdims=True)).std()), 1e-9) for one in scores])
    stacked = np.stack([one / scale for one, scale in zip(scores, scales, strict=True)])  # (M, n, A)
    rows = np.arange(len(author))
    right = stacked[:, rows, author]  # (M, n)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logarithms = log_softmax(np.tensordot(weights, stacked, 1))
        expected = (np.exp(logarithms)[None] * stacked).sum(2)
        slope = (expected - right).mean(1) + 2 * ridge * weights
        return ridge * float((weights**2).sum()) - float(logarithms[rows, author].mean()), slope

    start = np.full(len(scores), 2.0 / len(scores))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(scores))
    return tuple(float(weight) for weight in found.x / scales)


def _power(logarithms: Scores, author: NDArray[np.int64], text: NDArray[np.int64]) -> float:
    spans = [span for one in np.unique(text) for span in _spans(np.flatnonzero(text == one))]
    means = np.stack([logarithms[span].mean(0) for span in spans])
    sizes = np.array([len(span) for span in spans], dtype=np.float64)
    truth = author[[span[0] for span in spans]]

    def loss(power: float) -> float:
        return -float(log_softmax(sizes[:, None] ** power * means)[np.arange(len(truth)), truth].mean())

    return float(minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded").x)


def _spans(pieces: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Runs of 2, 4, 8, … pieces of a text, at most four of each size, and the whole."""
    spans = [pieces] if len(pieces) else []
    size = 2
    while size < len(pieces):
        starts = np.linspace(0, len(pieces) - size, min(4, len(pieces) // size)).astype(int)
        spans += [pieces[start : start + size] for start in starts]
        size *= 2
    return spans
