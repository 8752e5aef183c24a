"""What the contract is checked on: a graph that keeps signals alive, signals, and fixed seeds."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from shiftstate.graphs import Shift

IN, OUT = 2, 3  # G ≠ F: exchanged axes show


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw from this seed and leave the user's random state as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def graph(nodes: int = 8, layout: Any = "dense") -> Shift:
    """A directed cycle with chords, a self-loop and an isolated last node, signed, of spectral radius 1.

    A cycle carries what it is given round and round: on a graph that shrinks everything, wrong gradients pass.
    """
    ring = torch.arange(nodes - 1)
    chords = torch.tensor([[0, 2, 1], [2, 0, 1]])
    edges = torch.cat([torch.stack([ring, ring.roll(-1)]), chords], dim=1)
    weight = torch.cat([torch.ones(nodes - 1), torch.tensor([-0.5, 0.3, 0.2])]).double()
    return Shift.from_edges(edges, weight, num_nodes=nodes, layout=layout).normalized("spectral")


def signal(*batch: int, nodes: int = 8, channels: int = IN) -> Tensor:
    """Standard normal signals (*batch, nodes, channels) in float64, the same ones each time."""
    return torch.randn(*batch, nodes, channels, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
