"""Normalisation and spectral radius of a partitioned S, by sums and products alone: nobody holds the whole."""

from __future__ import annotations

from typing import get_args

import numpy as np
import torch
from torch import Tensor

from shiftstate.checks import check_name
from shiftstate.graphs.partitioned import Partitioned
from shiftstate.graphs.ranks import Alone
from shiftstate.graphs.scaling import Normalization, inverse, no_radius

KRYLOV = 40
"""Vectors of the basis: each takes 8 bytes per node."""
RESTARTS = 40
ACCURACY = 1e-10


def scales(operator: Partitioned, ranks: Alone, kind: Normalization) -> tuple[Tensor, Tensor]:
    """The own entries of the vectors l and r with which a normalisation makes diag(l) S diag(r) of S."""
    check_name("normalization", kind, get_args(Normalization))
    rows, columns = operator.absolute_sums()
    one = torch.ones_like(rows)
    if kind == "spectral":
        radius = spectral_radius(operator, ranks)
        if radius == 0:
            raise no_radius("the shift")
        return torch.full_like(rows, 1 / radius), one
    if kind == "row":
        return inverse(rows), one
    if kind == "column":
        return one, inverse(columns)
    return inverse(rows, 0.5), inverse(columns, 0.5)


def spectral_radius(operator: Partitioned, ranks: Alone) -> float:
    """max |λ| of S by Arnoldi's method; exactly zero for an acyclic graph.

    Nodes that lie on no cycle, because nothing leads to them or from them, are taken away first, again and again: the
    eigenvalues of the rest are those of S. Then an orthonormal basis of S v, S² v, … is built, and begun anew from the
    best vector in it until the largest eigenvalue stands.
    """
    operator = operator.map(lambda values: values.detach().cpu().double())
    core = _on_cycles(operator, ranks)
    if not ranks.any(bool(core.any())):
        return 0.0
    kept = core.double()[:, None]
    generator = torch.Generator().manual_seed(ranks.rank)
    start = (0.5 + torch.rand(len(kept), 1, generator=generator, dtype=torch.float64)) * kept
    radius = 0.0
    for _ in range(RESTARTS):
        radius, residual, start = _arnoldi(operator, ranks, kept, start)  # before it stands it may be too large
        if residual <= ACCURACY * radius:
            return radius
    raise ValueError(
        f"the spectral radius did not converge (it is about {radius:.6g}); several eigenvalues of equal magnitude are "
        "the likely cause; use normalized('symmetric') or 'row'"
    )


def _on_cycles(operator: Partitioned, ranks: Alone) -> Tensor:
    """The nodes (n) that are left when those without an edge from, or to, the others are taken away repeatedly."""
    pattern = operator.map(lambda values: (values != 0).double())
    back, kept = pattern.transposed(), torch.ones(operator.num_nodes, 1, dtype=torch.float64)
    while True:
        left = ((pattern.product(kept) > 0) & (back.product(kept) > 0)).double() * kept
        changed = ranks.any(not torch.equal(left, kept))
        kept = left
        if not changed:
            return kept[:, 0] > 0


def _arnoldi(operator: Partitioned, ranks: Alone, kept: Tensor, start: Tensor) -> tuple[float, float, Tensor]:
    """The largest |θ| on a basis that begins with ``start``, its residual, and a better start."""
    basis = torch.zeros(len(start), KRYLOV + 1, dtype=torch.float64)
    small = np.zeros((KRYLOV + 1, KRYLOV))
    basis[:, :1] = start / _norm(ranks, start)
    size = KRYLOV
    for k in range(KRYLOV):
        v = operator.product(basis[:, k : k + 1]) * kept
        scale = _norm(ranks, v)
        for _ in range(2):  # twice is enough to make it orthogonal to the last digit
            shares = ranks.total(basis[:, : k + 1].T @ v)
            v = v - basis[:, : k + 1] @ shares
            small[: k + 1, k] += shares[:, 0].numpy()
        small[k + 1, k] = _norm(ranks, v)
        if small[k + 1, k] <= 1e-14 * max(scale, 1e-300):  # the basis holds all there is
            size = k + 1
            break
        basis[:, k + 1 : k + 2] = v / small[k + 1, k]
    values, vectors = np.linalg.eig(small[:size, :size])
    place = int(np.abs(values).argmax())
    vector = vectors[:, place]
    residual = 0.0 if size < KRYLOV else float(abs(small[size, size - 1] * vector[-1]))
    return float(abs(values[place])), residual, basis[:, :size] @ torch.from_numpy(vector.real + vector.imag)[:, None]


def _norm(ranks: Alone, v: Tensor) -> float:
    return float(ranks.total((v * v).sum().reshape(1)).sqrt())
