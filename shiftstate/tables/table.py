"""Named columns of one length, and where in a file they stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

NOTHING = ("", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None")
"""What stands for a missing value in a file of text."""


@dataclass(frozen=True)
class Table:
    """Named columns of one length, as Arrow arrays; ``named`` says whether the names came from the file."""

    path: Path
    columns: dict[str, Any]
    named: bool = True
    before: int = 0
    """Lines of the file before this block of it."""
    literal: Callable[[str], Any] | None = None
    """Reads a column of text again, with "NA" and its like as the words that they are."""
    said: tuple[str, ...] = ()
    """What was decided on the way."""

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

    def names(self, name: str) -> Any:
        """A column of node names: empty cells stay empty, a node called "NA" is one, 7.0 is 7."""
        column = self.column(name)
        if column.null_count and self.literal is not None:
            column = self.literal(name)
        if arrow("types").is_floating(column.type):
            whole = arrow("compute").all(arrow("compute").equal(column, arrow("compute").floor(column))).as_py()
            column = column.cast("int64") if whole else column
        return column

    def strings(self, name: str) -> list[str]:
        """A column as text; empty where a value is missing."""
        return ["" if one is None else str(one) for one in self.names(name).to_pylist()]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column as float64, NaN where a value is missing; what is no number is named by its row."""
        column = self.column(name)
        if is_number(column):
            return np.array(column.cast("float64").to_numpy(zero_copy_only=False), dtype=np.float64)
        values = np.full(len(self), np.nan)
        for row, value in enumerate(column.to_pylist()):
            if value is not None and str(value).strip():
                try:
                    values[row] = float(str(value))
                except ValueError:
                    raise ValueError(
                        f"{self.path}: row {self.row(row)}, column {name!r} holds {short(value)}; expected a number"
                    ) from None
        return values

    def numeric_names(self) -> list[str]:
        """The columns that hold numbers only."""
        return [name for name, column in self.columns.items() if is_number(column)]


def is_number(column: Any) -> bool:
    """Whether an Arrow column holds numbers, or yes and no."""
    types = arrow("types")
    kinds = (types.is_integer, types.is_floating, types.is_null, types.is_boolean)
    return any(kind(column.type) for kind in kinds)


def is_whole(column: Any) -> bool:
    """Whether an Arrow column holds whole numbers."""
    return bool(arrow("types").is_integer(column.type))


def short(value: object) -> str:
    """A value as a message shows it."""
    text = repr(str(value))
    return text if len(text) <= 60 else f"{text[:60]}…"


def checked(path: Path, found: Any, **told: Any) -> Table:
    """An Arrow table as a `Table`; names that are no text, or stand twice, raise."""
    try:
        names = [str(name).strip().lstrip("\ufeff") for name in found.column_names]
    except UnicodeDecodeError:
        raise ValueError(f"{path} has a column whose name is not UTF-8; expected a text file in UTF-8") from None
    binary = next((name for name, one in zip(names, found.columns, strict=True) if "binary" in str(one.type)), None)
    if binary is not None:
        raise ValueError(f"{path}: column {binary!r} holds text that is not UTF-8; expected a text file in UTF-8")
    double = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if double is not None:
        raise ValueError(f"{path}: row 1 has two columns called {double!r}; expected different names")
    if found.num_rows == 0 or not names:
        raise ValueError(f"{path} has no rows; expected at least one")
    return Table(path, {name: found.column(place).combine_chunks() for place, name in enumerate(names)}, **told)


def arrow(part: str = "") -> Any:
    """pyarrow, or one of its modules, when it is needed first."""
    try:
        return import_module(f"pyarrow.{part}" if part else "pyarrow")
    except ImportError:
        raise ValueError("tables need pyarrow; expected it installed: pip install 'shiftstate[tables]'") from None


def first_line(error: BaseException) -> str:
    """The first line of an exception's message, not too long."""
    text = str(error) or type(error).__name__
    return " ".join(text.splitlines()[0].split())[:200]
