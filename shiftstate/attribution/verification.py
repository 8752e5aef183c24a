"""Did one author write both? Pairs of texts, with the measures of the PAN tasks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score

from shiftstate.attribution.certainty.strangers import SIZES, nearest_size
from shiftstate.attribution.metrics import c_at_1
from shiftstate.attribution.models.delta import cosines

UNDECIDED = 0.1
"""Probabilities so near to one half are undecided."""
FOLDS = 5


@dataclass(frozen=True)
class Verifier:
    """p(same author) = σ(slope · cos(z, z′) + intercept), z and z′ the mean z-scores of the two texts.

    Short texts are farther from each other than long ones, so slope and intercept belong to a size.
    """

    slopes: tuple[float, ...]
    """By size of the texts, as in `SIZES`."""
    intercepts: tuple[float, ...]

    def probability(self, first: NDArray[np.float32], second: NDArray[np.float32], pieces: float) -> float:
        """Of two texts, given by their mean z-scores and the (geometric) mean of their numbers of pieces."""
        size = nearest_size(pieces)
        cosine = float(cosines(first[None], second[None])[0, 0])
        with np.errstate(over="ignore"):  # 1 / ∞ is the 0 that is meant
            return float(1 / (1 + np.exp(-(self.slopes[size] * cosine + self.intercepts[size]))))


def learn_verifier(spans: NDArray[np.float32], author: NDArray[np.int64]) -> Verifier:
    """From all pairs of texts, both kinds of equal weight.

    Args:
        spans: (sizes, texts, V), mean z-scores of as many pieces as `SIZES` says.
        author: (texts).
    """
    learned = [_learn(profiles, author) for profiles in spans]
    return Verifier(tuple(slope for slope, _ in learned), tuple(intercept for _, intercept in learned))


def _learn(profiles: NDArray[np.float32], author: NDArray[np.int64]) -> tuple[float, float]:
    first, second = np.triu_indices(len(author), 1)
    same = author[first] == author[second]
    if same.all() or not same.any():
        return 0.0, 0.0
    cosine = cosines(profiles, profiles)[first, second]
    model = LogisticRegression(C=1e4, class_weight="balanced").fit(cosine[:, None], same)
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def evaluate_verifier(spans: NDArray[np.float32], author: NDArray[np.int64]) -> dict[int, dict[str, float]]:
    """PAN's measures over pairs of texts, by their number of pieces.

    The authors of a pair are never among those that the verifier learned from. As many pairs of different authors as of
    one, drawn at random.
    """
    draw = np.random.default_rng(0)
    authors = draw.permutation(np.unique(author))
    found: dict[int, list[tuple[float, bool]]] = {size: [] for size in SIZES}
    for fold in range(FOLDS):
        inside = np.isin(author, authors[fold::FOLDS])
        verifier = learn_verifier(spans[:, ~inside], author[~inside])
        texts = np.flatnonzero(inside)
        first, second = (texts[one] for one in np.triu_indices(len(texts), 1))
        same = author[first] == author[second]
        others = draw.permutation(np.flatnonzero(~same))[: int(same.sum())]
        for pair in [*np.flatnonzero(same), *others]:
            for profiles, size in zip(spans, SIZES, strict=True):
                p = verifier.probability(profiles[first[pair]], profiles[second[pair]], size)
                found[size].append((p, bool(same[pair])))
    measures = {size: pan_measures(*map(np.array, zip(*one, strict=True))) for size, one in found.items() if one}
    return {size: one for size, one in measures.items() if one}


def pan_measures(p: NDArray[np.float64], same: NDArray[np.bool_]) -> dict[str, float]:
    """AUC, c@1, F0.5u, F1 and Brier score (as 1 − mean squared error), and their mean."""
    if not len(p) or same.all() or not same.any():
        return {}
    decided = np.abs(p - 0.5) >= UNDECIDED
    yes = p > 0.5
    tp = int((yes & same & decided).sum())
    fp = int((yes & ~same & decided).sum())
    fn = int((~yes & same & decided).sum())
    total = 1.25 * tp + 0.25 * (fn + int((~decided).sum())) + fp
    found = {
        "auc": float(roc_auc_score(same, p)),
        "c_at_1": c_at_1(yes == same, decided),
        "f05u": 1.25 * tp / total if total else 0.0,
        "f1": float(f1_score(same[decided], yes[decided], zero_division=0)) if decided.any() else 0.0,
        "brier": float(1 - ((p - same) ** 2).mean()),
    }
    return found | {"overall": float(np.mean(list(found.values()))), "pairs": float(len(p))}
