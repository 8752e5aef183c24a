"""The spectrum of a shift: all eigenvalues of a small S, the spectral radius of any S."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, eigs, eigsh

# Up to here all eigenvalues of a component are computed: exact, and faster than an iteration.
DENSE_UP_TO = 500
# Where the iteration does not converge, all eigenvalues are still computed up to here (4,000: half a minute).
FALLBACK_UP_TO = 4_000
POWER_STEPS = 20_000


def spectral_radius(matrix: sp.csr_array) -> float:
    """max |λ| over the eigenvalues of a square matrix.

    The eigenvalues of S are those of its strongly connected components. Taking them one by one keeps an
    acyclic graph at exactly zero, where a solver on the whole (defective) matrix returns rounding noise.
    """
    matrix = sp.csr_array(matrix, dtype=np.float64)
    matrix.eliminate_zeros()
    count, component = connected_components(matrix, connection="strong")
    sizes = np.bincount(component, minlength=count)
    radius = float(np.abs(matrix.diagonal())[sizes[component] == 1].max(initial=0.0))
    order = np.argsort(component, kind="stable")
    ends = np.cumsum(sizes)
    for index in np.flatnonzero(sizes > 1):
        nodes = order[ends[index] - sizes[index] : ends[index]]
        radius = max(radius, _component_radius(matrix[nodes][:, nodes]))
    return radius


def eigenvalues(dense: NDArray[np.float64]) -> NDArray[Any]:
    """All eigenvalues, largest magnitude first; real for a symmetric matrix, complex otherwise."""
    values: NDArray[Any] = np.linalg.eigvalsh(dense) if np.array_equal(dense, dense.T) else np.linalg.eigvals(dense)
    return values[np.argsort(-np.abs(values), kind="stable")]


def _component_radius(matrix: sp.csr_array) -> float:
    """The radius of one strongly connected component of two or more nodes."""
    n = matrix.shape[0]
    if n <= DENSE_UP_TO:
        return float(np.abs(eigenvalues(matrix.toarray()))[0])
    symmetric = abs(matrix - matrix.T).max() == 0
    for krylov in (20, 100):
        radius = _arpack_radius(matrix, symmetric, krylov)
        if radius is not None:
            return radius
    if n <= FALLBACK_UP_TO:
        return float(np.abs(eigenvalues(matrix.toarray()))[0])
    if matrix.data.min() >= 0:
        return _perron_radius(matrix)
    raise ValueError(
        f"the spectral radius of a strongly connected component of {n} nodes did not converge; "
        "several eigenvalues of equal magnitude are the likely cause; use normalized('symmetric') or 'row'"
    )


def _arpack_radius(matrix: sp.csr_array, symmetric: bool, krylov: int) -> float | None:
    start = np.random.default_rng(0).uniform(0.5, 1.5, matrix.shape[0])  # same graph, same digits
    solve = eigsh if symmetric else eigs
    try:
        values = solve(matrix, k=1, which="LM", ncv=krylov, v0=start, maxiter=1000, return_eigenvectors=False)
    except (ArpackNoConvergence, ArpackError):
        return None
    return float(np.abs(values).max())


def _perron_radius(matrix: sp.csr_array) -> float:
    """Power iteration on S + cI, for nonnegative S, with Collatz and Wielandt's bounds as the stopping rule.

    The added identity makes a periodic component (a directed cycle, a bipartite graph) converge.
    """
    v = np.ones(matrix.shape[0])
    added = float(matrix.sum(1).mean())
    for _ in range(POWER_STEPS):
        shifted = matrix @ v + added * v
        ratio = shifted / v
        low, high = float(ratio.min()), float(ratio.max())
        if high - low <= 1e-9 * high:
            return (low + high) / 2 - added
        v = shifted / shifted.max()
    raise ValueError(
        f"the spectral radius lies between {low - added:.6g} and {high - added:.6g} after {POWER_STEPS} steps "
        "and converges too slowly to be trusted; use normalized('symmetric') or 'row'"
    )
