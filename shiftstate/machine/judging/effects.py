"""Effects that respect the nesting: repetitions inside one unit are not independent, so statistics count units.

Random splits of one set of samples overlap, so their means are not independent either: there the corrected
resampled t-test of Nadeau and Bengio (2003) takes (1/n + n_test/n_train) s² for the variance of the mean of n splits,
in place of s²/n.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit  # scipy.stats takes a second to import

Scores = Mapping[tuple[int, int], float]
"""Score by unit and number in it."""


@dataclass(frozen=True)
class Effect:
    """A difference over n units, with two-sided p-value and 95 % interval where the units tell them."""

    mean: float
    p: float | None
    interval: tuple[float, float] | None
    n: int
    margin: float = 0.0
    """What the mean is tested against."""


def mean_interval(scores: Scores, overlap: float = 0.0) -> tuple[float, float] | None:
    """The 95 % t-interval of the mean score, from the means of the units; None for a single unit.

    Args:
        scores: the scores.
        overlap: n_test/n_train where the units are splits of one set; 0 where they are independent.
    """
    return _t_test(_unit_means(scores), overlap).interval


def difference(ours: Scores, theirs: Scores, margin: float = 0.0, overlap: float = 0.0) -> Effect | None:
    """ours − theirs, tested against a margin, by a paired t-test of the units' means; only common pairs count.

    Independent units that agree to the last digit (every model is right in every case) tell no spread: then their signs
    count, p = 2^(1−n).
    """
    common = sorted(ours.keys() & theirs.keys())
    if not common:
        return None
    effect = _t_test(_unit_means({key: ours[key] - theirs[key] for key in common}), overlap, margin)
    if effect.p is None and effect.n > 1 and overlap == 0 and effect.mean != margin:
        return replace(effect, p=2.0 ** (1 - effect.n))
    return effect


def deviation_difference(ours: Scores, theirs: Scores) -> Effect | None:
    """std(ours) − std(theirs) over all scores, with the error of a jackknife that leaves out one unit at a time.

    The spread of the units' pseudo-values n·d − (n−1)·d_(−i) is that of a t-test's sample around the difference d
    itself. Where rare failures make the deviations, few units have one, and the error comes out too small.
    """
    common = sorted(ours.keys() & theirs.keys())
    units = sorted({unit for unit, _ in common})

    def gap(keys: Sequence[tuple[int, int]]) -> float:
        return float(np.std([ours[key] for key in keys], ddof=1) - np.std([theirs[key] for key in keys], ddof=1))

    if len(common) < 2:
        return None
    whole, n = gap(common), len(units)
    rest = [[key for key in common if key[0] != unit] for unit in units]
    if min(map(len, rest)) < 2:
        return Effect(whole, None, None, n)
    pseudo = np.array([n * whole - (n - 1) * gap(keys) for keys in rest])
    return _t_test(pseudo - pseudo.mean() + whole)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: p-values that may each be compared with the level itself."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def _unit_means(scores: Scores) -> NDArray[np.float64]:
    units = sorted({unit for unit, _ in scores})
    return np.array([np.mean([value for key, value in scores.items() if key[0] == unit]) for unit in units])


def _t_test(sample: NDArray[np.float64], overlap: float = 0.0, margin: float = 0.0) -> Effect:
    n, mean = len(sample), float(np.mean(sample))
    error = float(np.std(sample, ddof=1)) / math.sqrt(n / (1 + n * overlap)) if n > 1 else 0.0
    if error < 1e-12:  # one unit, or units that agree to the last digit: their spread is not known
        return Effect(mean, None, None, n, margin)
    p = 2 * float(stdtr(n - 1, -abs(mean - margin) / error))
    half = float(stdtrit(n - 1, 0.975)) * error
    return Effect(mean, p, (mean - half, mean + half), n, margin)
