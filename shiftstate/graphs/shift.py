"""The graph shift operator S: checked once, when it is made, and handed to every layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate
from operator import matmul
from typing import TYPE_CHECKING, Any

import scipy.sparse as sp
import torch
from torch import Tensor

from shiftstate.graphs import construct, scaling, signals, spectrum
from shiftstate.graphs.construct import Layout, laid_out, num_entries
from shiftstate.graphs.inputs import as_destination, as_tensor
from shiftstate.graphs.operators import Dense, Sparse, as_ordinary, without_autocast
from shiftstate.graphs.ranks import ALONE, Alone
from shiftstate.graphs.scaling import LaplacianNormalization, Normalization

if TYPE_CHECKING:
    import networkx as nx

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

    ranks: Alone = ALONE
    """Who else holds rows of this graph; nobody, unless it was partitioned."""

    def __init__(self, operator: Dense | Sparse, ptr: Tensor) -> None:
        self._operator = operator.ordinary()
        self.ptr = as_ordinary(ptr)
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
        return cls._of(construct.from_edges(edge_index, weight, num_nodes), layout)

    @classmethod
    def from_matrix(cls, matrix: Any, layout: Layout = "auto") -> Shift:
        """From S itself, as it is: a NumPy array, SciPy sparse matrix or array, torch dense or sparse tensor.

        Row i gathers into node i. A matrix whose rows are sources (A[i, j] for an edge i → j) has to be
        transposed first; for an undirected graph the two are the same.
        """
        return cls._of(construct.from_matrix(matrix), layout)

    @classmethod
    def from_networkx(cls, graph: nx.Graph[Any], weight: str | None = "weight", layout: Layout = "auto") -> Shift:
        """From a NetworkX graph; the edge u → v becomes S[v, u], nodes in the order of ``graph.nodes``.

        Args:
            graph: any NetworkX graph; undirected edges count in both directions, parallel edges add up.
            weight: the edge attribute that holds the weight, 1 where it is missing; None ignores weights.
            layout: "dense", "sparse" or "auto".
        """
        return cls._of(construct.from_networkx(graph, weight), layout)

    @classmethod
    def batch(cls, shifts: Iterable[Shift], layout: Layout = "auto") -> Shift:
        """Several graphs as one block-diagonal shift; each is normalised, and pooled over, by itself.

        Args:
            shifts: a list, or anything else that yields shifts one after the other.
            layout: "dense", "sparse" or "auto".
        """
        parts = _as_list(shifts)
        *starts, _ = accumulate((part.num_nodes for part in parts), initial=0)
        ends = [part.ptr[1:] + start for part, start in zip(parts, starts, strict=True)]
        operator = construct.block_diagonal([part.operator for part in parts])
        return cls(laid_out(operator, layout), torch.cat([parts[0].ptr[:1], *ends]))

    @classmethod
    def _of(cls, operator: Dense | Sparse, layout: Layout) -> Shift:
        """One graph."""
        operator = laid_out(operator, layout)
        return cls(operator, torch.tensor([0, operator.num_nodes], device=operator.values.device))

    @property
    def num_nodes(self) -> int:
        """N."""
        return self._operator.num_nodes

    @property
    def num_edges(self) -> int:
        """Entries of S: the nonzero ones of a dense S, the stored ones of a sparse S."""
        return num_entries(self._operator)

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
        return self._operator.product(w[:, None].flatten(1)).reshape(w.shape)

    def check_signal(self, x: Tensor) -> None:
        """Raise if x is no signal on this graph, with this dtype, on this device."""
        signals.check_signal(x, self._operator.num_nodes, self._operator.values)

    @property
    def T(self) -> Shift:
        """Sᵀ: every edge reversed."""
        return Shift(self._operator.transposed(), self.ptr)

    def to(
        self,
        target: torch.device | torch.dtype | Tensor | str | int | None = None,
        dtype: torch.dtype | None = None,
        *,
        device: torch.device | str | int | None = None,
    ) -> Shift:
        """The same shift with another floating dtype, on another device, or both, as `torch.Tensor.to`.

        ``shift.to(dtype)``, ``shift.to(device)``, ``shift.to(device, dtype)``, ``shift.to(device=..., dtype=...)``;
        ``shift.to(x)`` takes the dtype and device of a tensor.
        """
        device, dtype = as_destination(target, device, dtype)
        ptr = self.ptr if device is None else self.ptr.to(device)
        return Shift(self._operator.map(lambda values: values.to(device=device, dtype=dtype)), ptr)

    def permuted(self, order: Any) -> Shift:
        """The same graph with node ``order[i]`` renamed to i; signals follow as ``x[..., order, :]``."""
        chosen = as_tensor("order", order).to(self.device)
        n = self.num_nodes
        whole = not chosen.dtype.is_floating_point and chosen.dtype != torch.bool
        if not whole or not torch.equal(chosen.sort().values.long(), torch.arange(n, device=chosen.device)):
            raise ValueError(f"order is not a permutation; expected each of 0 to {n - 1} once")
        graph = self.graph_of_node()
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
        return scaling.scales(self._operator, self.ptr, kind)

    def scaled(self, left: Tensor, right: Tensor) -> Shift:
        """diag(left) S diag(right), for two vectors (N)."""
        return Shift(self._operator.scaled(left, right), self.ptr)

    def laplacian(self, normalization: LaplacianNormalization | None = None) -> Shift:
        """The Laplacian L = D − S, with D the sums of |S| along rows (the in-degrees).

        "row" gives I − D^{-1} S, "symmetric" I − `normalized("symmetric")`; isolated nodes keep a zero row.
        """
        return Shift(scaling.laplacian(self._operator, self.ptr, normalization), self.ptr)

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
        return spectrum.to_scipy(self._operator)

    def edges(self) -> tuple[Tensor, Tensor]:
        """The edges as (edge_index (2, E), weight (E)), the inverse of `from_edges`."""
        row, col, values = self._operator.entries()
        return torch.stack([col, row]).long(), values

    def graph_of_node(self) -> Tensor:
        """The graph of a batch that each node belongs to: (N), from 0 to num_graphs − 1."""
        graphs = torch.arange(self.num_graphs, device=self.ptr.device)
        return graphs.repeat_interleave(self.ptr.diff(), output_size=self.num_nodes)

    def __repr__(self) -> str:
        graphs = f"{self.num_graphs} graphs, " if self.num_graphs > 1 else ""
        dtype = str(self.dtype).removeprefix("torch.")
        grad = ", requires_grad" if self.requires_grad else ""
        return (
            f"Shift({graphs}{self.num_nodes} nodes, {self.num_edges} edges, {self.layout}, {dtype}, "
            f"{self.device}{grad})"
        )


def _as_list(shifts: Iterable[Shift]) -> list[Shift]:
    """The shifts of a batch, checked."""
    if isinstance(shifts, Mapping):
        raise ValueError(f"a {type(shifts).__name__} was given; expected a list of shifts: list(shifts.values())")
    try:
        parts = list(shifts)
    except TypeError:
        kind = "None" if shifts is None else f"a {type(shifts).__name__}"
        raise ValueError(f"{kind} was given; expected a list of shifts: [shift, ...]") from None
    if not parts:
        raise ValueError("an empty list was given; expected at least one shift")
    other = next((part for part in parts if not isinstance(part, Shift)), None)
    if other is not None:
        raise ValueError(f"a {type(other).__name__} was given; expected shifts: build each with Shift.from_matrix")
    kinds = sorted({f"{part.dtype} on {part.device}" for part in parts})
    if len(kinds) > 1:
        raise ValueError(f"shifts of {' and '.join(kinds)} were given; expected one dtype and device: shift.to(...)")
    return parts
