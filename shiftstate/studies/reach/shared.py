"""What the studies of long reach share: the variants of our filters, the task's claims, colours, what is required."""

from collections.abc import Mapping, Sequence
from typing import Any

from shiftstate import machine as m
from shiftstate.studies.reach.cores import PEERS

OURS = ("gsn", "lssm", "rsn")
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "far": {},
    "powers": {"basis": "powers"},
    "untied": {"tied": False},
    "alive": {"init": "alive"},
    "paper draw": {"init": "paper"},
    "paper": {"basis": "powers", "init": "paper", "tied": False, "mixing": "depthwise"},
    "depthwise": {"mixing": "depthwise"},
    "input first": {"input": "first"},
    "gates open": {"gates": False},
    "half K": {"order_share": 0.5},
}
"""What a cell changes of our filters: the recommended form, and each of its parts taken away. Peers have none."""

COLORS = {
    "gsn": "#6a4c93",
    "lssm": "#c8553d",
    "rsn": "#3b76b8",
    "gcnn": "#7f8c9b",
    "tagconv": "#b58900",
    "chebconv": "#8d6e63",
    "gcn": "#2a9d8f",
    "resgcn": "#1b6f66",
    "ggnn": "#e07a9f",
    "adgn": "#6b8e23",
    "swan": "#a0b43c",
    "graphcon": "#444444",
}


def against_peers(cells: Sequence[m.Cell], goals: Mapping[int, float], ours: str = "gsn") -> list[list[m.Claim]]:
    """Three families: ours is ahead of every peer at each place, reaches a goal, and each of its parts is needed.

    Args:
        cells: what is run.
        goals: by distance d, how much better than the average ours should be, in the metric's own unit.
        ours: the filter that the claims are about.
    """
    mine = [cell for cell in cells if cell["filter"] == ours and cell["variant"] == "far"]
    title = ours.upper()
    ahead = [
        m.best(f"{title} is ahead of every peer, {_place(cell)}", cell, rivals)
        for cell in mine
        if (
            rivals := [
                other for other in cells if other["filter"] in (*PEERS, "gcnn") and _place(other) == _place(cell)
            ]
        )
    ]
    reached = [
        m.beats(f"{title} is {goal:g} or more above the average, {_place(cell)}", cell, average, goal)
        for cell in mine
        if (goal := goals.get(cell["hop_limit"])) is not None and (average := cell.at(filter="average")) in cells
    ]
    parts = [
        m.beats(f"{title} far beats {name}, {_place(cell)}", cell, cell.at(variant=name))
        for cell in mine
        for name in VARIANTS
        if name != "far" and cell.at(variant=name) in cells
    ]
    return [ahead, reached, parts]


def _place(cell: m.Cell) -> str:
    return ", ".join(
        str(value) if isinstance(value, str) else f"d = {value}"
        for name, value in cell.values
        if name in ("distance", "hop_limit")
    )


def requires_pyg(trials: Sequence[m.Trial]) -> list[m.Requirement]:
    """PyTorch Geometric, where a peer is asked for."""
    if not any(trial.model in PEERS for trial in trials):
        return []
    return [m.Requirement("torch_geometric", "the peers need PyTorch Geometric: pip install 'shiftstate[pyg]'")]
