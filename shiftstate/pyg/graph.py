"""A graph in any of PyTorch Geometric's forms as a Shift: checked, with self-loops and normalisation as asked for."""

from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch_geometric import EdgeIndex
from torch_geometric.typing import SparseTensor

from shiftstate.checks import check_name
from shiftstate.graphs import Shift
from shiftstate.graphs.inputs import as_coo, as_edge_index, check_ids
from shiftstate.graphs.operators import Sparse, is_known

Normalize = bool | Literal["gcn", "symmetric", "spectral", "row", "column"]
KINDS = ("gcn", "symmetric", "spectral", "row", "column")
OTHER_GRAPH = "for an x of {n} nodes; does x belong to another graph, or are its nodes not in its second last axis?"


class Edges(NamedTuple):
    """Edges source → target with their weights."""

    source: Tensor
    target: Tensor
    weight: Tensor


def check_normalize(normalize: object) -> str | None:
    """The name of a normalisation: True is PyG's own, False none."""
    if isinstance(normalize, bool):
        return "gcn" if normalize else None
    return check_name("normalize", normalize, KINDS)


def to_shift(
    graph: Any,
    edge_weight: Tensor | None,
    x: Tensor,
    dtype: torch.dtype,
    kind: str | None,
    add_self_loops: bool = False,
    batch: Tensor | None = None,
    mask: Tensor | None = None,
) -> Shift:
    """S over the nodes of x, from ``edge_index`` or ``adj_t``; a mask multiplies the edges after normalisation."""
    n = x.shape[-2]
    # Sums over neighbours are not taken in half precision, whatever the layer computes in.
    exact = torch.promote_types(dtype, torch.float32)
    source, target, weight = _edges(graph, edge_weight, x, exact)
    if add_self_loops:
        source, target, weight = _with_self_loops(source, target, weight, n)
    ends = torch.stack([source, target])
    if kind == "gcn":
        factor = _gcn_factor(source, target, weight, n)
    elif kind is not None:
        shift = _shift(ends, weight, n)
        if kind == "spectral" and batch is not None:
            shift = Shift(shift.operator, _starts(batch, ends, n))
        left, right = _scales(shift, kind)
        if mask is None:
            return shift.scaled(left, right).to(dtype)
        factor = left.index_select(0, target) * right.index_select(0, source)
    else:
        factor = None
    weight = weight if factor is None else weight * factor
    if mask is not None:
        loops = weight.new_ones(weight.shape[0] - mask.shape[0])  # those that were added here are not explained
        weight = weight * torch.cat([mask.to(exact), loops])
    return _shift(ends, weight.to(dtype), n)


def _shift(ends: Tensor, weight: Tensor, n: int) -> Shift:
    """S of edges that have been checked.

    A program for graphs of any size keeps a sparse S: it cannot ask whether a graph is small or dense.
    """
    if is_known(n, ends.shape[1]):
        return Shift.from_edges(ends, weight, n)
    ptr = torch.cat([ends.new_zeros(1), ends.new_full((1,), n)])
    return Shift(Sparse.from_entries(ends[1], ends[0], weight, n), ptr)


def _edges(graph: Any, edge_weight: Tensor | None, x: Tensor, dtype: torch.dtype) -> Edges:
    """The edges of any form, checked against x."""
    if isinstance(graph, EdgeIndex):
        _check_size("edge_index", graph.sparse_size(), x)
        graph = graph.as_tensor()
    if isinstance(graph, Tensor) and graph.layout == torch.strided:
        return _from_edge_index(graph, edge_weight, x, dtype)
    if not isinstance(graph, Tensor | SparseTensor):
        raise ValueError(
            f"edge_index is a {type(graph).__name__}; expected a tensor (2, E), an EdgeIndex, a sparse adj_t (N, N) or "
            "a Shift; heterogeneous graphs have one edge_index per edge type: see torch_geometric.nn.HeteroConv"
        )
    if edge_weight is not None:
        raise ValueError("edge_weight was given beside a sparse adj_t; expected its values to hold the weights")
    if isinstance(graph, SparseTensor):
        size, (row, col, weight) = tuple(graph.sizes()), graph.coo()
    else:
        _check_device("adj_t (edge_index)", graph, x)
        size, (row, col, weight) = tuple(graph.shape), _entries(graph)
    _check_size("adj_t (edge_index)", size, x)
    _check_device("adj_t (edge_index)", row, x)
    weight = _weight("adj_t (edge_index)", weight, row, dtype)
    return Edges(col.long(), row.long(), weight)  # adj_t[i, j] is the edge j → i


