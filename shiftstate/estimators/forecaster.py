"""Forecasts: the next values of series at the nodes of a graph, from their last ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.linear_model import Ridge

from shiftstate.checks import check_whole
from shiftstate.estimators.alignment import check_order, columns_of, names_of
from shiftstate.estimators.base import Estimator, parts
from shiftstate.estimators.constraints import Check, choice, optional, whole
from shiftstate.estimators.inputs import as_array, as_shift, check_finite_or_missing
from shiftstate.estimators.model import EstimatorNetwork, shifted
from shiftstate.estimators.nodes import NODES
from shiftstate.estimators.scaling import Scaler
from shiftstate.graphs import Shift
from shiftstate.tasks import NodeRegression, Task
from shiftstate.tasks.regression import CRITERIA

Series = NDArray[np.float64]

AT_ONCE = 64
"""Windows that are predicted at a time."""


@dataclass(eq=False, repr=False)
class Forecaster(RegressorMixin, Estimator):
    """ŷ_{t+h} at every node from the last values y_{t−H+1} … y_t at all nodes, for several horizons h at once.

    The forecast is a linear filter of the histories of the node and its neighbours, which starts at its least-squares
    solution, plus what the network finds beyond it. See `Estimator` for the other arguments.

    Args:
        history: H, how many last values are seen.
        horizons: h, how many steps ahead; one or several.
        missing: "nan" if NaN marks missing values, "zero" if zeros do as well. They are left out of loss and scores,
            and replaced by the last value before them in what the network sees.
        criterion: what is minimised: "squared", "absolute" or "huber"; by default what ``metric`` asks for, absolute
            errors for "mae" and squared ones otherwise.

    Example:
        >>> import numpy as np, shiftstate as ss
        >>> from shiftstate.estimators import Forecaster
        >>> shift = ss.Shift.from_edges([[0, 1, 2], [1, 2, 0]])
        >>> series = np.sin(np.arange(200)[:, None] / 5 + np.arange(3))
        >>> forecaster = Forecaster(history=6, horizons=(1, 3), epochs=3).fit(shift, series)
        >>> forecaster.predict(shift, series[-6:]).shape
        (2, 3)
    """

    _: KW_ONLY
    history: int = 12
    horizons: Sequence[int] | int = (1,)
    missing: str = "nan"
    criterion: str | None = None

    constraints: ClassVar[Mapping[str, Check]] = {
        "scale": choice(("auto", "standard", "none")),
        "history": whole(1),
        "horizons": lambda name, value: check_horizons(value),
        "missing": choice(("nan", "zero")),
        "criterion": optional(choice(CRITERIA)),
    }

    task_name: ClassVar[str] = "forecast"
    forecasts: ClassVar[bool] = True

    def task(self) -> Task:
        """What is learned."""
        metric, criterion = self.metric, self.criterion
        if metric is None:
            metric = "mae" if criterion == "absolute" else "rmse"
        if criterion is None:
            criterion = "absolute" if metric == "mae" else "squared"
        return NodeRegression(metric, criterion=criterion)  # type: ignore[arg-type]

    def fit(self, shift: Shift, series: Any, y: None = None) -> Self:
        """Learn from series (times, nodes), the last ``validation_fraction`` of them to choose by.

        Args:
            shift: the graph.
            series: a row per time, a column per node: NumPy, pandas or torch.
            y: not used; scikit-learn's methods have it.
        """
        shift = as_shift(shift)
        self.check_arguments()
        self.horizons_ = check_horizons(self.horizons)
        values = self._series(shift, series, "series")
        ahead = max(self.horizons_)
        valid = round(self.validation_fraction * len(values))
        begin = len(values) - valid
        if begin < self.history + ahead or valid < ahead:
            raise ValueError(
                f"series has {len(values)} times, of which {valid} are set aside; expected at least "
                f"{self.history + ahead} to learn from and {ahead} to choose by, for this history and these horizons"
            )
        if np.isnan(values[:begin]).all():
            raise ValueError("series holds no number among the times to learn from; expected some that are not missing")
        self.node_names_ = names_of(series, 1)
        self.n_features_in_ = self.history
        known = values[:begin][~np.isnan(values[:begin])]
        self.scaler_ = Scaler.learn("none" if self.scale == "none" else "standard", known[:, None])
        self._choose_normalization(shift)
        scaled = self.scaler_(values[..., None])[..., 0]
        data = type("Data", (), {})()
        data.train = windows(scaled[:begin], self.history, self.horizons_)
        data.valid = windows(scaled[begin - self.history :], self.history, self.horizons_)
        self._check_targets(data)
        samples, targets = len(data.train.x), int(data.train.mask.sum())
        counts = {"targets": targets, "features": self.history, "samples": samples}
        readout = ("node", {"num_outputs": len(self.horizons_)})
        self._train(self._normalized(shift), data, readout, self._seed(), **counts)
        return self

    def predict(self, shift: Shift, last: Any) -> Series:
        """The forecasts (horizons, nodes) after the last values (history, nodes); or (n, horizons, nodes) for several.

        Args:
            shift: the graph.
            last: the last ``history`` values, the newest last; or (n, history, nodes).
        """
        self._check_fitted()
        shift = as_shift(shift)
        values = self._series(shift, last, "last", axes=(2, 3))
        self._check_names(last, 1, "node")
        if values.shape[-2] != self.history:
            raise ValueError(f"last has {values.shape[-2]} times; expected {self.history}, the history")
        several = values.ndim == 3
        histories = (values if several else values[None]).transpose(0, 2, 1)  # (n, N, history)
        x = filled(self.scaler_(histories[..., None])[..., 0])
        outputs = self.scaler_.back(self._outputs(shift, x, AT_ONCE)[..., None])[..., 0].transpose(0, 2, 1)
        return outputs if several else outputs[0]

    def forecast(self, shift: Shift, series: Any, first: int) -> tuple[Series, Series]:
        """Forecasts and what came, both (n, horizons, nodes), of all values from row ``first`` on (NaN: missing).

        Every forecast sees the ``history`` rows before it; sample i is made at row first − 1 + i.
        """
        self._check_fitted()
        values = self._series(as_shift(shift), series, "series")
        self._check_names(series, 1, "node")
        check_whole("first", first, 0)
        ahead = max(self.horizons_)
        made = range(first - 1, len(values) - ahead)
        if first < self.history or not made:
            raise ValueError(f"first is {first} of {len(values)} times; expected from {self.history} on, and some left")
        lasts = np.stack([values[t - self.history + 1 : t + 1] for t in made])
        came = np.stack([np.stack([values[t + h] for h in self.horizons_]) for t in made])
        return self.predict(shift, lasts), came

    def score(self, shift: Shift, series: Any, y: None = None) -> float:
        """R² over all horizons, nodes and times that have a history in ``series``."""
        from sklearn.metrics import r2_score

        forecast, came = self.forecast(shift, series, self.history)
        known = ~np.isnan(came)
        if not known.any():
            raise ValueError("series holds no number after the first history; expected some to judge by")
        return float(r2_score(came[known], forecast[known]))

    def _check_targets(self, data: Any) -> None:
        """Every horizon has something to learn from, and something is there to choose by."""
        lacking = [
            h for h, told in zip(self.horizons_, data.train.mask.any(0).any(0).tolist(), strict=True) if not told
        ]
        if lacking:
            raise ValueError(f"series holds no number {lacking[0]} steps after a history to learn from; expected some")
        if not data.valid.mask.any():
            raise ValueError("series holds no number among the last times, which are set aside; expected some")

    def _series(self, shift: Shift, series: Any, name: str, axes: tuple[int, ...] = (2,)) -> Series:
        values = as_array(name, series)
        if values.ndim not in axes or values.shape[-1] != shift.num_nodes:
            hint = "; is it transposed?" if shift.num_nodes in values.shape else ""
            raise ValueError(
                f"{name} has the shape {values.shape}; expected (times, {shift.num_nodes}), a column per node{hint}"
            )
        check_finite_or_missing(name, values)
        check_order(name, columns_of(series), NODES)
        _check_times(name, getattr(series, "index", None))
        return np.where(values == 0, np.nan, values) if self.missing == "zero" else values

    def _prepare(self, network: EstimatorNetwork, shift: Shift, data: Any) -> None:
        """Start the linear filter at the least-squares forecast."""
        linear = network.linear
        if linear is None:
            return
        x = shifted(data.train.x, shift, self.settings_.K).numpy()
        y, mask = data.train.y.numpy(), data.train.mask.numpy()
        for number in range(y.shape[-1]):
            told = mask[..., number]
            ridge = Ridge(alpha=1.0).fit(x[told], y[..., number][told])
            with torch.no_grad():
                linear.weight[number] = torch.from_numpy(ridge.coef_)
                linear.bias[number] = float(ridge.intercept_)

    def _describe(self) -> dict[str, Any]:
        return {**super()._describe(), "horizons": self.horizons_}

    def _restore(self, described: dict[str, Any], tensors: Any) -> None:
        check_whole("history", self.history, 1)
        self.horizons_ = described["horizons"]
        self.horizons = tuple(self.horizons_)
        super()._restore(described, tensors)


def _check_times(name: str, index: Any) -> None:
    """Raise if rows are not in the order of time; words have no order."""
    if getattr(getattr(index, "dtype", None), "kind", "O") in "iufM" and not index.is_monotonic_increasing:
        raise ValueError(f"{name} has times that do not rise from row to row; expected {name}.sort_index()")


def check_horizons(horizons: Any) -> list[int]:
    """Different numbers of steps ahead, one or several."""
    given = [horizons] if isinstance(horizons, int | np.integer) else horizons
    if not isinstance(given, list | tuple | range | np.ndarray) or np.ndim(given) == 0:
        raise ValueError(f"horizons is {horizons!r}; expected whole numbers of steps ahead, such as (1, 3)")
    found = [check_whole("horizons", horizon, 1) for horizon in given]
    if not found or len(set(found)) < len(found):
        raise ValueError(f"horizons is {horizons!r}; expected different numbers of steps ahead, such as (1, 3)")
    return found


def windows(series: NDArray[np.float32], history: int, horizons: Sequence[int]) -> Any:
    """All histories x (n, N, history) of a series (times, N), what came after y (n, N, horizons), and its mask."""
    made = np.arange(history - 1, len(series) - max(horizons))
    x = np.stack([series[made - history + 1 + lag] for lag in range(history)], -1)
    y = np.stack([series[made + horizon] for horizon in horizons], -1)
    return parts(x=filled(x), y=y, mask=~np.isnan(y))


def filled(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Histories (…, history) with every missing value replaced by the last one before it, else the next, else 0."""
    x = x.copy()
    for lag in range(1, x.shape[-1]):
        x[..., lag] = np.where(np.isnan(x[..., lag]), x[..., lag - 1], x[..., lag])
    for lag in reversed(range(x.shape[-1] - 1)):
        x[..., lag] = np.where(np.isnan(x[..., lag]), x[..., lag + 1], x[..., lag])
    return np.nan_to_num(x, nan=0.0)
