"""Make sparse matrices from the arrays of a file: all of them are checked before compiled code sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shiftstate.limits import check_unpacked

Array = NDArray[Any]
NEEDED = {
    "csr": ("indptr", "indices"),
    "csc": ("indptr", "indices"),
    "bsr": ("indptr", "indices"),
    "coo": ("row", "col"),
    "dia": ("offsets",),
}
"""What stands beside ``data`` and ``shape`` in a file that SciPy's `save_npz` wrote."""


def sparse_from(arrays: Mapping[str, Array], form: str, packed: int) -> Any:
    """A SciPy array in the form that was stored.

    Args:
        arrays: by name: ``data``, ``shape``, and what the form needs.
        form: csr, csc, bsr, coo or dia.
        packed: bytes of the file, for the limit on its size in memory.
    """
    if form not in NEEDED:
        raise ValueError(f"it is a matrix in the form {form!r}; expected one of {', '.join(NEEDED)}")
    lacking = [name for name in ("data", "shape", *NEEDED[form]) if name not in arrays]
    if lacking:
        raise ValueError(f"it has no array {lacking[0]!r}; expected one for a {form} matrix")
    shape = _checked_shape(arrays["shape"], packed)
    data = _numbers(arrays["data"])
    where = [_whole(name, arrays[name]) for name in NEEDED[form]]
    if form == "coo":
        return _coo(data, where, shape)
    if form == "dia":
        return _dia(data, where[0], shape, packed)
    return _compressed(form, data, where[0], where[1], shape)


def check_places(name: str, places: Array, count: int) -> None:
    """Raise if a place is not one of ``count``."""
    outside = np.flatnonzero((places < 0) | (places >= count))
    if len(outside):
        raise ValueError(f"{name}[{outside[0]}] is {places[outside[0]]}; expected 0 to {count - 1}")


def check_sides(shape: tuple[int, int], packed: int) -> None:
    """Raise if a matrix of this shape takes far more memory than its file, even without entries."""
    check_unpacked(8 * (max(shape) + 1), packed, f"a matrix of shape {shape}")


def _checked_shape(shape: Array, packed: int) -> tuple[int, int]:
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape.min() < 0:
        raise ValueError(f"its shape is {shape.tolist()!r}; expected two whole numbers")
    sides = (int(shape[0]), int(shape[1]))
    check_sides(sides, packed)
    return sides


def _numbers(data: Array) -> Array:
    if data.dtype.kind not in "biuf":
        raise ValueError(f"its data are {data.dtype}; expected numbers")
    return data.astype(np.float64) if data.dtype.itemsize in (2, 16) or data.dtype.kind == "b" else data


def _whole(name: str, places: Array) -> Array:
    if places.ndim != 1 or places.dtype.kind not in "iu":
        raise ValueError(f"{name} is {places.dtype} of shape {places.shape}; expected a row of whole numbers")
    if places.dtype == np.uint64 and places.max(initial=0) >= 2**63:
        raise ValueError(f"{name} holds {places.max()}; expected a place in the matrix")
    return places.astype(np.int64)


def _coo(data: Array, where: list[Array], shape: tuple[int, int]) -> Any:
    if data.ndim != 1 or any(len(one) != len(data) for one in where):
        raise ValueError(
            f"data, row and col have the lengths {[len(one) for one in (data, *where)]}; expected the same"
        )
    for name, places, count in zip(("row", "col"), where, shape, strict=True):
        check_places(name, places, count)
    return sp.coo_array((data, (where[0], where[1])), shape=shape)


def _compressed(form: str, data: Array, indptr: Array, indices: Array, shape: tuple[int, int]) -> Any:
    """Compressed rows, columns, or rows of blocks."""
    block = data.shape[1:] if form == "bsr" else (1, 1)
    if data.ndim != (3 if form == "bsr" else 1) or 0 in block or shape[0] % block[0] or shape[1] % block[1]:
        raise ValueError(f"its data have the shape {data.shape}; expected those of a {form} matrix of shape {shape}")
    lines, places = (shape[0] // block[0], shape[1] // block[1]) if form != "csc" else shape[::-1]
    if len(indptr) != lines + 1 or indptr[0] != 0 or (np.diff(indptr) < 0).any():
        raise ValueError(f"indptr is not {lines + 1} numbers that begin with 0 and never fall; the file is damaged")
    if indptr[-1] != len(indices) or len(indices) != len(data):
        raise ValueError(
            f"indptr ends with {indptr[-1]}; there are {len(indices)} indices and {len(data)} data; expected one number"
        )
    check_places("indices", indices, places)
    make = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}[form]
    return make((data, indices, indptr), shape=shape)


def _dia(data: Array, offsets: Array, shape: tuple[int, int], packed: int) -> Any:
    if data.ndim != 2 or len(data) != len(offsets) or len({*offsets.tolist()}) < len(offsets):
        raise ValueError(f"its data have the shape {data.shape}; expected a row for each of {len(offsets)} offsets")
    check_unpacked(16 * len(offsets) * min(shape), packed, "its diagonals")
    return sp.dia_array((data, offsets), shape=shape)
