"""Each process reads its own rows of a file: of an array that is mapped into memory, or of a table block by block."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shiftstate.distributed.shift import PartitionedShift
from shiftstate.files import open_regular
from shiftstate.tables.reading import read_blocks
from shiftstate.tables.table import Table, arrow

Array = NDArray[Any]


def read_rows(shift: PartitionedShift, path: str | Path) -> Tensor:
    """This process's rows of the features (N, channels) in a file: an NPY array, or the numbers of a table.

    Rows are in the order of the nodes' original numbers. Of an NPY file only the own rows are read; of a Parquet or CSV
    file a block at a time is in memory.

    Args:
        shift: from `load`.
        path: .npy, .parquet, .csv or .tsv.
    """
    path = Path(path)
    if path.suffix.lower() == ".npy":
        return _of_array(shift, path)
    table = own_rows(shift, path, None)
    columns = table.numeric_names()
    if not columns:
        raise ValueError(f"{path} has no column of numbers; expected features")
    stacked = np.column_stack([table.numbers(name) for name in columns])
    return torch.from_numpy(stacked).to(shift.dtype)


def _of_array(shift: PartitionedShift, path: Path) -> Tensor:
    with open_regular(path, "an array"):
        pass
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{path} cannot be read as an array ({error}); expected numbers in NumPy's format") from None
    if array.dtype.kind not in "biuf" or array.ndim < 1 or array.shape[0] != shift.total_nodes:
        raise ValueError(
            f"{path} holds {array.dtype} of shape {array.shape}; expected numbers, a row for each of "
            f"{shift.total_nodes} nodes"
        )
    rows = torch.from_numpy(np.array(array[shift.nodes.numpy()]))
    return rows.to(shift.dtype) if rows.is_floating_point() else rows


def own_rows(shift: PartitionedShift, path: Path, name: str | None) -> Table:
    """The rows of a table that belong to this process's nodes, in their order.

    With names (``name``, the column that holds them) they are found by it, wherever they stand; otherwise row i belongs
    to node i.
    """
    if name is not None and shift.names is None:
        raise ValueError(f"{path} has names in {name!r} and the graph has none; expected no name: row i is node i then")
    pieces: list[Any] = []
    places: list[Array] = []
    count = 0
    block: Table | None = None
    finder = _by_name(shift, name) if name is not None else _by_number(shift)
    for block in read_blocks(path, () if name is None else (name,)):
        rows, place = finder(block, count)
        count += len(block)
        pa = arrow()
        pieces.append(pa.table({key: column.take(pa.array(rows)) for key, column in block.columns.items()}))
        places.append(place)
    assert block is not None  # an empty table has raised
    _check(shift, path, name, count, np.concatenate(places))
    order = np.argsort(np.concatenate(places), kind="stable")
    whole = arrow().concat_tables(pieces, promote_options="permissive").take(arrow().array(order))
    columns = {key: whole.column(key).combine_chunks() for key in whole.column_names}
    return Table(path, columns, block.named)


def _by_number(shift: PartitionedShift) -> Any:
    nodes = shift.nodes.numpy()
    order = np.argsort(nodes)
    ordered = nodes[order]

    def find(block: Table, before: int) -> tuple[Array, Array]:
        first, last = np.searchsorted(ordered, [before, before + len(block)])
        return ordered[first:last] - before, order[first:last]

    return find


def _by_name(shift: PartitionedShift, name: str) -> Any:
    known = arrow().array(shift.names, type=arrow().string())

    def find(block: Table, before: int) -> tuple[Array, Array]:
        place = arrow("compute").index_in(block.names(name)[0].cast("string"), value_set=known)
        rows = np.flatnonzero(place.is_valid().to_numpy(zero_copy_only=False))
        return rows, place.drop_null().to_numpy(zero_copy_only=False).astype(np.int64)

    return find


def _check(shift: PartitionedShift, path: Path, name: str | None, count: int, places: Array) -> None:
    if name is None and count != shift.total_nodes:
        raise ValueError(f"{path} has {count} rows; expected {shift.total_nodes}, one per node")
    if len(np.unique(places)) != shift.num_nodes or len(places) != shift.num_nodes:
        found = len(np.unique(places))
        what = f"{len(places)} rows for {found}" if len(places) != found else f"rows for {found}"
        raise ValueError(f"{path} has {what} of {shift.num_nodes} nodes of this part; expected one for each")
