"""Graphs from files, with the names of their nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shiftstate.files import open_regular
from shiftstate.graphs import Shift
from shiftstate.tables.reading import MATRICES, Table, arrow, is_number, read_sparse, read_table

SOURCES = ("source", "src", "from", "u", "node1", "id1", "head")
TARGETS = ("target", "dst", "to", "v", "node2", "id2", "tail")
WEIGHTS = ("weight", "w", "value")
ADJACENCY = 4
"""A square table of numbers with at least so many columns is an adjacency matrix."""


@dataclass(frozen=True)
class NamedGraph:
    """A graph and the names of its nodes, in the order of the shift; ``said`` tells what was decided on the way."""

    shift: Shift
    names: list[str] | None
    said: tuple[str, ...] = ()


def read_graph(
    path: str | Path,
    nodes: Sequence[str] | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    directed: bool = False,
) -> NamedGraph:
    """A graph from an edge list (.csv, .tsv, .parquet), a GraphML file, or a matrix (.csv, .mtx, .npz, .npy).

    Args:
        path: the file.
        nodes: the names of all nodes, in the order that the shift is to have; by default those that occur.
        source: the column of sources; guessed by its name, else the first.
        target: the column of targets; guessed by its name, else the second.
        weight: the column of weights; guessed by its name; ones without it.
        directed: whether an edge leads one way only; otherwise each counts in both directions.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind in MATRICES:
        return _from_matrix(path, read_sparse(path), nodes, directed)
    if kind in (".graphml", ".xml"):
        return _from_graphml(path, nodes, directed)
    table = read_table(path)
    if _is_adjacency(table):
        if source or target:
            raise ValueError(f"{path} is a square table of numbers, an adjacency matrix; expected no source and target")
        matrix = np.column_stack([table.numbers(name) for name in table.columns])
        if np.isnan(matrix).any():
            row, column = (int(i) for i in np.argwhere(np.isnan(matrix))[0])
            raise ValueError(f"{path}: row {table.row(row)}, column {column + 1} is empty; expected a number")
        names = list(table.columns) if table.named else None
        return _from_matrix(path, sp.coo_array(matrix), nodes if nodes is not None else names, directed)
    return _from_edges(table, nodes, source, target, weight, directed)


def _from_edges(
    table: Table,
    nodes: Sequence[str] | None,
    source: str | None,
    target: str | None,
    weight: str | None,
    directed: bool,
) -> NamedGraph:
    if len(table.columns) < 2:
        raise ValueError(f"{table.path} has one column; expected an edge list with a source and a target")
    names = list(table.columns)
    from_column = source or _guess(names, SOURCES) or names[0]
    to_column = target or _guess(names, TARGETS) or next(name for name in names if name != from_column)
    weight = weight or _guess(names, WEIGHTS)
    said = [f"edges lead from {from_column!r} to {to_column!r}" + (f", weighted by {weight!r}" if weight else "")]
    ends, known = _numbered(table, from_column, to_column, nodes)
    values = None
    if weight:
        values = table.numbers(weight)
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise ValueError(
                f"{table.path}: row {table.row(int(bad[0]))}, column {weight!r} is {values[bad[0]]}; "
                "expected a finite weight"
            )
    return NamedGraph(_shift(ends, values, len(known), directed, said), known, tuple(said))


def _numbered(
    table: Table, source: str, target: str, nodes: Sequence[str] | None
) -> tuple[NDArray[np.int64], list[str]]:
    """Edges (2, E) as positions of nodes, and the names of the nodes."""
    pa, pc = arrow(), arrow("compute")
    columns = [table.column(source), table.column(target)]
    whole = all(is_number(one) and not arrow("types").is_floating(one.type) for one in columns)
    for name, column in zip((source, target), columns, strict=True):
        if column.null_count:
            row = int(pc.index(column.is_null(), True).as_py())
            raise ValueError(f"{table.path}: row {table.row(row)}, column {name!r} is empty; expected a node")
    if whole and nodes is None:  # numbers keep their order: 2 before 10
        known = pc.unique(pa.chunked_array(columns))
        known = known.take(pc.sort_indices(known))
    else:
        columns = [column.cast("string") for column in columns]
        known = pa.array([str(name) for name in nodes]) if nodes is not None else None
        if known is None:
            known = pc.unique(pa.chunked_array(columns))
            known = known.take(pc.sort_indices(known))
    places = []
    for column in columns:
        place = pc.index_in(column, value_set=known)
        if place.null_count:
            _name_strangers(table, column, place)
        places.append(place.to_numpy(zero_copy_only=False))
    return np.stack(places).astype(np.int64), [str(name) for name in known.to_pylist()]


