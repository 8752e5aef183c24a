"""The part of a graph that this process holds, as a shift."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor

from shiftstate.distributed import scaling
from shiftstate.distributed.parts.folder import Manifest
from shiftstate.distributed.ranks import Ranks
from shiftstate.graphs import Shift
from shiftstate.graphs.inputs import as_destination
from shiftstate.graphs.partitioned import Partitioned
from shiftstate.graphs.ranks import ALONE, Alone
from shiftstate.graphs.scaling import LaplacianNormalization, Normalization


class PartitionedShift(Shift):
    """Some rows of S; the other processes hold the others. Made by `load`; layers take it like any shift.

    Every call of a layer is one of all processes together. Signals x (..., n, channels) are those of this process's
    nodes, `nodes`, in their order: `take` picks them from a whole signal, `gather` puts the whole together.
    """

    def __init__(
        self, operator: Partitioned, nodes: Tensor, manifest: Manifest, ranks: Alone, names: list[str] | None = None
    ) -> None:
        super().__init__(operator, torch.tensor([0, operator.num_nodes], device=operator.values.device))
        self.nodes = nodes
        """The numbers (n) that this process's nodes have in the whole graph."""
        self.names = names
        """Their names, if the graph has names."""
        self.manifest = manifest
        self.ranks = ranks
        self._order: Tensor | None = None

    @property
    def part(self) -> Partitioned:
        """The rows of this process."""
        assert isinstance(self._operator, Partitioned)
        return self._operator

    @property
    def total_nodes(self) -> int:
        """N of the whole graph; ``num_nodes`` is that of this process."""
        return self.manifest.num_nodes

    @property
    def num_edges(self) -> int:
        """Entries of S in the rows of this process."""
        return self.part.col.shape[0]

    def take(self, x: Any, dim: int | None = None) -> Tensor:
        """This process's rows of a whole signal (..., N, channels), or of one number per node (N).

        Args:
            x: tensor or array; an array that is mapped into memory is read where it is needed only.
            dim: the axis of the nodes; by default the last but one, or the only one.
        """
        axis = _node_axis(x.ndim, dim)
        if x.shape[axis] != self.total_nodes:
            raise ValueError(
                f"x has shape {tuple(x.shape)}; expected the {self.total_nodes} nodes of the whole graph on axis {axis}"
            )
        if isinstance(x, Tensor):
            return x.index_select(axis, self.nodes.to(x.device))
        return torch.from_numpy(np.ascontiguousarray(np.take(x, self.nodes.numpy(), axis=axis)))

    def gather(self, y: Tensor, dim: int | None = None) -> Tensor:
        """The whole signal (..., N, channels), in the original order, in every process; without gradients."""
        axis = _node_axis(y.dim(), dim)
        if y.shape[axis] != self.num_nodes:
            raise ValueError(
                f"y has shape {tuple(y.shape)}; expected {self.num_nodes} nodes, this process's, on axis {axis}"
            )
        if self._order is None:
            self._order = self.ranks.collected(self.nodes)
        rows = self.ranks.collected(y.detach().movedim(axis, 0).contiguous())
        whole = torch.empty_like(rows)
        whole[self._order.to(rows.device)] = rows
        return whole.movedim(0, axis)

    @property
    def T(self) -> PartitionedShift:
        """Sᵀ: every edge reversed."""
        return self._with(self.part.transposed())

    def to(self, target: Any = None, dtype: Any = None, *, device: Any = None) -> PartitionedShift:
        """The same rows with another floating dtype, on another device, or both; see `Shift.to`."""
        device, dtype = as_destination(target, device, dtype)
        return self._with(self.part.map(lambda values: values.to(device=device, dtype=dtype)))

    def scales(self, kind: Normalization = "spectral") -> tuple[Tensor, Tensor]:
        """The entries of this process's nodes in the vectors with which `normalized` makes diag(l) S diag(r) of S."""
        return scaling.scales(self.part, self.ranks, kind)

    def normalized(self, kind: Normalization = "spectral") -> PartitionedShift:
        """S scaled by sums or a radius of the whole S; see `Shift.normalized`."""
        return self.scaled(*self.scales(kind))

    def scaled(self, left: Tensor, right: Tensor) -> PartitionedShift:
        """diag(left) S diag(right), for this process's entries (n) of two vectors."""
        return self._with(self.part.scaled(left, right))

    def spectral_radius(self) -> float:
        """max |λ| over the eigenvalues of the whole S, to about nine digits; zero for an acyclic graph."""
        return scaling.spectral_radius(self.part, self.ranks)

    def _with(self, operator: Partitioned) -> PartitionedShift:
        return PartitionedShift(operator, self.nodes.to(operator.values.device), self.manifest, self.ranks, self.names)

    def _refuse(self, what: str) -> NoReturn:
        raise ValueError(f"this process holds some rows of S; expected all for {what}: call it before partition()")

    def permuted(self, order: Any) -> NoReturn:
        """Not of a part."""
        self._refuse("permuted()")

    def laplacian(self, normalization: LaplacianNormalization | None = None) -> NoReturn:
        """Not of a part."""
        self._refuse("laplacian()")

    def eigenvalues(self) -> NoReturn:
        """Not of a part."""
        self._refuse("eigenvalues()")

    def to_scipy(self) -> NoReturn:
        """Not of a part."""
        self._refuse("to_scipy()")

    def edges(self) -> NoReturn:
        """Not of a part."""
        self._refuse("edges()")

    def __repr__(self) -> str:
        dtype = str(self.dtype).removeprefix("torch.")
        return (
            f"PartitionedShift(part {self.ranks.rank} of {self.ranks.count}: {self.num_nodes} of {self.total_nodes} "
            f"nodes, {self.num_edges} edges, {dtype}, {self.device})"
        )


def made(operator: Partitioned, nodes: Tensor, manifest: Manifest, ranks: Ranks | None, names: Any) -> PartitionedShift:
    """A partitioned shift; without ranks the only part of its graph."""
    return PartitionedShift(operator, nodes, manifest, ALONE if ranks is None else ranks, names)


def _node_axis(dims: int, dim: int | None) -> int:
    if dim is None:
        return max(dims - 2, 0)
    return dim % dims
