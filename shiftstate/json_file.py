"""Read the JSON that this program writes: bounded in size and depth, every value of the type that it must have.

A schema is a function of a value and of its place in the file, which raises a `ValueError` where something is wrong:
`whole`, `number`, `word`, `flag`, `either`, `items`, `table` and `entries` make them, and `of_fields` makes one from a
dataclass. One line then names the file, the key, what was found and what was expected.
"""

import json
import math
import reprlib
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from shiftstate.files import read_regular

Schema = Callable[[str, Any], None]
"""A check of the value at a place of a file, such as ``seeds.mean``."""

DEPTH = 16
"""Lists and tables inside each other; ours have six at most."""
LARGEST = 2**63 - 1
"""Of a whole number: what SQLite, NumPy and torch can hold."""
MOST_BYTES = 64_000_000
"""Of a file that is read as a whole."""

_short = reprlib.Repr()
_short.maxlevel, _short.maxdict, _short.maxlist, _short.maxtuple = 3, 6, 8, 8
_short.maxstring = _short.maxlong = _short.maxother = 80


def shown(value: object) -> str:
    """A value in a message: its repr, cut short and never deep."""
    return _short.repr(value)


def parse_json(text: object, finite: bool = True) -> Any:
    """A JSON text as lists, tables, words and numbers: not deep, whole numbers of 64 bits, numbers finite if asked."""
    if not isinstance(text, str):
        raise ValueError(f"got {shown(text)}; expected a text in JSON")
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(f"it is nested too deeply; expected {DEPTH} levels at most") from None
    check_tree(value, finite=finite)
    return value


def read_json(path: Path, expected: str, schema: Schema, finite: bool = True) -> Any:
    """What a file of ours holds.

    Args:
        path: the file; only a regular one is opened.
        expected: what it should be, for the message: "the folder of a finished run".
        schema: what its values have to be.
        finite: whether NaN and infinite numbers raise.
    """
    data = read_regular(path, expected, MOST_BYTES)
    try:
        value = parse_json(data.decode("utf-8"), finite)
    except ValueError as error:
        raise ValueError(f"{path} cannot be read as JSON ({error}); expected {expected}") from None
    check_schema(path, value, schema)
    return value


def check_schema(path: object, value: Any, schema: Schema) -> None:
    """Raise, with the file's name, if a value is not what the schema says."""
    try:
        schema("", value)
    except ValueError as error:
        raise ValueError(f"{path}: {error}; was the file edited by hand?") from None


def whole(least: int = -LARGEST, most: int = LARGEST) -> Schema:
    """A whole number from ``least`` to ``most``."""

    def check(place: str, value: Any) -> None:
        if type(value) is not int or not least <= value <= most:
            raise _wrong(place, value, f"a whole number{_range(least, most)}")

    return check


def number(least: float = -math.inf, most: float = math.inf) -> Schema:
    """A number from ``least`` to ``most``; NaN only without bounds, and if the file may hold it."""

    def check(place: str, value: Any) -> None:
        bounded = math.isfinite(least) or math.isfinite(most)
        if type(value) not in (int, float) or (bounded and not least <= value <= most):
            raise _wrong(place, value, f"a number{_range(least, most)}")

    return check


def word(known: Collection[str] | None = None) -> Schema:
    """A text, or one of these."""

    def check(place: str, value: Any) -> None:
        if not isinstance(value, str) or (known is not None and value not in known):
            raise _wrong(place, value, "a text" if known is None else f"one of {', '.join(map(repr, known))}")

    return check


def flag(place: str, value: Any) -> None:
    """True or false."""
    if type(value) is not bool:
        raise _wrong(place, value, "true or false")


def nothing(place: str, value: Any) -> None:
    """Null."""
    if value is not None:
        raise _wrong(place, value, "null")


def anything(place: str, value: Any) -> None:
    """Whatever JSON can hold: it is checked where it is used."""


def either(*schemas: Schema) -> Schema:
    """What one of these takes; the complaint is the first one's."""

    def check(place: str, value: Any) -> None:
        first: ValueError | None = None
        for schema in schemas:
            try:
                return schema(place, value)
            except ValueError as error:
                first = first or error
        assert first is not None
        raise first

    return check


