"""Does the graph help? A model beside baselines without the graph, and one sentence about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import clone

from shiftstate.checks import check_whole
from shiftstate.estimators import baselines
from shiftstate.estimators.base import Estimator
from shiftstate.estimators.forecaster import Forecaster
from shiftstate.estimators.inputs import as_array, as_labels, as_mask, as_shift, encode
from shiftstate.estimators.nodes import NodeEstimator
from shiftstate.graphs import Shift
from shiftstate.tasks import Metric

Values = NDArray[np.float64]

RESAMPLES = 200
LEVEL = 0.95
BLOCK = 12
"""Successive times that are drawn together: errors of neighbouring times are alike."""


@dataclass(frozen=True)
class Contender:
    """One model: its validation score, and its test score for every seed."""

    name: str
    title: str
    valid: float
    tests: tuple[float, ...]

    @property
    def test(self) -> float:
        """The mean over seeds."""
        return float(np.mean(self.tests))


@dataclass(frozen=True)
class Comparison:
    """A model beside models without the graph, all on the same test data."""

    metric: Metric
    model: Contender
    others: tuple[Contender, ...]
    lead: float
    """By how much the model is better than the best of the others (chosen on validation data); below 0 if worse."""
    low: float
    high: float
    """The interval of the lead, by resampling test data."""
    estimators: tuple[Estimator, ...]
    """The fitted model for every seed."""

    @property
    def rival(self) -> Contender:
        """The best model without the graph, by its validation score."""
        best = self.others[0]
        for other in self.others[1:]:
            best = other if self.metric.better(other.valid, than=best.valid) else best
        return best

    @property
    def verdict(self) -> str:
        """One sentence."""
        rival = self.rival.title if self.rival.name == "no_graph" else f"{self.rival.title} without the graph"
        if self.low > 0:
            return f"the graph is worth {self._shown(self.lead, self.low, self.high)}, compared with {self.rival.title}"
        if self.high < 0:
            return f"{rival} is better by {self._shown(-self.lead, -self.high, -self.low)}: prefer it"
        return f"{rival} is as good (the graph gives {self._shown(self.lead, self.low, self.high)}): prefer it"

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "metric": self.metric.name,
            "direction": self.metric.direction,
            "test": {"mean": self.model.test, "seeds": list(self.model.tests)},
            "baselines": {other.name: other.test for other in self.others},
            "rival": self.rival.name,
            "lead": self.lead,
            "interval": [self.low, self.high],
            "verdict": self.verdict,
        }

    def table(self) -> str:
        """One line per model, the best first."""
        everyone = [self.model, *self.others]
        ordered = sorted(everyone, key=lambda one: one.test, reverse=self.metric.direction == "higher")
        width = max(len(one.title) for one in everyone)
        lines = [f"{one.title:{width}}  {self._plain(one.test)}" for one in ordered]
        return "\n".join([f"{self.metric.title} on test data", *lines])

    def _shown(self, value: float, low: float, high: float) -> str:
        if _is_share(self.metric):
            return f"{100 * value:.1f} points ({100 * low:.1f} … {100 * high:.1f})"
        return f"{value:.2g} ({low:.2g} … {high:.2g}) of {self.rival.test:.3g} in {self.metric.title}"

    def _plain(self, value: float) -> str:
        return f"{100 * value:.1f}" if _is_share(self.metric) else f"{value:.4g}"


def compare(
    estimator: Estimator,
    shift: Shift,
    X: Any,
    y: Any = None,
    *,
    train: Any = None,
    valid: Any = None,
    test: Any = None,
    seeds: int = 5,
    test_fraction: float = 0.2,
    period: int | None = None,
) -> Comparison:
    """Train the estimator with several seeds, and what does without the graph, and judge all on the same test data.

    Args:
        estimator: any estimator of the library; it is cloned, not changed.
        shift: the graph.
        X: features of nodes, signals, or a series (times, nodes) for a `Forecaster`.
        y: targets of nodes or signals.
        train: boolean mask of nodes or signals to learn from.
        valid: boolean mask of those to choose by.
        test: boolean mask of those to judge by.
        seeds: how many trainings of the estimator.
        test_fraction: the last share of the times, for a `Forecaster`.
        period: of the seasonal mean, for a `Forecaster`; guessed on training data by default.
    """
    check_whole("seeds", seeds, 1)
    shift = as_shift(shift)
    if isinstance(estimator, Forecaster):
        return _compare_forecasts(estimator, shift, X, seeds, test_fraction, period)
    for name, mask in (("y", y), ("train", train), ("valid", valid), ("test", test)):
        if mask is None:
            raise ValueError(f"{name} is None; expected targets and boolean masks train, valid and test")
    return _compare_rows(estimator, shift, X, y, train, valid, test, seeds)


def _compare_rows(
    estimator: Estimator, shift: Shift, X: Any, y: Any, train: Any, valid: Any, test: Any, seeds: int
) -> Comparison:
    """Nodes or signals, whose features are rows of a table for the baselines."""
    metric = estimator.reported()
    rows = as_array("X", X)
    labelled = hasattr(estimator, "predict_proba")
    targets: Any = as_labels("y", y)[0] if labelled else as_array("y", y)
    learn, choose, judge = (
        as_mask(name, mask, len(targets)) for name, mask in (("train", train), ("valid", valid), ("test", test))
    )

    def trained(one: Estimator) -> tuple[Estimator, Values, Values]:
        call: Any = one
        if isinstance(one, NodeEstimator):
            call.fit(shift, X, targets, train=learn, valid=choose)
            outputs = _outputs(call, shift, rows)
            return one, outputs[choose], outputs[judge]
        call.fit(shift, rows[learn], targets[learn], valid=(rows[choose], targets[choose]))
        return one, _outputs(call, shift, rows[choose]), _outputs(call, shift, rows[judge])

    fitted = [trained(_with_seed(estimator, seed)) for seed in range(seeds)]
    classes: Any = getattr(fitted[0][0], "classes_", None)
    numbers: Values = targets
    if labelled:
        numbers = np.zeros(len(targets), np.int64)
        for mask in (learn, choose, judge):
            numbers[mask] = encode(targets[mask], classes, "y")
    outcome = {"no_graph": [trained(_with_seed(estimator, 0).set_params(K=0))[1:]]}
    flat = rows.reshape(len(rows), -1)
    plain = baselines.classifiers(0) if labelled else baselines.regressors(0)
    for name, model in plain.items():
        if name == "trees" and learn.sum() < baselines.LEAST:
            continue
        columns = numbers[learn] if labelled or numbers.ndim == 2 else numbers[learn][:, None]
        model.fit(flat[learn], columns)
        each = [
            baselines.log_chances(model, flat[mask], len(classes)) if labelled else model.predict(flat[mask])
            for mask in (choose, judge)
        ]
        outcome[name] = [(each[0], each[1])]
    held = (numbers[choose], numbers[judge])
    units = np.arange(int(judge.sum()))
    return _judged(metric, [one for one, *_ in fitted], [pair for _, *pair in fitted], outcome, held, units, 1)


def _compare_forecasts(
    estimator: Forecaster, shift: Shift, series: Any, seeds: int, fraction: float, period: int | None
) -> Comparison:
    metric = estimator.reported()
    estimator._check_arguments()
    values = estimator._series(shift, series, "series")
    first = len(values) - round(fraction * len(values))
    ahead, horizons, history = max(estimator.horizons_), estimator.horizons_, estimator.history
    if not 0 < fraction < 1 or first < 2 * (history + ahead) or len(values) - first < ahead:
        raise ValueError(f"test_fraction is {fraction} of {len(values)} times; expected enough times on both sides")
    begin = first - round(estimator.validation_fraction * first)

    def trained(one: Forecaster) -> tuple[Estimator, Values, Values]:
        one.fit(shift, series[:first] if not hasattr(series, "iloc") else series.iloc[:first])
        return one, _known(one.forecast(shift, values[:first], begin)), _known(one.forecast(shift, values, first))

    def of(forecast: Callable[..., Values], *options: Any) -> list[tuple[Values, Values]]:
        found = []
        for end, start in ((first, begin), (len(values), first)):
            made = range(start - 1, end - ahead)
            made_of = forecast(values[:end], made, horizons, *(start if one is FIRST else one for one in options))
            found.append(made_of[~np.isnan(_came(values, made, horizons))])
        return [(found[0], found[1])]

    fitted = [trained(_with_seed(estimator, seed)) for seed in range(seeds)]
    period = period or baselines.guessed_period(values[:first])
    outcome = {
        "no_graph": [trained(_with_seed(estimator, 0).set_params(K=0))[1:]],
        "persistence": of(baselines.persistence),
        "seasonal_mean": of(baselines.seasonal_mean, FIRST, period),
        "linear_per_node": of(baselines.linear_per_node, FIRST, history),
    }
    came = [
        _came(values, range(start - 1, end - ahead), horizons) for end, start in ((first, begin), (len(values), first))
    ]
    times = np.broadcast_to(np.arange(len(came[1]))[:, None, None], came[1].shape)[~np.isnan(came[1])]
    held = (came[0][~np.isnan(came[0])], came[1][~np.isnan(came[1])])
    return _judged(metric, [one for one, *_ in fitted], [pair for _, *pair in fitted], outcome, held, times, BLOCK)


FIRST = object()
"""Stands for the first row after the training data."""


def _judged(
    metric: Metric,
    estimators: Sequence[Estimator],
    own: Sequence[Sequence[Values]],
    outcome: dict[str, Any],
    held: tuple[Values, Values],
    units: NDArray[np.int64],
    block: int,
) -> Comparison:
    """Scores of all, and the lead of the model over the best other one with its interval."""
    titled = {"model": f"{estimators[0].filter}, K = {estimators[0].settings_.K}", **baselines.TITLES}

    def contender(name: str, pairs: Sequence[Sequence[Values]]) -> Contender:
        valid = float(np.mean([_value(metric, pair[0], held[0]) for pair in pairs]))
        return Contender(name, titled[name], valid, tuple(_value(metric, pair[1], held[1]) for pair in pairs))

    model = contender("model", own)
    others = tuple(contender(name, pairs) for name, pairs in outcome.items())
    comparison = Comparison(metric, model, others, 0.0, 0.0, 0.0, tuple(estimators))
    rival = outcome[comparison.rival.name]
    sign = 1 if metric.direction == "higher" else -1

    def lead(rows: Any) -> float:
        mine = np.mean([_value(metric, pair[1][rows], held[1][rows]) for pair in own])
        theirs = np.mean([_value(metric, pair[1][rows], held[1][rows]) for pair in rival])
        return float(sign * (mine - theirs))

    leads = [lead(rows) for rows in _resamples(units, block)]
    leads = [one for one in leads if math.isfinite(one)] or [math.nan]
    low, high = np.quantile(leads, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Comparison(metric, model, others, lead(slice(None)), float(low), float(high), tuple(estimators))


def _resamples(units: NDArray[np.int64], block: int) -> list[NDArray[np.int64]]:
    """Rows of test data, drawn again by blocks of units."""
    random = np.random.default_rng(0)
    blocks = units // block
    order = np.argsort(blocks, kind="stable")
    starts = np.searchsorted(blocks[order], np.arange(blocks.max() + 2))
    members = [order[a:b] for a, b in pairwise(starts)]
    draws = (random.integers(len(members), size=len(members)) for _ in range(RESAMPLES))
    return [np.concatenate([members[one] for one in draw]) for draw in draws]


def _value(metric: Metric, outputs: Values, targets: Values) -> float:
    outputs = outputs.reshape(targets.shape) if outputs.size == targets.size else outputs
    return metric(torch.from_numpy(np.ascontiguousarray(outputs)), torch.from_numpy(np.ascontiguousarray(targets)))


def _outputs(estimator: Any, shift: Shift, rows: Values) -> Values:
    if hasattr(estimator, "predict_proba"):
        outputs: Values = np.log(np.clip(estimator.predict_proba(shift, rows), 1e-12, 1))
    else:
        outputs = estimator.predict(shift, rows)
    return outputs


def _with_seed(estimator: Any, seed: int) -> Any:
    return clone(estimator).set_params(random_state=seed)


def _came(values: Values, made: Sequence[int], horizons: Sequence[int]) -> Values:
    return np.stack([np.stack([values[t + h] for h in horizons]) for t in made])


def _known(pair: tuple[Values, Values]) -> Values:
    forecast, came = pair
    return forecast[~np.isnan(came)]


def _is_share(metric: Metric) -> bool:
    return metric.direction == "higher" and metric.name != "r2"
