"""What people hand over, NumPy, pandas, SciPy or torch, as arrays; names are kept."""

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from shiftstate.graphs import Shift

Array = NDArray[Any]


def as_shift(shift: object) -> Shift:
    """The shift; what is none gets a hint."""
    if isinstance(shift, Shift):
        return shift
    raise ValueError(
        f"shift is a {type(shift).__name__}; expected the graph, a Shift: Shift.from_edges(...) or from_matrix(...)"
    )


def as_array(name: str, X: Any) -> Array:
    """Numbers as float64, NaN where a table has none."""
    if isinstance(X, Tensor):
        X = X.detach().cpu().to_dense() if X.layout != torch.strided else X.detach().cpu()
    if sp.issparse(X):
        X = X.toarray()
    array = np.asarray(X)
    if array.dtype.kind == "O":  # a pandas table of several dtypes, or with missing values
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} holds values that are not numbers ({error}); expected numbers") from None
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} holds {array.dtype}; expected numbers")
    return array.astype(np.float64)


def check_finite_array(name: str, array: Array) -> Array:
    """The array, if all of it is finite."""
    if not np.isfinite(array).all():
        bad = np.argwhere(~np.isfinite(array))
        first = tuple(int(i) for i in bad[0])
        raise ValueError(
            f"{name} holds {array[first]} at index {first}, the first of {len(bad)} values that are not finite; "
            "expected finite numbers; fill missing values, or leave their rows out"
        )
    return array


def names_of(X: Any, axis: int) -> list[str] | None:
    """The names that a pandas table has along an axis; None for plain positions and other types."""
    labels = getattr(X, ("index", "columns")[axis], None)
    if labels is None or callable(labels):
        return None
    if isinstance(labels, type(None)) or type(labels).__name__ == "RangeIndex":
        return None
    return [str(label) for label in labels]


def as_labels(name: str, y: Any) -> tuple[Array, NDArray[np.bool_]]:
    """Labels (n) and which of them are known: not None, NaN or an empty string."""
    if y is None:
        raise ValueError(f"{name} is None; expected a class each")
    array = y.detach().cpu().numpy() if isinstance(y, Tensor) else np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} has the shape {array.shape}; expected one label each: (n,)")
    if array.dtype.kind == "f":
        known = np.isfinite(array)
        broken = array[known] != np.round(array[known])
        if broken.any():
            raise ValueError(
                f"{name} holds {array[known][broken][0]}; expected classes: strings or whole numbers; "
                "for numbers that are measured take a regressor"
            )
        return array, known
    if array.dtype.kind in "OUST":
        return array, np.array([_is_label(label) for label in array.tolist()], dtype=bool)
    return array, np.ones(len(array), bool)


def _is_label(label: object) -> bool:
    """Whether it is a label: not None, NaN, pandas' NA or NaT, or an empty string."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return False
    return bool(label == label) and str(label) != ""


def as_mask(name: str, mask: Any, count: int) -> NDArray[np.bool_]:
    """A boolean mask with at least one True."""
    array = mask.detach().cpu().numpy() if isinstance(mask, Tensor) else np.asarray(mask)
    if array.dtype != bool or array.shape != (count,):
        hint = (
            f"; are these positions? mask = np.isin(np.arange({count}), positions)" if array.dtype.kind in "iu" else ""
        )
        raise ValueError(
            f"{name} is {array.dtype} of shape {array.shape}; expected a mask of True and False of shape ({count},)"
            + hint
        )
    if not array.any():
        raise ValueError(f"{name} is False everywhere; expected at least one True")
    return np.array(array)


def encode(labels: Array, classes: Array, name: str) -> NDArray[np.int64]:
    """The position of every label among the classes."""
    place = {label: number for number, label in enumerate(classes.tolist())}
    try:
        return np.array([place[label] for label in labels.tolist()], dtype=np.int64)
    except KeyError as error:
        known = ", ".join(map(repr, classes.tolist()[:5]))
        raise ValueError(
            f"{name} holds {error.args[0]!r}; expected one of the classes of the training data: {known}"
        ) from None


def find_classes(labels: Array, name: str) -> Array:
    """The classes that occur, sorted; at least two."""
    values = labels.tolist()
    try:
        classes = np.array(sorted(set(values)), dtype=labels.dtype if labels.dtype.kind != "O" else None)
    except TypeError:
        raise ValueError(f"{name} holds labels of several types; expected one: strings, or numbers") from None
    if len(classes) < 2:
        raise ValueError(f"{name} holds one class only, {classes.tolist()[0]!r}; expected at least two")
    return classes
