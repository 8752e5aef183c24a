"""Random graphs for Hypothesis: directed, signed, with self-loops, isolated nodes and duplicate edges."""

from typing import NamedTuple

import numpy as np
import torch
from hypothesis import strategies as st

import shiftstate as ss

# Sixteenths: sums of them are exact, so duplicates that cancel give a true zero on every path.
WEIGHTS = st.integers(-48, 48).map(lambda sixteenths: sixteenths / 16)


class Graph(NamedTuple):
    """Edges with weights on N nodes, and the matrix they stand for."""

    num_nodes: int
    edge_index: np.ndarray
    weight: np.ndarray

    @property
    def matrix(self):
        S = np.zeros((self.num_nodes, self.num_nodes))
        for source, target, weight in zip(*self.edge_index, self.weight, strict=True):
            S[target, source] += weight
        return S

    def shift(self, layout="auto"):
        return ss.Shift.from_edges(
            torch.from_numpy(self.edge_index), torch.from_numpy(self.weight), num_nodes=self.num_nodes, layout=layout
        )


@st.composite
def graphs(draw, max_nodes=7, max_edges=14, weights=WEIGHTS):
    n = draw(st.integers(1, max_nodes))
    edges = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), weights), max_size=max_edges))
    edge_index = np.array([edge[:2] for edge in edges], dtype=np.int64).reshape(-1, 2).T
    return Graph(n, edge_index, np.array([edge[2] for edge in edges], dtype=np.float64))


layouts = st.sampled_from(["dense", "sparse"])
seeds = st.integers(0, 2**16)
