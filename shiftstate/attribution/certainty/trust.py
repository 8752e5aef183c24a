"""Which model to trust for these texts, and why."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from shiftstate.attribution.metrics import bootstrap

BASELINES = ("delta", "logistic", "svm")
"""What every model is compared with."""


def most_trusted(measures: Mapping[str, Mapping[str, float]], key: str = "accuracy") -> str:
    """Of the models that are right at least as often as every baseline, the one of the least log loss.

    Accuracy alone would choose between nearly equal models by chance, and never ask whether their probabilities hold.
    """
    least = max(measures[name][key] for name in BASELINES)
    able = [name for name in measures if measures[name][key] >= least]
    return min(able, key=lambda name: (measures[name]["log_loss"], -measures[name][key]))


def why(
    best: str, judged: Mapping[str, NDArray[np.float64]], author: NDArray[np.int64], text: NDArray[np.int64]
) -> str:
    """The trusted model beside the best of the baselines, in words.

    Args:
        best: the trusted model.
        judged: by model, log p or p of held-out pieces, (n, authors).
        author: (n).
        text: (n), which text a piece is from.
    """
    right = {name: judged[name].argmax(1) == author for name in {best, *BASELINES}}
    rival = max((name for name in BASELINES if name != best), key=lambda name: right[name].mean())
    points, low, high = gap(right[best], right[rival], text)
    return (
        f"{best} tells {100 * right[best].mean():.1f} % of the held-out excerpts right, {rival} "
        f"{100 * right[rival].mean():.1f} %: {points:+.1f} points (95 % interval over texts {low:+.1f} to {high:+.1f})"
    )


def gap(left: NDArray[np.bool_], right: NDArray[np.bool_], text: NDArray[np.int64]) -> tuple[float, float, float]:
    """By how many points the left answers are right more often, with a 95 % interval over texts."""
    difference = left.astype(float) - right
    low, high = bootstrap(difference, text)
    return 100 * float(difference.mean()), 100 * low, 100 * high