def _name_strangers(table: Table, column: Any, place: Any) -> None:
    pc = arrow("compute")
    strangers = pc.unique(column.filter(place.is_null())).to_pylist()
    first = ", ".join(map(repr, strangers[:3]))
    raise ValueError(
        f"{table.path} has edges of {len(strangers)} nodes that the table of nodes does not have (first: {first}); "
        "expected every node in it; are they named alike in both files?"
    )


def _from_matrix(path: Path, matrix: Any, nodes: Sequence[str] | None, directed: bool) -> NamedGraph:
    if nodes is not None and len(nodes) != matrix.shape[0]:
        raise ValueError(f"{path} is a matrix of {matrix.shape[0]} nodes; expected {len(nodes)}, as in the other file")
    if not np.isfinite(matrix.data).all():
        raise ValueError(f"{path} holds weights that are not finite; expected numbers")
    said = [f"an adjacency matrix of {matrix.shape[0]} nodes, joined by position"]
    symmetric = abs(matrix - matrix.T).max() <= 1e-9 * max(1.0, abs(matrix).max())
    if not symmetric and not directed:
        said.append("the matrix is not symmetric: a row is taken for the node that gathers")
    return NamedGraph(Shift.from_matrix(matrix.astype(np.float32)), None if nodes is None else list(nodes), tuple(said))


def _from_graphml(path: Path, nodes: Sequence[str] | None, directed: bool) -> NamedGraph:
    with open_regular(path, "a GraphML file"):
        pass
    try:
        import networkx as nx
    except ImportError:
        raise ValueError("GraphML needs NetworkX; expected it installed: pip install 'shiftstate[networkx]'") from None
    try:
        graph = nx.read_graphml(path)
    except Exception as error:  # the parser's exceptions share no base
        cause = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"{path} cannot be read as GraphML ({cause[:200]})") from None
    names = [str(node) for node in graph.nodes]
    if nodes is not None:
        missing = sorted({*names} - {*nodes})
        if missing:
            first = ", ".join(map(repr, missing[:3]))
            raise ValueError(f"{path} has {len(missing)} nodes that the table of nodes does not have (first: {first})")
        graph.add_nodes_from(nodes)
        names = [str(node) for node in nodes]
    shift = Shift.from_matrix(nx.to_scipy_sparse_array(graph, nodelist=names, format="coo").T.astype(np.float32))
    return NamedGraph(shift, names, (f"a {'directed' if graph.is_directed() else 'undirected'} graph",))


def _shift(
    ends: NDArray[np.int64], weight: NDArray[np.float64] | None, count: int, directed: bool, said: list[str]
) -> Shift:
    values = None if weight is None else weight.astype(np.float32)
    if directed:
        return Shift.from_edges(ends, values, count)
    loops = ends[0] == ends[1]
    keys = ends[0] * count + ends[1]
    back = ends[1] * count + ends[0]
    if np.isin(back, keys).all():
        said.append("every edge is there in both directions")
        return Shift.from_edges(ends, values, count)
    said.append("edges count in both directions; --directed keeps them as they are")
    once = np.unique(np.minimum(keys, back), return_index=True)[1]  # of two directions the first counts for both
    ends, loops = ends[:, once], loops[once]
    both = np.concatenate([ends, ends[::-1][:, ~loops]], axis=1)
    if values is not None:
        values = np.concatenate([values[once], values[once][~loops]])
    return Shift.from_edges(both, values, count)


def _is_adjacency(table: Table) -> bool:
    square = len(table.columns) == len(table) >= ADJACENCY
    return square and len(table.numeric_names()) == len(table.columns)


def _guess(names: Sequence[str], known: Sequence[str]) -> str | None:
    by_case = {name.lower(): name for name in reversed(names)}
    return next((by_case[name] for name in known if name in by_case), None)
