"""What comes from files and command lines, parsed into values of known type, depth and range.

Every reader goes through this module: rows of results.sqlite, realizations.csv, plan.json, TOML files, ``--set`` and
presets. It is written by hand and short. The types are few (words, whole numbers, numbers, truth values and lists of
them), a message has to say what was got, what was expected and which key was meant, and the depth of a text has to be
bounded before anybody looks at its values. pydantic would bring its own messages and a slow import, msgspec a
dependency, and both would leave these three things to be written.
"""

import stat
import tomllib
import typing
from pathlib import Path
from typing import Any

from shiftstate.json_file import DEPTH, LARGEST, check_tree, parse_json, shown

__all__ = [
    "check_number",
    "check_regular",
    "parse_cell",
    "parse_json",
    "parse_override",
    "parse_table",
    "parse_toml",
    "read_text",
    "shown",
    "typed",
]

MOST_TEXT = 64_000_000
"""Bytes of a file that is read as a whole."""
KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}


def read_text(path: Path, expected: str, most: int = MOST_TEXT) -> str:
    """The text of a regular file of bounded size; a pipe or a device would never end."""
    check_regular(path, f"expected {expected}", most)
    try:
        with path.open("rb") as file:
            data = file.read(most)
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}); expected {expected}") from None
    try:
        return data.decode("utf-8-sig")  # Excel and Notepad put a mark in front
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 (byte {error.start}); expected {expected}") from None


def check_regular(path: Path, advice: str, most: int) -> None:
    """Refuse what is no regular file, or a larger one than this many bytes."""
    try:
        found = path.stat()
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}); {advice}") from None
    if not stat.S_ISREG(found.st_mode):
        raise ValueError(f"{path} is not a regular file; {advice}")
    if found.st_size > most:
        raise ValueError(f"{path} is larger than {most / 1e6:.0f} MB; {advice}")


def parse_toml(text: str) -> dict[str, Any]:
    """A TOML text, bounded in the same way; dates are refused, as no setting is one."""
    try:
        value = tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"it is nested too deeply; expected {DEPTH} levels at most") from None
    check_tree(value, numbers=False)  # a setting out of range is refused by name
    return value


def parse_table(text: object) -> dict[str, Any]:
    """A JSON text that is a table."""
    value = parse_json(text)
    if not isinstance(value, dict):
        raise ValueError(f"got {shown(value)}; expected a table in JSON")
    return value


def typed(key: str, value: Any, kind: Any) -> Any:
    """The value as this type, without guessing: a whole number may stand for a float, one value for a list of one.

    Args:
        key: what the value is called, for the message.
        value: what was got.
        kind: str, int, float, bool, or a tuple of one of them, as in ``tuple[int, ...]``.
    """
    if typing.get_origin(kind) is tuple:
        values = value if isinstance(value, list | tuple) else [value]
        return tuple(typed(key, item, typing.get_args(kind)[0]) for item in values)
    if kind is float and type(value) is int and abs(value) <= LARGEST:
        return float(value)
    if type(value) is not kind:
        raise ValueError(f"{key} is {shown(value)}; expected {KINDS[kind]}")
    if kind is int and abs(value) > LARGEST:
        raise ValueError(f"{key} is {shown(value)}; expected less than 2^63")
    return value


def parse_cell(key: str, text: object, kind: type) -> Any:
    """A cell of a CSV as a word, a whole number or a number."""
    if not isinstance(text, str):
        raise ValueError(f"{key} is {shown(text)}; expected {KINDS[kind]}")
    try:
        value = kind(text)
    except ValueError:
        raise ValueError(f"{key} is {shown(text)}; expected {KINDS[kind]}") from None
    return typed(key, value, kind)


def check_number(key: str, value: object, least: float, most: float) -> None:
    """Refuse what is no number from least to most, both included; NaN too."""
    if type(value) not in (int, float) or not least <= value <= most:  # type: ignore[operator]
        raise ValueError(f"{key} = {shown(value)}; expected a number from {least:g} to {most:g}")


def parse_override(text: str) -> dict[str, Any]:
    """``KEY=VALUE`` or ``SECTION.KEY=VALUE``, the value in TOML or a bare word; one value, one line."""
    if len(text.splitlines()) > 1 or any(end in text for end in "\n\r"):
        raise ValueError(f"--set was given {shown(text)}; expected one value on one line: repeat --set for more")
    key, equals, value = text.partition("=")
    section, dot, name = key.strip().rpartition(".")
    if not equals or not name:
        raise ValueError(f"--set was given {shown(text)}; expected KEY=VALUE or SECTION.KEY=VALUE, as in epochs=10")
    parsed = _parse_value(text, value.strip())
    return {section: {name: parsed}} if dot else {name: parsed}


def _parse_value(text: str, value: str) -> Any:
    try:
        found = parse_toml(f"value = {value}")
    except tomllib.TOMLDecodeError:
        if value.startswith(("[", "{")):
            raise ValueError(
                f'--set was given {shown(text)}; expected a list as in KEY=[4,16] or KEY=["one","two"]: words in it '
                "need quotes, and all of it quotes for the shell"
            ) from None
        return value  # a bare word is a string
    except ValueError as error:
        raise ValueError(f"--set was given {shown(text)}: {error}") from None
    return found["value"]
