"""`shiftstate predict`: new signals, or new features, through the model of a run."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from shiftstate.estimators import Forecaster
from shiftstate.estimators.nodes import NodeEstimator
from shiftstate.estimators.storage import read_estimator
from shiftstate.files import writing_whole
from shiftstate.graphs import Shift
from shiftstate.own_data.reading.joining import Say, read_features, signal_columns
from shiftstate.tables import read_blocks, read_graph, read_table


def predict(
    run: Path, out: Path, say: Say, signals: Path | None = None, features: Path | None = None, edges: Path | None = None
) -> int:
    """Write a CSV of predictions; how many rows it has.

    Args:
        run: the directory of a run.
        out: the file to write.
        say: told what was decided.
        signals: new signals, a column per node; the last rows of a series for a forecast.
        features: new features of the nodes, for tasks on nodes.
        edges: another graph, where the model's readout allows it.
    """
    estimator = read_estimator(run / "model.safetensors")
    shift, names = _graph(run, edges, say)
    if isinstance(estimator, NodeEstimator):
        rows = _nodes(estimator, shift, names, features, say)
    elif signals is None:
        raise ValueError(f"--signals is not given; expected a table of signals for a {estimator.task_name} run")
    else:
        rows = (
            _series(estimator, shift, names, signals, say)
            if isinstance(estimator, Forecaster)
            else _signals(estimator, shift, names, signals, say)
        )
    if not out.parent.is_dir():
        raise ValueError(f"{out.parent} is not a directory; expected --out to be a file in one that exists")
    count = -1
    with writing_whole(out) as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in rows:
            writer.writerow(row)
            count += 1
    return count


def _graph(run: Path, edges: Path | None, say: Say) -> tuple[Shift, list[str]]:
    if edges is not None:
        graph = read_graph(edges)
        for line in graph.said:
            say(f"{edges.name}: {line}")
        return graph.shift, graph.names or [str(node) for node in range(graph.shift.num_nodes)]
    file = run / "graph.npz"
    try:
        with np.load(file, allow_pickle=False) as found:
            stored, weight, names = found["edges"], found["weight"], [str(name) for name in found["names"]]
        return Shift.from_edges(stored, weight, len(names)), names
    except (OSError, KeyError, EOFError) as error:
        raise ValueError(f"{file} cannot be read ({error}); expected the directory of a finished run") from None


def _nodes(estimator: Any, shift: Shift, names: list[str], features: Path | None, say: Say) -> Iterator[list[Any]]:
    if features is None:
        raise ValueError("--features is not given; expected features of the nodes for a run on nodes")
    X, _ = read_features(features, names, "refuse", say)
    yield _head("node", estimator)
    yield from _lines(names, estimator, shift, X)


def _signals(estimator: Any, shift: Shift, names: list[str], signals: Path, say: Say) -> Iterator[list[Any]]:
    """Block by block: the file may be larger than the memory."""
    yield _head("row", estimator)
    done = 0
    for table in read_blocks(signals):
        X = signal_columns(table, names, set(), "refuse", say if not done else _nothing)
        yield from _lines([str(done + row + 1) for row in range(len(X))], estimator, shift, X)
        done += len(X)


def _series(estimator: Forecaster, shift: Shift, names: list[str], signals: Path, say: Say) -> Iterator[list[Any]]:
    table = read_table(signals)
    X = signal_columns(table, names, set(), "mask", say)
    if len(X) < estimator.history:
        raise ValueError(f"{signals} has {len(X)} rows; expected at least {estimator.history}, the history")
    found = estimator.predict(shift, X[-estimator.history :])
    yield ["horizon", "node", "predicted"]
    for horizon, values in zip(estimator.horizons_, found, strict=True):
        yield from ([horizon, name, f"{value:.6g}"] for name, value in zip(names, values, strict=True))


def _head(kind: str, estimator: Any) -> list[Any]:
    return [kind, "predicted", *(f"p({name})" for name in getattr(estimator, "classes_", ()))]


def _lines(names: list[str], estimator: Any, shift: Shift, X: Any) -> Iterator[list[Any]]:
    if not hasattr(estimator, "predict_proba"):
        yield from ([name, f"{one:.6g}"] for name, one in zip(names, estimator.predict(shift, X), strict=True))
        return
    chances = estimator.predict_proba(shift, X)
    for name, row in zip(names, chances, strict=True):
        yield [name, estimator.classes_[row.argmax()], *(f"{value:.6g}" for value in row)]


def _nothing(line: str) -> None:
    """What was decided has been said for the first block."""
