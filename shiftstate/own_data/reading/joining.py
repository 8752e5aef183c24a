"""Features and signals, joined to the nodes of the graph by name, or by position where there are no names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shiftstate.own_data.reading.missing import settled
from shiftstate.tables import MATRICES, Table, read_matrix, read_table
from shiftstate.tables.table import is_floating

Values = NDArray[np.float64]
Say = Callable[[str], None]

DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
"""A number as many languages write it; here a point is expected."""
IDENTIFIERS = ("name", "node", "id", "node_id", "nodeid", "node_name", "names", "key", "code")


def name_column(table: Table, given: str | None, taken: set[str | None]) -> str | None:
    """The column of node names: the given one, one that is called so, or the first if it can be one; else None."""
    if given is not None:
        return given
    free = [name for name in table.columns if name not in taken]
    called = next((name for name in free if name.lower() in IDENTIFIERS), None)
    if called is not None or not free or free[0] != next(iter(table.columns)):
        return called
    first = free[0]
    return first if _may_be_names(table, first) else None


def check_names(table: Table, names: Sequence[str], column: str) -> None:
    """Raise if a name is empty or stands twice."""
    seen: dict[str, int] = {}
    for row, name in enumerate(names):
        if name == "":
            raise ValueError(f"{table.path}: row {table.row(row)}, column {column!r} is empty; expected a name")
        if name in seen:
            raise ValueError(
                f"{table.path}: rows {table.row(seen[name])} and {table.row(row)}, column {column!r}, are both called "
                f"{name!r}; expected different names of nodes; --name tells another column"
            )
        seen[name] = row


def check_mostly_words(table: Table, column: str) -> None:
    """Raise if most values of a column of words are numbers: the others are mistakes, and named."""
    words = [str(word) for word in table.column(column).to_pylist() if word is not None and str(word).strip()]
    numbers = sum(_is_numeral(word) or DECIMAL_COMMA.fullmatch(word) is not None for word in words)
    if 2 * numbers > len(words):
        table.numbers(column)


def _is_numeral(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_features(
    path: Path,
    names: Sequence[str],
    missing: str,
    say: Say,
    wanted: Sequence[str] | None = None,
    join: str = "name",
) -> tuple[Values, list[str]]:
    """Features of nodes: a matrix by position, or a table, by the names in its first column if there are names.

    Args:
        path: the file.
        names: of the nodes.
        missing: what to do with missing values.
        say: told what was decided.
        wanted: the columns that a model has learned from; others beside them are left alone.
        join: "position" joins a table by position whatever its first column holds.
    """
    if path.suffix.lower() in MATRICES:
        matrix = read_matrix(path)
        if matrix.ndim != 2 or len(matrix) != len(names):
            raise ValueError(f"{path} has the shape {matrix.shape}; expected ({len(names)}, features), a row per node")
        say(f"{path.name}: row i belongs to node i of the table of nodes")
        columns = [f"{path.stem} {i + 1}" for i in range(matrix.shape[1])]
        _check_count(path, columns, wanted)
        return settled(matrix, path, missing, columns), columns
    table = read_table(path)
    tell(table, say)
    first = next(iter(table.columns))
    if join == "position" or not _may_be_names(table, first):
        return _by_position(table, names, missing, say, wanted)
    keys = table.strings(first)
    known = {*names}
    if not known & {*keys}:
        raise ValueError(
            f"{path}: no value of its first column, {first!r}, is the name of a node; expected names such as "
            f"{first_three(names)}; --join position takes row i for node i"
        )
    place = {key: row for row, key in enumerate(keys)}
    lacking = [name for name in names if name not in place]
    if lacking:
        raise ValueError(
            f"{path} has no features for {len(lacking)} of {len(names)} nodes (first: {first_three(lacking)}); "
            "expected a row per node"
        )
    if len(place) < len(keys):
        check_names(table, keys, first)
    extra = [key for key in keys if key not in known]
    if extra:
        say(f"{path.name}: {len(extra)} rows belong to no node and are not used (first: {first_three(extra)})")
    columns = _learned(path, [one for one in table.columns if one != first], wanted)
    order = [place[name] for name in names]
    return columns_of(table, columns, missing)[order], columns


def _may_be_names(table: Table, column: str) -> bool:
    """Whether a first column could hold names: not if it has none itself, or holds numbers with fractions."""
    return table.named and not is_floating(table.columns[column])


def _by_position(
    table: Table, names: Sequence[str], missing: str, say: Say, wanted: Sequence[str] | None
) -> tuple[Values, list[str]]:
    columns = [name for name in table.numeric_names() if name.lower() not in IDENTIFIERS]
    if len(table) != len(names) or not columns:
        raise ValueError(
            f"{table.path} has {len(table)} rows and {len(columns)} columns of numbers; expected a row for each of "
            f"{len(names)} nodes, in the order of the table of nodes"
        )
    say(f"{table.path.name}: row i belongs to node i of the table of nodes")
    left = [name for name in table.columns if name not in columns]
    if left:
        say(f"{table.path.name}: {len(left)} columns are names or no numbers and not used ({first_three(left)})")
    columns = _learned(table.path, columns, wanted)
    return columns_of(table, columns, missing), columns


def _learned(path: Path, columns: list[str], wanted: Sequence[str] | None) -> list[str]:
    """The columns that a model has learned from, by name; by position if it learned from a matrix without names."""
    if not wanted:
        return columns
    lacking = [name for name in wanted if name not in columns]
    if not lacking:
        return list(wanted)
    stem = wanted[0].removesuffix(" 1")
    if list(wanted) == [f"{stem} {place + 1}" for place in range(len(wanted))]:
        _check_count(path, columns, wanted)
        return columns
    raise ValueError(
        f"{path} has no column for {len(lacking)} of the {len(wanted)} features that the model has learned from "
        f"(first: {first_three(lacking)}); expected all of them, by name"
    )


def _check_count(path: Path, columns: Sequence[str], wanted: Sequence[str] | None) -> None:
    if wanted and len(columns) != len(wanted):
        raise ValueError(
            f"{path} has {len(columns)} features; expected {len(wanted)}, as many as the model has learned from"
        )


def signal_columns(table: Table, nodes: Sequence[str], others: set[str | None], missing: str, say: Say) -> Values:
    """The columns of the nodes (rows, N), in the graph's order."""
    lacking = [name for name in nodes if name not in table.columns]
    if lacking:
        raise ValueError(
            f"{table.path} has no column for {len(lacking)} of {len(nodes)} nodes (first: {first_three(lacking)}); "
            "expected one each"
        )
    unused = [name for name in table.columns if name not in {*nodes} and name not in others]
    if unused:
        count = f"{len(unused)} columns belong" if len(unused) > 1 else "1 column belongs"
        say(f"{table.path.name}: {count} to no node, not used as signals: {first_three(unused)}")
    return columns_of(table, nodes, missing)


def columns_of(table: Table, names: Sequence[str], missing: str) -> Values:
    """Columns of numbers, (rows, columns)."""
    if not names:
        raise ValueError(f"{table.path} has no column of numbers beside the names; expected at least one")
    values = np.column_stack([table.numbers(name) for name in names])
    return settled(values, table.path, missing, names, table.row(0))


def series_names(table: Table, count: int, others: set[str | None]) -> list[str]:
    """The columns of signals whose graph has no names: all numbers, or the last ones."""
    numbers = [name for name in table.numeric_names() if name not in others]
    if len(numbers) < count:
        raise ValueError(f"{table.path} has {len(numbers)} columns of numbers; expected {count}, one per node")
    return numbers[len(numbers) - count :]


def first_three(names: Sequence[str]) -> str:
    """The first names of several, as messages show them."""
    return ", ".join(map(repr, names[:3]))


def tell(table: Table, say: Say) -> None:
    """What was decided when a table was read."""
    for line in table.said:
        say(f"{table.path.name}: {line}")
