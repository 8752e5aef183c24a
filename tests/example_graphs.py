"""Graphs and signals that tests of many rooms use."""

import numpy as np
import torch

import shiftstate as ss

# Directed, signed, a self-loop (3), a duplicate (0 → 1), an isolated node (5).
EDGES = [[0, 0, 1, 2, 3, 4, 2], [1, 1, 2, 0, 3, 2, 4]]
WEIGHT = [0.5, 1.0, -2.0, 0.25, 3.0, 1.5, -1.0]
MATRIX = np.zeros((6, 6))
for source, target, weight in zip(*EDGES, WEIGHT, strict=True):
    MATRIX[target, source] += weight


def cycle(nodes, weight=1.0, dtype=torch.float64, layout="auto"):
    """0 → 1 → … → nodes − 1 → 0: with weights of 1 a rotation, which neither grows nor shrinks what it is given."""
    ring = torch.arange(nodes)
    return ss.Shift.from_edges(
        torch.stack([ring, ring.roll(-1)]), torch.full((nodes,), weight, dtype=dtype), layout=layout
    )


def path(nodes, weight=1.0, dtype=torch.float64, layout="auto"):
    """0 → 1 → … → nodes − 1: directed, and without a cycle."""
    ids = torch.arange(nodes - 1)
    weights = torch.full((nodes - 1,), weight, dtype=dtype)
    return ss.Shift.from_edges(torch.stack([ids, ids + 1]), weights, num_nodes=nodes, layout=layout)


def signal(*shape, seed=0, dtype=torch.float64):
    """Standard normal signals, the same ones each time and in every dtype."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def example(layout="dense", dtype=torch.float64):
    """The graph of EDGES and WEIGHT, whose S is MATRIX."""
    return ss.Shift.from_edges(EDGES, torch.tensor(WEIGHT, dtype=dtype), num_nodes=6, layout=layout)
