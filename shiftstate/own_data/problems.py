"""Files to arrays: the graph, what is known at its nodes, what is to be learned, and the split."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from shiftstate.graphs import Shift
from shiftstate.own_data.settings import TrainSettings
from shiftstate.tables import NamedGraph, Table, read_graph, read_table
from shiftstate.tables.reading import MATRICES, read_matrix

Array = NDArray[Any]
Mask = NDArray[np.bool_]
Say = Callable[[str], None]

SPLITS = {
    "train": "train",
    "training": "train",
    "valid": "valid",
    "validation": "valid",
    "val": "valid",
    "test": "test",
}
PARTS = ("train", "valid", "test")


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


def _graph(settings: TrainSettings, nodes: Sequence[str] | None, say: Say) -> NamedGraph:
    graph = read_graph(settings.edges, nodes, settings.source, settings.destination, settings.weight, settings.directed)
    for line in graph.said:
        say(f"{settings.edges.name}: {line}")
    return graph


def _node_problem(settings: TrainSettings, say: Say) -> Problem:
    assert settings.nodes is not None
    table = read_table(settings.nodes)
    name = settings.name or next(iter(table.columns))
    names = table.strings(name)
    _check_names(table, names, name)
    graph = _graph(settings, names, say)
    taken = {name, settings.target, settings.split}
    if settings.features is None:
        chosen = [one for one in table.numeric_names() if one not in taken]
        if not chosen:
            raise ValueError(
                f"{table.path} has no numbers beside {name!r}, target and split; expected features: --features"
            )
        X, features = _columns(table, chosen, settings.missing), chosen
    else:
        X, features = read_features(settings.features, names, settings.missing, say)
    y = _targets(table, settings)
    masks = _masks(table, settings, y, say)
    return Problem(graph.shift, X, y, masks, names, names, features)


def _signal_problem(settings: TrainSettings, say: Say) -> Problem:
    assert settings.signals is not None
    table = read_table(settings.signals)
    graph = _graph(settings, None, say)
    others = {settings.target, settings.split}
    nodes = graph.names or [one for one in table.numeric_names() if one not in others]
    X = signal_columns(table, nodes, others, graph.shift, settings.missing, say)
    y = _targets(table, settings)
    masks = _masks(table, settings, y, say)
    rows = [str(row + 1) for row in range(len(table))]
    return Problem(graph.shift, X, y, masks, rows, list(nodes), [])


def _forecast_problem(settings: TrainSettings, say: Say) -> Problem:
    assert settings.signals is not None
    table = read_table(settings.signals)
    graph = _graph(settings, None, say)
    nodes = graph.names or _series_names(table, graph.shift.num_nodes)
    missing = "mask" if settings.missing == "zero=missing" else settings.missing
    X = signal_columns(table, nodes, set(), graph.shift, missing, say)
    first = len(X) - round(settings.fractions[2] * len(X))
    begin = first - round(settings.fractions[1] / (1 - settings.fractions[2]) * first)
    place = np.arange(len(X))
    masks = {"train": place < begin, "valid": (place >= begin) & (place < first), "test": place >= first}
    rest = [name for name in table.columns if name not in set(nodes)]
    rows = table.strings(rest[0]) if rest else [str(row) for row in range(len(table))]
    return Problem(graph.shift, X, None, masks, rows, list(nodes), [])


def read_features(path: Path, names: Sequence[str], missing: str, say: Say) -> tuple[NDArray[np.float64], list[str]]:
    """Features of nodes: a matrix by position, or a table whose first column, if it holds names, is joined by them."""
    if path.suffix.lower() in MATRICES:
        matrix = read_matrix(path)
        if matrix.ndim != 2 or len(matrix) != len(names):
            raise ValueError(f"{path} has the shape {matrix.shape}; expected ({len(names)}, features), a row per node")
        say(f"{path.name}: row i belongs to node i of the table of nodes")
        return _settled(matrix, path, missing, [str(i + 1) for i in range(matrix.shape[1])]), [
            f"{path.stem} {i + 1}" for i in range(matrix.shape[1])
        ]
    table = read_table(path)
    first = next(iter(table.columns))
    keys = table.strings(first)
    place = {key: row for row, key in enumerate(keys)}
    lacking = [name for name in names if name not in place]
    if lacking and len(lacking) == len(names) and len(table) == len(names):
        columns = table.numeric_names()
        say(f"{path.name}: no name matches, so row i belongs to node i")
        return _columns(table, columns, missing), columns
    if lacking:
        shown = ", ".join(map(repr, lacking[:3]))
        raise ValueError(
            f"{path} has no features for {len(lacking)} of {len(names)} nodes (first: {shown}); expected a row per node"
        )
    if len(place) < len(keys):
        _check_names(table, keys, first)
    extra = len(keys) - len(names)
    if extra:
        say(f"{path.name}: {extra} rows belong to no node and are not used")
    columns = [one for one in table.columns if one != first]
    order = [place[name] for name in names]
    return _columns(table, columns, missing)[order], columns


def signal_columns(
    table: Table, nodes: Sequence[str], others: set[Any], shift: Shift, missing: str, say: Say
) -> NDArray[np.float64]:
    """The columns of the nodes (rows, N), in the graph's order."""
    lacking = [name for name in nodes if name not in table.columns]
    if lacking:
        shown = ", ".join(map(repr, lacking[:3]))
        raise ValueError(
            f"{table.path} has no column for {len(lacking)} of {len(nodes)} nodes (first: {shown}); expected one each"
        )
    if len(nodes) != shift.num_nodes:
        raise ValueError(f"{table.path} has {len(nodes)} columns of signals; expected {shift.num_nodes}, one per node")
    unused = [name for name in table.columns if name not in {*nodes} and name not in others]
    if unused:
        say(f"{table.path.name}: {len(unused)} columns belong to no node and are not used ({', '.join(unused[:3])})")
    return _columns(table, nodes, missing)


