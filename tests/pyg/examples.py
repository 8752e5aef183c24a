"""Graphs and layers that several tests use."""

import torch

from shiftstate.pyg import convs

CONVS = list(convs.CONVS.values())
NORMALIZATIONS = [True, False, "gcn", "symmetric", "spectral", "row", "column"]


def graph(seed=0, num_nodes=9, num_edges=24):
    """A directed graph with positive weights, duplicate edges, a self-loop, a cycle, and an isolated last node."""
    generator = torch.Generator().manual_seed(seed)
    edges = torch.randint(0, num_nodes - 1, (2, num_edges), generator=generator)
    edges[:, :4] = torch.tensor([[0, 1, 2, 3], [1, 2, 0, 3]])
    edges[:, -1] = edges[:, 0]
    return edges, torch.rand(num_edges, generator=generator) + 0.1


def signal(*shape, seed=1, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def alive(conv_class, *args, **options):
    """A layer whose state is alive at its end, in float64."""
    torch.manual_seed(0)
    return conv_class(*args, init="alive", **options).double()