def items(schema: Schema, least: int = 0, most: int = LARGEST) -> Schema:
    """A list of so many values of one kind."""

    def check(place: str, value: Any) -> None:
        if not isinstance(value, list) or not least <= len(value) <= most:
            raise _wrong(
                place, value, "a list" if least == 0 and most == LARGEST else f"a list, its length{_range(least, most)}"
            )
        for index, one in enumerate(value):
            schema(f"{place}[{index}]", one)

    return check


def table(
    required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None, others: Schema | None = None
) -> Schema:
    """A table with these keys; any other raises, or is checked by ``others``."""
    known = {**required, **(optional or {})}

    def check(place: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise _wrong(place, value, "a table")
        for key in required:
            if key not in value:
                raise ValueError(f"{_joined(place, key)} is missing; expected {', '.join(required)}")
        for key, one in value.items():
            if key not in known and others is None:
                raise ValueError(f"{_joined(place, key)} is not known; expected {', '.join(known)}")
            schema = known.get(key) or others
            assert schema is not None
            schema(_joined(place, key), one)

    return check


def entries(schema: Schema, keys: Schema | None = None) -> Schema:
    """A table with values of one kind, whatever its keys; ``keys`` may check these."""

    def check(place: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise _wrong(place, value, "a table")
        for key, one in value.items():
            if keys is not None:
                keys(f"a key of {place}", key)
            schema(_joined(place, key), one)

    return check


def of_fields(kind: Any, **others: Schema) -> Schema:
    """A table with the fields of a dataclass, each of its own type; ``others`` are checked by these schemas instead."""
    hints = typing.get_type_hints(kind)
    return table({one.name: others.get(one.name) or of_type(hints[one.name]) for one in fields(kind)})


def of_type(hint: Any) -> Schema:
    """What JSON holds of a value of this type, such as ``int | None`` or ``tuple[str, ...]``; a path is a text."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return either(*(of_type(one) for one in arguments))
    if origin is typing.Literal:
        return word(arguments)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return entries(of_type(arguments[1]))
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return items(of_type(arguments[0]))
    simple: dict[Any, Schema] = {
        int: whole(), float: number(), str: word(), bool: flag, Path: word(), types.NoneType: nothing, Any: anything
    }  # fmt: skip
    return simple[hint]


def check_text(key: str, text: str) -> None:
    """Refuse what no file can hold: half of a character that needs two."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError(f"{key} is {shown(text)}; expected characters of Unicode")


def check_tree(value: Any, numbers: bool = True, finite: bool = True) -> None:
    """Walk through lists and tables without recursion; raise where they are deep, or hold what no file of ours has.

    Args:
        value: what was read.
        numbers: whether numbers are checked at all.
        finite: whether NaN and infinite numbers raise.
    """
    waiting = [(value, 1)]
    while waiting:
        one, depth = waiting.pop()
        if depth > DEPTH:
            raise ValueError(f"it is nested too deeply; expected {DEPTH} levels at most")
        if isinstance(one, Mapping):
            waiting += [(inner, depth + 1) for inner in (*one, *one.values())]
        elif isinstance(one, list):
            waiting += [(inner, depth + 1) for inner in one]
        elif type(one) is int and numbers and abs(one) > LARGEST:
            raise ValueError(f"a number in it is {shown(one)}; expected less than 2^63")
        elif isinstance(one, float) and numbers and finite and not math.isfinite(one):
            raise ValueError(f"a number in it is {one}; expected finite numbers")
        elif isinstance(one, str):
            check_text("a word in it", one)
        elif one is not None and not isinstance(one, bool | int | float):
            raise ValueError(
                f"a value in it is {shown(one)}; expected words, numbers, true or false, and lists of them"
            )


def _joined(place: str, key: str) -> str:
    name = key if len(key) <= 40 and key.isprintable() else shown(key)
    return f"{place}.{name}" if place else name


def _range(least: float, most: float) -> str:
    if most < LARGEST:
        return f" from {least} to {most}"
    return f" of at least {least}" if least > -LARGEST else ""


def _wrong(place: str, value: Any, expected: str) -> ValueError:
    return ValueError(f"{place or 'the whole'} is {shown(value)}; expected {expected}")
