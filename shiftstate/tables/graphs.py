"""Graphs from files, with the names of their nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from shiftstate.checks import check_name
from shiftstate.files import open_regular
from shiftstate.graphs import Shift
from shiftstate.limits import check_unpacked
from shiftstate.tables.arrays import read_arrays
from shiftstate.tables.edges import (
    LARGEST_WEIGHT,
    SOURCES,
    TARGETS,
    EdgeColumns,
    assembled,
    edges_of,
    names_ends,
    strangers_named,
)
from shiftstate.tables.first_row import MATRIX
from shiftstate.tables.matrices import MATRICES, read_array
from shiftstate.tables.reading import read_table
from shiftstate.tables.table import Table, first_line
from shiftstate.tables.text import DELIMITERS

JOINS = ("name", "position")
EDGES, WEIGHTS = ("edges", "edge_index"), ("weight", "weights", "edge_weight", "edge_weights")
"""Names of the arrays of an .npz that holds a list of edges."""


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
    header: bool | None = None,
    join: str = "name",
) -> NamedGraph:
    """A graph from an edge list (.csv, .tsv, .parquet, .npz), a GraphML file, or a matrix (.csv, .mtx, .npz, .npy).

    Args:
        path: the file.
        nodes: the names of all nodes, in the order that the shift is to have; by default those that occur.
        source: the column of sources; guessed by its name, else the first.
        target: the column of targets; guessed by its name, else the second.
        weight: the column of weights; guessed by its name; ones without it. Without names of columns, the third.
        directed: whether an edge leads one way only; otherwise each counts in both directions.
        header: whether the first line of a text file holds names; by default it does unless there are numbers in it.
        join: "position" joins a matrix whose names are not those of ``nodes`` by position; otherwise that raises.
    """
    path = Path(path)
    check_name("join", join, JOINS)
    kind = path.suffix.lower()
    columns = EdgeColumns(source, target, weight)
    if header is not None and kind not in DELIMITERS:
        raise ValueError(f"{path} is no table of text; expected --header for .csv, .tsv and their like only")
    if kind in MATRICES:
        return _from_arrays(path, nodes, directed)
    if kind in (".graphml", ".xml"):
        return _from_graphml(path, nodes)
    ends = (*SOURCES, *TARGETS, *(name.lower() for name in (source, target) if name))
    table = read_table(path, header, ends)
    if not {*columns} & {*table.columns}:
        square = _adjacency(table)
        if square is not None:
            if source or target:
                raise ValueError(
                    f"{path} is a square table of numbers, an adjacency matrix; expected no source and target"
                )
            names, matrix = square
            graph = _from_matrix(path, matrix, nodes, names, directed, join)
            return replace(graph, said=(*table.said, *graph.said))
    edges, weights, names, said = edges_of(table, columns, nodes, header)
    shift, more = assembled(path, edges, weights, len(names), directed)
    return NamedGraph(shift, names, (*table.said, *said, *more))


def _from_arrays(path: Path, nodes: Sequence[str] | None, directed: bool) -> NamedGraph:
    """A square matrix, or a list of edges (2, E) or (E, 2) of whole numbers."""
    found = read_array(path, ("adjacency", "adj", "A", *EDGES))
    flat = found.ndim == 2 and 2 in found.shape and found.shape[0] != found.shape[1]
    if not sp.issparse(found) and flat and found.dtype.kind in "iu":
        if found.dtype == np.uint64 and found.max(initial=0) >= 2**63:
            raise ValueError(f"{path} has an edge of node {found.max()}; expected positions, counted from 0")
        ends = np.asarray(found if found.shape[0] == 2 else found.T, dtype=np.int64)
        return _from_positions(path, ends, nodes, directed)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or found.dtype.kind not in "biuf" or not found.shape[0]:
        raise ValueError(
            f"{path} holds {found.dtype} of shape {found.shape}; expected a square matrix of numbers, or edges (2, E)"
        )
    return _from_matrix(path, sp.coo_array(found), nodes, None, directed)


def _from_positions(path: Path, ends: Any, nodes: Sequence[str] | None, directed: bool) -> NamedGraph:
    count = len(nodes) if nodes is not None else int(ends.max(initial=-1)) + 1
    if not ends.size or ends.min() < 0 or ends.max() >= count:
        wrong = int(ends.min()) if ends.size and ends.min() < 0 else int(ends.max(initial=0))
        raise ValueError(f"{path} has an edge of node {wrong}; expected positions from 0 to {max(count - 1, 0)}")
    check_unpacked(8 * (count + 1), path.stat().st_size, f"{path}: a graph of {count:,} nodes")
    weights = None
    if path.suffix.lower() == ".npz":
        arrays = read_arrays(path)
        weights = next((arrays[name] for name in WEIGHTS if name in arrays), None)
        if weights is not None and (weights.shape != ends.shape[1:] or weights.dtype.kind not in "iuf"):
            raise ValueError(f"{path} has weights of shape {weights.shape}; expected one per edge, {ends.shape[1:]}")
        if weights is not None:
            _check_weights(path, weights)
    shift, said = assembled(path, ends, weights, count, directed)
    names = None if nodes is None else list(nodes)
    return NamedGraph(shift, names, ("edges between positions, counted from 0", *said))


def _check_weights(path: Path, weights: Any) -> None:
    """Raise unless all weights are finite as float32."""
    bad = np.flatnonzero(~(np.abs(weights) <= LARGEST_WEIGHT))
    if len(bad):
        raise ValueError(
            f"{path} holds a weight of {weights[bad[0]]}; expected finite weights of at most {LARGEST_WEIGHT:.2g}"
        )


def _adjacency(table: Table) -> tuple[list[str] | None, Any] | None:
    """Names and matrix, if a table is a square one of numbers, perhaps with the names of its rows before them.

    Columns with the usual names of source and target make a table an edge list, also if it is square. Nodes may be
    called u and v too, so letters do not count in a symmetric table.
    """
    columns = list(table.columns)
    first = None
    if len(columns) == len(table) + 1:
        first, *columns = columns
    if len(columns) != len(table) or len(table) < MATRIX:
        return None
    if first is not None and [one or "" for one in table.text(first).to_pylist()] != columns:
        return None
    try:
        matrix = np.column_stack([table.numbers(name) for name in columns])
    except ValueError:
        return None
    if first is None and table.named and names_ends(columns):
        words = names_ends([name for name in columns if len(name) > 1])
        if words or not np.array_equal(matrix, matrix.T):
            return None
    if np.isnan(matrix).any():
        row, column = (int(i) for i in np.argwhere(np.isnan(matrix))[0])
        raise ValueError(
            f"{table.path}: row {table.row(row)}, column {column + 1 + (first is not None)} is empty; expected a number"
        )
    return (columns if table.named else None), sp.coo_array(matrix)


def _from_matrix(
    path: Path, matrix: Any, nodes: Sequence[str] | None, own: list[str] | None, directed: bool, join: str = "name"
) -> NamedGraph:
    """A square matrix: joined by the names of its columns if it has names, else by position."""
    count = matrix.shape[0]
    _check_weights(path, matrix.data)
    said = [f"an adjacency matrix of {count} nodes"]
    matrix = matrix.astype(np.float32).tocsr()
    if nodes is not None and len(nodes) != count:
        raise ValueError(f"{path} is a matrix of {count} nodes; expected {len(nodes)}, as in the other file")
    if nodes is not None and own is not None and {*nodes} == {*own}:
        place = {name: number for number, name in enumerate(own)}
        order = [place[name] for name in nodes]
        matrix = matrix[order][:, order]
        said[0] += ", joined by the names of its columns"
    elif nodes is not None and own is not None and join != "position" and not all(name.isdecimal() for name in own):
        strange = next(name for name in own if name not in {*nodes})
        raise ValueError(
            f"{path} is a matrix with the names of other nodes (first: {strange!r}); expected those of the table of "
            "nodes; --join position takes row i for node i"
        )
    else:
        said[0] += ", joined by position" if nodes is not None or own is None else ""
    symmetric = abs(matrix - matrix.T).max() <= 1e-6 * max(1.0, abs(matrix).max())
    if not symmetric and not directed:
        said.append("the matrix is not symmetric: a row is taken for the node that gathers")
    names = own if nodes is None else list(nodes)
    return NamedGraph(Shift.from_matrix(matrix), names, tuple(said))


def _from_graphml(path: Path, nodes: Sequence[str] | None) -> NamedGraph:
    with open_regular(path, "a GraphML file"):
        pass
    try:
        import networkx as nx
    except ImportError:
        raise ValueError("GraphML needs NetworkX; expected it installed: pip install 'shiftstate[networkx]'") from None
    try:
        graph = nx.read_graphml(path)
        said = [f"a {'directed' if graph.is_directed() else 'undirected'} graph"]
        names = [str(node) for node in graph.nodes]
        if nodes is not None:
            names, label = _known_names(graph, names, nodes)
            said += [f"nodes are joined by their {label!r}"] if label else []
        matrix = nx.to_scipy_sparse_array(graph, format="coo").T.astype(np.float32)
    except Exception as error:  # the parser's exceptions share no base
        raise ValueError(f"{path} cannot be read as GraphML ({first_line(error)})") from None
    if not names:
        raise ValueError(f"{path} has no nodes; expected at least one")
    if nodes is None:
        return NamedGraph(Shift.from_matrix(matrix), names, tuple(said))
    strangers_named(path, [name for name in names if name not in {*nodes}])
    place = {name: number for number, name in enumerate(nodes)}
    order = np.array([place[name] for name in names])
    wide = sp.coo_array((matrix.data, (order[matrix.row], order[matrix.col])), shape=(len(nodes), len(nodes)))
    return NamedGraph(Shift.from_matrix(wide), list(nodes), tuple(said))


def _known_names(graph: Any, names: list[str], nodes: Sequence[str]) -> tuple[list[str], str | None]:
    """The ids of the nodes, or the label by which the other file knows them."""
    if not {*names} & {*nodes}:
        for label in ("label", "name", "id"):
            given = [str(one.get(label)) for _, one in graph.nodes(data=True)]
            if {*given} <= {*nodes}:
                return given, label
    return names, None
