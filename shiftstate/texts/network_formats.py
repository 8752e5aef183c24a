"""Word adjacency networks as the bytes of a file: .npz, .csv or .graphml."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

FORMATS = (".npz", ".csv", ".graphml")


def check_format(path: Path) -> str:
    """The suffix of ``path`` if it names a format."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(f"{path} ends in {path.suffix!r}; expected {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
    return suffix


def wan_bytes(matrix: NDArray[np.int64], words: Sequence[str], suffix: str, **arrays: NDArray[np.int64]) -> bytes:
    """The file of a network: everything in .npz, the matrix with its words in .csv, the edges in .graphml.

    An .npz holds ``matrix`` (n, n), ``words`` (n) and ``arrays``, and is read without pickle.
    """
    if suffix == ".npz":
        buffer = io.BytesIO()
        content: dict[str, Any] = {"matrix": matrix, "words": np.array(words, dtype=np.str_), **arrays}
        np.savez_compressed(buffer, **content)
        return buffer.getvalue()
    return (_csv(matrix, words) if suffix == ".csv" else _graphml(matrix, words)).encode()


def _csv(matrix: NDArray[np.int64], words: Sequence[str]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["word", *words])
    writer.writerows([word, *row] for word, row in zip(words, matrix.tolist(), strict=True))
    return buffer.getvalue()


def _graphml(matrix: NDArray[np.int64], words: Sequence[str]) -> str:
    """The words themselves are the ids of the nodes."""
    names = [quoteattr(word) for word in words]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        '<key id="weight" for="edge" attr.name="weight" attr.type="long"/>',
        '<graph id="wan" edgedefault="directed">',
        *(f"<node id={name}/>" for name in names),
    ]
    for i, j in np.argwhere(matrix).tolist():
        data = f'<data key="weight">{matrix[i, j]}</data>'
        lines.append(f"<edge source={names[i]} target={names[j]}>{data}</edge>")
    return "\n".join([*lines, "</graph>", "</graphml>", ""])
