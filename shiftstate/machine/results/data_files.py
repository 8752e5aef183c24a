"""Remember the contents of data files in data.json, so that results on other contents are not taken for these."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from shiftstate.files import open_regular, write_whole
from shiftstate.machine.parsing import parse_table, read_text, typed

NAME = "data.json"


def fingerprint(path: Path) -> str:
    """The SHA-256 of a file's content: neither its time nor its place counts."""
    with open_regular(path, "a file of data") as file:
        try:
            return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
        except OSError as error:
            raise ValueError(f"{path} cannot be read ({error.strerror}); expected a file of data") from None


def fingerprints(files: Mapping[str, Path]) -> dict[str, str]:
    """The fingerprint of every file, by the name that the files have here."""
    return {name: fingerprint(path) for name, path in files.items()}


def write_fingerprints(directory: Path, prints: Mapping[str, str]) -> None:
    """Write data.json into a directory of results."""
    write_whole(directory / NAME, json.dumps(dict(prints), indent=1) + "\n")


def read_fingerprints(directory: Path) -> dict[str, str] | None:
    """What data.json holds; None for results of an older version, which has none."""
    file = directory / NAME
    if not file.exists():
        return None
    try:
        found = parse_table(read_text(file, "the fingerprints that shiftstate wrote"))
        return {name: str(typed(name, one, str)) for name, one in found.items()}
    except ValueError as error:
        raise ValueError(
            f"{file} cannot be read ({error}); expected what shiftstate wrote: choose another --out"
        ) from None


def changed(stored: Mapping[str, str] | None, now: Mapping[str, str]) -> list[str]:
    """The names whose content is another one, is gone, or is new; none if nothing was stored."""
    if stored is None:
        return []
    return [name for name in {**stored, **now} if stored.get(name) != now.get(name)]
