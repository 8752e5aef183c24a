"""One part of a graph: its nodes, its rows of S and Sᵀ, and which rows it exchanges with whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Half:
    """Some rows of S, or of Sᵀ, with columns in the part's own numbers."""

    crow: Array
    col: Array
    values: Array
    send: Array
    """Own rows that others need, sorted by who needs them."""
    sent: Array
    """How many of them go to each part."""
    received: Array
    """How many rows come from each part; together they are the halo."""


@dataclass(frozen=True)
class GraphPart:
    """What one process holds."""

    nodes: Array
    """Numbers in the whole graph: interior nodes first, both kinds in their order."""
    interior: int
    """Nodes without a neighbour in another part."""
    rows: Half
    columns: Half


class Cut:
    """A graph and the part of every node.

    Args:
        rows: S, with sorted columns.
        columns: Sᵀ, with sorted columns.
        part: the part (N) of every node.
        parts: how many there are.
    """

    def __init__(self, rows: sp.csr_array, columns: sp.csr_array, part: Array, parts: int) -> None:
        self.part, self.parts, self.sides = part, parts, (rows, columns)
        self.inner = np.ones(len(part), bool)
        for side in self.sides:
            far = part[side.indices] != np.repeat(part, np.diff(side.indptr))
            self.inner[np.repeat(np.arange(len(part)), np.diff(side.indptr))[far]] = False
        order = np.lexsort((np.arange(len(part)), ~self.inner, part))
        ends = np.searchsorted(part[order], np.arange(parts + 1))
        self.nodes = [order[ends[p] : ends[p + 1]] for p in range(parts)]
        self.place = np.empty(len(part), np.int64)  # each node's row in its part
        for nodes in self.nodes:
            self.place[nodes] = np.arange(len(nodes))
        self.needs = [[self._needed(side, p) for p in range(parts)] for side in self.sides]

    def _needed(self, side: sp.csr_array, p: int) -> Array:
        """The nodes of other parts that part p has to be told of, by part and then by their row there."""
        nodes = self.nodes[p]
        far = np.unique(side[nodes[~self.inner[nodes]]].indices)
        far = far[self.part[far] != p]
        found: Array = far[np.lexsort((self.place[far], self.part[far]))]
        return found

    def cut(self) -> Iterator[GraphPart]:
        """The parts, one after the other."""
        for p, nodes in enumerate(self.nodes):
            halves = [self._half(which, p) for which in (0, 1)]
            yield GraphPart(nodes, int(self.inner[nodes].sum()), *halves)

    def _half(self, which: int, p: int) -> Half:
        nodes, needs = self.nodes[p], self.needs[which]
        number = np.full(len(self.part), -1, np.int64)
        number[nodes] = np.arange(len(nodes))
        number[needs[p]] = len(nodes) + np.arange(len(needs[p]))
        mine = self.sides[which][nodes]  # entries keep the order of the whole graph
        send = [needed[self.part[needed] == p] for needed in needs]
        index = np.int32 if max(mine.nnz, len(number)) < 2**31 else np.int64
        return Half(
            mine.indptr.astype(index),
            number[mine.indices].astype(index),
            mine.data,
            self.place[np.concatenate(send)],
            np.array([len(one) for one in send]),
            np.bincount(self.part[needs[p]], minlength=self.parts),
        )
