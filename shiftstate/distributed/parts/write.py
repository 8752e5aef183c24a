"""`partition`: from a graph to a folder of parts."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from shiftstate.checks import check_whole
from shiftstate.distributed.parts.assign import assigned
from shiftstate.distributed.parts.cut import Cut
from shiftstate.distributed.parts.folder import MANIFEST, Manifest, PartEntry, file_of, write_manifest, write_part
from shiftstate.files import make_directory
from shiftstate.graphs import Shift
from shiftstate.graphs.construct import laid_out
from shiftstate.graphs.operators import Sparse

MOST_EMPTY = 1024
"""A small graph may have parts without nodes, up to so many parts."""


def partition(
    graph: Shift | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    parts: int,
    method: Any = "metis",
    *,
    names: Sequence[str] | None = None,
    **columns: Any,
) -> Manifest:
    """Cut a graph into parts, one for every process, and write them to a folder.

    The features of the nodes have no part in it: each process reads its own later.

    Args:
        graph: a shift, or a file of edges as `shiftstate.tables.read_graph` takes it. Weights are written as they are:
            normalise a shift before, or the loaded one after.
        folder: where to write a manifest and a file per part.
        parts: how many; one for every process that will train.
        method: "metis" cuts few edges (needs pymetis: the extra ``distributed``); "blocks" cuts the reverse
            Cuthill–McKee order into pieces; or the part (N) of every node.
        names: of the nodes, in the order of the shift; a file brings its own.
        **columns: for a file: ``source``, ``target``, ``weight``, ``directed``, ``header`` and ``nodes`` of
            `read_graph`.

    Example:
        >>> import tempfile, shiftstate as ss
        >>> shift = ss.Shift.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     manifest = ss.distributed.partition(shift, folder, parts=2, method="blocks")
        >>> print(*(part.nodes for part in manifest.parts))
        2 2
    """
    check_whole("parts", parts, 1)
    if not isinstance(graph, Shift):
        from shiftstate.tables import read_graph

        read = read_graph(Path(graph), **columns)
        graph, names = read.shift, read.names
    elif columns:
        raise ValueError(f"{', '.join(columns)} was given beside a shift; expected it for a file of edges only")
    if graph.ranks.count > 1 or graph.num_graphs > 1:
        raise ValueError("the shift is a batch, or partitioned already; expected one whole graph")
    if names is not None and len(names) != graph.num_nodes:
        raise ValueError(f"{len(names)} names were given; expected {graph.num_nodes}, one per node")
    if parts > max(graph.num_nodes, MOST_EMPTY):
        raise ValueError(f"parts is {parts}; expected at most {graph.num_nodes}, one for every node of the graph")
    operator = laid_out(graph.operator, "sparse")
    assert isinstance(operator, Sparse)
    return _write(operator, Path(folder), parts, method, names)


def _write(operator: Sparse, folder: Path, parts: int, method: Any, names: Sequence[str] | None) -> Manifest:
    began = time.perf_counter()
    rows, columns = (_matrix(half) for half in (operator[:3], operator[3:]))
    part = assigned(rows, parts, method)
    make_directory(folder, "the parts")
    (folder / MANIFEST).unlink(missing_ok=True)  # what is being replaced is not whole
    graph, entries = fingerprint(operator), []
    try:
        for p, piece in enumerate(Cut(rows, columns, part, parts).cut()):
            own = None if names is None else [str(names[node]) for node in piece.nodes]
            sha256 = write_part(folder / file_of(p), piece, own, graph)
            halo = int(piece.rows.received.sum())
            entries.append(PartEntry(file_of(p), len(piece.nodes), piece.interior, len(piece.rows.col), halo, sha256))
        manifest = Manifest(
            graph,
            operator.num_nodes,
            rows.nnz,
            method if isinstance(method, str) else "given",
            round(time.perf_counter() - began, 3),
            names is not None,
            tuple(entries),
        )
        write_manifest(folder, manifest)
    except OSError as error:
        raise ValueError(f"{folder} cannot be written ({error.strerror}); expected room for the parts") from None
    return manifest


def fingerprint(operator: Sparse) -> str:
    """What tells one S from another."""
    digest = hashlib.sha256()
    for tensor in operator[:3]:
        digest.update(tensor.detach().cpu().contiguous().numpy().data)
    return digest.hexdigest()[:32]


def _matrix(half: Any) -> sp.csr_array:
    crow, col, values = (tensor.detach().cpu().numpy() for tensor in half)
    n = len(crow) - 1
    return sp.csr_array((np.asarray(values), col, crow), (n, n))
