"""Read arrays from .npy and .npz files that may be damaged or hostile: no pickle, and no more memory than they need."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from shiftstate.files import open_regular
from shiftstate.limits import Archive
from shiftstate.tables.table import first_line

HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def read_npy(file: IO[bytes], size: int) -> NDArray[Any]:
    """The array of an .npy file, after its shape was compared with the bytes that are there.

    Args:
        file: open for reading, at its beginning.
        size: of the file.
    """
    version = np.lib.format.read_magic(file)
    if version not in HEADERS:
        raise ValueError(f"an array of version {version}")
    shape, _, dtype = HEADERS[version](file)
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are not read")
    needed, there = prod(shape) * dtype.itemsize, size - file.tell()
    if min(shape, default=0) < 0 or needed != there:
        raise ValueError(f"an array of shape {shape} takes {needed:,} bytes, and {there:,} are there")
    file.seek(0)
    found = np.lib.format.read_array(file, allow_pickle=False)
    return found.astype(found.dtype.newbyteorder("="), copy=False)  # SciPy and torch know this machine's order only


class Arrays:
    """The arrays of an .npz file by name, each unpacked when it is asked for.

    Args:
        file: open for reading; the caller closes it.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._archive = Archive(file)
        self._members = {name.removesuffix(".npy"): name for name in self._archive.sizes}
        if len(self._members) < len(self._archive.sizes):
            raise ValueError("it holds two arrays of one name")
        self.names = list(self._members)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """An array; what is wrong with it raises with its name."""
        member = self._members[name]
        with self._archive.open(member) as file:
            try:
                return read_npy(file, self._archive.sizes[member])
            except ValueError as error:
                raise ValueError(f"array {name!r}: {error}") from None


def read_arrays(path: str | Path, expected: str = "an .npz of arrays") -> dict[str, NDArray[Any]]:
    """All arrays of an .npz file by name; whatever is wrong with it is one `ValueError` that names the file.

    Args:
        path: the file.
        expected: what it should be, for the message.
    """
    with open_regular(path, expected) as file:
        try:
            arrays = Arrays(file)
            return {name: arrays[name] for name in arrays.names}
        except Exception as error:  # zipfile, zlib and NumPy's reader of headers raise a dozen kinds on such files
            raise ValueError(f"{path} cannot be read ({first_line(error)}); expected {expected}") from None
