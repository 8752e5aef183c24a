"""Edge lists: which columns they stand in, which node each end is, and the operator that they make."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shiftstate.graphs import Shift
from shiftstate.tables.table import Table, arrow, is_number, is_whole

SOURCES = ("source", "src", "from", "u", "node1", "id1", "head", "start", "origin", "i", "node_1", "fromnodeid")
TARGETS = ("target", "dst", "to", "v", "node2", "id2", "tail", "end", "destination", "j", "node_2", "tonodeid")
WEIGHTS = ("weight", "w", "value", "weights", "edge_weight")
ROOM = 4
"""Whole numbers up to so many times the count of edges are numbered by a table of all of them, without sorting."""
WIDE = 10
"""An edge list without names of columns has not more of them."""

LARGEST_WEIGHT = float(np.finfo(np.float32).max)
"""Graphs have their weights in float32."""

Ends = NDArray[np.int64]


class EdgeColumns(NamedTuple):
    """Columns of an edge list; None where they are to be guessed."""

    source: str | None
    target: str | None
    weight: str | None


def names_ends(names: Sequence[str]) -> bool:
    """Whether columns have the usual names of source and target."""
    return _guess(names, SOURCES) is not None and _guess(names, TARGETS) is not None


def edges_of(
    table: Table, columns: EdgeColumns, nodes: Sequence[str] | None, header: bool | None = None
) -> tuple[Ends, NDArray[np.float64] | None, list[str], list[str]]:
    """Edges (2, E) as positions of nodes, their weights, the names of the nodes, and what was decided."""
    source, target, weight = _chosen(table, columns)
    shown = {name: repr(name) if table.named else f"column {place}" for place, name in enumerate(table.columns, 1)}
    weighted = f", weighted by {shown[weight]}" if weight else ""
    said = [f"edges lead from {shown[source]} to {shown[target]}{weighted}"]
    ends, known, by_position = _numbered(table, source, target, nodes)
    said += by_position
    if header is None and table.named and columns.source is None and not names_ends([*table.columns]):
        _check_first_row(table, (source, target), known)
    values = None
    if weight:
        values = table.numbers(weight)
        bad = np.flatnonzero(~(np.abs(values) <= LARGEST_WEIGHT))
        if len(bad):
            raise ValueError(
                f"{table.path}: row {table.row(int(bad[0]))}, column {weight!r} is {values[bad[0]]}; "
                f"expected a finite weight of at most {LARGEST_WEIGHT:.2g}"
            )
    return ends, values, known, said


def _chosen(table: Table, given: EdgeColumns) -> tuple[str, str, str | None]:
    """Three different columns: those that were given, those with the usual names, else the first ones."""
    named = [name for name in given if name is not None]
    for name in named:
        table.column(name)
    if len({*named}) < len(named):
        raise ValueError(
            f"{table.path}: source, target and weight are {', '.join(map(repr, named))}; expected different columns"
        )
    free = [name for name in table.columns if name not in named]
    source = given.source or _guess(free, SOURCES)
    target = given.target or _guess([name for name in free if name != source], TARGETS)
    free = [name for name in free if name not in (source, target)]
    if (source is None) + (target is None) > len(free):
        raise ValueError(
            f"{table.path} has {'one column' if len(table.columns) == 1 else 'too few columns'}; "
            "expected an edge list with a source and a target"
        )
    source = source or free.pop(0)
    target = target or free.pop(0)
    if not table.named and len(table.columns) > WIDE and not named:
        raise ValueError(
            f"{table.path} has {len(table.columns)} columns without names and {len(table)} rows; expected an edge "
            "list, or a square matrix; are names in its first row? --header yes takes them"
        )
    weight = given.weight or _guess(free, WEIGHTS)
    if weight is None and not table.named and not named and free and is_number(table.column(free[0])):
        weight = free[0]
    return source, target, weight


def _check_first_row(table: Table, columns: Sequence[str], known: Sequence[str]) -> None:
    """Raise if the names of the columns are names of nodes too: then they are probably the first edge."""
    both = [name for name in columns if name in {*known}]
    if both:
        raise ValueError(
            f"{table.path}: row 1 holds {both[0]!r}, which is a node further down; is it an edge rather than the "
            "names of columns? --header no takes it for an edge, --header yes for names"
        )


def assembled(path: Path, ends: Ends, weights: Any, count: int, directed: bool) -> tuple[Shift, list[str]]:
    """The operator with S[v, u] for an edge u → v.

    Without weights an edge counts once however often it is listed; weights of repeated edges add up. Unless directed,
    an edge that is listed one way only leads both ways.
    """
    values = np.ones(ends.shape[1], np.float32) if weights is None else np.asarray(weights, dtype=np.float32)
    small = np.int32 if max(count, ends.shape[1]) < 2**30 else np.int64  # half the memory
    source, target = (one.astype(small, copy=False) for one in ends)
    A = sp.coo_array((values, (target, source)), shape=(count, count)).tocsr()
    said = []
    repeated = ends.shape[1] - A.nnz
    if repeated:
        how = "count once" if weights is None else "add up"
        said.append(f"{repeated} edges repeat others and {how}")
    if weights is None:
        A.data[:] = 1
    elif not np.isfinite(A.data).all():
        raise ValueError(f"{path}: weights of repeated edges add up to more than {LARGEST_WEIGHT:.2g}; expected less")
    else:
        A.eliminate_zeros()
    if not directed:
        A, more = _both_ways(A, weights is not None)
        said.append(more)
    return Shift.from_matrix(A), said


def _both_ways(A: Any, weighted: bool) -> tuple[Any, str]:
    back = A.T.tocsr()
    both = A + back if not weighted else abs(A).sign() + abs(back).sign()
    if both.nnz == A.nnz:
        return A, "every edge is there in both directions"
    if not weighted:
        both.data[:] = 1
    elif both.data.max() == 1:  # no edge is listed in both directions
        both = A + back
    else:
        only = back - back.multiply(abs(A).sign())
        only.eliminate_zeros()
        both = (A + only).tocsr()
    both.sum_duplicates()
    return both, "edges count in both directions; --directed keeps them as they are"


def _numbered(table: Table, source: str, target: str, nodes: Sequence[str] | None) -> tuple[Ends, list[str], list[str]]:
    """Edges as positions of nodes, the names of the nodes, and how they were joined if not by name."""
    pa, pc = arrow(), arrow("compute")
    columns = table.names(source, target)
    for name, column in zip((source, target), columns, strict=True):
        if column.null_count:
            row = int(pc.index(column.is_null(), True).as_py())
            raise ValueError(f"{table.path}: row {table.row(row)}, column {name!r} is empty; expected a node")
    if all(is_whole(one) for one in columns):
        ends = np.stack([one.to_numpy(zero_copy_only=False) for one in columns]).astype(np.int64, copy=False)
        if nodes is None:
            return _ranked(ends)
        placed = _by_position(ends, nodes)
        if placed is not None:
            return placed
    columns = [column.cast("string") for column in columns]
    known = pa.array([str(name) for name in nodes]) if nodes is not None else pc.unique(pa.chunked_array(columns))
    if nodes is None:
        known = known.take(pc.sort_indices(known))
    places = [pc.index_in(column, value_set=known) for column in columns]
    lost = [column.filter(place.is_null()) for column, place in zip(columns, places, strict=True) if place.null_count]
    if lost:
        name, place = next(
            (one, place) for one, place in zip((source, target), places, strict=True) if place.null_count
        )
        row = table.row(int(pc.index(place.is_null(), True).as_py()))
        where = f"the first in row {row}, column {name!r}; "
        strangers_named(table.path, pc.unique(pa.chunked_array(lost)).to_pylist(), where)
    ends = np.stack([place.to_numpy(zero_copy_only=False) for place in places])
    return ends.astype(np.int64), [str(name) for name in known.to_pylist()], []


def _ranked(ends: Ends) -> tuple[Ends, list[str], list[str]]:
    """Whole numbers as names, in their order: 2 before 10."""
    low, high = int(ends.min()), int(ends.max())
    if low < 0 or high > ROOM * ends.size + 1000:
        known, places = np.unique(ends, return_inverse=True)
        return places.reshape(ends.shape), [str(name) for name in known.tolist()], []
    there = np.zeros(high + 1, bool)
    there[ends[0]] = there[ends[1]] = True
    known = np.flatnonzero(there)
    if len(known) < high + 1:
        rank = np.cumsum(there, dtype=np.int64) - 1
        ends = rank[ends]
    return ends, [str(name) for name in known.tolist()], []


def _by_position(ends: Ends, nodes: Sequence[str]) -> tuple[Ends, list[str], list[str]] | None:
    """Ends that are no names and fit the rows of the other file: positions in it, counted from 0 or 1."""
    low, high, count = int(ends.min()), int(ends.max()), len(nodes)
    if low < 0 or high > count or (low == 0 and high == count):
        return None
    if any(name.isdecimal() for name in nodes):  # 7 is not 007
        return None
    first = 1 if high == count else 0
    return ends - first, list(nodes), [f"no end of an edge is a name, so ends are positions, counted from {first}"]


def strangers_named(path: Path, strangers: Sequence[Any], where: str = "") -> None:
    """Raise if a graph has nodes that the other file does not have: how many, and the first three."""
    if strangers:
        first = ", ".join(map(repr, strangers[:3]))
        raise ValueError(
            f"{path} has edges of {len(strangers)} nodes that the table of nodes does not have (first: {first}); "
            f"{where}expected every node in it; are they named alike in both files?"
        )


def _guess(names: Sequence[str], known: Sequence[str]) -> str | None:
    by_case = {name.lower(): name for name in reversed(names)}
    return next((by_case[name] for name in known if name in by_case), None)
