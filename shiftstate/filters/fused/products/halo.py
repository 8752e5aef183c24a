"""S w where other processes hold some of w's rows: interior rows are worked on while these rows arrive.

The whole kernel of a cell runs on blocks of interior rows, as it does on a whole graph. Then the halo is there; the
other rows of S w are gathered first, and the kernel goes over them.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from shiftstate.filters.fused.compiling.blocks import TILE, Stage, for_blocks, num_blocks, rows_per_block
from shiftstate.filters.fused.compiling.compiler import inlined, kernel
from shiftstate.filters.fused.compiling.elementary import begin_row, weight_of
from shiftstate.filters.fused.memory.buffers import Both
from shiftstate.filters.fused.products.terms import Term, rows_with
from shiftstate.graphs.partitioned import Exchange, Partitioned


@inlined
def row_of(own, halo, column):
    """A row of the state, whoever holds it."""
    return own[column] if column < own.shape[0] else halo[column - own.shape[0]]


@inlined
def gather_mixed(graph, own, halo, i, start, stop, row):
    """row[start:stop] = Σ_j S_ij w_j, added up as `gather_row` does."""
    crow, col = graph[0], graph[1]
    edge, end = crow[i], crow[i + 1]
    begin_row(graph, i, start, stop, row)
    while edge + 4 <= end:
        v0, v1 = weight_of(graph, edge), weight_of(graph, edge + 1)
        v2, v3 = weight_of(graph, edge + 2), weight_of(graph, edge + 3)
        w0, w1 = row_of(own, halo, col[edge]), row_of(own, halo, col[edge + 1])
        w2, w3 = row_of(own, halo, col[edge + 2]), row_of(own, halo, col[edge + 3])
        for j in range(start, stop):
            row[j] += v0 * w0[j] + v1 * w1[j] + v2 * w2[j] + v3 * w3[j]
        edge += 4
    while edge < end:
        v0, w0 = weight_of(graph, edge), row_of(own, halo, col[edge])
        for j in range(start, stop):
            row[j] += v0 * w0[j]
        edge += 1


@kernel
def _mixed_rows(first, end, rows, before, graph, own, halo, target):
    """Rows of target from ``before`` on, in blocks first … end."""
    for i in range(before + first * rows, min(before + end * rows, target.shape[0])):
        for column in range(0, target.shape[1], TILE):
            start, stop = np.uint64(column), np.uint64(min(column + TILE, target.shape[1]))
            gather_mixed(graph, own, halo, i, start, stop, target[i])


class Side(NamedTuple):
    """The rows of S, or of Sᵀ, and what brings the halo."""

    graph: Any
    exchange: Exchange


class HaloProduct:
    """S and Sᵀ of a partitioned graph, as the kernels take them; used like `Product`."""

    matrix = None

    def __init__(self, operator: Partitioned) -> None:
        arrays = [tensor.detach().contiguous().numpy() for tensor in operator]
        self.interior = operator.interior
        self.sides = (
            Side(tuple(arrays[:3]), operator.exchange),
            Side(tuple(arrays[3:]), operator.t_exchange),
        )

    def stages(
        self, source: Both, target: Both, count: int, rows: int, transpose: bool = False, term: Term | None = None
    ) -> Iterator[Stage]:
        """Blocks (first, end, graph) to go over in turn; see `Product.stages`."""
        from shiftstate.filters.fused.products.shifts import gather_rows  # which knows this module

        side, ready = self.sides[transpose], self.interior // rows
        graph = rows_with(side.graph, term)
        arriving = side.exchange.start(source[0])
        if ready and term is not None:
            for_blocks(ready, gather_rows, rows, graph, source[1], target[1])
        if ready:
            yield 0, ready, side.graph if term is None else None
        self._finish(graph, ready * rows, source, target, arriving.wait())
        if ready < count:
            yield ready, count, None

    def shift(self, source: Both, target: Both, transpose: bool = False, term: Term | None = None) -> None:
        """target = S source, or Sᵀ source; or what a term makes of it."""
        from shiftstate.filters.fused.products.shifts import gather_rows  # which knows this module

        shape = target[1].shape
        rows, count = rows_per_block(*shape), num_blocks(*shape)
        for first, end, graph in self.stages(source, target, count, rows, transpose, term):
            if graph is not None:
                for_blocks(end, gather_rows, rows, graph, source[1], target[1], first=first)

    def _finish(self, graph: Any, before: int, source: Both, target: Both, halo: Tensor) -> None:
        """Rows of target from ``before`` on."""
        left, width = target[1].shape[0] - before, target[1].shape[1]
        rows = rows_per_block(left, width)
        arrays = (graph, source[1], halo.numpy(), target[1])
        for_blocks(num_blocks(left, width), _mixed_rows, rows, before, *arrays)
