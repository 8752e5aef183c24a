"""The graph as the lens needs it: its spectrum, which predicts |λ|^k or |T_k(λ)|, and the part of it that is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.linalg import ArpackError, svds
from torch import Tensor

from shiftstate.graphs import Shift
from shiftstate.places import places

ALL_EIGENVALUES = 500
"""Nodes up to which all eigenvalues are computed."""
NORMAL_NODES = 5_000
"""Nodes up to which S is tried for SSᵀ = SᵀS."""
MAX_EDGES = 2_000
"""Edges that are drawn, the heaviest first."""


@dataclass(frozen=True)
class Spectrum:
    """What S does to a state by itself: S^k.

    For a normal S (symmetric ones are) smallest^k ‖x‖ ≤ ‖S^k x‖ ≤ radius^k ‖x‖. Otherwise radius^k is the
    rate in the long run, and on the way ‖S^k x‖ may rise above it, up to norm^k ‖x‖.
    """

    radius: float
    """ρ(S) = max |λ|; NaN where it could not be found."""
    norm: float
    """‖S‖₂, the largest singular value; equal to the radius if S is normal."""
    smallest: float | None
    """min |λ|; None above 500 nodes."""
    normal: bool | None
    """Whether SSᵀ = SᵀS; None for directed graphs above 5,000 nodes."""
    symmetric: bool
    eigenvalues: Tensor | None
    """All of them, largest magnitude first; None above 500 nodes."""

    @property
    def real(self) -> bool | None:
        """Whether all eigenvalues are real; None for directed graphs above 500 nodes."""
        if self.symmetric or self.eigenvalues is None:
            return True if self.symmetric else None
        return bool((self.eigenvalues.imag.abs() <= 1e-9).all()) if self.eigenvalues.is_complex() else True

    def envelopes(self, start: float, K: int, basis: str = "powers") -> dict[str, Tensor]:
        """What S alone makes of a w_0 of this size, k = 0 … K: radius^k, norm^k and smallest^k times it.

        In Chebyshev's basis the largest and the smallest |T_k(λ)|, and |T_k(i norm)|, which bounds ‖T_k(S)‖ for any S.
        """
        if basis == "chebyshev":
            return {name: start * curve for name, curve in self._chebyshev(K).items()}
        k = torch.arange(K + 1, dtype=torch.float64)
        rates = {"radius": self.radius, "norm": self.norm, "smallest": self.smallest}
        return {name: start * rate**k for name, rate in rates.items() if rate is not None}

    def _chebyshev(self, K: int) -> dict[str, Tensor]:
        places = [1j * self.norm, 1j * self.radius, max(self.radius, 1.0)]
        by_norm, anywhere, on_line = _polynomials(torch.tensor(places, dtype=torch.complex128), K).T
        if self.eigenvalues is not None:
            sizes = _polynomials(self.eigenvalues, K)
            largest = sizes.amax(1)
            return {"radius": largest, "norm": largest if self.normal else by_norm, "smallest": sizes.amin(1)}
        if self.symmetric:  # |T_k| is 1 at most within ±1, and largest at ±radius beyond
            return {"radius": on_line, "norm": on_line}
        return {"radius": anywhere, "norm": by_norm}


@dataclass(frozen=True)
class Drawing:
    """The part of the graph that is drawn: all of a small one, the nodes of highest degree of a large one."""

    nodes: Tensor
    """Ids of the drawn nodes, ascending: (n)."""
    positions: Tensor
    """(n, 2), within [−1, 1]²."""
    edges: Tensor
    """(2, E), as places in ``nodes``: edges[0] → edges[1], the heaviest 2,000."""
    weight: Tensor
    """(E)."""
    names: tuple[str, ...] | None
    left_out: tuple[int, int]
    """Nodes and edges that are not drawn."""


def spectrum(shift: Shift) -> Spectrum:
    """Radius, norm and, on small graphs, all eigenvalues."""
    matrix = shift.to_scipy()
    matrix.eliminate_zeros()
    symmetric = bool(abs(matrix - matrix.T).nnz == 0)
    eigenvalues = shift.eigenvalues() if shift.num_nodes <= ALL_EIGENVALUES else None
    try:
        radius = shift.spectral_radius()
    except ValueError:  # it did not converge; norms and curves are still worth seeing
        radius = float("nan")
    normal = symmetric or (_is_normal(matrix) if shift.num_nodes <= NORMAL_NODES else None)
    norm = radius if symmetric and radius == radius else _norm(matrix)
    smallest = None if eigenvalues is None else float(eigenvalues.abs().min())
    return Spectrum(radius, norm, smallest, normal, symmetric, eigenvalues)


def drawing(shift: Shift, max_nodes: int, names: Sequence[str] | None) -> Drawing:
    """What to draw, and where."""
    matrix = shift.to_scipy()
    matrix.eliminate_zeros()
    N = shift.num_nodes
    if names is not None and len(names) != N:
        raise ValueError(f"{len(names)} names were given; expected {N}, one for each node")
    degree = np.diff(matrix.indptr) + np.diff(matrix.tocsc().indptr)
    chosen = np.sort(np.argsort(-degree, kind="stable")[:max_nodes])
    part = sp.coo_array(matrix[chosen][:, chosen])
    heaviest = np.sort(np.argsort(-np.abs(part.data), kind="stable")[:MAX_EDGES])
    return Drawing(
        torch.from_numpy(chosen),
        torch.from_numpy(places(part.toarray())),
        torch.from_numpy(np.stack([part.col, part.row])[:, heaviest].astype(np.int64)),
        torch.from_numpy(part.data[heaviest]),
        None if names is None else tuple(str(names[node]) for node in chosen),
        (N - len(chosen), int(matrix.nnz - len(heaviest))),
    )


def _polynomials(places: Tensor, K: int) -> Tensor:
    """|T_k| of these places, k = 0 … K: (K + 1, places)."""
    places = places.to(torch.complex128)
    values = [torch.ones_like(places), places]
    while len(values) <= K:
        values.append(2 * places * values[-1] - values[-2])
    return torch.stack(values[: K + 1]).abs()


def _is_normal(matrix: sp.csr_array) -> bool:
    difference = matrix @ matrix.T - matrix.T @ matrix
    return float(sp.linalg.norm(difference)) <= 1e-8 * float(sp.linalg.norm(matrix)) ** 2


def _norm(matrix: sp.csr_array) -> float:
    if matrix.nnz == 0:
        return 0.0
    if matrix.shape[0] <= ALL_EIGENVALUES:
        return float(np.linalg.norm(matrix.toarray(), 2))
    start = np.random.default_rng(0).uniform(0.5, 1.5, matrix.shape[0])  # same graph, same digits
    try:
        return float(svds(matrix, k=1, v0=start, return_singular_vectors=False)[0])
    except ArpackError:
        return float(np.sqrt(sp.linalg.norm(matrix, 1) * sp.linalg.norm(matrix, np.inf)))  # never below it
