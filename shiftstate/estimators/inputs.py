"""Turn what people hand over, NumPy, pandas, SciPy or torch, into arrays, and check it."""

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from shiftstate.arrays import as_numpy
from shiftstate.graphs import Shift
from shiftstate.graphs.inputs import as_coo
from shiftstate.memory import check_fits

Array = NDArray[Any]

SEVERAL_TYPES = "holds labels of several types; expected one: strings, or numbers"


def as_shift(shift: object) -> Shift:
    """The shift; what is none gets a hint."""
    if isinstance(shift, Shift):
        return shift
    raise ValueError(
        f"shift is a {type(shift).__name__}; expected the graph, a Shift: Shift.from_edges(...) or from_matrix(...)"
    )


def as_array(name: str, X: Any) -> Array:
    """Numbers as float64, NaN where a table has none or a masked array masks them."""
    if X is None:
        raise ValueError(f"{name} is None; expected numbers")
    array = _dense(name, X) if sp.issparse(X) or _is_sparse(X) else as_numpy(name, X, masked="nan")
    if array.dtype.kind == "O":  # a pandas table of several dtypes, or with missing values
        text = next((one for one in array.ravel().tolist() if isinstance(one, str | bytes)), None)
        if text is not None:
            raise ValueError(f"{name} holds the text {text!r}; expected numbers")
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} holds values that are not numbers ({error}); expected numbers") from None
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} holds {array.dtype}; expected numbers")
    return array.astype(np.float64)


def _is_sparse(X: Any) -> bool:
    return isinstance(X, Tensor) and X.layout != torch.strided


def _dense(name: str, matrix: Any) -> Array:
    """A sparse matrix of SciPy or torch; its indices are checked first, as compiled code trusts them."""
    if len(matrix.shape) != 2:
        raise ValueError(f"{name} is sparse with the shape {tuple(matrix.shape)}; expected two axes, or a dense array")
    what = f"{name} of shape {tuple(matrix.shape)} needs {{}} bytes as a dense matrix"
    check_fits(8 * matrix.shape[0] * matrix.shape[1], torch.device("cpu"), what, "fewer features")
    if isinstance(matrix, Tensor):
        row, col, values = as_coo(name, matrix.detach().cpu())
        return as_numpy(name, torch.sparse_coo_tensor(torch.stack([row, col]), values, matrix.shape).to_dense())
    try:
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
        coo = sp.coo_array(matrix)
    except ValueError as error:
        raise ValueError(f"{name} has wrong indices ({error}); was the matrix put together by hand?") from None
    for size, places in zip(coo.shape, coo.coords, strict=True):
        if len(places) and not 0 <= places.min() <= places.max() < size:
            raise ValueError(f"{name} has wrong indices (beyond {size}); was the matrix put together by hand?")
    return np.asarray(coo.toarray())


def check_finite_or_missing(name: str, array: Array) -> Array:
    """The array, if it holds numbers, and NaN where one is missing; infinity is neither."""
    if np.isinf(array).any():
        first = tuple(int(i) for i in np.argwhere(np.isinf(array))[0])
        raise ValueError(f"{name} holds {array[first]} at index {first}; expected numbers, or NaN where one is missing")
    return array


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


def as_labels(name: str, y: Any) -> tuple[Array, NDArray[np.bool_]]:
    """Labels (n) and which of them are known: not None, NaN, masked or an empty string."""
    if y is None:
        raise ValueError(f"{name} is None; expected a class each")
    array = as_numpy(name, y, masked="none")
    if isinstance(y, list | tuple) and array.dtype.kind == "U" and not all(isinstance(one, str) for one in y):
        raise ValueError(f"{name} {SEVERAL_TYPES}")  # NumPy has made text of the numbers: 1 and "1" would be one class
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} has the shape {array.shape}; expected one label each: (n,)")
    if array.dtype.kind not in "biufOUT":
        raise ValueError(f"{name} holds {array.dtype}; expected classes: strings or whole numbers")
    known = np.ones(len(array), bool)
    if array.dtype.kind in "OUT":
        known = np.array([_is_known(label) for label in array.tolist()], dtype=bool)
    elif array.dtype.kind == "f":
        known = ~np.isnan(array)
    for label in array[known].tolist() if array.dtype.kind in "fO" else ():
        _check_label(name, label)
    return array, known


def _check_label(name: str, label: Any) -> None:
    if not isinstance(label, str | Real | np.bool_):
        raise ValueError(f"{name} holds a {type(label).__name__}; expected classes: strings or whole numbers")
    if not isinstance(label, str) and not float(label).is_integer():
        raise ValueError(
            f"{name} holds {label}; expected classes: strings or whole numbers; "
            "for numbers that are measured take a regressor"
        )


def _is_known(label: object) -> bool:
    """Whether it is a label: not None, NaN, pandas' NA or NaT, or an empty string."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return False
    return not isinstance(label, str | float) or (label == label and label != "")


def as_mask(name: str, mask: Any, count: int) -> NDArray[np.bool_]:
    """A boolean mask with at least one True."""
    array = as_numpy(name, mask)
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
        raise ValueError(f"{name} {SEVERAL_TYPES}") from None
    if len(classes) == 0:
        raise ValueError(f"{name} holds no class; expected at least two")
    if len(classes) < 2:
        raise ValueError(f"{name} holds one class only, {classes.tolist()[0]!r}; expected at least two")
    return classes
