"""Matrices from .npy, .npz and Matrix Market files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shiftstate.files import open_regular
from shiftstate.limits import check_unpacked
from shiftstate.tables.arrays import Arrays, read_npy
from shiftstate.tables.matrix_market import read_matrix_market
from shiftstate.tables.sparse import check_sides, sparse_from
from shiftstate.tables.table import first_line

MATRICES = (".npy", ".npz", ".mtx")
VALUES = ("x", "X", "features", "node_features", "signals", "series", "data")
"""Names under which an .npz with several arrays has its numbers."""


def read_matrix(path: str | Path, keys: Sequence[str] = VALUES) -> NDArray[np.float64]:
    """Numbers from .npy, .npz or Matrix Market, dense. Pickled arrays are not read.

    Args:
        path: the file.
        keys: which array of an .npz with several: the first of these names that it has.
    """
    path = Path(path)
    found = read_array(path, keys)
    if found.dtype.kind not in "biuf":
        raise ValueError(f"{path} holds {found.dtype}; expected numbers")
    if 0 in found.shape:
        raise ValueError(f"{path} has the shape {found.shape}; expected at least one row and one column")
    check_unpacked(8 * prod(found.shape), path.stat().st_size, f"{path}: a matrix of shape {found.shape}")
    return np.asarray(found.toarray() if sp.issparse(found) else found, dtype=np.float64)


def read_array(path: Path, keys: Sequence[str]) -> Any:
    """An array, or a sparse matrix, as the file has it."""
    kind = path.suffix.lower()
    if kind not in MATRICES:
        raise ValueError(f"{path} ends in {kind or 'nothing'}; expected one of {', '.join(MATRICES)}")
    with open_regular(path, "a matrix") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            if kind == ".npy":
                return read_npy(file, size)
            found = _from_npz(file, keys, size) if kind == ".npz" else read_matrix_market(path)
            if sp.issparse(found):
                check_sides(found.shape, size)
            return found
        except Exception as error:  # NumPy's reader of headers lets its tokenizer's and zip's exceptions through
            raise ValueError(f"{path} cannot be read ({first_line(error)}); expected a file of numbers") from None


def _from_npz(file: IO[bytes], keys: Sequence[str], size: int) -> Any:
    arrays = Arrays(file)
    if "format" in arrays.names and "data" in arrays.names:
        form = arrays["format"]
        text = form.item() if form.shape == () and form.dtype.kind in "SU" else ""
        return sparse_from(
            {name: arrays[name] for name in arrays.names},
            text.decode("ascii", "replace") if isinstance(text, bytes) else text,
            size,
        )
    if len(arrays.names) == 1:
        return arrays[arrays.names[0]]
    key = next((one for one in keys if one in arrays.names), None)
    if key is None:
        shown = ", ".join(arrays.names[:8]) or "no arrays"
        raise ValueError(f"it holds {shown}; expected one array, or one called {keys[0]!r}")
    return arrays[key]
