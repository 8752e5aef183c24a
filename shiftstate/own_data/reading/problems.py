"""Files to arrays: the graph, what is known at its nodes, what is to be learned, and the split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shiftstate.graphs import Shift
from shiftstate.own_data.asking.settings import TrainSettings, header_of
from shiftstate.own_data.reading.joining import (
    Say,
    check_mostly_words,
    check_names,
    columns_of,
    first_three,
    name_column,
    read_features,
    series_names,
    signal_columns,
    tell,
)
from shiftstate.own_data.reading.missing import settled, without_gaps
from shiftstate.own_data.reading.splitting import Mask, split_rows, split_times
from shiftstate.tables import MATRICES, NamedGraph, Table, read_graph, read_matrix, read_table
from shiftstate.tables.arrays import read_arrays
from shiftstate.tables.matrices import VALUES
from shiftstate.tables.table import is_whole, short

Array = NDArray[Any]


@dataclass(frozen=True)
class Problem:
    """What an estimator takes: rows are nodes, signals or times."""

    shift: Shift
    X: NDArray[np.float64]
    y: Array | None
    masks: dict[str, Mask]
    row_names: list[str]
    node_names: list[str]
    feature_names: list[str]


def read_problem(settings: TrainSettings, say: Say) -> Problem:
    """Everything that the settings name, joined by name where there are names."""
    if settings.task.startswith("node"):
        return _node_problem(settings, say)
    return _signal_problem(settings, say) if settings.task != "forecast" else _forecast_problem(settings, say)


def _read_graph(settings: TrainSettings, nodes: Sequence[str] | None) -> NamedGraph:
    return read_graph(
        settings.edges,
        nodes,
        settings.source,
        settings.destination,
        settings.weight,
        settings.directed,
        header_of(settings.header),
        settings.join,
    )


def _graph(settings: TrainSettings, nodes: Sequence[str] | None, say: Say) -> NamedGraph:
    graph = _read_graph(settings, nodes)
    for line in graph.said:
        say(f"{settings.edges.name}: {line}")
    return graph


def _node_problem(settings: TrainSettings, say: Say) -> Problem:
    assert settings.nodes is not None
    table = read_table(settings.nodes)
    tell(table, say)
    taken = {settings.target, *settings.split, settings.groups}
    for one in (settings.target, *settings.split):
        table.column(str(one))
    name = name_column(table, settings.name, taken)
    names = _row_names(settings, table, name, say)
    graph = _graph(settings, names, say)
    y = _targets(table, settings, say)
    masks, how = split_rows(table, settings, y)
    _check_targets(table, settings, y, masks)
    X, features = _features(settings, table, names, taken | {name}, say)
    say(f"split {how}")
    scale = str(settings.options.get("scale", "auto"))
    X = without_gaps(X, masks["train"], X.shape[1], scale)
    _check_spread(settings.features or settings.nodes, X, masks["train"], features, say)
    return Problem(graph.shift, X, y, masks, names, names, features)


def _row_names(settings: TrainSettings, table: Table, name: str | None, say: Say) -> list[str]:
    """The names of the nodes; without a column of them positions, counted as the edges count them."""
    if name is not None:
        names = table.strings(name)
        check_names(table, names, name)
        if settings.name is None:
            say(f"{table.path.name}: nodes are named by column {name!r}")
        return names
    graph = _read_graph(settings, None)
    first = 1 if graph.names is not None and str(len(table)) in graph.names and "0" not in graph.names else 0
    say(f"{table.path.name}: no column names the nodes, so row i is node i, counted from {first}")
    return [str(row + first) for row in range(len(table))]


def _features(
    settings: TrainSettings, table: Table, names: list[str], taken: set[str | None], say: Say
) -> tuple[NDArray[np.float64], list[str]]:
    if settings.features is not None:
        return read_features(settings.features, names, settings.missing, say, join=settings.join)
    chosen = [one for one in table.numeric_names() if one not in taken]
    beside = table.path.suffix.lower() == ".npz" and {*VALUES} & {*read_arrays(table.path)}
    if not chosen and beside:
        return read_features(table.path, names, settings.missing, say)
    left = [one for one in table.columns if one not in taken and one not in chosen]
    for one in left:
        check_mostly_words(table, one)
    if not chosen:
        raise ValueError(f"{table.path} has no numbers beside names, target and split; expected features: --features")
    if left:
        say(f"{table.path.name}: columns without numbers are not used as features: {first_three(left)}")
    return columns_of(table, chosen, settings.missing), chosen


def _signal_problem(settings: TrainSettings, say: Say) -> Problem:
    X, nodes, table, shift = _signals(settings, say)
    if settings.targets is not None:
        table = read_table(settings.targets)
        tell(table, say)
        say(f"{settings.targets.name}: row i belongs to signal i")
    if table is None:
        raise ValueError(
            f"{settings.signals} has no columns with names; expected the targets in a table: --targets FILE"
        )
    if len(table) != len(X):
        raise ValueError(f"{table.path} has {len(table)} rows; expected {len(X)}, one per signal")
    y = _targets(table, settings, say)
    masks, how = split_rows(table, settings, y)
    _check_targets(table, settings, y, masks)
    say(f"split {how}")
    channels = X.shape[2] if X.ndim == 3 else 1
    X = without_gaps(X, masks["train"], channels, str(settings.options.get("scale", "auto")))
    if np.ptp(X[masks["train"]]) == 0:
        raise ValueError(f"{settings.signals} has the same value everywhere; expected signals that differ")
    return Problem(shift, X, y, masks, [str(row + 1) for row in range(len(X))], nodes, [])


def _forecast_problem(settings: TrainSettings, say: Say) -> Problem:
    X, nodes, table, shift = _signals(settings, say)
    if X.ndim != 2:
        raise ValueError(f"{settings.signals} has the shape {X.shape}; expected (times, nodes)")
    if X.size and np.nanmin(X, initial=np.inf) == np.nanmax(X, initial=-np.inf):
        raise ValueError(f"{settings.signals} has the same value everywhere; expected a series that changes")
    masks, how = split_times(table, settings, len(X))
    say(f"split {how}")
    rest = [] if table is None else [name for name in table.columns if name not in {*nodes, *settings.split}]
    rows = [str(row) for row in range(len(X))] if table is None or not rest else table.strings(rest[0])
    return Problem(shift, X, None, masks, rows, nodes, [])


def _signals(settings: TrainSettings, say: Say) -> tuple[NDArray[np.float64], list[str], Table | None, Shift]:
    """Signals or a series, the names of the nodes, the table that they stand in, and the graph."""
    path, named = settings.signals, None
    assert path is not None
    missing = settings.missing
    if settings.task == "forecast" and missing == "zero=missing":
        missing = "mask"  # the forecaster itself knows zeros for missing, also in predictions
    if settings.nodes is not None:
        nodes_table = read_table(settings.nodes)
        column = settings.name or next(iter(nodes_table.columns))
        named = nodes_table.strings(column)
        check_names(nodes_table, named, column)
    if path.suffix.lower() in MATRICES:
        X = read_matrix(path, ("x", *VALUES))
        if X.ndim not in (2, 3):
            raise ValueError(f"{path} has the shape {X.shape}; expected (signals, nodes) or (signals, nodes, channels)")
        shift = _graph_of_columns(settings, path, X.shape[1], named, say)
        nodes = named or [str(node) for node in range(X.shape[1])]
        say(f"{path.name}: column i belongs to node i")
        return settled(X, path, missing, nodes), list(nodes), _beside(path), shift
    table = read_table(path)
    tell(table, say)
    others = {settings.target, *settings.split, settings.groups}
    graph = _graph_for(settings, table, named, others, say)
    nodes = graph.names or series_names(table, graph.shift.num_nodes, others)
    if graph.names is None:
        say(f"{path.name}: column i of the signals belongs to node i")
    return signal_columns(table, nodes, others, missing, say), list(nodes), table, graph.shift


def _graph_for(
    settings: TrainSettings, table: Table, named: Sequence[str] | None, others: set[str | None], say: Say
) -> NamedGraph:
    """The graph, its nodes in the order of the columns if its ends are positions of columns rather than their names."""
    if named is not None:
        return _graph(settings, named, say)
    graph = _read_graph(settings, None)
    names = graph.names or []
    numbered = bool(names) and not {*names} & {*table.columns} and all(one.isdecimal() for one in names)
    if (numbered and not table.named) or (numbered and int(names[-1]) <= len(table.numeric_names())):
        columns = [name for name in table.numeric_names() if name not in others]
        return _graph(settings, columns, say)
    for line in graph.said:
        say(f"{settings.edges.name}: {line}")
    return graph


def _graph_of_columns(settings: TrainSettings, path: Path, count: int, named: Sequence[str] | None, say: Say) -> Shift:
    """The graph of a matrix whose columns have no names."""
    graph = _read_graph(settings, None)
    if named is None and graph.names is not None:
        if not all(one.isdecimal() for one in graph.names):
            raise ValueError(
                f"{path} has no names and {settings.edges} names its nodes; expected --nodes FILE, a table with their "
                "names in the order of the columns"
            )
        first = 1 if str(count) in graph.names and "0" not in graph.names else 0
        named = [str(node + first) for node in range(count)]
    shift = _graph(settings, named, say).shift
    if shift.num_nodes != count:
        raise ValueError(f"{path} has {count} columns; expected {shift.num_nodes}, one per node")
    return shift


def _beside(path: Path) -> Table | None:
    """The columns that stand beside a matrix in an .npz."""
    try:
        return read_table(path) if path.suffix.lower() == ".npz" else None
    except ValueError:
        return None


def _targets(table: Table, settings: TrainSettings, say: Say) -> Array:
    assert settings.target is not None
    if settings.task.endswith("regression"):
        return table.numbers(settings.target)
    column = table.column(settings.target)
    if not is_whole(column) and settings.target in table.numeric_names():
        values = table.numbers(settings.target)
        if (np.nan_to_num(values) % 1).any():
            row = int(np.flatnonzero(np.nan_to_num(values) % 1)[0])
            raise ValueError(
                f"{table.path}: row {table.row(row)}, column {settings.target!r} holds {values[row]}; expected "
                f"classes: --task {settings.task.replace('classification', 'regression')} learns numbers"
            )
    classes, unknown = table.classes(settings.target, settings.keep_na)
    if unknown:
        say(
            f"{table.path.name}: {len(unknown)} of {len(classes)} targets in {settings.target!r} are unknown "
            f"({first_three(sorted({*unknown}))}); --keep-na takes such words for classes"
        )
    return np.array(classes, dtype=object)


def _check_targets(table: Table, settings: TrainSettings, y: Array, masks: dict[str, Mask]) -> None:
    """Raise if there is nothing to learn, or a class that is only judged."""
    learn, column = masks["train"], settings.target
    if y.dtype != object:
        if np.ptp(y[learn]) == 0:
            raise ValueError(
                f"{table.path}: column {column!r} is {y[learn][0]:g} in all training rows; nothing to learn"
            )
        return
    classes = {*y[learn]}
    if len(classes) < 2:
        raise ValueError(
            f"{table.path}: column {column!r} has one class only in the training rows, {short(y[learn][0])}; "
            "expected at least two"
        )
    for name in ("valid", "test"):
        strange = np.flatnonzero(masks[name] & np.array([label not in classes for label in y]))
        if len(strange):
            raise ValueError(
                f"{table.path}: row {table.row(int(strange[0]))}, column {column!r} holds {short(y[strange[0]])} in "
                f"{name}, a class that no training row has"
            )


def _check_spread(path: Path, X: NDArray[np.float64], train: Mask, names: Sequence[str], say: Say) -> None:
    """Say which features are the same for all training rows; raise if all are."""
    constant = np.flatnonzero(np.ptp(X[train], axis=0) == 0)
    if not len(constant):
        return
    shown = first_three([names[int(place)] for place in constant])
    if np.ptp(X, axis=0).max() == 0:
        raise ValueError(
            f"{path}: all {len(names)} features are constant (first: {shown}); expected some that differ by node"
        )
    say(f"{len(constant)} of {len(names)} features are constant in the training rows (first: {shown})")
