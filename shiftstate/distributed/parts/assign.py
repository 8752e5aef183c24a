"""Which part each node belongs to: few edges between parts, and parts of equal size."""

from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee

from shiftstate.checks import check_name

Method = Literal["metis", "blocks"]
METHODS: tuple[Method, ...] = get_args(Method)
SEED = 0


def assigned(matrix: sp.csr_array, parts: int, method: Any) -> NDArray[np.int32]:
    """The part (N) of every node of a graph; ``method`` may be that itself."""
    n = matrix.shape[0]
    if not isinstance(method, str):
        return _checked(method, n, parts)
    check_name("method", method, METHODS)
    if parts == 1:
        return np.zeros(n, np.int32)
    neighbours = _neighbours(matrix)
    if method == "metis" and parts < n and neighbours.nnz:
        return _metis(neighbours, parts)
    return _blocks(neighbours, parts)


def _neighbours(matrix: sp.csr_array) -> sp.csr_array:
    """Who has to talk to whom, whatever the direction; nobody to himself."""
    entries = matrix.tocoo()
    row, col = entries.coords
    apart = row != col
    row, col = row[apart], col[apart]
    ends = np.concatenate([row, col]), np.concatenate([col, row])
    return sp.csr_array((np.ones(2 * len(row), np.int8), ends), matrix.shape)


def _metis(neighbours: sp.csr_array, parts: int) -> NDArray[np.int32]:
    try:
        import pymetis
    except ImportError:
        raise ValueError(
            "METIS is not installed; expected pip install 'shiftstate[distributed]', or method=\"blocks\""
        ) from None
    options = pymetis.Options(seed=SEED)
    adjacency = pymetis.CSRAdjacency(neighbours.indptr, neighbours.indices)
    found = pymetis.part_graph(parts, adjacency, options=options)
    return np.asarray(found[1], dtype=np.int32)


def _blocks(neighbours: sp.csr_array, parts: int) -> NDArray[np.int32]:
    """Contiguous blocks of the reverse Cuthill–McKee order, which puts neighbours near each other."""
    n = neighbours.shape[0]
    order = reverse_cuthill_mckee(sp.csr_matrix(neighbours), symmetric_mode=True)
    part = np.empty(n, np.int32)
    part[order] = np.arange(n, dtype=np.int64) * parts // n
    return part


def _checked(given: Any, n: int, parts: int) -> NDArray[np.int32]:
    part = np.asarray(given)
    if part.shape != (n,) or part.dtype.kind not in "iu" or (n and not 0 <= part.min() <= part.max() < parts):
        raise ValueError(
            f"method is {part.dtype} of shape {part.shape}; expected 'metis', 'blocks', or the part of each of {n} "
            f"nodes, from 0 to {parts - 1}"
        )
    return part.astype(np.int32)
