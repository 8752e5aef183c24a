"""The ceiling of the `any` task: what a classifier that knows every template S^t δ_i and the time t could reach.

For late t a template tends to (v_1ᵀδ_i) v_1: its shape no longer tells the source, its amplitude still does, node by
node. So there are two ceilings: of matching templates as they are, and of matching their shapes alone.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from shiftstate.graphs import BlockGraph, Shift


@dataclass(frozen=True)
class Ceiling:
    """Accuracies of matching templates, as fractions."""

    exact: float
    """Of matching the signal as it is."""
    shape: float
    """Of matching the signal's shape: without its amplitude."""


def graph_ceiling(graph: BlockGraph, max_time: int, dtype: str = "float32") -> Ceiling:
    """Signals rounded to dtype, matched with the nearest template of their own t, every source as frequent."""
    shift = Shift.from_matrix(graph.adjacency.double()).normalized("spectral")
    templates = torch.eye(graph.num_nodes, dtype=torch.float64)  # column i: the delta at node i, diffused
    exact = shape = 0.0
    for _ in range(max_time + 1):
        signals = templates.to(getattr(torch, dtype)).double()
        exact += _matched(signals.T, templates.T, graph.blocks)
        shape += _matched(_unit(signals.T), _unit(templates.T), graph.blocks)
        templates = shift @ templates
    return Ceiling(exact / (max_time + 1), shape / (max_time + 1))


def _matched(signals: Tensor, templates: Tensor, blocks: Tensor) -> float:
    """How many signals have a nearest template of their own block; templates as near share the vote."""
    distance = torch.cdist(signals, templates, compute_mode="donot_use_mm_for_euclid_dist")  # (N, N)
    nearest = (distance == distance.amin(1, keepdim=True)).double()
    same = (blocks[:, None] == blocks[None]).double()
    return float(((nearest * same).sum(1) / nearest.sum(1)).mean())


def _unit(signals: Tensor) -> Tensor:
    return torch.nn.functional.normalize(signals, dim=1)
