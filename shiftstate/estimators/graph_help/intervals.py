"""How sure is a difference? Over seeds, and over test data that were drawn again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import norm, t

from shiftstate.tasks import Metric

Values = NDArray[np.float64]

RESAMPLES = 1000
FEW_RESAMPLES = 200
"""For metrics that have to be computed anew for every draw."""
LEVEL = 0.95


@dataclass(frozen=True)
class Lead:
    """By how much a model is better than another one, with its interval; below 0 if it is worse."""

    value: float
    low: float
    high: float


def value_of(metric: Metric, outputs: Values, targets: Values) -> float:
    """The metric of outputs (n, …) for targets (n, …)."""
    outputs = outputs.reshape(targets.shape) if outputs.size == targets.size else outputs
    return metric(torch.from_numpy(np.ascontiguousarray(outputs)), torch.from_numpy(np.ascontiguousarray(targets)))


def over_seeds(scores: Sequence[float]) -> tuple[float, float] | None:
    """The interval of the mean by Student's t; None for a single seed."""
    half = _half_width_over_seeds(np.asarray(scores))
    return None if half is None else (float(np.mean(scores)) - half, float(np.mean(scores)) + half)


def lead_of(
    metric: Metric, ours: Sequence[Values], theirs: Sequence[Values], targets: Values, units: NDArray[np.int64]
) -> Lead:
    """The mean lead over seeds, on the same test data, and its interval.

    The two sources of chance are taken together as √(a² + b²): a is half the interval over test data, whose units are
    drawn again for both models at once; b is half the interval of the mean difference over seeds, by Student's t. Where
    both models have as many seeds, they are compared seed by seed; a model without chance has one.

    Args:
        metric: what is compared.
        ours: outputs on the test data (n, …) for every seed.
        theirs: of the other model.
        targets: what was right (n, …).
        units: which rows belong together (n), from 0; they are drawn again as one.
    """
    sign = 1 if metric.direction == "higher" else -1
    own, other = (np.array([value_of(metric, one, targets) for one in pair]) for pair in (ours, theirs))
    each = sign * (own - other if len(own) == len(other) else own - other.mean())
    lead = float(each.mean())
    draws = _resampled(metric, ours, targets, units) - _resampled(metric, theirs, targets, units)
    known = draws[np.isfinite(draws)]
    over_data = float(norm.ppf((1 + LEVEL) / 2) * known.std()) if len(known) else float("nan")
    half = float(np.hypot(over_data, _half_width_over_seeds(each) or 0.0))
    return Lead(lead, lead - half, lead + half)


def _half_width_over_seeds(scores: Values) -> float | None:
    count = len(scores)
    if count < 2:
        return None
    return float(t.ppf((1 + LEVEL) / 2, count - 1) * scores.std(ddof=1) / np.sqrt(count))


def _resampled(metric: Metric, seeds: Sequence[Values], targets: Values, units: NDArray[np.int64]) -> Values:
    """The mean score over seeds for every draw of units; the same draws at every call."""
    order = np.argsort(units, kind="stable")
    starts = np.searchsorted(units[order], np.arange(units.max() + 2))
    members = [order[a:b] for a, b in pairwise(starts) if b > a]
    random = np.random.default_rng(0)
    if metric.name in SUMS:
        loss, finish = SUMS[metric.name]
        drawn = random.multinomial(len(members), np.full(len(members), 1 / len(members)), RESAMPLES)  # (draws, units)
        counts = drawn @ np.array([len(one) for one in members])
        losses = [loss(outputs, targets) for outputs in seeds]
        sums = np.array([[one[rows].sum() for rows in members] for one in losses])
        return np.asarray(finish(sums @ drawn.T / counts).mean(0))
    draws = [random.integers(len(members), size=len(members)) for _ in range(FEW_RESAMPLES)]
    rows = [np.concatenate([members[one] for one in draw]) for draw in draws]
    return np.array([np.mean([value_of(metric, one[again], targets[again]) for one in seeds]) for again in rows])


def _rows(errors: Values) -> Values:
    """The mean over the targets of a row."""
    return np.asarray(errors.reshape(len(errors), -1).mean(1))


def _hits(outputs: Values, targets: Values) -> Values:
    return np.asarray(outputs.argmax(-1) == targets, np.float64)


def _absolute(outputs: Values, targets: Values) -> Values:
    return _rows(np.abs(outputs.reshape(targets.shape) - targets))


def _squared(outputs: Values, targets: Values) -> Values:
    return _rows((outputs.reshape(targets.shape) - targets) ** 2)


SUMS: dict[str, tuple[Callable[[Values, Values], Values], Callable[[Values], Values]]] = {
    "accuracy": (_hits, np.asarray),
    "mae": (_absolute, np.asarray),
    "rmse": (_squared, np.sqrt),
}
"""Metrics that are a function of a mean over rows: the rows' values, and the function."""
