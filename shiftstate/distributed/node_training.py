"""Train a node task on a partitioned graph, from files to a saved model: what `shiftstate train --graph` does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from shiftstate.checks import check_name, check_whole
from shiftstate.distributed.loading import load
from shiftstate.distributed.node_data import SPLITS, NodeData, NodeFiles, read_node_data
from shiftstate.distributed.shift import PartitionedShift
from shiftstate.files import make_directory, write_whole
from shiftstate.network import Network
from shiftstate.readout import NodeReadout
from shiftstate.tasks import NodeClassification, NodeRegression, Task
from shiftstate.training import Checkpoints, Epoch, Fit, fit

TASKS: dict[str, type[NodeClassification] | type[NodeRegression]] = {
    "node-classification": NodeClassification,
    "node-regression": NodeRegression,
}
NORMALIZATIONS = ("symmetric", "row", "column", "spectral", "none")


@dataclass(frozen=True)
class GraphTraining:
    """Everything that a training on a partitioned graph is told."""

    graph: Path
    out: Path
    task: str
    files: NodeFiles
    filter: str = "lssm"
    K: int = 8
    channels: int = 32
    layers: int = 1
    mixing: str = "depthwise"
    normalization: str = "symmetric"
    epochs: int = 100
    learning_rate: float = 0.01
    metric: str | None = None
    seed: int = 0
    minutes: float = 10.0
    resume: bool = False

    def __post_init__(self) -> None:
        check_name("task", self.task, TASKS)
        check_name("normalization", self.normalization, NORMALIZATIONS)
        for name in ("channels", "layers", "epochs"):
            check_whole(name, getattr(self, name), 1)
        if (
            len(self.files.fractions) != 3
            or min(self.files.fractions) <= 0
            or abs(sum(self.files.fractions) - 1) > 1e-6
        ):
            raise ValueError(
                f"fractions is {self.files.fractions}; expected three shares that add up to 1: 0.6,0.2,0.2"
            )

    def settings(self, shift: PartitionedShift) -> dict[str, Any]:
        """What a checkpoint has to agree on: the graph and the network, not the number of processes."""
        names = ("task", "filter", "K", "channels", "layers", "mixing", "normalization", "learning_rate", "seed")
        return {"graph": shift.manifest.graph} | {name: getattr(self, name) for name in names}


def train(wanted: GraphTraining, say: Callable[[str], None]) -> dict[str, Any]:
    """Train, save the model once, and return the scores; called by every process."""
    shift = load(wanted.graph)
    ranks = shift.ranks
    ranks.together(_made(wanted.out) if ranks.rank == 0 else None)
    if wanted.normalization != "none":
        shift = shift.normalized(wanted.normalization)  # type: ignore[arg-type]
    boundary = f"{100 * shift.manifest.boundary:.1f} % of them on a boundary"
    say(f"{shift.total_nodes} nodes in {ranks.count} parts, {boundary}")
    kind = TASKS[wanted.task]
    data = read_node_data(shift, wanted.files, kind is NodeClassification)
    task = kind() if wanted.metric is None else kind(metric=wanted.metric)
    network = _network(wanted, data)
    keeping = Checkpoints(wanted.out / "training.safetensors", wanted.minutes, wanted.resume, wanted.settings(shift))
    found = fit(
        network,
        shift,
        data,
        task=task,
        epochs=wanted.epochs,
        learning_rate=wanted.learning_rate,
        keep_best=True,
        seed=wanted.seed,
        progress=lambda epoch: say(_line(epoch, wanted.epochs, task)),
        checkpoints=keeping,
    )
    metrics = _metrics(wanted, shift, data, found)
    failure = _saved(wanted.out, network, metrics) if ranks.rank == 0 else None
    ranks.together(failure)
    _predicted(wanted.out, network, shift, data)
    return metrics


def _network(wanted: GraphTraining, data: NodeData) -> Network:
    outputs = 1 if data.classes is None else max(2, len(data.classes))
    sizes = [data.x.shape[1], *[wanted.channels] * wanted.layers]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(wanted.seed)  # the same weights in every process
        options = {"mixing": wanted.mixing}
        return Network(wanted.filter, sizes, wanted.K, NodeReadout(outputs), **options)  # type: ignore[arg-type]


def _made(out: Path) -> str | None:
    try:
        make_directory(out)
    except ValueError as error:
        return str(error)
    return None


def _saved(out: Path, network: Network, metrics: dict[str, Any]) -> str | None:
    """The model and its scores; returns why they could not be written."""
    try:
        network.save(out / "model.safetensors")
        write_whole(out / "metrics.json", json.dumps(metrics, indent=1) + "\n")
    except (OSError, ValueError) as error:
        return f"{out} cannot be written ({error})"
    return None


@torch.no_grad()
def _predicted(out: Path, network: Network, shift: PartitionedShift, data: NodeData) -> None:
    """Every process writes the predictions for its nodes: node, name, split, target, predicted."""
    outputs = network.eval()(data.x, shift)
    classes = data.classes
    if classes is None:
        found, told = [f"{value:.6g}" for value in outputs[:, 0].tolist()], [f"{y:.6g}" for y in data.y.tolist()]
    else:
        found, told = ([classes[one] for one in some.tolist()] for some in (outputs.argmax(-1), data.y))
    splits = [""] * len(found)
    for name in SPLITS:
        for row in getattr(data, name).nonzero()[:, 0].tolist():
            splits[row] = name
    names = shift.names or [str(node) for node in shift.nodes.tolist()]
    rows = zip(shift.nodes.tolist(), names, splits, told, found, strict=True)
    lines = [",".join(map(_cell, (node, name, split, y if split else "", one))) for node, name, split, y, one in rows]
    failure, text = None, "\n".join(["node,name,split,target,predicted", *lines, ""])
    try:
        write_whole(out / f"predictions-{shift.ranks.rank}.csv", text)
    except OSError as error:
        failure = f"{out} cannot be written ({error})"
    shift.ranks.together(failure)


def _cell(value: object) -> str:
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"\n\r') else text


def _metrics(wanted: GraphTraining, shift: PartitionedShift, data: NodeData, found: Fit) -> dict[str, Any]:
    return {
        "task": wanted.task,
        "metric": found.metric,
        "outcome": found.outcome,
        "epochs": len(found.losses),
        "best_epoch": found.best_epoch,
        "loss": found.losses[-1],
        "valid": dict(zip(found.look_epochs, found.valid_scores, strict=True))[found.best_epoch],
        "test": dict(found.best),
        "test_last": dict(found.last),
        "classes": data.classes,
        "mean": data.mean.tolist(),
        "scale": data.scale.tolist(),
        "nodes": shift.total_nodes,
        "parts": shift.ranks.count,
        "settings": wanted.settings(shift),
    }


def _line(epoch: Epoch, epochs: int, task: Task) -> str:
    score = "" if epoch.valid_score is None else f", {task.metric.title} {epoch.valid_score:.4f} on validation nodes"
    return f"epoch {epoch.number} of {epochs}: loss {epoch.loss:.6g}{score}"
