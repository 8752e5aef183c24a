"""The spectrum of a shift: all eigenvalues of a small S, the spectral radius of any S."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, eigs, eigsh, splu

from shiftstate.graphs.operators import Dense, Sparse

# Up to here all eigenvalues of a component are computed: exact, and faster than an iteration.
DENSE_UP_TO = 500
# Where the iteration does not converge, all eigenvalues are still computed up to here (4,000: half a minute).
FALLBACK_UP_TO = 4_000
ARPACK_PRODUCTS = 6_000
POWER_STEPS = 300
NODA_STEPS = 50
BOUND_GAP = 1e-9


def to_scipy(operator: Dense | Sparse) -> sp.csr_array:
    """S as a SciPy sparse array in float64, without gradients."""
    row, col, values = operator.entries()
    entries = values.detach().double().cpu().numpy()
    places = (row.cpu().numpy(), col.cpu().numpy())
    return sp.csr_array((entries, places), shape=(operator.num_nodes, operator.num_nodes))


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
    radius = _arpack_radius(matrix, symmetric, krylov=20)
    if radius is None and matrix.data.min() >= 0:
        return _perron_radius(matrix)
    if radius is None:
        radius = _arpack_radius(matrix, symmetric, krylov=100)
    if radius is None and n <= FALLBACK_UP_TO:
        return float(np.abs(eigenvalues(matrix.toarray()))[0])
    if radius is None:
        raise ValueError(
            f"the spectral radius of a strongly connected component of {n} nodes did not converge; "
            "several eigenvalues of equal magnitude are the likely cause; use normalized('symmetric') or 'row'"
        )
    return radius


def _arpack_radius(matrix: sp.csr_array, symmetric: bool, krylov: int) -> float | None:
    start = np.random.default_rng(0).uniform(0.5, 1.5, matrix.shape[0])  # same graph, same digits
    solve = eigsh if symmetric else eigs
    try:
        steps = ARPACK_PRODUCTS // krylov
        values = solve(matrix, k=1, which="LM", ncv=krylov, v0=start, maxiter=steps, return_eigenvectors=False)
    except (ArpackNoConvergence, ArpackError):
        return None
    return float(np.abs(values).max())


def _perron_radius(matrix: sp.csr_array) -> float:
    """The radius of a nonnegative, irreducible S between Collatz and Wielandt's bounds, min and max of (S v)_i / v_i.

    First a power iteration on S + cI (the identity makes a directed cycle or a bipartite graph converge).
    Where the gap of the spectrum is too small for that, as on a long path, Noda's iteration: solve
    (high·I − S) u = v for the next v. It converges quadratically, and on graphs of small gap, which are
    long and thin, the sparse factors stay small.
    """
    v = np.ones(matrix.shape[0])
    low, high = _bounds(matrix, v)
    added = float(matrix.sum(1).mean())
    for _ in range(POWER_STEPS):
        if high - low <= BOUND_GAP * high:
            return (low + high) / 2
        v = matrix @ v + added * v
        v /= v.max()
        low, high = _bounds(matrix, v)
    identity = sp.eye_array(matrix.shape[0], format="csc")
    for _ in range(NODA_STEPS):
        if high - low <= BOUND_GAP * high:
            return (low + high) / 2
        try:
            v = splu(sp.csc_array(high * identity - matrix)).solve(v)
        except RuntimeError:  # exactly singular: the bound is the eigenvalue
            return high
        v /= v.max()
        if not v.min() > 0:
            break
        low, high = _bounds(matrix, v)
    raise ValueError(
        f"the spectral radius lies between {low:.9g} and {high:.9g}, and rounding leaves it there; expected "
        "weights of like size along every cycle; use normalized('symmetric') or 'row'"
    )


def _bounds(matrix: sp.csr_array, v: NDArray[np.float64]) -> tuple[float, float]:
    ratio = (matrix @ v) / v
    return float(ratio.min()), float(ratio.max())
