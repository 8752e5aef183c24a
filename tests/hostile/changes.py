"""Ways to change clean files, one line each in a table of cases."""

import csv
import io
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Change = Callable[[Path], object]
Cells = list[list[str]]


def put(name: str, content: str | bytes) -> Change:
    """A file with this content."""
    data = content.encode() if isinstance(content, str) else content
    return lambda folder: (folder / name).write_bytes(data)


def edit(name: str, change: Callable[[bytes], bytes]) -> Change:
    """A file's bytes changed."""
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes()))


def swap(name: str, old: str, new: str, count: int = -1) -> Change:
    """A text of a file replaced; it must be there."""

    def change(data: bytes) -> bytes:
        assert old.encode() in data, f"{name} holds no {old!r}"
        return data.replace(old.encode(), new.encode(), count)

    return edit(name, change)


def cells(name: str, change: Callable[[Cells], Any], target: str | None = None, **how: Any) -> Change:
    """The rows of a CSV file changed, in place or as a new list; written as another file if one is named."""

    def run(folder: Path) -> None:
        rows = list(csv.reader((folder / name).read_text().splitlines()))
        rows = change(rows) or rows
        buffer = io.StringIO()
        csv.writer(buffer, **{"lineterminator": "\n", **how}).writerows(rows)
        (folder / (target or name)).write_text(buffer.getvalue())

    return run


def cell(name: str, row: int, column: int, value: str) -> Change:
    """One cell of a CSV file."""
    return cells(name, lambda rows: rows[row].__setitem__(column, value))


def column(name: str, place: int, change: Callable[[int, str], str]) -> Change:
    """A column of a CSV file; the change is told the row's number, from 0, and the old value."""

    def run(rows: Cells) -> None:
        for number, row in enumerate(rows[1:]):
            row[place] = change(number, row[place])

    return cells(name, run)


def both(*changes: Change) -> Change:
    """Several changes, one after another."""
    return lambda folder: [change(folder) for change in changes]


def array(name: str, make: Callable[[], Any]) -> Change:
    """An array as .npy, or several by name as .npz."""

    def run(folder: Path) -> None:
        made = make()
        if name.endswith(".npy"):
            np.save(folder / name, made, allow_pickle=True)
        else:
            np.savez(folder / name, **made)

    return run


def parquet(name: str, make: Callable[[Any], Any], source: str | None = None) -> Change:
    """A Parquet file from pyarrow's table of a CSV file."""

    def run(folder: Path) -> None:
        import pyarrow as pa
        import pyarrow.csv
        import pyarrow.parquet

        table = pa.csv.read_csv(folder / source) if source else None
        pa.parquet.write_table(make(table), folder / name)

    return run


def archive(name: str, **members: bytes) -> Change:
    """A zip archive with these members, packed."""

    def run(folder: Path) -> None:
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as file:
            for member, data in members.items():
                file.writestr(member.replace("__", "."), data)

    return run


def pipe(name: str) -> Change:
    """A named pipe in place of a file: reading it would wait forever."""

    def run(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return run


def link(name: str, target: str) -> Change:
    """A symbolic link in place of a file."""

    def run(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)

    return run


def folder_at(name: str) -> Change:
    """A folder in place of a file."""

    def run(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).mkdir()

    return run


def gone(name: str) -> Change:
    """No file."""
    return lambda folder: (folder / name).unlink()


class Evil:
    """An object whose pickle writes a file when it is read."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("executed"),)


ANY_FILE: dict[str, Callable[[str], Change]] = {
    "missing": gone,
    "a folder": folder_at,
    "a named pipe": pipe,
    "a link to itself": lambda name: link(name, name),
    "an endless device": lambda name: link(name, "/dev/zero"),
    "an empty device": lambda name: link(name, "/dev/null"),
    "empty": lambda name: put(name, b""),
    "one zero byte": lambda name: put(name, b"\0"),
    "zero bytes": lambda name: put(name, bytes(5000)),
    "random bytes": lambda name: put(name, np.random.default_rng(0).bytes(3000)),
    "a line of 2 MB": lambda name: put(name, b"a" * 2_000_000),
    "an open quotation mark": lambda name: put(name, b'"' + b"a,b\n" * 1000),
    "a pickle that writes a file": lambda name: put(name, pickle.dumps(Evil())),
}
"""Nasty things in place of any file, whatever its kind."""
