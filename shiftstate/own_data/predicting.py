"""`shiftstate predict`: new signals, or new features, through the model of a run."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shiftstate.checks import check_name
from shiftstate.estimators import Forecaster
from shiftstate.estimators.nodes import NodeEstimator
from shiftstate.files import check_output, writing_whole
from shiftstate.graphs import Shift
from shiftstate.own_data.asking.settings import JOINS, MISSING, header_of
from shiftstate.own_data.left.leaving import METRICS, read_metrics, read_settings
from shiftstate.own_data.left.manifest import MODEL, check_run, read_run_model
from shiftstate.own_data.reading.joining import Say, read_features, series_names, signal_columns
from shiftstate.own_data.reading.missing import filled, settled
from shiftstate.tables import MATRICES, Table, read_blocks, read_graph, read_matrix, read_table
from shiftstate.tables.arrays import read_arrays
from shiftstate.tables.table import first_line


def predict(
    run: Path,
    out: Path,
    say: Say,
    signals: Path | None = None,
    features: Path | None = None,
    edges: Path | None = None,
    missing: str | None = None,
    header: str | None = None,
    join: str | None = None,
) -> int:
    """Write a CSV of predictions; how many rows it has.

    Args:
        run: the directory of a run.
        out: the file to write.
        say: told what was decided.
        signals: new signals, a column per node; the last rows of a series for a forecast.
        features: new features of the nodes, for tasks on nodes.
        edges: another graph, where the model's readout allows it.
        missing: what to do with missing values; as in training by default.
        header: whether names stand above the edges: "yes" or "no"; guessed by default.
        join: "name" or "position", of features; as in training by default.
    """
    check_output(out, (signals, features, edges))
    check_run(run, MODEL, "settings.json", "graph.npz", METRICS)
    estimator = read_run_model(run)
    asked = read_settings(run)
    shift, names = _graph(run, edges, asked, header, say)
    chosen = check_name("missing", asked["missing"] if missing is None else missing, MISSING)
    width = read_metrics(run).get("half_width")
    joined = check_name("join", asked["join"] if join is None else join, JOINS)
    use = Use(estimator, shift, names, chosen, width, joined, say)
    if isinstance(estimator, NodeEstimator):
        rows = _nodes(use, features)
    elif signals is None:
        raise ValueError(f"--signals is not given; expected a table of signals for a {estimator.task_name} run")
    else:
        rows = _series(use, signals) if isinstance(estimator, Forecaster) else _signals(use, signals)
    if not out.parent.is_dir():
        raise ValueError(f"{out.parent} is not a directory; expected --out to be a file in one that exists")
    count = -1
    with writing_whole(out) as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in rows:
            writer.writerow(row)
            count += 1
    return count


@dataclass(frozen=True)
class Use:
    """A model, the graph that it is used on, and how."""

    estimator: Any
    shift: Shift
    names: list[str]
    missing: str
    width: float | None
    """Half of an interval around a predicted number."""
    join: str
    say: Say

    def known(self, X: Any) -> Any:
        """Values whose masked ones are replaced as in training."""
        return filled(X, self.estimator.scaler_.mean)


def _graph(
    run: Path, edges: Path | None, asked: dict[str, Any], header: str | None, say: Say
) -> tuple[Shift, list[str]]:
    if edges is not None:
        source, target, weight = (asked.get(name) for name in ("source", "destination", "weight"))
        graph = read_graph(edges, None, source, target, weight, bool(asked.get("directed")), header_of(header))
        for line in graph.said:
            say(f"{edges.name}: {line}")
        return graph.shift, graph.names or [str(node) for node in range(graph.shift.num_nodes)]
    return stored_graph(run)


def stored_graph(run: Path) -> tuple[Shift, list[str]]:
    """The graph of a run and the names of its nodes."""
    file = run / "graph.npz"
    expected = "the directory of a finished run"
    found = read_arrays(file, expected)
    try:
        edges, weight, names = found["edges"], found["weight"], found["names"]
        if edges.dtype.kind not in "iu" or names.dtype.kind != "U" or names.ndim != 1:
            raise ValueError(f"edges are {edges.dtype}, names {names.dtype} of shape {names.shape}")
        if len({*names.tolist()}) < len(names):
            raise ValueError("two nodes have one name")
        return Shift.from_edges(edges, weight, len(names)), names.tolist()
    except (ValueError, KeyError) as error:
        raise ValueError(f"{file} cannot be read ({first_line(error)}); expected {expected}") from None


def _nodes(use: Use, features: Path | None) -> Iterator[list[Any]]:
    if features is None:
        raise ValueError("--features is not given; expected features of the nodes for a run on nodes")
    learned = getattr(use.estimator, "feature_names_", None)
    X, _ = read_features(features, use.names, use.missing, use.say, learned, use.join)
    yield _head("node", use)
    yield from _lines(use.names, use, use.known(X))


def _signals(use: Use, signals: Path) -> Iterator[list[Any]]:
    """Block by block: the file may be larger than the memory."""
    yield _head("row", use)
    done = 0
    for X in _blocks(use, signals):
        yield from _lines([str(done + row + 1) for row in range(len(X))], use, use.known(X))
        done += len(X)


def _blocks(use: Use, signals: Path) -> Iterator[Any]:
    if signals.suffix.lower() in MATRICES:
        whole = read_matrix(signals)
        if whole.ndim not in (2, 3) or whole.shape[1] != use.shift.num_nodes:
            raise ValueError(f"{signals} has the shape {whole.shape}; expected (signals, {use.shift.num_nodes})")
        yield settled(whole, signals, use.missing, use.names)
        return
    told = False
    for table in read_blocks(signals):
        names = _columns(use, table)
        yield signal_columns(table, names, set(), use.missing, _nothing if told else use.say)
        told = True


def _columns(use: Use, table: Table) -> list[str]:
    """The nodes' columns: by name, or by position where the graph has no names and the counts agree."""
    if not {*use.names} & {*table.columns} and all(name.isdecimal() for name in use.names):
        return series_names(table, len(use.names), set())
    return use.names


