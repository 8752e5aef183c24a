"""Ring transfer: carry a number from a marked node to another one, an unknown number of hops away.

Specification. The graph is a ring of 2 d + 4 nodes. Every node carries a value drawn from U(−√3, √3) (mean 0, variance
1), so the source cannot be told by its value. Channel 0 holds the values, channel 1 a 1 at the source, channel 2 a 1
at the target. The target is h hops from the source, on either side alike; every h of 1 … d is equally frequent
("up to d"), or h is always d ("exactly d"). To be predicted, at the target only: the source's value. The score is R² on
test rings. Training, validation and test rings are drawn apart from one another.

What this needs: at h hops nothing but the graph tells the value, so a model that does not look h hops far has R² = 0
there. "swap" is the usual transfer task on the same rings: the source carries 1 and the target 0, all others U(0, 1);
after the transfer the two have changed places, and all nodes count. There the pointwise rule "1 becomes 0, 0 becomes 1,
else copy" is perfect without any graph, and the identity is wrong at 2 of N nodes only.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace

import torch
from torch import nn

from shiftstate import machine as m
from shiftstate.graphs.lattices import ring
from shiftstate.studies.reach.cores import CORES
from shiftstate.studies.reach.network import build, warmed_up
from shiftstate.studies.reach.settings import ReachSettings
from shiftstate.studies.reach.shared import COLORS, VARIANTS, against_peers, requires_pyg
from shiftstate.studies.reach.trivial import RULES, build_rule
from shiftstate.tasks import NodeRegression

TASK = NodeRegression("r2", ["r2"])
DISTANCES = ("up to d", "exactly d", "swap")


def data(trial: m.Trial, prepared: Path | None) -> SimpleNamespace:
    """Rings of a unit: the same for every model."""
    d, sizes = trial["hop_limit"], trial.settings.data
    generator = torch.Generator().manual_seed(trial.seed("data", trial.unit, d))
    parts = {name: draw(trial["distance"], d, getattr(sizes, name), generator) for name in ("train", "valid", "test")}
    return SimpleNamespace(shift=ring(2 * d + 4), **parts)


def network(trial: m.Trial, drawn: SimpleNamespace) -> nn.Module:
    """The trial's network, after its warm-up if it has one."""

    def nearer(hops: int, count: int) -> SimpleNamespace:
        generator = torch.Generator().manual_seed(trial.seed("data", trial.unit, hops, 1))
        nodes, sizes = drawn.shift.num_nodes, (count, trial.settings.data.valid)
        train, valid = (draw(trial["distance"], hops, size, generator, nodes) for size in sizes)
        return SimpleNamespace(shift=drawn.shift, train=train, valid=valid, test=None)

    return warmed_up(trial, build(trial, drawn), nearer, TASK)


def draw(distance: str, d: int, count: int, generator: torch.Generator, nodes: int = 0) -> SimpleNamespace:
    """So many rings: x (count, N, 3), y (count, N), and a mask of the nodes that count. Ring i is 1 + i mod d hops."""
    nodes, rows = nodes or 2 * d + 4, torch.arange(count)
    hops = 1 + rows % d if distance == "up to d" else torch.full((count,), d)
    side = 2 * torch.randint(2, (count,), generator=generator) - 1
    source = torch.randint(nodes, (count,), generator=generator)
    target = (source + side * hops) % nodes
    values = torch.rand(count, nodes, generator=generator)
    x = torch.zeros(count, nodes, 3)
    x[rows, source, 1], x[rows, target, 2] = 1.0, 1.0
    if distance == "swap":
        values[rows, source], values[rows, target] = 1.0, 0.0
        x[..., 0], y = values, values.clone()
        y[rows, source], y[rows, target] = 0.0, 1.0
        return SimpleNamespace(x=x, y=y, mask=torch.ones(count, nodes, dtype=torch.bool))
    x[..., 0] = (2 * values - 1) * 3**0.5
    y = x[rows, source, 0, None].expand(count, nodes).contiguous()
    return SimpleNamespace(x=x, y=y, mask=x[..., 2] == 1)


def claims(cells: Iterable[m.Cell], presets: Mapping[str, str]) -> list[list[m.Claim]]:
    """Stated before the runs: the far GSN is ahead of every peer, has R² ≥ 0.95 (0.8 at 50), and needs its parts."""
    return against_peers(list(cells), {5: 0.95, 10: 0.95, 25: 0.95, 50: 0.8})


RING = m.Experiment(
    "ring",
    "Ring transfer",
    settings=ReachSettings,
    axes=(
        m.Axis("filter", tuple(CORES), key="filters"),
        m.Axis("distance", ("up to d",), known=DISTANCES),
        m.Axis("variant", ("far",), known=tuple(VARIANTS)),
        m.Axis("hop_limit", (5, 10, 25, 50), int, least=1, title="d = {}".format),
    ),
    model="filter",
    place=("distance", "variant", "hop_limit"),
    unit=m.Count("draw", 3, "draws"),
    metric=m.Measure("r2", "R²", low=float("-inf"), scale=1.0, unit="", digits=3),
    data=data,
    models={**dict.fromkeys(RULES, build_rule), **dict.fromkeys(CORES, network)},
    task=lambda trial, data: TASK,
    requires=requires_pyg,
    overrides=lambda cell: VARIANTS[cell["variant"]],
    data_axes=("distance", "hop_limit"),
    cost=lambda cell: float(cell["hop_limit"]),
    chance=lambda settings: 0.0,
    about="A number is carried from a marked node of a ring to another one. All models have as many parameters.",
    note="R² on test rings, in which every distance is equally frequent; draws of rings are independent.",
    colors=COLORS,
)

STUDY = m.Study("ring", (RING,), m.read_presets(__name__, ("quick", "record", "exact", "parts", "old")), claims)
