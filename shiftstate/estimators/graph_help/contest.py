"""Training a model and what does without the graph, and judging all of them on the same test data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from shiftstate.checks import check_whole
from shiftstate.estimators.base import Estimator
from shiftstate.estimators.forecaster import Forecaster
from shiftstate.estimators.graph_help import baselines
from shiftstate.estimators.graph_help.comparison import Comparison, Contender
from shiftstate.estimators.graph_help.intervals import lead_of, value_of
from shiftstate.estimators.inputs import as_array, as_labels, as_mask, as_shift, encode
from shiftstate.estimators.nodes import NodeEstimator
from shiftstate.graphs import Shift
from shiftstate.tasks import Metric

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]
Pair = tuple[Values, Values]
"""Outputs on validation data and on test data."""
Say = Callable[[str], None]


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
    say: Say | None = None,
) -> Comparison:
    """Train the estimator with several seeds, and what does without the graph, and judge all on the same test data.

    The rival of the verdict is the model without the graph that is best on validation data. Intervals hold 95 %; they
    take in chance in the training and in the test data (see `intervals.lead_of`). Nodes are drawn
    again one by one, as if the errors of neighbours had nothing to do with each other; times are drawn in blocks.

    Args:
        estimator: any estimator of the library; it is cloned, not changed.
        shift: the graph.
        X: features of nodes, signals, or a series (times, nodes) for a `Forecaster`.
        y: targets of nodes or signals.
        train: boolean mask of nodes or signals to learn from.
        valid: boolean mask of those to choose by.
        test: boolean mask of those to judge by.
        seeds: how many trainings of the estimator, and of the same network with K = 0.
        test_fraction: the last share of the times, for a `Forecaster`.
        period: of the seasonal mean, for a `Forecaster`; guessed on training data by default.
        say: is told in a line what was trained.
    """
    check_whole("seeds", seeds, 1)
    shift = as_shift(shift)
    if isinstance(estimator, Forecaster):
        contest: _Contest = _Forecasts(estimator, shift, X, test_fraction, period)
    else:
        for name, mask in (("y", y), ("train", train), ("valid", valid), ("test", test)):
            if mask is None:
                raise ValueError(f"{name} is None; expected targets and boolean masks train, valid and test")
        contest = _Rows(estimator, shift, X, y, {"train": train, "valid": valid, "test": test})
    return contest.judged(seeds, say or (lambda line: None))


class _Contest:
    """Data that all models share, and how each of them is trained."""

    estimator: Any
    held: Pair
    """Targets of validation and test data."""
    units: NDArray[np.int64]
    """Which test targets are drawn again together."""

    def trained(self, estimator: Any) -> tuple[Estimator, Pair]:
        """A fitted estimator and its outputs."""
        raise NotImplementedError

    def plain(self) -> dict[str, Callable[[], Pair]]:
        """Models without the graph, by name."""
        raise NotImplementedError

    def judged(self, seeds: int, say: Say) -> Comparison:
        metric = self.estimator.reported()
        estimators, own, without = [], [], []
        for seed in range(seeds):
            one, outputs = self.trained(_with_seed(self.estimator, seed))
            estimators.append(one)
            own.append(outputs)
            say(f"seed {seed}: {metric.title} {value_of(metric, outputs[1], self.held[1]):.4g} on test data")
        for seed in range(seeds):
            without.append(self.trained(_with_seed(self.estimator, seed).set_params(K=0))[1])
        say(f"{baselines.TITLES['no_graph']}: {self._mean(metric, without):.4g}")
        outcome = {"no_graph": without}
        for name, model in self.plain().items():
            outcome[name] = [model()]
            say(f"{baselines.TITLES[name]}: {self._mean(metric, outcome[name]):.4g}")
        title = f"{estimators[0].filter}, K = {estimators[0].settings_.K}"
        return Comparison(
            metric,
            self._contender(metric, "model", title, own),
            tuple(self._contender(metric, name, baselines.TITLES[name], pairs) for name, pairs in outcome.items()),
            {
                name: lead_of(metric, [pair[1] for pair in own], [pair[1] for pair in pairs], self.held[1], self.units)
                for name, pairs in outcome.items()
            },
            tuple(estimators),
            {name: self.by_horizon(metric, pairs) for name, pairs in {"model": own, **outcome}.items()},
        )

    def by_horizon(self, metric: Metric, pairs: Sequence[Pair]) -> tuple[float, ...]:
        """Test scores at every horizon, the mean over seeds; none where there are no horizons."""
        return ()

    def _mean(self, metric: Metric, pairs: Sequence[Pair]) -> float:
        return float(np.mean([value_of(metric, pair[1], self.held[1]) for pair in pairs]))

    def _contender(self, metric: Metric, name: str, title: str, pairs: Sequence[Pair]) -> Contender:
        valid = float(np.mean([value_of(metric, pair[0], self.held[0]) for pair in pairs]))
        return Contender(name, title, valid, tuple(value_of(metric, pair[1], self.held[1]) for pair in pairs))


class _Rows(_Contest):
    """Nodes or signals, whose features are rows of a table for models without the graph."""

    def __init__(self, estimator: Estimator, shift: Shift, X: Any, y: Any, masks: dict[str, Any]) -> None:
        self.estimator, self.shift, self.X = estimator, shift, X
        self.rows = as_array("X", X)
        self.labelled = hasattr(estimator, "predict_proba")
        self.targets: Any = as_labels("y", y)[0] if self.labelled else as_array("y", y)
        self.learn, self.choose, self.judge = (as_mask(name, mask, len(self.targets)) for name, mask in masks.items())
        self.units = np.arange(int(self.judge.sum()))
        self.classes: Any = None

    def trained(self, estimator: Any) -> tuple[Estimator, Pair]:
        rows, targets, learn, choose, judge = self.rows, self.targets, self.learn, self.choose, self.judge
        if isinstance(estimator, NodeEstimator):
            call: Any = estimator
            call.fit(self.shift, self.X, targets, train=learn, valid=choose)
            outputs = _outputs(call, self.shift, rows)
            pair = outputs[choose], outputs[judge]
        else:
            estimator.fit(self.shift, rows[learn], targets[learn], valid=(rows[choose], targets[choose]))
            pair = _outputs(estimator, self.shift, rows[choose]), _outputs(estimator, self.shift, rows[judge])
        self.scaler = estimator.scaler_
        self._number(estimator)
        return estimator, pair

    def _number(self, estimator: Any) -> None:
        """Targets as numbers; classes in the order of the estimator's."""
        self.numbers = self.targets
        if self.labelled:
            self.classes = estimator.classes_
            self.numbers = np.zeros(len(self.targets), np.int64)
            for mask in (self.learn, self.choose, self.judge):
                self.numbers[mask] = encode(self.targets[mask], self.classes, "y")
        self.held = self.numbers[self.choose], self.numbers[self.judge]

    def plain(self) -> dict[str, Callable[[], Pair]]:
        scaled = self.scaler(self.rows).reshape(len(self.rows), -1).astype(np.float64)
        models = baselines.classifiers(0) if self.labelled else baselines.regressors(0)
        if self.learn.sum() < baselines.LEAST:
            models.pop("trees")
        return {name: lambda one=tried: self._best(one, scaled) for name, tried in models.items()}  # type: ignore[misc]

    def _best(self, tried: Sequence[Any], rows: Values) -> Pair:
        """Of several strengths the one that is best on validation data."""
        metric, best, found = self.estimator.reported(), float("nan"), None
        columns = self.numbers if self.labelled or self.numbers.ndim == 2 else self.numbers[:, None]
        for model in tried:
            model.fit(rows[self.learn], columns[self.learn])
            pair = self._outputs_of(model, rows[self.choose]), self._outputs_of(model, rows[self.judge])
            score = value_of(metric, pair[0], self.held[0])
            if found is None or metric.better(score, than=best):
                best, found = score, pair
        assert found is not None
        return found

    def _outputs_of(self, model: Any, rows: Values) -> Values:
        return baselines.log_chances(model, rows, len(self.classes)) if self.labelled else model.predict(rows)


