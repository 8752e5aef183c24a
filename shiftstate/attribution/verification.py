"""Did one author write both? Pairs of texts, with the measures of the PAN tasks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score

from shiftstate.attribution.metrics import c_at_1
from shiftstate.attribution.models.delta import cosines

UNDECIDED = 0.1
"""Probabilities so near to one half are undecided."""
FOLDS = 5


@dataclass(frozen=True)
class Verifier:
    """p(same author) = σ(slope · cos(z, z′) + intercept), z and z′ the mean z-scores of the two texts."""

    slope: float
    intercept: float

    def probability(self, first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
        """Of two texts, given by their mean z-scores."""
        cosine = float(cosines(first[None], second[None])[0, 0])
        return float(1 / (1 + np.exp(-(self.slope * cosine + self.intercept))))


def learn_verifier(profiles: NDArray[np.float32], author: NDArray[np.int64]) -> Verifier:
    """From all pairs of texts, both kinds of equal weight."""
    first, second = np.triu_indices(len(author), 1)
    same = author[first] == author[second]
    if same.all() or not same.any():
        return Verifier(0.0, 0.0)
    cosine = cosines(profiles, profiles)[first, second]
    model = LogisticRegression(C=1e4, class_weight="balanced").fit(cosine[:, None], same)
    return Verifier(float(model.coef_[0, 0]), float(model.intercept_[0]))


def evaluate_verifier(profiles: NDArray[np.float32], author: NDArray[np.int64]) -> dict[str, float]:
    """PAN's measures over pairs of texts; the authors of a pair are never among those that the verifier learned from.

    As many pairs of different authors as of one, drawn at random.
    """
    draw = np.random.default_rng(0)
    authors = draw.permutation(np.unique(author))
    probabilities: list[float] = []
    truth: list[bool] = []
    for fold in range(FOLDS):
        inside = np.isin(author, authors[fold::FOLDS])
        verifier = learn_verifier(profiles[~inside], author[~inside])
        texts = np.flatnonzero(inside)
        first, second = (texts[one] for one in np.triu_indices(len(texts), 1))
        same = author[first] == author[second]
        others = np.flatnonzero(~same)
        chosen = [*np.flatnonzero(same), *draw.permutation(others)[: int(same.sum())]]
        probabilities += [verifier.probability(profiles[first[one]], profiles[second[one]]) for one in chosen]
        truth += same[chosen].tolist()
    return pan_measures(np.array(probabilities), np.array(truth, dtype=bool))


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
