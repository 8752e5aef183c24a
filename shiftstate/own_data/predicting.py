"""`shiftstate predict`: new signals, or new features, through the model of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from shiftstate.estimators import Estimator, Forecaster
from shiftstate.estimators.nodes import NodeEstimator
from shiftstate.estimators.storage import read_estimator
from shiftstate.files import write_whole
from shiftstate.graphs import Shift
from shiftstate.own_data.leaving import as_csv
from shiftstate.own_data.problems import Say, read_features, signal_columns
from shiftstate.tables import read_graph, read_table


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
        rows = _signals(estimator, shift, names, signals, say)
    write_whole(out, as_csv(rows))
    return len(rows) - 1


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


def _nodes(estimator: Any, shift: Shift, names: list[str], features: Path | None, say: Say) -> list[list[Any]]:
    if features is None:
        raise ValueError("--features is not given; expected features of the nodes for a run on nodes")
    X, _ = read_features(features, names, "refuse", say)
    return _with_chances("node", names, estimator, shift, X)


def _signals(estimator: Estimator, shift: Shift, names: list[str], signals: Path, say: Say) -> list[list[Any]]:
    table = read_table(signals)
    forecast = isinstance(estimator, Forecaster)
    X = signal_columns(table, names, set(), shift, "mask" if forecast else "refuse", say)
    if not forecast:
        return _with_chances("row", [str(row + 1) for row in range(len(X))], estimator, shift, X)
    assert isinstance(estimator, Forecaster)
    if len(X) < estimator.history:
        raise ValueError(f"{signals} has {len(X)} rows; expected at least {estimator.history}, the history")
    found = estimator.predict(shift, X[-estimator.history :])
    rows: list[list[Any]] = [["horizon", "node", "predicted"]]
    for horizon, values in zip(estimator.horizons_, found, strict=True):
        rows += [[horizon, name, f"{value:.6g}"] for name, value in zip(names, values, strict=True)]
    return rows


def _with_chances(kind: str, names: list[str], estimator: Any, shift: Shift, X: Any) -> list[list[Any]]:
    predicted = estimator.predict(shift, X)
    if not hasattr(estimator, "predict_proba"):
        return [[kind, "predicted"], *([name, f"{one:.6g}"] for name, one in zip(names, predicted, strict=True))]
    chances = estimator.predict_proba(shift, X)
    head = [kind, "predicted", *(f"p({name})" for name in estimator.classes_)]
    lines = zip(names, predicted, chances, strict=True)
    return [head, *([name, one, *(f"{value:.6g}" for value in row)] for name, one, row in lines)]
