"""Files that are whole or not there, the directories they go to, and what a killed process leaves behind."""

import os
import re
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

MARK = "shiftstate-part"
"""The end of every temporary name: such a file is ours, and worth nothing once its writer has ended."""


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
