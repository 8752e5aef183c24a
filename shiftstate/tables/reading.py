"""Tables from files, by pyarrow.

pyarrow rather than polars: it is the reference reader of Parquet, its CSV reader is as fast and names the row that it
cannot read, and it finds the distinct names of ten million edges without a Python object for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shiftstate.files import open_regular
from shiftstate.tables.matrix_market import read_matrix_market

Array = NDArray[Any]

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
MATRICES = (".npy", ".npz", ".mtx")
BLOCK_BYTES, BLOCK_ROWS = 16_000_000, 20_000
"""Of a file that is read block by block."""
LARGEST = 4_000_000_000
"""Bytes that a dense matrix from a file may take."""


@dataclass(frozen=True)
class Table:
    """Named columns of one length, as Arrow arrays; ``named`` says whether the names came from the file."""

    path: Path
    columns: dict[str, Any]
    named: bool = True
    before: int = 0
    """Rows of the file before this block of it."""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def row(self, place: int) -> int:
        """The number of a row in the file, counted from 1, with the line of names if there is one."""
        return place + 1 + self.named + self.before

    def column(self, name: str) -> Any:
        """A column; what is not there gets a hint."""
        if name not in self.columns:
            known = ", ".join(list(self.columns)[:8]) + (", …" if len(self.columns) > 8 else "")
            raise ValueError(f"{self.path} has no column {name!r}; expected one of its columns: {known}")
        return self.columns[name]

    def strings(self, name: str) -> list[str]:
        """A column as text; empty where a value is missing."""
        return ["" if one is None else str(one) for one in self.column(name).to_pylist()]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column as float64, NaN where a value is missing; what is no number is named by its row."""
        column = self.column(name)
        if is_number(column):
            return np.array(column.cast("float64").to_numpy(zero_copy_only=False), dtype=np.float64)
        values = np.full(len(self), np.nan)
        for row, text in enumerate(self.strings(name)):
            if text.strip():
                try:
                    values[row] = float(text)
                except ValueError:
                    raise ValueError(
                        f"{self.path}: row {self.row(row)}, column {name!r} holds {text!r}; expected a number"
                    ) from None
        return values

    def numeric_names(self) -> list[str]:
        """The columns that hold numbers only."""
        return [name for name, column in self.columns.items() if is_number(column)]


def read_table(path: str | Path, header: bool | None = None) -> Table:
    """A CSV, TSV or Parquet file.

    Args:
        path: the file; its ending says what it is.
        header: whether the first line holds names; by default it does unless all of it are numbers.
    """
    path = Path(path)
    with open_regular(path, "a table"):
        pass
    kind = path.suffix.lower()
    if kind in (".parquet", ".pq"):
        return _read_parquet(path)
    if kind not in DELIMITERS:
        raise ValueError(f"{path} ends in {kind or 'nothing'}; expected a table: .csv, .tsv or .parquet")
    return _read_text(path, DELIMITERS[kind], header)


def read_blocks(path: str | Path) -> Iterator[Table]:
    """A table block by block, so that a file larger than the memory can be read."""
    path = Path(path)
    with open_regular(path, "a table"):
        pass
    kind = path.suffix.lower()
    if kind not in DELIMITERS and kind not in (".parquet", ".pq"):
        yield read_table(path)  # says what is wrong with it
        return
    pa, before = arrow(), 0
    named = kind not in DELIMITERS or _has_header(path, DELIMITERS[kind])
    try:
        for batch in _batches(path, kind, named):
            if batch.num_rows:
                block = _checked(path, pa.Table.from_batches([batch]), named)
                yield replace(block, before=before)
                before += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as a table ({_first(error)}), after {before} rows") from None
    if not before:
        raise ValueError(f"{path} has no rows; expected at least one")


def _batches(path: Path, kind: str, named: bool) -> Any:
    if kind not in DELIMITERS:
        return arrow("parquet").ParquetFile(path).iter_batches(BLOCK_ROWS)
    csv = arrow("csv")
    options = csv.ReadOptions(autogenerate_column_names=not named, use_threads=False, block_size=BLOCK_BYTES)
    return csv.open_csv(path, options, csv.ParseOptions(delimiter=DELIMITERS[kind]), _converting())


def _converting() -> Any:
    names = ["", "NA", "NaN", "nan", "null", "NULL", "None"]
    return arrow("csv").ConvertOptions(strings_can_be_null=True, null_values=names)


def read_matrix(path: str | Path, key: str = "x") -> NDArray[np.float64]:
    """Numbers from .npy, .npz or Matrix Market, dense. Pickled arrays are not read.

    Args:
        path: the file.
        key: which array of an .npz with several.
    """
    path = Path(path)
    with open_regular(path, "a matrix"):
        pass
    found = _read_sparse_or_dense(path, key)
    if sp.issparse(found):
        if 8 * found.shape[0] * found.shape[1] > LARGEST:
            raise ValueError(
                f"{path} holds a matrix of {found.shape}, too large as a dense one; expected fewer columns"
            )
        found = found.toarray()
    if found.dtype.kind not in "biuf":
        raise ValueError(f"{path} holds {found.dtype}; expected numbers")
    return np.asarray(found, dtype=np.float64)


