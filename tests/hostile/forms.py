"""Ways to write the clean files in other forms, and the lines of a table of cases."""

import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from tests.hostile.changes import Change, both, cells
from tests.hostile.judging import Case
from tests.own_data.towns import N

RING = np.stack([np.arange(N), (np.arange(N) + 1) % N])
ADJACENCY = np.zeros((N, N))
ADJACENCY[RING[0], RING[1]] = ADJACENCY[RING[1], RING[0]] = 1


def case(
    base: tuple[str, ...], expected: str, name: str, change: Change, *more: str, text: tuple[str, ...] = ()
) -> Case:
    """A case of a command; where the numbers are judged, reading is enough."""
    return Case(name, (*base, *more, *(() if expected == "refused" else ("--dry-run",))), change, expected, text)


def refused(base: tuple[str, ...], file: str, name: str, change: Change, *more: str, says: str = "") -> Case:
    """A file that cannot be meant: the message names it."""
    return case(base, "refused", f"{file}: {name}", change, *more, text=(file, says))


def same(base: tuple[str, ...], file: str, name: str, change: Change, *more: str) -> Case:
    """Another way to write the clean file."""
    return case(base, "same", f"{file}: {name}", change, *more)


def either(base: tuple[str, ...], file: str, name: str, change: Change, *more: str) -> Case:
    """A file that may be read or refused, by the rule."""
    return case(base, "either", f"{file}: {name}", change, *more, text=(file,))


def _numbered(rows: list[list[str]]) -> None:
    """town7 is called 7."""
    for row in rows:
        row[:] = [word.removeprefix("town") if word != "town" else word for word in row]


NUMBERED = both(cells("edges.csv", _numbered), cells("towns.csv", _numbered))
"""The same towns, named by numbers."""


def table(rows: Any) -> Any:
    """A table of Arrow from its columns."""
    import pyarrow as pa

    return pa.table(rows)


def ends(kind: str) -> Callable[[Any], Any]:
    """Both columns of the edges as another type of Arrow."""
    return lambda made: table({name: made[name].cast(kind) for name in made.column_names})


def dictionary(made: Any) -> Any:
    """Every column as numbers of its distinct values."""
    return table({name: made[name].dictionary_encode() for name in made.column_names})


def csv_of(matrix: Any, header: bool = False, names: bool = False) -> str:
    rows = [[f"{value:g}" for value in row] for row in matrix]
    rows = [[f"town{i}", *row] for i, row in enumerate(rows)] if names else rows
    head = [["", *(f"town{i}" for i in range(N))][0 if names else 1 :]] if header else []
    return "\n".join(",".join(row) for row in [*head, *rows]) + "\n"


def mtx(matrix: Any, field: str = "real", symmetry: str = "general") -> str:
    found = sp.coo_array(matrix)
    lines = [f"{i + 1} {j + 1} {value:g}" for i, j, value in zip(found.row, found.col, found.data, strict=True)]
    size = f"{found.shape[0]} {found.shape[1]} {found.nnz}"
    return "\n".join([f"%%MatrixMarket matrix coordinate {field} {symmetry}", size, *lines]) + "\n"


def graphml(keep: Callable[[str], str] = str) -> str:
    nodes = "".join(f'<node id="town{i}"/>' for i in range(N))
    edges = "".join(f'<edge source="town{i}" target="town{j}"/>' for i, j in RING.T)
    head = '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    return keep(f'{head}<graph edgedefault="undirected">{nodes}{edges}</graph></graphml>')


def csr(**parts: Any) -> dict[str, Any]:
    """A matrix as SciPy writes it, with some of its arrays replaced."""
    found = sp.csr_array(ADJACENCY)
    whole = {"indices": found.indices, "indptr": found.indptr, "data": found.data}
    return {"format": b"csr", "shape": np.array(found.shape), **whole, **parts}


def coo(**parts: Any) -> dict[str, Any]:
    found = sp.coo_array(ADJACENCY)
    whole = {"row": found.row, "col": found.col, "data": found.data}
    return {"format": b"coo", "shape": np.array(found.shape), **whole, **parts}


POINTERS = sp.csr_array(ADJACENCY).indptr


def npy_header(shape: str, kind: str = "<f8", data: bytes = b"") -> bytes:
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(10 + len(head) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data


def bomb(member: str, size: int, told: int | None = None) -> bytes:
    """An archive of a few kB with a member of so many zeros; ``told`` is the size that its header claims."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(10**6)) + packer.flush(zlib.Z_FULL_FLUSH)
    head = npy_header(f"({size // 8},)")
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH) + block * (size // 10**6) + b"\x03\x00"
    name = member.encode()
    sizes = struct.pack("<III", 0, len(data), size + len(head) if told is None else told)
    local = b"PK\x03\x04" + struct.pack("<HHHHH", 20, 0, 8, 0, 0) + sizes + struct.pack("<HH", len(name), 0) + name
    entry = b"PK\x01\x02" + struct.pack("<HHHHHH", 20, 20, 0, 8, 0, 0) + sizes
    entry += struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, 0) + name
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local) + len(data), 0)
    return local + data + entry + end
