"""How good answers are: right or wrong, sure or undecided, calibrated or not."""

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score, roc_auc_score

SURE = 0.7
"""An answer of less probability is "undecided"."""
Probabilities = NDArray[np.float64]


def answer_metrics(p: Probabilities, author: NDArray[np.int64], sure: float = SURE) -> dict[str, float]:
    """All measures of the probabilities (n, authors) of n texts.

    Undecided answers are those of less than ``sure``. ``accuracy_sure_nine_tenths`` is the accuracy without the least
    sure tenth of the answers.
    """
    first, truth = p.argmax(1), p[np.arange(len(author)), author]
    confidence, right = p.max(1), p.argmax(1) == author
    decided = confidence >= sure
    tested = np.unique(author)
    hot = author[:, None] == np.arange(p.shape[1])
    return {
        "accuracy": float(right.mean()),
        "macro_f1": float(f1_score(author, first, labels=tested, average="macro", zero_division=0)),
        "c_at_1": c_at_1(right, decided),
        "f05u": f05u(right, decided),
        "auc": float(np.mean([roc_auc_score(hot[:, one], p[:, one]) for one in tested])) if len(tested) > 1 else 0.5,
        "brier": float(((p - hot) ** 2).sum(1).mean()),
        "log_loss": float(-np.log(np.maximum(truth, 1e-12)).mean()),
        "cllr": cllr(p, hot),
        "calibration_error": calibration_error(confidence, right),
        "undecided": float(1 - decided.mean()),
        "accuracy_decided": float(right[decided].mean()) if decided.any() else 0.0,
        "accuracy_sure_nine_tenths": float(right[np.argsort(-confidence, kind="stable")[: nine_tenths(len(p))]].mean()),
    }


def nine_tenths(n: int) -> int:
    """How many of n answers are left without the least sure tenth."""
    return max(1, n - n // 10)


def c_at_1(right: NDArray[np.bool_], decided: NDArray[np.bool_]) -> float:
    """(n_right + n_undecided · n_right / n) / n: an undecided answer counts as much as the others are right."""
    n, correct = len(right), int((right & decided).sum())
    return (correct + (n - int(decided.sum())) * correct / n) / n


def f05u(right: NDArray[np.bool_], decided: NDArray[np.bool_]) -> float:
    """1.25 tp / (1.25 tp + 0.25 undecided + fp): precision counts more than recall, undecided answers little."""
    tp, fp, undecided = int((right & decided).sum()), int((~right & decided).sum()), int((~decided).sum())
    total = 1.25 * tp + 0.25 * undecided + fp
    return 1.25 * tp / total if total else 0.0


def calibration_error(confidence: NDArray[np.float64], right: NDArray[np.bool_], bins: int = 10) -> float:
    """Expected calibration error: Σ share of a bin · |its accuracy − its mean confidence|, over equal bins."""
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    gaps = [abs(float(right[place == one].mean() - confidence[place == one].mean())) for one in np.unique(place)]
    shares = [float((place == one).mean()) for one in np.unique(place)]
    return float(np.dot(gaps, shares))


def cllr(p: Probabilities, hot: NDArray[np.bool_]) -> float:
    """½ (mean log₂(1 + 1 / LR) over true authors + mean log₂(1 + LR) over the others), LR from p and equal priors."""
    prior = 1 / p.shape[1]
    inside = np.clip(p, 1e-9, 1 - 1e-9)
    ratio = inside / (1 - inside) * (1 - prior) / prior
    return float((np.log2(1 + 1 / ratio[hot]).mean() + np.log2(1 + ratio[~hot]).mean()) / 2)


def bootstrap(values: NDArray[np.float64], text: NDArray[np.int64], rounds: int = 2000) -> tuple[float, float]:
    """95 % interval of the mean of ``values``, by drawing whole texts: pieces of one text are not independent."""
    texts = np.unique(text)
    sums = np.array([values[text == one].sum() for one in texts])
    sizes = np.array([(text == one).sum() for one in texts])
    drawn = np.random.default_rng(0).integers(len(texts), size=(rounds, len(texts)))
    means = sums[drawn].sum(1) / sizes[drawn].sum(1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
