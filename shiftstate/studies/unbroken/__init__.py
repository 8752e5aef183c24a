"""Unbroken path: which of two ends is joined to the source by open nodes all the way?

Specification. The graph is a ring of 3 d + 1 nodes. From the source an arm of d nodes goes either way; the d nodes
between the two ends of the arms are the middle. The last node of either arm is a target. One arm, drawn by a fair coin,
is open; in the other one exactly one of the d − 1 nodes between source and target is closed, anywhere alike. A node of
the middle is open or closed with equal chances. Channel 0 says whether a node is open, channel 1 marks the
source, channel 2 both targets. To be predicted at the two targets: whether a path of open nodes of length d leads to it
from the source. The score is the accuracy.

Every ring has one positive and one negative target, so the classes are balanced, and nothing that the two share tells
them apart: the number of open nodes and the source are the same for both. What lies within r hops of a target
shows the closed node of a broken arm with chance r / (d − 1), if it can be told from the closed nodes of the middle on
the other side. A breadth-first search along open nodes is always right. In the spirit of GLoRa; the data are our own.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace

import torch
from torch import Tensor, nn

from shiftstate import machine as m
from shiftstate.graphs import Shift
from shiftstate.graphs.lattices import ring
from shiftstate.studies.reach.cores import CORES
from shiftstate.studies.reach.network import build, warmed_up
from shiftstate.studies.reach.settings import ReachSettings
from shiftstate.studies.reach.shared import COLORS, VARIANTS, against_peers, requires_pyg
from shiftstate.studies.reach.trivial import build_rule
from shiftstate.tasks import NodeClassification

TASK = NodeClassification("accuracy", ["accuracy"])


def data(trial: m.Trial, prepared: Path | None) -> SimpleNamespace:
    """Rings of a unit: the same for every model."""
    d, sizes = trial["hop_limit"], trial.settings.data
    generator = torch.Generator().manual_seed(trial.seed("data", trial.unit, d))
    parts = {name: draw(d, getattr(sizes, name), generator) for name in ("train", "valid", "test")}
    return SimpleNamespace(shift=ring(3 * d + 1), **parts)


def network(trial: m.Trial, drawn: SimpleNamespace) -> nn.Module:
    """The trial's network, after its warm-up if it has one."""

    def nearer(hops: int, count: int) -> SimpleNamespace:
        generator = torch.Generator().manual_seed(trial.seed("data", trial.unit, hops, 1))
        nodes, sizes = drawn.shift.num_nodes, (count, trial.settings.data.valid)
        train, valid = (draw(hops, size, generator, nodes) for size in sizes)
        return SimpleNamespace(shift=drawn.shift, train=train, valid=valid, test=None)

    return warmed_up(trial, build(trial, drawn), nearer, TASK)


def draw(d: int, count: int, generator: torch.Generator, nodes: int = 0) -> SimpleNamespace:
    """So many rings: x (count, N, 3), y (count, N), and a mask of the targets."""
    nodes, rows = nodes or 3 * d + 1, torch.arange(count)
    source = torch.randint(nodes, (count,), generator=generator)
    open_side = 2 * torch.randint(2, (count,), generator=generator) - 1
    closed = torch.randint(1, d, (count,), generator=generator)  # hops from the source, on the other arm
    x = torch.zeros(count, nodes, 3)
    x[..., 0] = 1.0
    for step in range(d + 1, nodes - d):  # the middle
        x[rows, (source + step) % nodes, 0] = torch.randint(2, (count,), generator=generator).float()
    x[rows, (source - open_side * closed) % nodes, 0] = 0.0
    x[rows, source, 1] = 1.0
    y = torch.zeros(count, nodes, dtype=torch.long)
    for side in (1, -1):
        x[rows, (source + side * d) % nodes, 2] = 1.0
    y[rows, (source + open_side * d) % nodes] = 1
    return SimpleNamespace(x=x, y=y, mask=x[..., 2] == 1)


def search(x: Tensor, shift: Shift, d: int) -> Tensor:
    """Breadth-first: which nodes are reached from the source within d steps along open nodes; (count, N)."""
    is_open, reached = x[..., 0] == 1, x[..., 1] == 1
    for _ in range(d):
        reached = reached | (is_open & ((shift @ reached.to(x)[..., None])[..., 0] > 0))
    return reached


def claims(cells: Iterable[m.Cell], presets: Mapping[str, str]) -> list[list[m.Claim]]:
    """Stated before the runs: the far GSN beats every peer, has 90 % (at 15 more than half), and needs its parts."""
    return against_peers(list(cells), {5: 0.4, 8: 0.4, 11: 0.4, 15: 0.0})


UNBROKEN = m.Experiment(
    "unbroken",
    "Unbroken path",
    settings=ReachSettings,
    axes=(
        m.Axis("filter", tuple(CORES), key="filters"),
        m.Axis("variant", ("far",), known=tuple(VARIANTS)),
        m.Axis("hop_limit", (5, 8, 11, 15), int, least=2, title="d = {}".format),
    ),
    model="filter",
    place=("variant", "hop_limit"),
    unit=m.Count("draw", 3, "draws"),
    metric=m.Measure("accuracy", "accuracy"),
    data=data,
    models={"average": build_rule, **dict.fromkeys(CORES, network)},
    task=lambda trial, data: TASK,
    requires=requires_pyg,
    overrides=lambda cell: VARIANTS[cell["variant"]],
    data_axes=("hop_limit",),
    cost=lambda cell: float(cell["hop_limit"]),
    chance=lambda settings: 0.5,
    about="Which of two ends is joined to the source by open nodes? All models have as many parameters.",
    note="Accuracy in %, at the two targets of every test ring; draws of rings are independent.",
    colors=COLORS,
)

STUDY = m.Study("unbroken", (UNBROKEN,), m.read_presets(__name__, ("quick", "record", "parts")), claims)
