"""Reading an .npz file that may be damaged or hostile: no pickle, and no array larger than the file itself says."""

import zipfile
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shiftstate.files import open_regular

MAX_BYTES = 4_000_000_000
"""Of all arrays together, unpacked."""
MAX_RATIO = 1100
"""Unpacked over packed bytes: deflate itself does not go beyond 1,032."""
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def load_arrays(path: str | Path, expected: str) -> dict[str, NDArray[np.generic]]:
    """The arrays of an .npz file by name; whatever is wrong with it is one `ValueError`.

    Args:
        path: the file.
        expected: what it should be, for the message.
    """
    with open_regular(path, expected) as stream:
        try:
            with zipfile.ZipFile(stream) as archive:
                entries = archive.infolist()
                _check_sizes(entries)
                return {entry.filename.removesuffix(".npy"): _read(archive, entry) for entry in entries}
        except Exception as error:  # zipfile, zlib and NumPy's reader of headers raise a dozen kinds on such files
            raise ValueError(_first_line(error)) from None


def _check_sizes(entries: list[zipfile.ZipInfo]) -> None:
    names = [entry.filename for entry in entries]
    if len(set(names)) < len(names):
        raise ValueError("an array is there twice")
    total = sum(entry.file_size for entry in entries)
    if total > MAX_BYTES:
        raise ValueError(f"its arrays take {total / 1e9:,.0f} GB")
    if any(entry.file_size > MAX_RATIO * entry.compress_size + 1000 for entry in entries):
        raise ValueError("an array unpacks to more than it can")


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray[np.generic]:
    """An array, after its shape and dtype were compared with the bytes that are there."""
    with archive.open(entry) as file:
        version = np.lib.format.read_magic(file)
        if version not in HEADERS:
            raise ValueError(f"an array of version {version}")
        shape, fortran, dtype = HEADERS[version](file)
        if dtype.kind not in "iufU":
            raise ValueError(f"{entry.filename} is of dtype {dtype}")
        if not all(isinstance(size, int) and size >= 0 for size in shape) or dtype.itemsize == 0:
            raise ValueError(f"{entry.filename} has shape {shape}")
        size = prod(shape) * dtype.itemsize
        if size != entry.file_size - file.tell():
            raise ValueError(f"{entry.filename} has shape {shape}, but {entry.file_size - file.tell()} bytes")
        data = file.read(size)
        if len(data) != size or file.read(1):
            raise ValueError(f"{entry.filename} is cut off")
    return np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if fortran else "C")


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0][:200] if text else type(error).__name__
