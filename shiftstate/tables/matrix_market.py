"""Matrix Market files.

SciPy's reader ends the whole process on some malformed files (sizes that do not fit the entries), so the few forms
that people have are read here: coordinate or array; real, integer or pattern; general or symmetric.
"""

import io
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from shiftstate.files import read_regular


def read_matrix_market(path: Path) -> Any:
    """A sparse matrix from the coordinate form, an array from the array form."""
    content = read_regular(path, "a Matrix Market file")
    head, _, rest = content.partition(b"\n")
    words = head.decode("ascii", errors="replace").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise ValueError("it does not begin with %%MatrixMarket matrix")
    form, field, symmetry = words[2:]
    if (
        form not in ("coordinate", "array")
        or field not in ("real", "double", "integer", "pattern")
        or symmetry not in ("general", "symmetric")
    ):
        raise ValueError(f"it is {form} {field} {symmetry}; real or integer numbers, general or symmetric, can be read")
    while rest.lstrip().startswith(b"%"):
        rest = rest.lstrip().partition(b"\n")[2]
    sizes, _, body = rest.lstrip().partition(b"\n")
    above = content[: len(content) - len(body)].count(b"\n")
    numbers = [int(word) for word in sizes.split()]
    if len(numbers) != (3 if form == "coordinate" else 2) or min(numbers) < 0 or max(numbers) >= 2**31:
        raise ValueError("its line of sizes is not one")
    if form == "array":
        return _array(body, numbers, symmetry, above)
    return _coordinates(body, numbers, symmetry, field == "pattern", above)


def _coordinates(body: bytes, sizes: list[int], symmetry: str, pattern: bool, above: int) -> Any:
    rows, columns, count = sizes
    width = 2 if pattern else 3
    entries = _numbers(body, width, above) if body.strip() else np.empty((0, width))
    if entries.shape != (count, 2 if pattern else 3):
        raise ValueError(f"it holds {len(entries)} entries of {entries.shape[-1]} numbers where {count} were announced")
    given = entries[:, :2]
    outside = np.flatnonzero(~((given >= 1) & (given <= (rows, columns)) & (given % 1 == 0)).all(1))
    if len(outside):
        raise ValueError(f"line {above + int(outside[0]) + 1} holds a place outside of its {rows} × {columns}")
    places = given.astype(np.int64) - 1
    values = np.ones(count) if pattern else entries[:, 2]
    if symmetry == "symmetric":
        off = places[:, 0] != places[:, 1]
        places = np.concatenate([places, places[off][:, ::-1]])
        values = np.concatenate([values, values[off]])
    return sp.coo_array((values, (places[:, 0], places[:, 1])), shape=(rows, columns))


def _array(body: bytes, sizes: list[int], symmetry: str, above: int) -> Any:
    if symmetry != "general":
        raise ValueError("it is a symmetric array; a general one can be read")
    values = _numbers(body, 1, above).ravel() if body.strip() else np.empty(0)
    if len(values) != sizes[0] * sizes[1]:
        raise ValueError(f"it holds {len(values)} numbers; {sizes[0]} × {sizes[1]} were announced")
    return values.reshape(sizes[1], sizes[0]).T


def _numbers(body: bytes, width: int, above: int) -> Any:
    """Lines of so many numbers; the first that is none is named."""
    try:
        found = np.loadtxt(io.BytesIO(body), ndmin=2)
        if found.shape[1] == width:
            return found
    except ValueError:
        pass
    for number, line in enumerate(body.splitlines(), above + 1):
        words = line.split()
        if words and (len(words) != width or not all(map(_is_number, words))):
            raise ValueError(f"line {number} holds {line.decode('ascii', 'replace')[:40]!r}; expected {width} numbers")
    raise ValueError("it holds lines that are not numbers")


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
