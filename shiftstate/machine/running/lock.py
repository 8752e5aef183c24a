"""A lock on a directory that dies with the process that holds it, however it dies."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

if os.name == "nt":
    import msvcrt

    def _lock(file: IO[str]) -> None:
        file.seek(1 << 20)  # a byte beyond the text: Windows forbids others even to read a locked one
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        file.seek(0)

else:
    import fcntl

    def _lock(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the directory for this process; a second run into it is refused.

    The operating system drops the lock when the process ends, so a file left behind by a killed run locks nobody out.
    """
    try:
        opened = open(directory / "lock", "a+", encoding="utf-8")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise ValueError(
            f"{directory} cannot be written to ({error.strerror}: {directory / 'lock'}); choose another --out"
        ) from None
    with opened as file:
        try:
            _lock(file)
        except (BlockingIOError, PermissionError):  # what Linux and macOS say, and what Windows says
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise ValueError(
                f"{directory} is in use by another run (process {holder}); "
                "expected a directory of its own for every run: wait for that one, or choose another --out"
            ) from None
        except OSError as error:
            raise ValueError(
                f"{directory} cannot be locked ({error.strerror}); "
                "expected a file system that knows locks: choose another --out"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
