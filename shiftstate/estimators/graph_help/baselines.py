"""Baselines without the graph: the best constant, a linear model, gradient-boosted trees, and plain forecasts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multioutput import MultiOutputRegressor

Array = NDArray[Any]
Values = NDArray[np.float64]

TITLES = {
    "constant": "the best constant",
    "linear": "a linear model",
    "trees": "gradient-boosted trees",
    "no_graph": "the same network with K = 0",
    "persistence": "the last value",
    "seasonal_mean": "the seasonal mean",
    "linear_per_node": "a linear model per node",
}

LEAST = 20
"""Trees need so many training rows to split anything."""
MOST = 100_000
"""Rows of histories that trees learn from at most, drawn at random."""


def classifiers(seed: int) -> dict[str, list[Any]]:
    """Unfitted models of classes by name, each with several strengths to choose from."""
    trees = HistGradientBoostingClassifier(random_state=seed, early_stopping=False, min_samples_leaf=5)
    return {
        "constant": [DummyClassifier(strategy="prior")],
        "linear": [LogisticRegression(C=strength, max_iter=2000) for strength in (0.1, 1.0, 10.0, 100.0)],
        "trees": [trees],
    }


def regressors(seed: int) -> dict[str, list[Any]]:
    """Unfitted models of one number or several by name, each with several strengths to choose from."""
    trees = HistGradientBoostingRegressor(random_state=seed, early_stopping=False, min_samples_leaf=5)
    return {
        "constant": [DummyRegressor()],
        "linear": [Ridge(alpha=strength) for strength in (0.1, 1.0, 10.0, 100.0)],
        "trees": [MultiOutputRegressor(trees)],
    }


def log_chances(model: Any, x: Array, classes: int) -> Values:
    """log p (n, C) of a fitted model whose classes are numbers from 0; classes it has not seen get almost nothing."""
    chances = np.full((len(x), classes), 1e-12)
    chances[:, model.classes_] = np.clip(model.predict_proba(x), 1e-12, 1)
    logs: Values = np.log(chances)
    return logs


def persistence(values: Values, made: Sequence[int], horizons: Sequence[int]) -> Values:
    """The last known value, (n, horizons, nodes)."""
    last = _carried(values)
    return np.stack([np.stack([last[t]] * len(horizons)) for t in made])


def seasonal_mean(values: Values, made: Sequence[int], horizons: Sequence[int], first: int, period: int) -> Values:
    """The mean of the training values (before ``first``) at the same place of the period."""
    table = np.stack([_mean(values[place:first:period]) for place in range(period)])
    overall = _mean(values[:first])
    table = np.where(np.isnan(table), np.where(np.isnan(overall), 0.0, overall), table)
    return np.stack([np.stack([table[(t + h) % period] for h in horizons]) for t in made])


def linear_per_node(values: Values, made: Sequence[int], horizons: Sequence[int], first: int, history: int) -> Values:
    """A ridge regression on a node's own last values, one for every node and horizon."""
    filled = np.nan_to_num(_carried(values), nan=float(np.nanmean(values[:first])))
    nodes = values.shape[1]
    forecast = np.empty((len(made), len(horizons), nodes))
    for place, horizon in enumerate(horizons):
        times = np.arange(history - 1, first - horizon)
        for node in range(nodes):
            rows = np.lib.stride_tricks.sliding_window_view(filled[:, node], history)  # row t ends at time t+history−1
            told = ~np.isnan(values[times + horizon, node])
            if not told.any():  # a node of which nothing was known: the mean of all
                forecast[:, place, node] = np.nanmean(values[:first])
                continue
            model = Ridge(alpha=1.0).fit(rows[times - history + 1][told], values[times + horizon, node][told])
            forecast[:, place, node] = model.predict(rows[np.asarray(made) - history + 1])
    return forecast


def trees_of_history(values: Values, made: Sequence[int], horizons: Sequence[int], first: int, history: int) -> Values:
    """Gradient-boosted trees on a node's own last values and its mean, for all nodes together, one per horizon."""
    filled = np.nan_to_num(_carried(values), nan=float(np.nanmean(values[:first])))
    level = _mean(values[:first])
    level = np.where(np.isnan(level), np.nanmean(values[:first]), level)

    def rows(times: Any) -> Values:
        lags = np.stack([filled[np.asarray(times) - lag] for lag in range(history)], -1)  # (n, nodes, history)
        own = np.broadcast_to(level[:, None], (*lags.shape[:2], 1))
        return np.concatenate([lags, own], -1).reshape(-1, history + 1)

    forecast = np.empty((len(made), len(horizons), values.shape[1]))
    random = np.random.default_rng(0)
    for place, horizon in enumerate(horizons):
        times = np.arange(history - 1, first - horizon)
        targets = values[times + horizon].reshape(-1)
        told = np.flatnonzero(~np.isnan(targets))
        told = random.permutation(told)[:MOST]
        model = HistGradientBoostingRegressor(random_state=0, early_stopping=False).fit(
            rows(times)[told], targets[told]
        )
        forecast[:, place] = model.predict(rows(made)).reshape(len(made), -1)
    return forecast


def guessed_period(values: Values, longest: int | None = None) -> int:
    """The period at which the mean series repeats itself best, by its autocorrelation; 1 if it does not."""
    series = np.nan_to_num(_mean(values.T))
    series = series - series.mean()
    longest = min(longest or len(series) // 2, len(series) // 2)
    spectrum = np.abs(np.fft.rfft(series, 2 * len(series))) ** 2
    correlation = np.fft.irfft(spectrum)[: longest + 1]
    correlation = correlation / np.arange(len(series), len(series) - longest - 1, -1)
    if correlation[0] <= 0:
        return 1
    inner = correlation[1:-1]
    peaks = np.flatnonzero((inner > correlation[:-2]) & (inner >= correlation[2:])) + 1
    peaks = peaks[correlation[peaks] > 0.3 * correlation[0]]
    return int(peaks[np.argmax(correlation[peaks])]) if len(peaks) else 1


def _carried(values: Values) -> Values:
    """Every missing value replaced by the last one before it."""
    values = values.copy()
    for t in range(1, len(values)):
        values[t] = np.where(np.isnan(values[t]), values[t - 1], values[t])
    return np.nan_to_num(values, nan=float(np.nanmean(values)))


def _mean(rows: Values) -> Values:
    """The mean over the first axis without missing values; NaN where there are none."""
    known = ~np.isnan(rows)
    count = known.sum(0)
    total: Values = np.where(known, rows, 0.0).sum(0) / np.where(count > 0, count, 1)
    return np.where(count > 0, total, np.nan)
