"""Named columns of one length, and where in a file they stand."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shiftstate.limits import check_unpacked

NOTHING = ("", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None")
"""What stands for a missing value in a file of text."""
EXACT = 2**53
"""From here on neighbouring whole numbers may be one floating-point number."""


@dataclass(frozen=True)
class Table:
    """Named columns of one length, as Arrow arrays; ``named`` says whether the names came from the file."""

    path: Path
    columns: dict[str, Any]
    named: bool = True
    before: int = 0
    """Lines of the file before this block of it."""
    literal: Callable[[str], Any] | None = None
    """Reads a column of a text file again, as the text that stands there."""
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

    def text(self, name: str) -> Any:
        """A column as the file has it, without blanks around its values; null where nothing stands."""
        compute = arrow("compute")
        column = compute.utf8_trim_whitespace(self._text(name))
        return compute.if_else(compute.equal(column, ""), None, column)

    def _text(self, name: str) -> Any:
        column = self.column(name)
        is_text = arrow("types").is_string(column.type)
        if self.literal is not None and (column.null_count or not is_text):
            return self.literal(name)
        return column if is_text else self._typed_text(name, column)

    def names(self, *names: str) -> list[Any]:
        """Columns of node names: whole numbers if all of all columns are written so, else text.

        7 and 007, 100 and 1E2, or 16 and 0x10 are different names. A column all of whose values end in ".0", as pandas
        writes whole numbers beside missing ones, holds whole numbers.
        """
        columns = [self.column(name) for name in names]
        if self.literal is None and all(is_small_whole(column) for column in columns):
            return [column.cast("int64") for column in columns]
        found = as_whole([self._text(name) for name in names])  # most have no blanks, which take time to look for
        return found if is_whole(found[0]) else as_whole([self.text(name) for name in names])

    def strings(self, name: str) -> list[str]:
        """A column as text; empty where a value is missing."""
        return ["" if one is None else str(one) for one in self.names(name)[0].to_pylist()]

    def classes(self, name: str, keep_na: bool = False) -> tuple[list[str], list[str]]:
        """A column as classes, empty where they are unknown; and the words, such as NA, that were taken for unknown.

        Args:
            name: of the column.
            keep_na: whether NA, NaN, null and their like are classes.
        """
        words = self.strings(name)
        self._check_one_spelling(name, words)
        if keep_na:
            return words, []
        unknown = [word for word in words if word and word in NOTHING]
        return ["" if word in NOTHING else word for word in words], unknown

    def _check_one_spelling(self, name: str, words: list[str]) -> None:
        """Raise if one number is written in two ways, such as 1 and 1.0: whether that is one class, nobody can tell."""
        if not is_number(self.column(name)):
            return
        seen: dict[float, str] = {}
        for word in dict.fromkeys(words):
            number = _number(word)
            if number is not None and seen.setdefault(number, word) != word:
                raise ValueError(
                    f"{self.path}: column {name!r} holds {seen[number]!r} and {word!r}, the same number; "
                    "expected one way to write a class"
                )

    def _typed_text(self, name: str, column: Any) -> Any:
        """Text of a column that a file stores as something else."""
        types, compute = arrow("types"), arrow("compute")
        if types.is_floating(column.type):
            column = compute.if_else(compute.is_nan(column), None, column)
            if compute.all(compute.equal(column, compute.floor(column))).as_py():
                large = compute.max(compute.abs(column)).as_py()
                if large is not None and large >= EXACT:
                    raise ValueError(
                        f"{self.path}: column {name!r} holds {large:.17g} as a floating-point number, which may "
                        "stand for several; expected names as whole numbers or text"
                    )
                column = column.cast("int64")
        if types.is_boolean(column.type):
            return compute.if_else(column, "True", "False")
        try:
            return column.cast("string")
        except arrow().ArrowException:
            raise ValueError(f"{self.path}: column {name!r} holds {column.type}; expected numbers or words") from None

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column as float64, NaN where a value is missing; what is no number is named by its row."""
        column = self.column(name)
        if is_number(column):
            return np.array(column.cast("float64", safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
        if not arrow("types").is_string(column.type):
            column = self._typed_text(name, column)
        values = np.full(len(self), np.nan)
        for row, value in enumerate(column.to_pylist()):
            if value is None or not str(value).strip():
                continue
            number = _number(str(value))
            if number is None:
                raise ValueError(
                    f"{self.path}: row {self.row(row)}, column {name!r} holds {short(value)}; expected a number"
                )
            values[row] = number
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


def is_floating(column: Any) -> bool:
    """Whether an Arrow column holds numbers with fractions."""
    return bool(arrow("types").is_floating(column.type))


def is_small_whole(column: Any) -> bool:
    """Whether an Arrow column holds whole numbers that fit 64 bits with a sign."""
    if not is_whole(column):
        return False
    largest = arrow("compute").max(column).as_py()
    return largest is None or bool(largest < 2**63)


def as_whole(columns: list[Any]) -> list[Any]:
    """Columns of text as whole numbers, if every value of all of them is one in canonical form; else as they are."""
    compute = arrow("compute")
    for ending in ("", ".0"):
        canonical = f"^(0|-?[1-9][0-9]{{0,17}}){re.escape(ending)}$"
        if all(compute.all(compute.match_substring_regex(one, canonical)).as_py() is not False for one in columns):
            return [(compute.utf8_slice_codeunits(one, 0, -2) if ending else one).cast("int64") for one in columns]
    return columns


def _number(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)  # Python reads 1_000 as a number, others do not
    except ValueError:
        return None


def short(value: object) -> str:
    """A value as a message shows it."""
    text = repr(str(value))
    return text if len(text) <= 60 else f"{text[:60]}…"


def checked(path: Path, found: Any, **told: Any) -> Table:
    """An Arrow table as a `Table`; names that are no text, or stand twice, raise."""
    try:
        names = [plain_name(name) for name in found.column_names]
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
    columns = {name: _plain(path, name, found.column(place)) for place, name in enumerate(names)}
    return Table(path, columns, **told)


def _unlisted(path: Path, name: str, column: Any) -> Any:
    """A column of numbers of a list of values, as these values, if memory can hold them: long words may repeat."""
    types, compute = arrow("types"), arrow("compute")
    if types.is_string(column.type.value_type) or types.is_large_string(column.type.value_type):
        lengths = [compute.binary_length(one.dictionary).take(one.indices) for one in column.chunks]
        size = sum(compute.sum(one).as_py() or 0 for one in lengths)
        check_unpacked(size, path.stat().st_size, f"{path}: column {name!r}")
    return arrow().chunked_array([one.dictionary_decode() for one in column.chunks], type=column.type.value_type)


def plain_name(name: Any) -> str:
    """The name of a column without blanks and the mark of Unicode files before it."""
    return str(name).strip().lstrip("\ufeff")


def _plain(path: Path, name: str, column: Any) -> Any:
    """A column of numbers, words, times, or yes and no; packed ones are unpacked, others raise."""
    types = arrow("types")
    if types.is_nested(column.type):
        raise ValueError(
            f"{path}: column {name!r} holds {column.type}; expected one number or word per row: make it several columns"
        )
    if types.is_dictionary(column.type):
        column = _unlisted(path, name, column)
    column = column.combine_chunks()
    if types.is_decimal(column.type) or types.is_float16(column.type):
        column = column.cast("float64", safe=False)
    if types.is_large_string(column.type) or "string_view" in str(column.type):
        column = column.cast("string")
    return column


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