@torch.compiler.disable  # type: ignore[untyped-decorator]
def _entries(matrix: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows, columns and values of a sparse matrix, as tensors of their own.

    torch.compile takes no sparse tensors, and no views of one: it goes on behind this function.
    """
    row, col, values = as_coo("adj_t (edge_index)", matrix)
    return row.clone(), col.clone(), values.clone()


def _from_edge_index(edge_index: Tensor, edge_weight: Tensor | None, x: Tensor, dtype: torch.dtype) -> Edges:
    _check_device("edge_index", edge_index, x)
    edges = as_edge_index(edge_index)
    check_ids(edges, x.shape[-2], OTHER_GRAPH)
    if edge_weight is not None:
        if not isinstance(edge_weight, Tensor):
            raise ValueError(f"edge_weight is a {type(edge_weight).__name__}; expected a tensor (E,)")
        _check_device("edge_weight", edge_weight, x)
    source, target = edges
    return Edges(source, target, _weight("edge_weight", edge_weight, target, dtype))


def _check_size(name: str, size: tuple[int | None, int | None], x: Tensor) -> None:
    """Raise unless a graph that says its size, or one half of it, has the nodes of x on both sides."""
    n = x.shape[-2]
    if any(side is not None and side != n for side in size):
        raise ValueError(f"{name} has shape {size}; expected ({n}, {n}) for an x of {n} nodes")


def _check_device(name: str, tensor: Tensor, x: Tensor) -> None:
    if tensor.device != x.device:
        raise ValueError(f"{name} is on {tensor.device} and x on {x.device}; expected one device: .to(x.device)")


def _weight(name: str, weight: Tensor | None, target: Tensor, dtype: torch.dtype) -> Tensor:
    """One finite number per edge, of shape (E,) or (E, 1); ones if there are none."""
    count = target.shape[0]
    if weight is None:
        return torch.ones(count, dtype=dtype, device=target.device)
    if weight.dim() == 2 and weight.shape[1] == 1:
        weight = weight.squeeze(1)
    if tuple(weight.shape) != (count,):
        hint = "; edge features are not weights" if weight.dim() > 1 and weight.shape[-1] > 1 else ""
        raise ValueError(f"{name} has weights of shape {tuple(weight.shape)}; expected ({count},): one per edge{hint}")
    if weight.is_complex():
        raise ValueError(f"{name} is complex; expected real weights")
    if not torch.compiler.is_compiling() and not bool(torch.isfinite(weight).all()):
        raise ValueError(f"{name} holds {int((~torch.isfinite(weight)).sum())} NaN or infinite weights; expected none")
    return weight.to(dtype)


def _with_self_loops(source: Tensor, target: Tensor, weight: Tensor, n: int) -> Edges:
    """A loop of weight 1 at every node that has none, as PyG's ``add_remaining_self_loops``.

    The others get one of weight 0, so that shapes do not depend on the data and the call can be traced.
    """
    loops = torch.zeros(n, dtype=torch.long, device=source.device)
    loops = loops.index_add(0, target, (source == target).long())
    nodes = torch.arange(n, device=source.device)
    added = (loops == 0).to(weight.dtype)
    return Edges(torch.cat([source, nodes]), torch.cat([target, nodes]), torch.cat([weight, added]))


def _gcn_factor(source: Tensor, target: Tensor, weight: Tensor, n: int) -> Tensor:
    """1 / √(d_i d_j) for every edge j → i, d the sum of the weights that come in; 0 where one of them is 0."""
    degree = weight.new_zeros(n).index_add(0, target, weight)
    if not torch.compiler.is_compiling() and bool((degree < 0).any()):
        node = int((degree < 0).nonzero()[0])
        raise ValueError(
            f"edge_weight gives node {node} the degree {float(degree[node]):g}; expected none below 0 with "
            'normalize=True, which takes its root; normalize="symmetric" sums absolute weights'
        )
    empty = degree == 0  # replaced twice: a gradient through 0 ** -0.5 would be NaN even where it is not used
    root = torch.where(empty, 0.0, torch.where(empty, 1.0, degree) ** -0.5)
    return root.index_select(0, source) * root.index_select(0, target)


def _scales(shift: Shift, kind: str) -> tuple[Tensor, Tensor]:
    try:
        return shift.scales(kind)  # type: ignore[arg-type]
    except ValueError as error:
        raise ValueError(f"normalize={kind!r}: {error}") from error


def _starts(batch: Tensor, ends: Tensor, n: int) -> Tensor:
    """Where each graph of a mini-batch begins and the last one ends, from the graph of every node."""
    fits = tuple(batch.shape) == (n,) and not batch.dtype.is_floating_point
    if not fits or bool((batch[1:] < batch[:-1]).any()) or int(batch[0]) < 0:
        raise ValueError(
            f"batch is {batch.dtype} of shape {tuple(batch.shape)}; expected the graph of each of {n} nodes, counted "
            "from 0, in ascending order, as in torch_geometric.data.Batch"
        )
    crossing = batch.index_select(0, ends[0]) != batch.index_select(0, ends[1])
    if bool(crossing.any()):
        edge = int(crossing.nonzero()[0])
        raise ValueError(f"edge {edge} of edge_index goes from one graph of the batch to another; expected none")
    counts = torch.bincount(batch)
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])
