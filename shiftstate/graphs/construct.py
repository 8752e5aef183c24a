"""Operators from edges, matrices, NetworkX graphs and other operators, and the choice between dense and sparse."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, get_args

import scipy.sparse as sp
import torch
from torch import Tensor

from shiftstate.checks import check_name, check_whole
from shiftstate.graphs.inputs import (
    as_edge_index,
    as_floating,
    as_tensor,
    as_weight,
    check_all_finite,
    check_has_values,
    check_ids,
    check_square,
    from_scipy,
    from_torch_sparse,
)
from shiftstate.graphs.operators import Dense, Sparse

if TYPE_CHECKING:
    import networkx as nx

Layout = Literal["auto", "dense", "sparse"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)

# Measured by benchmarks/layout.py on one thread: below one entry in four the sparse product is the faster one, and the
# more so the larger the graph; up to 64 nodes the fused kernels hardly mind, and all others are faster on a dense S.
DENSE_NODES = 64
DENSE_SHARE = 1 / 4


def from_edges(edge_index: Any, weight: Any, num_nodes: int | None) -> Sparse:
    """S with S[v, u] the weight of the edge u → v."""
    edges = as_edge_index(edge_index)
    if num_nodes is None and edges.shape[1] == 0:
        raise ValueError("no edges and no num_nodes were given; expected num_nodes for a graph without edges")
    n = int(edges.max()) + 1 if num_nodes is None else check_whole("num_nodes", num_nodes, 1)
    check_ids(edges, n, "(num_nodes is {n}); are the ids counted from 1, or is num_nodes too small?")
    return Sparse.from_entries(edges[1], edges[0], as_weight(weight, edges), n)


def from_matrix(matrix: Any) -> Dense | Sparse:
    """S as it stands, in the layout that it has."""
    if sp.issparse(matrix):
        operator: Dense | Sparse = from_scipy(matrix)
    elif isinstance(matrix, Tensor) and matrix.layout != torch.strided:
        operator = from_torch_sparse(matrix)
    else:
        # A copy: what was checked once must not change when the caller goes on with the matrix.
        tensor = as_tensor("matrix", matrix)
        check_has_values("matrix", tensor)
        check_square(tuple(tensor.shape))
        operator = Dense(as_floating(tensor, "matrix").clone())
    check_all_finite("matrix", operator.values)
    return operator


def from_networkx(graph: nx.Graph[Any], weight: str | None) -> Dense | Sparse:
    """S with S[v, u] the weight of the edge u → v, nodes in the order of ``graph.nodes``."""
    try:
        import networkx as nx
    except ImportError as error:
        raise ImportError("from_networkx needs NetworkX: pip install 'shiftstate[networkx]'") from error
    if not isinstance(graph, nx.Graph):
        raise ValueError(f"graph is a {type(graph).__name__}; expected a NetworkX graph")
    if graph.number_of_nodes() == 0:
        raise ValueError("graph has no nodes; expected at least one")
    try:
        adjacency = nx.to_scipy_sparse_array(graph, weight=weight, format="coo")
        numeric = adjacency.dtype.kind in "biuf"
    except (TypeError, ValueError):
        numeric = False
    if not numeric:
        raise ValueError(f"edge attribute {weight!r} holds values that are not numbers; expected real weights")
    return from_matrix(adjacency.T)


def block_diagonal(operators: Sequence[Dense | Sparse]) -> Sparse:
    """Several operators as one, without an edge between them."""
    *starts, total = accumulate((operator.num_nodes for operator in operators), initial=0)
    rows, cols, values = zip(*(operator.trainable_entries() for operator in operators), strict=True)
    row = torch.cat([part + start for part, start in zip(rows, starts, strict=True)])
    col = torch.cat([part + start for part, start in zip(cols, starts, strict=True)])
    return Sparse.from_entries(row, col, torch.cat(values), total)


def laid_out(operator: Dense | Sparse, layout: Layout) -> Dense | Sparse:
    """The operator in the layout that was asked for, "auto" by the measured rule."""
    check_name("layout", layout, LAYOUTS)
    n = operator.num_nodes
    if n == 0:
        raise ValueError("the graph has no nodes; expected at least one")
    if layout == "auto":
        layout = "dense" if n <= DENSE_NODES or num_entries(operator) >= DENSE_SHARE * n * n else "sparse"
    if layout == "dense" and isinstance(operator, Sparse):
        return Dense(operator.dense())
    if layout == "sparse" and isinstance(operator, Dense):
        return Sparse.from_entries(*operator.entries(), n)
    return operator


def num_entries(operator: Dense | Sparse) -> int:
    """The nonzero entries of a dense S, the stored ones of a sparse S."""
    return int(operator.matrix.count_nonzero()) if isinstance(operator, Dense) else operator.col.shape[0]
