"""Write files that are whole or not there, never over what is needed; read regular files; find what was left behind."""

import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO, TextIO

MARK = "shiftstate-part"
"""The end of every temporary name: such a file is ours, and worth nothing once its writer has ended."""

JOINERS = "\u200c\u200d"
"""Invisible, and needed to write Persian or Hindi."""


def open_regular(path: str | Path, expected: str) -> BinaryIO:
    """Open a regular file for reading.

    Anything else raises a `ValueError` at once: a named pipe or a device could keep the reader waiting forever.

    Args:
        path: what the user named.
        expected: what it should be, for the message: "a text file".
    """
    try:
        # without O_NONBLOCK the opening of a named pipe already waits for its other end
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error  # a zero byte in the name
        raise ValueError(f"{path} cannot be read ({reason}); expected {expected}") from None
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    kinds = {stat.S_IFDIR: "Is a directory", stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket"}
    raise ValueError(f"{path} cannot be read ({kinds.get(stat.S_IFMT(mode), 'a device')}); expected {expected}")


def read_regular(path: str | Path, expected: str, most: int | None = None) -> bytes:
    """The bytes of a regular file, at most ``most`` of them; see `open_regular`."""
    with open_regular(path, expected) as file:
        size = os.fstat(file.fileno()).st_size
        if most is not None and size > most:
            raise ValueError(f"{path} holds {size / 1e6:,.0f} MB; expected {expected} of at most {most / 1e6:,.0f} MB")
        try:
            return file.read()
        except OSError as error:
            raise ValueError(f"{path} cannot be read ({error.strerror}); expected {expected}") from None


def checksum(path: str | Path, expected: str) -> str:
    """The SHA-256 of a regular file, in hexadecimal digits; the file may be larger than the memory."""
    with open_regular(path, expected) as file:
        try:
            return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
        except OSError as error:
            raise ValueError(f"{path} cannot be read ({error.strerror}); expected {expected}") from None


def check_as_written(path: Path, written: str, manifest: str, advice: str) -> None:
    """Raise if a file is not the one whose checksum a manifest holds.

    Args:
        path: the file.
        written: its checksum when it was written.
        manifest: the name of the file that says so.
        advice: what to do, for the message.
    """
    if checksum(path, f"every file that {manifest} names; {advice}") != written:
        raise ValueError(
            f"{path} is not the file that was written (its checksum differs from {manifest}): was it edited or "
            f"damaged, or are two folders mixed? {advice}"
        )


RUN_FILES = [
    "manifest.json",
    "settings.json",
    "data.json",
    "graph.npz",
    "model.safetensors",
    "predictions.csv",
    "predictions-[0-9]*.csv",
    "metrics.json",
    "curves.svg",
    "confusion.svg",
    "residuals.svg",
    "training.safetensors",
    "lock",
    "trials/*",
    "splits/*",
    "lens/*",
]
PART_FILES = ["partition.json", "part-*.safetensors"]
STUDY_FILES = [
    "results.sqlite*",
    "plan.json",
    "realizations.csv",
    "summary.json",
    "claims.json",
    "provenance.json",
    "tables.md",
    "data.json",
    "lock",
    "lens/*",
]
OWN_FILES = {
    "settings.json": RUN_FILES,
    "metrics.json": RUN_FILES,
    "partition.json": PART_FILES,
    "results.sqlite": STUDY_FILES,
}
"""What a folder of ours holds, by the file that tells it from others."""


def check_output(path: Path, inputs: Iterable[Path | None] = (), option: str = "--out") -> None:
    """Raise if a file to write is a folder, an input of the same command, or of a run, a partition or a study.

    Links and relative paths are followed, so that no other way of writing the path leads past it.

    Args:
        path: the file to write.
        inputs: files that the command reads; None stands for one that was not given.
        option: by which the path was given, for the message.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise ValueError(f"{path} is a folder; expected {option} to be a file")
    for one in inputs:
        if one is not None and Path(os.path.realpath(one)) == target:
            raise ValueError(f"{path} is what the command reads; expected {option} to be another file")
    for folder in list(target.parents)[:3]:
        name = target.relative_to(folder).as_posix()
        for mark, own in OWN_FILES.items():
            if any(fnmatchcase(name.casefold(), pattern) for pattern in own) and (folder / mark).exists():
                raise ValueError(
                    f"{path} is a file of {folder}, which would be destroyed; expected {option} to be another file"
                )


def check_folder(folder: Path, own: Iterable[str], inputs: Iterable[Path | None]) -> None:
    """Raise if files that a command reads would be overwritten by those that it writes to a folder.

    Args:
        folder: where to write.
        own: names of files there, or patterns of them.
        inputs: files that the command reads; None stands for one that was not given.
    """
    place, patterns = Path(os.path.realpath(folder)), list(own)
    for one in inputs:
        target = None if one is None else Path(os.path.realpath(one))
        if target is not None and target.is_relative_to(place):
            name = target.relative_to(place).as_posix()
            if any(fnmatchcase(name.casefold(), pattern) for pattern in patterns):
                raise ValueError(f"{one} would be overwritten by {name} of the run; expected another folder as --out")


def write_whole(path: Path, content: str | bytes) -> None:
    """Write under a temporary name and rename: a reader sees the old file or the new one, never half of one.

    An `OSError` from the file system is raised as it is; nothing is left behind then.
    """
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.{MARK}")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


@contextmanager
def writing_whole(path: Path) -> Iterator[TextIO]:
    """A text file to write piece by piece; it gets its name when all is written, and leaves nothing otherwise."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.{MARK}")
    try:
        with open(temporary, "x", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def remove_leftovers(directory: Path, names: Iterable[str] = ()) -> list[Path]:
    """Remove the temporary files that killed processes left in a directory; return what was removed.

    Call it only while no other process writes there, for instance while holding the directory's lock:
    a file that is being written looks like one that was left.

    Args:
        directory: where to look; its subdirectories are left alone.
        names: files of ours for which the names of older versions count too: ``.NAME.xxxxxxxx`` and ``.NAME.part``.
    """
    ours = [rf"\..+\.[0-9a-f]{{8}}\.{MARK}", *(rf"\.{re.escape(name)}\.([a-z0-9_]{{8}}|part)" for name in names)]
    pattern = re.compile("|".join(ours), re.DOTALL)
    found = [
        Path(entry.path)
        for entry in os.scandir(directory)
        if pattern.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
    ]
    for path in found:
        path.unlink(missing_ok=True)
    return sorted(found)


def make_directory(path: Path, purpose: str = "the results") -> None:
    """Make a directory and those above it, if they are not there yet."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{path} cannot be made ({error.strerror}); expected a directory for {purpose}") from None


def printable(name: str) -> str:
    """A file's name for a screen, a page or a table: control characters and what is no character are written out.

    Example:
        >>> from shiftstate.files import printable
        >>> print(printable("a\\x1b[2Jb"))
        a\\x1b[2Jb
    """
    return "".join(
        letter if letter.isprintable() or letter in JOINERS else letter.encode("unicode_escape").decode()
        for letter in name
    )
