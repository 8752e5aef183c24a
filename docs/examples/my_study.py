"""A study of one's own: how far must a filter see to find the middle of two marks on a ring?

    shiftstate study docs/examples/my_study.py --out runs/ring

Two nodes of a ring are marked; the class says whether the short way between them is longer than a quarter of the ring.
"""

from dataclasses import dataclass, field
from types import SimpleNamespace

import torch

import shiftstate as ss
from shiftstate.machine import Axis, Count, Experiment, Measure, Study, Training, beats, drawing


@dataclass(frozen=True)
class Ring:
    """What the data depend on: the same for all models. The group needs a seed."""

    seed: int = 0
    nodes: int = 16
    signals: int = 200


@dataclass(frozen=True)
class Filters:
    channels: int = 4


@dataclass(frozen=True)
class Settings:
    data: Ring = field(default=Ring())
    architecture: Filters = field(default=Filters())
    training: Training = field(default=Training(epochs=20, batch_size=20, learning_rate=(0.02,)))


def data(trial, prepared):
    nodes, count = trial.settings.data.nodes, trial.settings.data.signals
    generator = torch.Generator().manual_seed(trial.seed("data", trial.unit))
    parts = {}
    for name in ("train", "valid", "test"):
        marks = torch.stack([torch.randperm(nodes, generator=generator)[:2] for _ in range(count)])
        x = torch.zeros(count, nodes, 1)
        x[torch.arange(count)[:, None], marks, 0] = 1.0
        apart = (marks[:, 0] - marks[:, 1]).abs()
        parts[name] = SimpleNamespace(x=x, y=(torch.minimum(apart, nodes - apart) > nodes // 4).long())
    ring = torch.arange(nodes)
    edges = torch.cat([torch.stack([ring, ring.roll(1)]), torch.stack([ring.roll(1), ring])], 1)
    return SimpleNamespace(shift=ss.Shift.from_edges(edges, num_nodes=nodes).normalized("spectral"), **parts)


def network(trial, data):
    channels = trial.settings.architecture.channels
    with drawing(trial.seed("weights", trial.unit)):
        return ss.Network(trial.model, channels=[1, channels], K=trial["K"], readout=ss.PoolReadout(2), bias=True)


def claims(cells, presets):
    far = [cell for cell in cells if cell["filter"] == "lssm" and cell["K"] == 8]
    return [[beats("LSSM beats the GCNN at K = 8", cell, cell.at(filter="gcnn")) for cell in far]]


RING = Experiment(
    "ring",
    "Marks on a ring",
    settings=Settings,
    axes=(Axis("filter", ("gcnn", "lssm"), key="filters"), Axis("K", (2, 8), int, least=0, title="K = {}".format)),
    model="filter",
    place=("K",),
    unit=Count("ring", 3, "rings"),
    metric=Measure("accuracy", "accuracy"),
    data=data,
    models={"gcnn": network, "lssm": network},
    chance=lambda settings: 0.5,
)
STUDY = Study("ring", (RING,), {"full": {"reading": "Rings of 16 nodes."}}, claims)
