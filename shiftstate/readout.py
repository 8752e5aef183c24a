"""Readouts: from the last layer's signal to the answer, one per graph or one per node."""

from typing import Any, ClassVar, Literal, get_args

import torch
from torch import Tensor, nn

from shiftstate.checks import check_name, check_whole
from shiftstate.graphs import Shift
from shiftstate.memory import check_fits
from shiftstate.signatures import constructor_options, current_options

Pool = Literal["mean", "sum"]


class Readout(nn.Module):
    """A linear map after the last layer. `Network` tells it how many channels arrive (`bind`)."""

    kind: ClassVar[str]

    def __init__(self, num_outputs: int) -> None:
        super().__init__()
        self.num_outputs = check_whole("num_outputs", num_outputs, 1)
        self.linear: nn.Linear | None = None

    def bind(self, in_channels: int) -> None:
        """Create the linear map for this many channels; a readout serves one network."""
        if self.linear is not None:
            raise ValueError(f"this {type(self).__name__} belongs to a network already; make a new one")
        features = self.features(in_channels)
        size = features * self.num_outputs * torch.get_default_dtype().itemsize
        what = f"the weights of this {type(self).__name__} need {{}} bytes ({self.num_outputs} × {features})"
        check_fits(size, torch.get_default_device(), what, "fewer nodes, channels or outputs, or PoolReadout")
        self.linear = nn.Linear(features, self.num_outputs)

    def features(self, in_channels: int) -> int:
        """Numbers that enter the linear map."""
        return in_channels

    def reset_parameters(self) -> None:
        """Draw weight and bias from U(±1/√fan_in)."""
        self._bound().reset_parameters()

    def options(self) -> dict[str, Any]:
        """The keyword arguments that build this readout again."""
        return current_options(self, tuple(constructor_options(type(self))))

    def _bound(self) -> nn.Linear:
        if self.linear is None:
            raise ValueError(
                f"this {type(self).__name__} has no input yet; hand it to a Network, or call bind(channels)"
            )
        return self.linear


class FlattenReadout(Readout):
    """All nodes and channels of one graph to num_outputs numbers, the paper's: (..., N, F) → (..., C).

    Its weights belong to one graph of ``num_nodes`` nodes, in one order.
    """

    kind = "flatten"

    def __init__(self, num_nodes: int, num_outputs: int) -> None:
        super().__init__(num_outputs)
        self.num_nodes = check_whole("num_nodes", num_nodes, 1)

    def features(self, in_channels: int) -> int:
        """N·F."""
        return self.num_nodes * in_channels

    def forward(self, x: Tensor, shift: Shift) -> Tensor:
        """x (..., N, F) → (..., C)."""
        if shift.ranks.count > 1:
            raise ValueError(
                "FlattenReadout was given a partitioned graph; expected a whole one: it has a weight for every node, "
                "and no process holds all nodes; use PoolReadout or NodeReadout"
            )
        if shift.num_graphs > 1:
            raise ValueError(
                f"FlattenReadout was given a batch of {shift.num_graphs} graphs; expected one graph; "
                "for a batch of graphs use PoolReadout"
            )
        if x.shape[-2] != self.num_nodes:
            raise ValueError(
                f"FlattenReadout was given {x.shape[-2]} nodes; expected {self.num_nodes}; "
                "for graphs of different sizes use PoolReadout"
            )
        result: Tensor = self._bound()(x.flatten(-2))
        return result


class PoolReadout(Readout):
    """Mean or sum over the nodes of each graph, then linear: (..., N, F) → (..., C); (..., graphs, C) for a batch."""

    kind = "pool"

    def __init__(self, num_outputs: int, pool: Pool = "mean") -> None:
        super().__init__(num_outputs)
        self.pool: Pool = check_name("pool", pool, get_args(Pool))

    def forward(self, x: Tensor, shift: Shift) -> Tensor:
        """x (..., N, F) → (..., C), or (..., graphs, C) for a batch of graphs."""
        with shift.ranks.calling(self, x):
            result: Tensor = self._bound()(pooled(x, shift, self.pool))
        return result


def pooled(x: Tensor, shift: Shift, how: Pool) -> Tensor:
    """Sum or mean of x (..., N, F) over the nodes of each graph: (..., F), or (..., graphs, F) for a batch."""
    if shift.ranks.count > 1:
        nodes = shift.ranks.total(torch.tensor(float(x.shape[-2])))
        total = shift.ranks.total(x.sum(-2).double()).to(x.dtype)
        return total / nodes.to(x.dtype) if how == "mean" else total
    if shift.num_graphs == 1:
        return x.mean(-2) if how == "mean" else x.sum(-2)
    total = x.new_zeros(*x.shape[:-2], shift.num_graphs, x.shape[-1])
    total = total.index_add(-2, shift.graph_of_node(), x)
    return total / shift.ptr.diff().to(x.dtype)[:, None] if how == "mean" else total


class NodeReadout(Readout):
    """The same linear map at every node: (..., N, F) → (..., N, C)."""

    kind = "node"

    def forward(self, x: Tensor, shift: Shift) -> Tensor:
        """x (..., N, F) → (..., N, C)."""
        with shift.ranks.calling(self, x):
            result: Tensor = self._bound()(x)
        return result


READOUTS: dict[str, type[Readout]] = {r.kind: r for r in (FlattenReadout, PoolReadout, NodeReadout)}
