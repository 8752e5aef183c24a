"""Limit what files from outside may unpack to, so that a small file cannot take all memory."""

from __future__ import annotations

import zipfile
from typing import IO

SMALL_BYTES = 256_000_000
"""Every file may unpack to this much."""
MAX_RATIO = 100
"""Beyond that, unpacked bytes over packed ones."""
MAX_MEMBERS = 10_000
"""Files in one archive."""
MAX_CHARACTERS = 50_000_000
"""Of one text: the longest novels have twelve million."""
MAX_TEXT_BYTES = 200_000_000
"""Of one text's file, and of all that is unpacked from it."""
MAX_ELEMENTS = 3_000_000
"""Tags of one document: they take time, not space."""
MAX_DEPTH = 1_000
"""Elements of XML inside each other."""
MAX_ENTITY = 200
"""Characters that an entity of XML may stand for."""
PIECE = 2**20
"""Bytes that are unpacked at a time."""


def most_unpacked(packed: int) -> int:
    """Bytes that a file of ``packed`` bytes may unpack to."""
    return max(SMALL_BYTES, MAX_RATIO * packed)


def check_unpacked(unpacked: int, packed: int, what: str) -> None:
    """Raise if something unpacks to more than `most_unpacked` allows.

    Args:
        unpacked: bytes in memory.
        packed: bytes of the file.
        what: the beginning of the message: "features.npz: a matrix of shape (3, 4)".
    """
    most = most_unpacked(packed)
    if unpacked > most:
        raise ValueError(
            f"{what} would take {_amount(unpacked)}; expected at most {_amount(most)} of a file of {_amount(packed)}"
        )


class Archive:
    """A zip file whose members unpack to a limited number of bytes, counted over all of its reads.

    The size that a member declares is counted before it is unpacked, and what comes out must be that many bytes. A
    member that is read twice counts twice, so that a list that names one member a million times is stopped.
    Damage raises `zipfile.BadZipFile`, `zlib.error` or another of their kind; a limit raises `ValueError`.

    Args:
        file: open for reading; the caller closes it.
        most: bytes that all reads together may give; `most_unpacked` of the file's size by default.
    """

    def __init__(self, file: IO[bytes], most: int | None = None) -> None:
        packed = file.seek(0, 2)
        file.seek(0)
        self.most = most_unpacked(packed) if most is None else most
        self.given = 0
        """Bytes that were unpacked so far."""
        self._zip = zipfile.ZipFile(file)
        entries = self._zip.infolist()
        if len(entries) > MAX_MEMBERS:
            raise ValueError(f"it holds {len(entries):,} files; expected at most {MAX_MEMBERS:,}")
        self.sizes = {entry.filename: entry.file_size for entry in entries}
        """Declared sizes by name."""
        if len(self.sizes) < len(entries):
            raise ValueError("it holds two files of one name; expected different names")
        for entry in entries:
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"{entry.filename!r} is packed by method {entry.compress_type}; expected deflate")

    def open(self, name: str) -> IO[bytes]:
        """A member as a stream, to be read in pieces; an unknown name raises `KeyError`."""
        entry = self._zip.getinfo(name)
        self.given += entry.file_size
        if self.given > self.most:
            raise ValueError(f"it would unpack to more than {_amount(self.most)}, at {name!r}; is it a damaged file?")
        return self._zip.open(entry)

    def read(self, name: str) -> bytes:
        """A member's bytes; an unknown name raises `KeyError`."""
        with self.open(name) as member:
            # in pieces: a read of everything unpacks everything before it looks at the declared size
            content = b"".join(iter(lambda: member.read(PIECE), b""))
        if len(content) != self.sizes[name]:
            raise ValueError(f"{name!r} unpacks to {_amount(len(content))}; expected {_amount(self.sizes[name])}")
        return content


def _amount(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size >= 1_000_000 else f"{size:,} bytes"