class _Forecasts(_Contest):
    """The last times of a series are the test data, those before them validation data."""

    def __init__(self, estimator: Forecaster, shift: Shift, series: Any, fraction: float, period: int | None) -> None:
        estimator._check_arguments()
        self.estimator, self.shift, self.series = estimator, shift, series
        self.values = values = estimator._series(shift, series, "series")
        self.history, self.horizons = estimator.history, estimator.horizons_
        self.first = first = len(values) - round(fraction * len(values))
        self.ahead = max(self.horizons)
        if not 0 < fraction < 1 or first < 2 * (self.history + self.ahead) or len(values) - first < self.ahead:
            raise ValueError(
                f"test_fraction is {fraction:g} of {len(values)} times; expected at least {self.ahead} of them as test "
                f"data and {2 * (self.history + self.ahead)} before, for this history and these horizons"
            )
        if period is not None and check_whole("period", period, 1) > first:
            raise ValueError(f"period is {period}; expected at most {first}, the times before the test data")
        self.begin = first - round(estimator.validation_fraction * first)
        self.period = period or baselines.guessed_period(values[:first])
        came = [_came(values, made, self.horizons) for made in self._made()]
        self.known = [~np.isnan(one) for one in came]
        self.held = came[0][self.known[0]], came[1][self.known[1]]
        block = block_length(len(came[1]), self.history, self.ahead)
        times = np.arange(len(came[1])) // block
        self.units = np.broadcast_to(times[:, None, None], came[1].shape)[self.known[1]]

    def _made(self) -> list[range]:
        """The times at which forecasts are made, of validation data and of test data."""
        ends = ((self.begin, self.first), (self.first, len(self.values)))
        return [range(start - 1, end - self.ahead) for start, end in ends]

    def trained(self, estimator: Any) -> tuple[Estimator, Pair]:
        series, first = self.series, self.first
        estimator.fit(self.shift, series.iloc[:first] if hasattr(series, "iloc") else series[:first])
        valid = estimator.forecast(self.shift, self.values[:first], self.begin)[0]
        test = estimator.forecast(self.shift, self.values, first)[0]
        return estimator, (valid[self.known[0]], test[self.known[1]])

    def plain(self) -> dict[str, Callable[[], Pair]]:
        history = self.history
        return {
            "constant": lambda: self._of(
                lambda v, made, first: baselines.seasonal_mean(v, made, self.horizons, first, 1)
            ),
            "persistence": lambda: self._of(lambda v, made, first: baselines.persistence(v, made, self.horizons)),
            "seasonal_mean": lambda: self._of(
                lambda v, made, first: baselines.seasonal_mean(v, made, self.horizons, first, self.period)
            ),
            "linear_per_node": lambda: self._of(
                lambda v, made, first: baselines.linear_per_node(v, made, self.horizons, first, history)
            ),
            "trees": lambda: self._of(
                lambda v, made, first: baselines.trees_of_history(v, made, self.horizons, first, history)
            ),
        }

    def by_horizon(self, metric: Metric, pairs: Sequence[Pair]) -> tuple[float, ...]:
        known = self.known[1]
        place = np.broadcast_to(np.arange(known.shape[1])[None, :, None], known.shape)[known]
        return tuple(
            float(np.mean([value_of(metric, pair[1][place == one], self.held[1][place == one]) for pair in pairs]))
            for one in range(known.shape[1])
        )

    def _of(self, forecast: Callable[[Values, range, int], Values]) -> Pair:
        """Plain forecasts, which learn from everything before the first of them."""
        valid, test = self._made()
        return (
            forecast(self.values[: self.first], valid, self.begin)[self.known[0]],
            forecast(self.values, test, self.first)[self.known[1]],
        )


def block_length(times: int, history: int, ahead: int) -> int:
    """Successive times that are drawn again together, because their errors are alike; at least eight blocks."""
    return max(1, min(max(history, ahead, math.isqrt(times)), times // 8))


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
