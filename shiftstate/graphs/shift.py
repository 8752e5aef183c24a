"""The graph shift operator S: checked once, when it is made, and handed to every layer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import matmul
from typing import TYPE_CHECKING, Any, Literal

import scipy.sparse as sp
import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from shiftstate.checks import check_name, check_whole
from shiftstate.graphs import spectrum
from shiftstate.graphs.inputs import (
    as_device,
    as_edge_index,
    as_floating,
    as_tensor,
    as_weight,
    check_all_finite,
    check_square,
    from_scipy,
    from_torch_sparse,
)
from shiftstate.graphs.operators import Dense, Sparse, without_autocast

if TYPE_CHECKING:
    import networkx as nx

Layout = Literal["auto", "dense", "sparse"]
Normalization = Literal["spectral", "row", "column", "symmetric"]

# Measured by benchmarks/layout.py on one thread: below one entry in four the sparse product is the faster one, and the
# more so the larger the graph; up to 64 nodes the fused kernels hardly mind, and all others are faster on a dense S.
DENSE_NODES = 64
DENSE_SHARE = 1 / 4
MAX_EIGENVALUE_NODES = 20_000

_MATMUL = (matmul, torch.matmul, Tensor.matmul, Tensor.__matmul__)


class Shift:
    """A graph shift operator S (N, N), with S[i, j] the weight of the edge j → i.

    ``shift @ x`` gathers from in-neighbours: (S x)_i = Σ_j S_ij x_j. Made by `from_edges`, `from_matrix`,
    `from_networkx` or `batch`; immutable afterwards. Directed graphs, negative weights, self-loops, isolated
    nodes and disconnected graphs are all in order. Duplicate edges add up, as in every sparse library.

    A shift is a pytree of plain tensors: it passes through ``torch.compile`` and ``torch.export``, and edge
    weights that require gradients receive them.

    Example:
        >>> import torch, shiftstate as ss
        >>> shift = ss.Shift.from_edges([[0, 1, 2], [1, 2, 0]])  # the cycle 0 → 1 → 2 → 0
        >>> shift
        Shift(3 nodes, 3 edges, dense, float32, cpu)
        >>> (shift @ torch.tensor([[1.0], [0.0], [0.0]])).T
        tensor([[0., 1., 0.]])
    """

    def __init__(self, operator: Dense | Sparse, ptr: Tensor) -> None:
        self._operator = operator
        self.ptr = ptr
        """Where each graph of a batch begins and the last one ends: (num_graphs + 1)."""

    @classmethod
    def from_edges(
        cls, edge_index: Any, weight: Any = None, num_nodes: int | None = None, layout: Layout = "auto"
    ) -> Shift:
        """From edges ``edge_index[0] → edge_index[1]``.

        Args:
            edge_index: (2, E) integer node ids: tensor, array or nested list.
            weight: (E) edge weights; ones by default. Gradients flow to them if they require it.
            num_nodes: N; by default the largest id plus one, so isolated last nodes need it.
            layout: "dense", "sparse", or "auto" for the faster one by a measured rule.
        """
        edges = as_edge_index(edge_index)
        if num_nodes is None and edges.shape[1] == 0:
            raise ValueError("no edges and no num_nodes were given; expected num_nodes for a graph without edges")
        n = int(edges.max()) + 1 if num_nodes is None else check_whole("num_nodes", num_nodes, 1)
        if not torch.compiler.is_compiling() and edges.numel():
            low, high = int(edges.min()), int(edges.max())
            if low < 0 or high >= n:
                raise ValueError(
                    f"edge_index holds node id {low if low < 0 else high}; expected ids from 0 to {n - 1} "
                    f"(num_nodes is {n}); are the ids counted from 1, or is num_nodes too small?"
                )
        values = as_weight(weight, edges)
        operator = Sparse.from_entries(edges[1], edges[0], values, n)
        return cls._laid_out(operator, layout)

    @classmethod
    def from_matrix(cls, matrix: Any, layout: Layout = "auto") -> Shift:
        """From S itself, as it is: a NumPy array, SciPy sparse matrix or array, torch dense or sparse tensor.

        Row i gathers into node i. A matrix whose rows are sources (A[i, j] for an edge i → j) has to be
        transposed first; for an undirected graph the two are the same.
        """
        if sp.issparse(matrix):
            operator: Dense | Sparse = from_scipy(matrix)
        elif isinstance(matrix, Tensor) and matrix.layout != torch.strided:
            operator = from_torch_sparse(matrix)
        else:
            # A copy: what was checked once must not change when the caller goes on with the matrix.
            operator = Dense(as_floating(as_tensor("matrix", matrix), "matrix").clone())
            check_square(tuple(operator.matrix.shape))
        check_all_finite("matrix", operator.values)
        return cls._laid_out(operator, layout)

    @classmethod
    def from_networkx(cls, graph: nx.Graph[Any], weight: str | None = "weight", layout: Layout = "auto") -> Shift:
        """From a NetworkX graph; the edge u → v becomes S[v, u], nodes in the order of ``graph.nodes``.

        Args:
            graph: any NetworkX graph; undirected edges count in both directions, parallel edges add up.
            weight: the edge attribute that holds the weight, 1 where it is missing; None ignores weights.
            layout: "dense", "sparse" or "auto".
        """
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
        return cls.from_matrix(adjacency.T, layout)

    @classmethod
    def batch(cls, shifts: Sequence[Shift], layout: Layout = "auto") -> Shift:
        """Several graphs as one block-diagonal shift; each is normalised, and pooled over, by itself."""
        if not shifts:
            raise ValueError("an empty list was given; expected at least one shift")
        other = next((shift for shift in shifts if not isinstance(shift, Shift)), None)
        if other is not None:
            raise ValueError(f"a {type(other).__name__} was given; expected shifts: build each with Shift.from_matrix")
        kinds = sorted({f"{shift.dtype} on {shift.device}" for shift in shifts})
        if len(kinds) > 1:
            raise ValueError(
                f"shifts of {' and '.join(kinds)} were given; expected one dtype and device: shift.to(...)"
            )
        sizes = torch.tensor([shift.num_nodes for shift in shifts], device=shifts[0].device)
        starts = (sizes.cumsum(0) - sizes).tolist()
        parts = [shift._operator.trainable_entries() for shift in shifts]
        row = torch.cat([part[0] + start for part, start in zip(parts, starts, strict=True)])
        col = torch.cat([part[1] + start for part, start in zip(parts, starts, strict=True)])
        values = torch.cat([part[2] for part in parts])
        operator = Sparse.from_entries(row, col, values, int(sizes.sum()))
        ends = [shift.ptr[1:] + start for shift, start in zip(shifts, starts, strict=True)]
        return cls._laid_out(operator, layout, torch.cat([shifts[0].ptr[:1], *ends]))

    @classmethod
    def _laid_out(cls, operator: Dense | Sparse, layout: str, ptr: Tensor | None = None) -> Shift:
        check_name("layout", layout, ("auto", "dense", "sparse"))
        n = operator.num_nodes
        if n == 0:
            raise ValueError("the graph has no nodes; expected at least one")
        if layout == "auto":
            layout = "dense" if n <= DENSE_NODES or _num_entries(operator) >= DENSE_SHARE * n * n else "sparse"
        if layout == "dense" and isinstance(operator, Sparse):
            operator = Dense(operator.dense())
        elif layout == "sparse" and isinstance(operator, Dense):
            operator = Sparse.from_entries(*operator.entries(), n)
        if ptr is None:
            ptr = torch.tensor([0, n], device=operator.values.device)
        return cls(operator, ptr)

    @property
    def num_nodes(self) -> int:
        """N."""
        return self._operator.num_nodes

    @property
    def num_edges(self) -> int:
        """Entries of S: the nonzero ones of a dense S, the stored ones of a sparse S."""
        return _num_entries(self._operator)

    @property
    def num_graphs(self) -> int:
        """1, or the number of graphs of a batch."""
        return self.ptr.shape[0] - 1

    @property
    def layout(self) -> str:
        """How S is kept: "dense" or "sparse"."""
        return "dense" if isinstance(self._operator, Dense) else "sparse"

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the weights."""
        return self._operator.values.dtype

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self._operator.values.device

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to the edge weights."""
        return self._operator.values.requires_grad

    @property
    def operator(self) -> Dense | Sparse:
        """The tensors S is made of, for those who write kernels."""
        return self._operator

    def __matmul__(self, x: Tensor) -> Tensor:
        """S x for signals x (..., N, C), in their dtype, under autocast too."""
        self.check_signal(x)
        with without_autocast(x.device):
            if isinstance(self._operator, Dense):
                return self._operator.matrix @ x
            return self.shift_nodes(x.movedim(-2, 0)).movedim(0, -2)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """``shift @ x`` as torch.compile sees it: a function with a tensor among its arguments."""
        if func in _MATMUL and isinstance(args[0], Shift):
            return args[0].__matmul__(args[1])
        if func in _MATMUL and torch.compiler.is_compiling():
            return args[1].__matmul__(args[0])  # torch.compile exchanges the two, as if @ had a reverse
        return NotImplemented

    def shift_nodes(self, w: Tensor) -> Tensor:
        """S w for w (N, ...), nodes first: one product whatever follows the first axis."""
        return self._operator.product(w.reshape(w.shape[0], -1)).reshape(w.shape)

    def check_signal(self, x: Tensor) -> None:
        """Refuse a signal that does not live on this graph, with this dtype, on this device."""
        if not isinstance(x, Tensor):
            raise ValueError(f"x is a {type(x).__name__}; expected a torch tensor (..., N, channels)")
        if x.dim() < 2 or x.shape[-2] != self.num_nodes:
            hint = "add a channel axis: x.unsqueeze(-1)" if x.shape[-1:] == (self.num_nodes,) else "wrong graph?"
            raise ValueError(
                f"x has shape {tuple(x.shape)}; expected (..., {self.num_nodes}, channels) "
                f"for a shift of {self.num_nodes} nodes; {hint}"
            )
        if not x.dtype.is_floating_point:
            raise ValueError(f"x holds {x.dtype}; expected a floating dtype: x.to({self.dtype})")
        if x.dtype != self.dtype:
            raise ValueError(f"x is {x.dtype} and the shift {self.dtype}; expected one dtype: use shift.to(x.dtype)")
        if x.device != self.device:
            raise ValueError(
                f"x is on {x.device} and the shift on {self.device}; expected one device: use shift.to(x.device)"
            )

    @property
    def T(self) -> Shift:
        """Sᵀ: every edge reversed."""
        return Shift(self._operator.transposed(), self.ptr)

    def to(self, target: torch.device | torch.dtype | str) -> Shift:
        """The same shift with another floating dtype, or on another device."""
        if isinstance(target, torch.dtype):
            if not target.is_floating_point:
                raise ValueError(f"a shift cannot hold {target}; expected a floating dtype")
            ptr = self.ptr
        else:
            ptr = self.ptr.to(as_device(target))
        return Shift(self._operator.map(lambda values: values.to(target)), ptr)

    def permuted(self, order: Any) -> Shift:
        """The same graph with node ``order[i]`` renamed to i; signals follow as ``x[..., order, :]``."""
        chosen = as_tensor("order", order).to(self.device)
        n = self.num_nodes
        whole = not chosen.dtype.is_floating_point and chosen.dtype != torch.bool
        if not whole or not torch.equal(chosen.sort().values.long(), torch.arange(n, device=chosen.device)):
            raise ValueError(f"order is not a permutation; expected each of 0 to {n - 1} once")
        graph = self._graph_of_node()
        if self.num_graphs > 1 and not torch.equal(graph[chosen], graph):
            raise ValueError("order moves nodes from one graph of the batch to another; permute within graphs")
        if isinstance(self._operator, Dense):
            return Shift(Dense(self._operator.matrix[chosen][:, chosen]), self.ptr)
        row, col, values = self._operator.entries()
        place = chosen.argsort()
        return Shift(Sparse.from_entries(place[row], place[col], values, n), self.ptr)

    def normalized(self, kind: Normalization = "spectral") -> Shift:
        """S scaled; zero rows and columns stay zero, each graph of a batch is scaled by itself.

        "spectral" divides by the spectral radius, taken as a constant by gradients; "row" and "column"
        divide by the sums of |S| along rows or columns; "symmetric" divides S_ij by √(r_i c_j), with r the
        row and c the column sums, which is D^{-1/2} S D^{-1/2} on undirected graphs.
        """
        return self.scaled(*self.scales(kind))

    def scales(self, kind: Normalization = "spectral") -> tuple[Tensor, Tensor]:
        """The (N) vectors l and r with which `normalized` makes diag(l) S diag(r) of S."""
        check_name("normalization", kind, ("spectral", "row", "column", "symmetric"))
        rows, cols = self._operator.absolute_sums()
        one = torch.ones_like(rows)
        if kind == "spectral":
            return (1 / self._radii().to(rows)).repeat_interleave(self.ptr.diff()), one
        if kind == "row":
            return _inverse(rows), one
        if kind == "column":
            return one, _inverse(cols)
        return _inverse(rows, 0.5), _inverse(cols, 0.5)

    def scaled(self, left: Tensor, right: Tensor) -> Shift:
        """diag(left) S diag(right), for two vectors (N)."""
        return Shift(self._operator.scaled(left, right), self.ptr)

    def laplacian(self, normalization: Literal["row", "symmetric"] | None = None) -> Shift:
        """The Laplacian L = D − S, with D the sums of |S| along rows (the in-degrees).

        "row" gives I − D^{-1} S, "symmetric" I − `normalized("symmetric")`; isolated nodes keep a zero row.
        """
        if normalization is None:
            scaled, degree = self, self._operator.absolute_sums()[0]
        else:
            scaled = self.normalized(check_name("normalization", normalization, ("row", "symmetric")))
            degree = (self._operator.absolute_sums()[0] != 0).to(self.dtype)
        if isinstance(scaled._operator, Dense):
            return Shift(Dense(torch.diag(degree) - scaled._operator.matrix), self.ptr)
        row, col, values = scaled._operator.entries()
        nodes = torch.arange(self.num_nodes, device=self.device)
        operator = Sparse.from_entries(
            torch.cat([row, nodes]), torch.cat([col, nodes]), torch.cat([-values, degree]), self.num_nodes
        )
        return Shift(operator, self.ptr)

    def spectral_radius(self) -> float:
        """max |λ| over the eigenvalues of S, complex ones included; zero for an acyclic graph."""
        return spectrum.spectral_radius(self.to_scipy())

    def eigenvalues(self) -> Tensor:
        """All N eigenvalues, largest magnitude first: real (float64) if S is symmetric, complex otherwise."""
        if self.num_nodes > MAX_EIGENVALUE_NODES:
            raise ValueError(
                f"all eigenvalues of {self.num_nodes} nodes were asked for; expected at most "
                f"{MAX_EIGENVALUE_NODES} (the cost is cubic); spectral_radius() works for large graphs"
            )
        return torch.from_numpy(spectrum.eigenvalues(self._operator.dense().detach().double().cpu().numpy()))

    def to_dense(self) -> Tensor:
        """S as an (N, N) tensor."""
        return self._operator.dense()

    def to_scipy(self) -> sp.csr_array:
        """S as a SciPy sparse array in float64, without gradients."""
        row, col, values = self._operator.entries()
        entries = values.detach().double().cpu().numpy()
        places = (row.cpu().numpy(), col.cpu().numpy())
        return sp.csr_array((entries, places), shape=(self.num_nodes, self.num_nodes))

    def edges(self) -> tuple[Tensor, Tensor]:
        """The edges as (edge_index (2, E), weight (E)), the inverse of `from_edges`."""
        row, col, values = self._operator.entries()
        return torch.stack([col, row]).long(), values

    def pooled(self, x: Tensor, how: Literal["mean", "sum"]) -> Tensor:
        """Sum or mean of x (..., N, C) over the nodes of each graph: (..., C), or (..., graphs, C) for a batch."""
        if self.num_graphs == 1:
            return x.mean(-2) if how == "mean" else x.sum(-2)
        pooled = x.new_zeros(*x.shape[:-2], self.num_graphs, x.shape[-1])
        pooled = pooled.index_add(-2, self._graph_of_node(), x)
        return pooled / self.ptr.diff().to(x.dtype)[:, None] if how == "mean" else pooled

    def _graph_of_node(self) -> Tensor:
        graphs = torch.arange(self.num_graphs, device=self.ptr.device)
        return graphs.repeat_interleave(self.ptr.diff(), output_size=self.num_nodes)

    def _radii(self) -> Tensor:
        """The spectral radius of each graph; refused where it is zero."""
        matrix, ends = self.to_scipy(), self.ptr.tolist()
        radii = [spectrum.spectral_radius(matrix[start:end, start:end]) for start, end in pairwise(ends)]
        for graph, radius in enumerate(radii):
            if radius == 0:
                which = f"graph {graph} of the batch" if self.num_graphs > 1 else "the shift"
                raise ValueError(
                    f"{which} has spectral radius 0; expected a cycle or an undirected edge; a graph without "
                    "edges or without cycles is the likely cause: use another normalization, or none"
                )
        return torch.tensor(radii, dtype=torch.float64, device=self.device)

    def __repr__(self) -> str:
        graphs = f"{self.num_graphs} graphs, " if self.num_graphs > 1 else ""
        dtype = str(self.dtype).removeprefix("torch.")
        grad = ", requires_grad" if self.requires_grad else ""
        return (
            f"Shift({graphs}{self.num_nodes} nodes, {self.num_edges} edges, {self.layout}, {dtype}, "
            f"{self.device}{grad})"
        )


def _num_entries(operator: Dense | Sparse) -> int:
    return int(operator.matrix.count_nonzero()) if isinstance(operator, Dense) else operator.col.shape[0]


def _inverse(sums: Tensor, power: float = 1.0) -> Tensor:
    """1 / sums^power, and zero where the sum is zero; written so that no gradient, of any order, is NaN there."""
    empty = sums == 0
    return torch.where(empty, 0.0, torch.where(empty, 1.0, sums) ** -power)


def _flatten(shift: Shift) -> tuple[list[Any], str]:
    return [*shift.operator, shift.ptr], shift.layout


def _flatten_with_keys(shift: Shift) -> tuple[list[tuple[Any, Any]], str]:
    children, layout = _flatten(shift)
    names = (*shift.operator._fields, "ptr")
    return [(pytree.GetAttrKey(name), child) for name, child in zip(names, children, strict=True)], layout


def _unflatten(children: Any, layout: str) -> Shift:
    *parts, ptr = children
    return Shift(Dense(*parts) if layout == "dense" else Sparse(*parts), ptr)


pytree.register_pytree_node(
    Shift,
    _flatten,
    _unflatten,
    serialized_type_name="shiftstate.Shift",
    flatten_with_keys_fn=_flatten_with_keys,
)

# An exported program keeps its example inputs; only what is named here is read back from such a file.
torch.serialization.add_safe_globals([Shift, Dense, Sparse])
