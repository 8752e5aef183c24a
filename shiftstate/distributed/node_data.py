"""What one process knows of its nodes: features, targets and which of them are learned from."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shiftstate.distributed.rows import own_rows, read_rows
from shiftstate.distributed.shift import PartitionedShift
from shiftstate.tables import Table

SPLITS = ("train", "valid", "test")


@dataclass(frozen=True)
class NodeFiles:
    """Files and columns; a row per node, in the order of their numbers or by their names."""

    nodes: Path
    target: str
    features: Path | None = None
    split: str | None = None
    name: str | None = None
    fractions: tuple[float, ...] = (0.6, 0.2, 0.2)
    seed: int = 0


@dataclass(frozen=True)
class NodeData:
    """x (n, channels), y (n) and three masks (n) of this process's nodes, as `fit` takes them."""

    x: Tensor
    y: Tensor
    train: Tensor
    valid: Tensor
    test: Tensor
    classes: list[str] | None
    """Of a classification; None for numbers."""
    mean: Tensor
    scale: Tensor
    """What the features were standardised by: mean and standard deviation of the training nodes."""


def read_node_data(shift: PartitionedShift, files: NodeFiles, classify: bool) -> NodeData:
    """The own rows of the files; what is wrong in one process is raised in all of them."""
    ranks = shift.ranks
    local, failure = None, None
    try:
        local = _read(shift, files, classify)
    except ValueError as error:
        failure = str(error)
    ranks.together(failure)
    assert local is not None
    x, labels, masks = local
    classes = None
    if classify:
        classes, codes = _coded(shift, labels)
        y = torch.from_numpy(codes)
    else:
        y = torch.from_numpy(np.nan_to_num(labels.astype(np.float64))).to(shift.dtype)
    mean, scale = _moments(shift, x[masks["train"]])
    x = ((x.double() - mean) / scale).to(shift.dtype)
    return NodeData(x, y, masks["train"], masks["valid"], masks["test"], classes, mean, scale)


def _read(shift: PartitionedShift, files: NodeFiles, classify: bool) -> tuple[Tensor, NDArray[Any], dict[str, Tensor]]:
    table = own_rows(shift, files.nodes, files.name)
    if classify:
        labels: NDArray[Any] = np.array(table.strings(files.target), dtype=object)
        known = np.array([label != "" for label in labels], dtype=bool)
    else:
        labels = table.numbers(files.target)
        known = np.isfinite(labels)
    masks = _told(table, files.split, known) if files.split else _drawn(shift, files, known)
    x = _features(shift, files, table)
    if x.dim() != 2:
        raise ValueError(f"{files.features} holds {tuple(x.shape)}; expected features (N, channels)")
    if not bool(x.isfinite().all()):
        raise ValueError(
            f"{files.features or files.nodes} holds features that are missing or not finite; expected numbers"
        )
    return x, labels, masks


def _features(shift: PartitionedShift, files: NodeFiles, table: Table) -> Tensor:
    if files.features is not None:
        return read_rows(shift, files.features).to(shift.dtype)
    taken = {files.target, files.split, files.name}
    columns = [name for name in table.numeric_names() if name not in taken]
    if not columns:
        raise ValueError(f"{files.nodes} has no numbers beside target and split; expected features: --features")
    return torch.from_numpy(np.column_stack([table.numbers(name) for name in columns])).to(shift.dtype)


def _told(table: Table, column: str, known: NDArray[np.bool_]) -> dict[str, Tensor]:
    words = [word.strip().lower() for word in table.strings(column)]
    strange = next((word for word in words if word and word not in SPLITS), None)
    if strange is not None:
        raise ValueError(f"{table.path}: column {column!r} holds {strange!r}; expected train, valid, test or nothing")
    masks = {name: np.array([word == name for word in words], dtype=bool) for name in SPLITS}
    if any((mask & ~known).any() for mask in masks.values()):
        raise ValueError(f"{table.path}: a node in a split has no target; expected one")
    return {name: torch.from_numpy(mask) for name, mask in masks.items()}


def _drawn(shift: PartitionedShift, files: NodeFiles, known: NDArray[np.bool_]) -> dict[str, Tensor]:
    """A random split that depends on the nodes' numbers and the seed alone, not on the number of processes."""
    draw = np.random.default_rng(files.seed).random(shift.total_nodes)[shift.nodes.numpy()]
    ends = np.cumsum([0.0, *files.fractions])
    ends[-1] = 1.0
    masks = [known & (draw >= low) & (draw < high) for low, high in pairwise(ends)]
    return {name: torch.from_numpy(mask) for name, mask in zip(SPLITS, masks, strict=True)}


def _coded(shift: PartitionedShift, labels: NDArray[Any]) -> tuple[list[str], NDArray[np.int64]]:
    """The classes of the whole graph, and the number of each own label; 0 where there is none."""
    own = sorted({str(label) for label in labels} - {""})
    every = shift.ranks.said(own)
    classes = sorted({label for some in every for label in some}, key=_as_number_or_word)
    number = {label: place for place, label in enumerate(classes)}
    return classes, np.array([number.get(str(label), 0) for label in labels], dtype=np.int64)


def _as_number_or_word(label: str) -> tuple[int, float, str]:
    return (0, float(label), label) if label.lstrip("-").isdecimal() else (1, 0.0, label)


def _moments(shift: PartitionedShift, x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of the training nodes of all processes; 1 where nothing varies."""
    rows, ranks = x.double(), shift.ranks
    count = ranks.total(torch.tensor(float(len(rows)), dtype=torch.float64)).clamp(min=1)
    mean = ranks.total(rows.sum(0)) / count
    deviation = (ranks.total((rows - mean).square().sum(0)) / count).sqrt()
    return mean, torch.where(deviation > 0, deviation, torch.ones_like(deviation))
