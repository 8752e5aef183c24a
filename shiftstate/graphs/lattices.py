"""Graphs with long distances: a ring, and a grid of streets."""

import torch

from shiftstate.checks import check_whole
from shiftstate.graphs.shift import Shift


def ring(num_nodes: int, directed: bool = False) -> Shift:
    """The nodes in a circle, S of spectral radius 1.

    Undirected, each node takes half of either neighbour, and the longest distance is ⌊N / 2⌋. Directed, each node takes
    all of the one before it, and the longest distance is N − 1.

    Example:
        >>> from shiftstate.graphs.lattices import ring
        >>> ring(5, directed=True).to_dense()[1].tolist()
        [1.0, 0.0, 0.0, 0.0, 0.0]
    """
    nodes = torch.arange(check_whole("num_nodes", num_nodes, 3))
    onward = torch.stack([nodes, nodes.roll(-1)])
    if directed:
        return Shift.from_edges(onward)
    edges = torch.cat([onward, onward.flip(0)], dim=1)
    return Shift.from_edges(edges, torch.full((edges.shape[1],), 0.5))


def grid(rows: int, columns: int) -> Shift:
    """Crossings of streets, each joined with those beside, above and below it; S of spectral radius 1.

    Node r · columns + c is in row r and column c. The longest distance is rows + columns − 2.
    """
    count = check_whole("rows", rows, 1) * check_whole("columns", columns, 1)
    if count < 2:
        raise ValueError(f"a grid of {rows} × {columns} has {count} node; expected at least two")
    nodes = torch.arange(count).reshape(rows, columns)
    across = torch.stack([nodes[:, :-1].flatten(), nodes[:, 1:].flatten()])
    down = torch.stack([nodes[:-1].flatten(), nodes[1:].flatten()])
    edges = torch.cat([across, across.flip(0), down, down.flip(0)], dim=1)
    return Shift.from_edges(edges, num_nodes=count).normalized("spectral")
