"""Matrices from .npy, .npz and Matrix Market files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shiftstate.files import open_regular
from shiftstate.tables.matrix_market import read_matrix_market
from shiftstate.tables.table import first_line

MATRICES = (".npy", ".npz", ".mtx")
LARGEST = 4_000_000_000
"""Bytes that a dense matrix from a file may take."""
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
    if sp.issparse(found):
        if 8 * found.shape[0] * found.shape[1] > LARGEST:
            raise ValueError(
                f"{path} holds a matrix of {found.shape}, too large as a dense one; expected fewer columns"
            )
        found = found.toarray()
    if found.dtype.kind not in "biuf":
        raise ValueError(f"{path} holds {found.dtype}; expected numbers")
    return np.asarray(found, dtype=np.float64)


def read_array(path: Path, keys: Sequence[str]) -> Any:
    """An array, or a sparse matrix, as the file has it."""
    with open_regular(path, "a matrix"):
        pass
    kind = path.suffix.lower()
    try:
        if kind == ".npy":
            with open_regular(path, "a matrix") as file:
                return np.load(file, allow_pickle=False)
        if kind == ".npz":
            return _from_npz(path, keys)
        if kind == ".mtx":
            return read_matrix_market(path)
    except Exception as error:  # NumPy's reader of headers lets its tokenizer's and zip's exceptions through
        raise ValueError(f"{path} cannot be read ({first_line(error)}); expected a file of numbers") from None
    raise ValueError(f"{path} ends in {kind or 'nothing'}; expected one of {', '.join(MATRICES)}")


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """All arrays of an .npz by name."""
    try:
        # NumPy leaves a file that is no archive open, so it is opened here
        with open_regular(path, "an .npz") as opened, np.load(opened, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except Exception as error:
        raise ValueError(f"{path} cannot be read ({first_line(error)}); expected an .npz of arrays") from None


def _from_npz(path: Path, keys: Sequence[str]) -> Any:
    with open_regular(path, "a matrix") as opened, np.load(opened, allow_pickle=False) as file:
        if "format" in file.files and "data" in file.files:
            opened.seek(0)
            return sp.load_npz(opened)
        if len(file.files) == 1:
            return file[file.files[0]]
        key = next((one for one in keys if one in file.files), None)
        if key is None:
            raise ValueError(f"it holds {', '.join(file.files)}; expected one array, or one called {keys[0]!r}")
        return file[key]