def _series_names(table: Table, count: int) -> list[str]:
    """The columns of a series whose graph has no names: all numbers, or the last ones."""
    numbers = table.numeric_names()
    if len(numbers) < count:
        raise ValueError(f"{table.path} has {len(numbers)} columns of numbers; expected {count}, one per node")
    return numbers[-count:]


def _columns(table: Table, names: Sequence[str], missing: str) -> NDArray[np.float64]:
    values = np.column_stack([table.numbers(name) for name in names])
    return _settled(values, table.path, missing, names, table.row(0))


def _settled(
    values: NDArray[np.float64], path: Path, missing: str, names: Sequence[str], first: int = 1
) -> NDArray[np.float64]:
    """Missing values as the user says: refused with their place, kept (mask), or filled along the rows."""
    bad = ~np.isfinite(values)
    if missing == "mask" or not bad.any():
        return values
    if missing == "interpolate":
        rows = np.arange(len(values))
        for column in np.flatnonzero(bad.any(0)):
            known = ~bad[:, column]
            if known.any():
                values[:, column] = np.interp(rows, rows[known], values[known, column])
        bad = ~np.isfinite(values)
    if bad.any():
        row, place = (int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"{path}: row {row + first}, column {names[place]!r} is empty or not finite, the first of "
            f"{int(bad.sum())} such values; expected numbers; or say what to do with missing ones: --missing "
            "mask|interpolate|zero=missing"
        )
    return values


def _targets(table: Table, settings: TrainSettings) -> Array:
    assert settings.target is not None
    if settings.task.endswith("regression"):
        return table.numbers(settings.target)
    return np.array(table.strings(settings.target), dtype=object)


def _masks(table: Table, settings: TrainSettings, y: Array, say: Say) -> dict[str, Mask]:
    known = np.array([label != "" for label in y]) if y.dtype == object else np.isfinite(y)
    if settings.split is not None:
        return _told_masks(table, settings.split, known)
    places = np.flatnonzero(known)
    strata = y[places] if y.dtype == object else None
    rest_share = settings.fractions[1] + settings.fractions[2]
    learn, rest = _parted(places, rest_share, strata, settings.random_state)
    strata = None if strata is None else y[rest]
    choose, judge = _parted(rest, settings.fractions[2] / rest_share, strata, settings.random_state)
    masks = {name: np.zeros(len(y), bool) for name in PARTS}
    for name, rows in zip(PARTS, (learn, choose, judge), strict=True):
        masks[name][rows] = True
    say(f"split at random: {', '.join(f'{int(mask.sum())} {name}' for name, mask in masks.items())}")
    return masks


def _parted(places: Array, share: float, strata: Array | None, seed: int) -> tuple[Array, Array]:
    if strata is not None and np.unique(strata, return_counts=True)[1].min() < 2:
        strata = None
    try:
        first, second = train_test_split(places, test_size=share, random_state=seed, stratify=strata)
    except ValueError as error:
        raise ValueError(f"{len(places)} rows with a target cannot be split ({error}); expected more of them") from None
    return first, second


def _told_masks(table: Table, column: str, known: Mask) -> dict[str, Mask]:
    words = [word.strip().lower() for word in table.strings(column)]
    strange = next((word for word in words if word and word not in SPLITS), None)
    if strange is not None:
        row = table.row(words.index(strange))
        raise ValueError(
            f"{table.path}: row {row}, column {column!r} holds {strange!r}; expected train, valid, test, or nothing"
        )
    masks = {name: np.array([SPLITS.get(word) == name for word in words]) for name in PARTS}
    for name, mask in masks.items():
        if not mask.any():
            raise ValueError(
                f"{table.path}: column {column!r} has no row of {name}; expected train, valid and test rows"
            )
        if not known[mask].all():
            row = table.row(int(np.flatnonzero(mask & ~known)[0]))
            raise ValueError(f"{table.path}: row {row} is in {name} and has no target; expected one")
    return masks


def _check_names(table: Table, names: Sequence[str], column: str) -> None:
    seen: dict[str, int] = {}
    for row, name in enumerate(names):
        if name == "":
            raise ValueError(f"{table.path}: row {table.row(row)}, column {column!r} is empty; expected a name")
        if name in seen:
            raise ValueError(
                f"{table.path}: rows {table.row(seen[name])} and {table.row(row)} are both called "
                f"{name!r}; expected different names"
            )
        seen[name] = row