def _series(use: Use, signals: Path) -> Iterator[list[Any]]:
    forecaster = use.estimator
    missing = "mask" if use.missing in ("refuse", "zero=missing") else use.missing
    if signals.suffix.lower() in MATRICES:
        X = settled(read_matrix(signals), signals, missing, use.names)
    else:
        table = read_table(signals)
        X = signal_columns(table, _columns(use, table), set(), missing, use.say)
    if len(X) < forecaster.history:
        raise ValueError(f"{signals} has {len(X)} rows; expected at least {forecaster.history}, the history")
    found = forecaster.predict(use.shift, X[-forecaster.history :])
    yield ["horizon", "node", "predicted", *_interval_names(use)]
    for horizon, values in zip(forecaster.horizons_, found, strict=True):
        for name, value in zip(use.names, values, strict=True):
            yield [horizon, name, f"{value:.6g}", *_interval(use, value)]


def _head(kind: str, use: Use) -> list[Any]:
    chances = [f"p({name})" for name in getattr(use.estimator, "classes_", ())]
    return [kind, "predicted", *(chances or _interval_names(use))]


def _lines(names: list[str], use: Use, X: Any) -> Iterator[list[Any]]:
    estimator = use.estimator
    if not hasattr(estimator, "predict_proba"):
        for name, one in zip(names, estimator.predict(use.shift, X), strict=True):
            yield [name, f"{one:.6g}", *_interval(use, one)]
        return
    for name, row in zip(names, estimator.predict_proba(use.shift, X), strict=True):
        yield [name, estimator.classes_[row.argmax()], *(f"{value:.6g}" for value in row)]


def _interval_names(use: Use) -> list[str]:
    return [] if use.width is None else ["low", "high"]


def _interval(use: Use, value: float) -> list[str]:
    return [] if use.width is None else [f"{value - use.width:.6g}", f"{value + use.width:.6g}"]


def _nothing(line: str) -> None:
    """What was decided has been said for the first block."""
