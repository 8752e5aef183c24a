"""Missing values: refused with their place, filled along the rows, or masked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shiftstate.estimators.scaling import Scaler

Values = NDArray[np.float64]


def settled(values: Values, path: Path, missing: str, names: Sequence[str], first: int = 1) -> Values:
    """Values as the user wants them; NaN is left where one is masked.

    Args:
        values: (rows, columns) or (rows, columns, channels), NaN where a value is missing.
        path: the file, for the message.
        missing: what to do with missing values.
        names: of the columns.
        first: the number of the first row in the file.
    """
    if np.isinf(values).any():
        row, place = (int(i) for i in np.argwhere(np.isinf(values))[0][:2])
        raise ValueError(f"{path}: row {row + first}, column {names[place]!r} is infinite; expected a finite number")
    if missing == "zero=missing":
        return np.where(values == 0, np.nan, values)
    bad = np.isnan(values)
    if missing == "mask" or not bad.any():
        return values
    if missing == "interpolate":
        values = _along_rows(values.reshape(len(values), -1), bad.reshape(len(values), -1)).reshape(values.shape)
        bad = np.isnan(values)
    if bad.any():
        row, place = (int(i) for i in np.argwhere(bad)[0][:2])
        why = "it has no value at all" if missing == "interpolate" else "expected numbers; or say what to do with"
        why += "" if missing == "interpolate" else " missing ones: --missing mask|interpolate|zero=missing"
        raise ValueError(
            f"{path}: row {row + first}, column {names[place]!r} is empty, the first of {int(bad.sum())} such "
            f"values; {why}"
        )
    return values


def without_gaps(X: Values, train: NDArray[np.bool_], channels: int, scale: str) -> Values:
    """Values whose masked ones are replaced by what tells nothing: the mean of the training rows, 0 for counts.

    A trained model knows these means, so that `predict` fills gaps as training did.
    """
    if not np.isnan(X).any():
        return X
    rows = X[train].reshape(-1, channels)
    told = ~np.isnan(rows)
    means = np.where(told, rows, 0).sum(0) / np.maximum(told.sum(0), 1)
    kind = Scaler.learn(scale, np.where(told, rows, 0)).kind
    return filled(X, means if kind == "standard" else np.zeros(1))


def filled(X: Values, value: Values) -> Values:
    """X with every NaN replaced."""
    return np.where(np.isnan(X), value, X)


def _along_rows(values: Values, bad: NDArray[np.bool_]) -> Values:
    """Straight lines between the rows that have a value."""
    values, rows = values.copy(), np.arange(len(values))
    for column in np.flatnonzero(bad.any(0)):
        known = ~bad[:, column]
        if known.any():
            values[:, column] = np.interp(rows, rows[known], values[known, column])
    return values
