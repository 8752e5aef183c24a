"""Tables from files, by pyarrow.

pyarrow rather than polars: it is the reference reader of Parquet, its CSV reader is as fast and names the row that it
cannot read, and it finds the distinct names of ten million edges without a Python object for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shiftstate.files import open_regular
from shiftstate.limits import check_unpacked
from shiftstate.tables.arrays import read_arrays
from shiftstate.tables.table import Table, arrow, checked, first_line
from shiftstate.tables.text import DELIMITERS, read_text, read_text_blocks

PARQUET = (".parquet", ".pq")
BLOCK_ROWS = 20_000
"""Of a Parquet file that is read block by block."""
MASKS = {"train_masks": "train", "val_masks": "valid", "valid_masks": "valid", "test_masks": "test"}
"""Arrays (splits, rows) of an .npz that say which rows each of several splits has."""


def read_table(path: str | Path, header: bool | None = None, ends: Sequence[str] | None = None) -> Table:
    """A CSV, TSV or Parquet file, or the one-dimensional arrays of an .npz.

    Args:
        path: the file; its ending says what it is.
        header: whether the first line holds names; by default it does unless all of it are numbers.
        ends: for an edge list, names that its columns of nodes may have, in lower case. A number in its first line
            means that there are no names.
    """
    path = Path(path)
    with open_regular(path, "a table"):
        pass
    kind = path.suffix.lower()
    if kind in PARQUET:
        return _read_parquet(path)
    if kind == ".npz":
        return _read_npz(path)
    if kind not in DELIMITERS:
        raise ValueError(f"{path} ends in {kind or 'nothing'}; expected a table: .csv, .tsv, .parquet or .npz")
    return read_text(path, header, ends)


def read_blocks(path: str | Path, words: Sequence[str] = ()) -> Iterator[Table]:
    """A table block by block, so that a file larger than the memory can be read; columns ``words`` are text."""
    path = Path(path)
    kind = path.suffix.lower()
    with open_regular(path, "a table"):
        pass
    if kind in DELIMITERS:
        yield from read_text_blocks(path, words)
    elif kind in PARQUET:
        yield from _parquet_blocks(path)
    else:
        yield read_table(path)


def _parquet_blocks(path: Path) -> Iterator[Table]:
    pa, before = arrow(), 0
    try:
        with _open_parquet(path) as file:
            for batch in file.iter_batches(BLOCK_ROWS):
                if batch.num_rows:
                    yield replace(checked(path, pa.Table.from_batches([batch])), before=before - 1)  # no line of names
                    before += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as Parquet ({first_line(error)}), after {before} rows") from None
    if not before:
        raise ValueError(f"{path} has no rows; expected at least one")


def _read_parquet(path: Path) -> Table:
    pa = arrow()
    try:
        with _open_parquet(path) as file:
            _check_parquet(path, file.metadata)
            return checked(path, file.read(), before=-1)  # no line of names stands above the first row
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as Parquet ({first_line(error)})") from None


def _open_parquet(path: Path) -> Any:
    """A Parquet file whose words come as numbers of a list of words if they are stored so: `checked` unpacks them."""
    parquet = arrow("parquet")
    told = parquet.read_metadata(path)
    chunks = (group.column(place) for group in _groups(told) for place in range(group.num_columns))
    listed = {
        chunk.path_in_schema
        for chunk in chunks
        if chunk.physical_type == "BYTE_ARRAY" and any("DICTIONARY" in one for one in chunk.encodings)
    }
    return parquet.ParquetFile(path, metadata=told, read_dictionary=sorted(listed))


def _groups(told: Any) -> list[Any]:
    return [told.row_group(number) for number in range(told.num_row_groups)]


def _check_parquet(path: Path, told: Any) -> None:
    """Raise if a table would take far more memory than its file: numbers that repeat are stored once."""
    pages = sum(group.total_byte_size for group in _groups(told))
    cells = 8 * told.num_rows * told.num_columns
    check_unpacked(max(pages, cells), path.stat().st_size, f"{path}: a table of {told.num_rows:,} rows")


def _read_npz(path: Path) -> Table:
    """The arrays with one entry per row as columns; masks of several splits become columns split0, split1, …"""
    arrays = read_arrays(path)
    columns = {name: one for name, one in arrays.items() if one.ndim == 1 and one.dtype.kind in "biufU"}
    stacks = {MASKS[name]: one for name, one in arrays.items() if name in MASKS and one.ndim == 2}
    if len(stacks) == len({one.shape for one in stacks.values()}) + 2:
        columns |= {f"split{number}": _words(stacks, number) for number in range(len(stacks["train"]))}
    lengths = {name: len(one) for name, one in columns.items()}
    if not lengths or len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} {one.shape}" for name, one in list(arrays.items())[:8])
        raise ValueError(f"{path} holds {shown}; expected one-dimensional arrays of one length, the columns of a table")
    pa = arrow()
    table = pa.table({name: pa.array(one) for name, one in columns.items()})
    return checked(path, table, named=False)


def _words(stacks: dict[str, NDArray[np.bool_]], number: int) -> NDArray[np.str_]:
    words = np.full(stacks["train"].shape[1], "", dtype="U5")
    for word, masks in stacks.items():
        words[masks[number].astype(bool)] = word
    return words