def read_sparse(path: Path) -> sp.coo_array:
    """A square matrix from .npy, .npz or Matrix Market, sparse."""
    with open_regular(path, "a matrix"):
        pass
    found = _read_sparse_or_dense(path, "adjacency")
    if found.ndim != 2 or found.shape[0] != found.shape[1] or found.dtype.kind not in "biuf":
        raise ValueError(f"{path} holds {found.dtype} of shape {found.shape}; expected a square matrix of numbers")
    return sp.coo_array(found)


def is_number(column: Any) -> bool:
    """Whether an Arrow column holds numbers."""
    types = arrow("types")
    return bool(types.is_integer(column.type) or types.is_floating(column.type) or types.is_null(column.type))


def arrow(part: str = "") -> Any:
    """pyarrow, or one of its modules, when it is needed first."""
    try:
        return import_module(f"pyarrow.{part}" if part else "pyarrow")
    except ImportError:
        raise ValueError("tables need pyarrow; expected it installed: pip install 'shiftstate[tables]'") from None


def _read_parquet(path: Path) -> Table:
    pa, parquet = arrow(), arrow("parquet")
    try:
        return _checked(path, parquet.read_table(path))
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as Parquet ({_first(error)})") from None


def _read_text(path: Path, delimiter: str, header: bool | None) -> Table:
    pa, csv = arrow(), arrow("csv")
    named = _has_header(path, delimiter) if header is None else header

    def read(threads: bool) -> Any:
        return csv.read_csv(
            path,
            csv.ReadOptions(autogenerate_column_names=not named, use_threads=threads),
            csv.ParseOptions(delimiter=delimiter),
            _converting(),
        )

    try:
        try:
            found = read(True)
        except pa.ArrowInvalid:
            found = read(False)  # slower, and its complaint names the row
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as a table ({_first(error)})") from None
    return _checked(path, found, named)


def _checked(path: Path, found: Any, named: bool = True) -> Table:
    try:
        names = [str(name).strip().lstrip("\ufeff") for name in found.column_names]
    except UnicodeDecodeError:
        raise ValueError(f"{path} has a column whose name is not UTF-8; expected a text file in UTF-8") from None
    binary = next((name for name, one in zip(names, found.columns, strict=True) if "binary" in str(one.type)), None)
    if binary is not None:
        raise ValueError(f"{path}: column {binary!r} holds text that is not UTF-8; expected a text file in UTF-8")
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise ValueError(f"{path} has two columns called {double!r}; expected different names")
    if found.num_rows == 0 or not names:
        raise ValueError(f"{path} has no rows; expected at least one")
    return Table(path, {name: found.column(place).combine_chunks() for place, name in enumerate(names)}, named)


def _has_header(path: Path, delimiter: str) -> bool:
    """Names stand in the first line unless all of it are numbers and the second line is not longer a matter."""
    with open_regular(path, "a table") as file:
        first = file.readline(10_000_000).decode("utf-8", errors="replace").strip("\ufeff\r\n")
        second = file.readline(10_000_000).decode("utf-8", errors="replace").strip("\r\n")
    values = [value.strip().strip('"') for value in first.split(delimiter)]
    if not all(_is_numeral(value) for value in values):
        return True
    # Sensors are often named by whole numbers: a line of different large ones above measurements is a header.
    below = [value.strip().strip('"') for value in second.split(delimiter)]
    whole = all(value.isdecimal() for value in values)
    return whole and len(set(values)) == len(values) > 2 and any("." in value for value in below)


def _is_numeral(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_sparse_or_dense(path: Path, key: str) -> Any:
    kind = path.suffix.lower()
    try:
        if kind == ".npy":
            with open_regular(path, "a matrix") as file:
                return np.load(file, allow_pickle=False)
        if kind == ".npz":
            return _from_npz(path, key)
        if kind == ".mtx":
            return read_matrix_market(path)
    except Exception as error:  # NumPy's reader of headers lets its tokenizer's and zip's exceptions through
        raise ValueError(f"{path} cannot be read ({_first(error)}); expected a file of numbers") from None
    raise ValueError(f"{path} ends in {kind or 'nothing'}; expected one of {', '.join(MATRICES)}")


def _from_npz(path: Path, key: str) -> Any:
    # NumPy leaves a file that is no archive open, so it is opened here
    with open_regular(path, "a matrix") as opened, np.load(opened, allow_pickle=False) as file:
        if "format" in file.files and "data" in file.files:
            opened.seek(0)
            return sp.load_npz(opened)
        if len(file.files) == 1:
            return file[file.files[0]]
        if key not in file.files:
            raise ValueError(f"it holds {', '.join(file.files)}; expected one array, or one called {key!r}")
        return file[key]


def _first(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    return " ".join(text.splitlines()[0].split())[:200]
