"""Normalisations and Laplacians: S between two diagonal matrices, and D − S."""

from itertools import pairwise
from typing import Literal, get_args

import torch
from torch import Tensor

from shiftstate.checks import check_name
from shiftstate.graphs.operators import Dense, Sparse
from shiftstate.graphs.spectrum import spectral_radius, to_scipy

Normalization = Literal["spectral", "row", "column", "symmetric"]
LaplacianNormalization = Literal["row", "symmetric"]


def scales(operator: Dense | Sparse, ptr: Tensor, kind: Normalization) -> tuple[Tensor, Tensor]:
    """The (N) vectors l and r with which a normalisation makes diag(l) S diag(r) of S."""
    check_name("normalization", kind, get_args(Normalization))
    rows, cols = operator.absolute_sums()
    one = torch.ones_like(rows)
    if kind == "spectral":
        return (1 / _radii(operator, ptr).to(rows)).repeat_interleave(ptr.diff()), one
    if kind == "row":
        return inverse(rows), one
    if kind == "column":
        return one, inverse(cols)
    return inverse(rows, 0.5), inverse(cols, 0.5)


def laplacian(operator: Dense | Sparse, ptr: Tensor, normalization: LaplacianNormalization | None) -> Dense | Sparse:
    """D − S with D the sums of |S| along rows, or I minus the normalised S; isolated nodes keep a zero row."""
    degree = operator.absolute_sums()[0]
    if normalization is not None:
        kind = check_name("normalization", normalization, get_args(LaplacianNormalization))
        operator = operator.scaled(*scales(operator, ptr, kind))
        degree = (degree != 0).to(degree.dtype)
    if isinstance(operator, Dense):
        return Dense(torch.diag(degree) - operator.matrix)
    row, col, values = operator.entries()
    nodes = torch.arange(operator.num_nodes, device=values.device)
    return Sparse.from_entries(
        torch.cat([row, nodes]), torch.cat([col, nodes]), torch.cat([-values, degree]), operator.num_nodes
    )


def _radii(operator: Dense | Sparse, ptr: Tensor) -> Tensor:
    """The spectral radius of each graph; one of zero raises."""
    matrix, ends = to_scipy(operator), ptr.tolist()
    radii = [spectral_radius(matrix[start:end, start:end]) for start, end in pairwise(ends)]
    for graph, radius in enumerate(radii):
        if radius == 0:
            raise no_radius(f"graph {graph} of the batch" if len(radii) > 1 else "the shift")
    return torch.tensor(radii, dtype=torch.float64, device=operator.values.device)


def no_radius(which: str) -> ValueError:
    """What is raised where a spectral radius of zero is to be divided by."""
    return ValueError(
        f"{which} has spectral radius 0; expected a cycle or an undirected edge; a graph without "
        "edges or without cycles is the likely cause: use another normalization, or none"
    )


def inverse(sums: Tensor, power: float = 1.0) -> Tensor:
    """1 / sums^power, and zero where the sum is zero; written so that no gradient, of any order, is NaN there."""
    empty = sums == 0
    return torch.where(empty, 0.0, torch.where(empty, 1.0, sums) ** -power)
