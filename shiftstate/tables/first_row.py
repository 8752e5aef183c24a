"""Decide whether the first row of a table holds names or values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shiftstate.tables.table import NOTHING

NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|0[xX][0-9a-fA-F]+")
MATRIX = 4
"""A square table of numbers with at least so many columns may be an adjacency matrix."""


@dataclass(frozen=True)
class FirstRow:
    """The first row of a table and what stands below it."""

    rows: list[list[str]]
    """The first rows, without blanks around their values."""
    count: Callable[[], int]
    """How many rows there are in all."""

    def of_table(self) -> tuple[bool, tuple[str, ...]]:
        """Whether it holds names, and what to say of it: it does unless all of it are numbers.

        Sensors are often named by numbers. Different whole numbers are names if they count from 0 or 1, or if
        measurements stand below them.
        """
        values = self.rows[0]
        # an empty cell in the corner stands above the names of rows
        if not all(is_numeral(value) or (place and value in NOTHING) for place, value in enumerate(values)):
            return True, ()
        if not self._different_wholes() or len(values) < 3:
            return False, ()
        below = self.rows[1] if len(self.rows) > 1 else []
        if any("." in value for value in below) or (self._counted() and (len(values) >= MATRIX or self._square())):
            return True, ("the numbers in the first row are the names of the columns",)
        return False, ()

    def of_edges(self, ends: Sequence[str]) -> tuple[bool, tuple[str, ...]]:
        """Whether it holds names, and what to say of it: a number there means that it does not.

        Exceptions are a row with the usual names of columns, and the names of an adjacency matrix.
        """
        values = self.rows[0]
        if len({value.lower() for value in values} & {*ends}) >= 2 or not any(map(is_numeral, values)):
            return True, ()
        if self._names_a_matrix():
            return True, ("the numbers in the first row are the names of the nodes",)
        return False, ("the first row holds numbers, so columns have no names; --header yes takes it for names",)

    def _names_a_matrix(self) -> bool:
        first, *rest = self.rows[0]
        if len(rest) >= MATRIX and not is_numeral(first) and self.count() == len(rest) + 1:
            return all(row[:1] == [name] for row, name in zip(self.rows[1:], rest, strict=False))
        if len(rest) + 1 < MATRIX or not self._different_wholes() or not self._square():
            return False
        diagonal = {row[place] for place, row in enumerate(self.rows[1:]) if place < len(row)}
        return self._counted() or len(diagonal) == 1

    def _different_wholes(self) -> bool:
        values = self.rows[0]
        return all(value.isdecimal() for value in values) and len({*values}) == len(values)

    def _counted(self) -> bool:
        values = self.rows[0]
        return any(values == [str(place + first) for place in range(len(values))] for first in (0, 1))

    def _square(self) -> bool:
        return self.count() == len(self.rows[0]) + 1


def is_numeral(text: str) -> bool:
    """Whether a text is a number as people write them in tables."""
    return NUMERAL.fullmatch(text) is not None
