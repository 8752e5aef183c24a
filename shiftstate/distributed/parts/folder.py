"""Write and read the folder of a partitioned graph: a manifest in JSON, and a safetensors file per part. No pickle.

The manifest holds the checksum of every part. A part that is not the one that was written raises.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from shiftstate.distributed.parts.cut import GraphPart, Half
from shiftstate.files import check_as_written, write_whole
from shiftstate.json_file import anything, items, number, of_fields, read_json, shown, whole
from shiftstate.model_file import read_tensors

FORMAT = 2
"""2 since the manifest holds checksums."""
MANIFEST = "partition.json"
WRITER = "shiftstate partition, or shiftstate.distributed.partition"
SIDES = ("rows", "columns")
FIELDS = ("crow", "col", "values", "send", "sent", "received")


@dataclass(frozen=True)
class PartEntry:
    """What the manifest says of a part."""

    file: str
    nodes: int
    interior: int
    entries: int
    """Of S, in the rows of the part."""
    halo: int
    """Rows that come from other parts before every shift."""
    sha256: str
    """Of the file."""


@dataclass(frozen=True)
class Manifest:
    """What the folder holds."""

    graph: str
    """A fingerprint of S: the same for every partition of the same graph."""
    num_nodes: int
    num_edges: int
    method: str
    seconds: float
    named: bool
    parts: tuple[PartEntry, ...]
    format: int = FORMAT

    @property
    def halo(self) -> int:
        """Rows that all parts together receive before every shift."""
        return sum(part.halo for part in self.parts)

    @property
    def boundary(self) -> float:
        """The share of nodes with a neighbour in another part."""
        return 1 - sum(part.interior for part in self.parts) / self.num_nodes


def file_of(part: int) -> str:
    """The name of a part's file."""
    return f"part-{part}.safetensors"


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Written last: its presence says that all parts are there."""
    write_whole(folder / MANIFEST, json.dumps(asdict(manifest), indent=1) + "\n")


def read_manifest(folder: Path) -> Manifest:
    """The manifest; what is wrong with it is named."""
    path = folder / MANIFEST
    found = read_json(path, f"a folder written by {WRITER}", _checked)
    return Manifest(**{**found, "parts": tuple(PartEntry(**part) for part in found["parts"])})


def _checked(place: str, found: Any) -> None:
    """Keys and types, names of parts, and counts that add up."""
    if isinstance(found, dict) and found.get("format", FORMAT) != FORMAT:
        raise ValueError(f"format is {shown(found['format'])}; expected {FORMAT}: partition the graph again")
    count = whole(0)
    part = of_fields(PartEntry, nodes=count, interior=count, entries=count, halo=count)
    _MANIFEST(place, found)
    for place_of, one in enumerate(found["parts"]):
        part(f"parts[{place_of}]", one)
        if one["file"] != file_of(place_of):
            raise ValueError(
                f"parts[{place_of}].file is {shown(one['file'])}; expected {file_of(place_of)!r}, in the folder itself"
            )
    for name, each in (("num_nodes", "nodes"), ("num_edges", "entries")):
        total = sum(one[each] for one in found["parts"])
        if found[name] != total:
            raise ValueError(f"{name} is {found[name]}; expected {total}, the {each} of all parts")


_MANIFEST = of_fields(Manifest, num_nodes=whole(1), num_edges=whole(0), seconds=number(0), parts=items(anything, 1))


def write_part(path: Path, part: GraphPart, names: Sequence[str] | None, graph: str) -> str:
    """One part; ``names`` are those of its nodes, in the order of its rows. Returns the checksum of its file."""
    arrays = {"nodes": part.nodes, "interior": np.array([part.interior])}
    for side, half in zip(SIDES, (part.rows, part.columns), strict=True):
        arrays |= {f"{side}.{name}": getattr(half, name) for name in FIELDS}
    if names is not None:
        arrays |= _as_bytes(names)
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    content = save(arrays, {"shiftstate.partition": str(FORMAT), "shiftstate.graph": graph})
    write_whole(path, content)
    return hashlib.sha256(content).hexdigest()


def read_part(folder: Path, manifest: Manifest, rank: int) -> tuple[GraphPart, list[str] | None]:
    """A part and the names of its nodes, if they have names; raises unless it is the one that was written."""
    entry = manifest.parts[rank]
    path, advice = folder / entry.file, "partition the graph again"
    check_as_written(path, entry.sha256, MANIFEST, advice)
    metadata, found = read_tensors(path, f"a part written by {WRITER}")
    if metadata.get("shiftstate.graph") != manifest.graph:
        raise ValueError(f"{path} is a part of another graph than {folder / MANIFEST} names; {advice}")
    try:
        arrays = {name: tensor.numpy() for name, tensor in found.items()}
        halves = [Half(*(arrays[f"{side}.{name}"] for name in FIELDS)) for side in SIDES]
        if not _is_index(arrays["interior"], manifest.num_nodes + 1) or len(arrays["interior"]) != 1:
            raise ValueError("'interior' is no count")
        part = GraphPart(arrays["nodes"], int(arrays["interior"][0]), *halves)
        names = _as_names(arrays) if "names.bytes" in arrays else None
        fits = _fits(part, manifest, entry) and (names is None or len(names) == entry.nodes)
    except (KeyError, IndexError, TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{path} is no part of a graph ({error!r:.100}); {advice}") from None
    if not fits or (names is not None) != manifest.named:
        raise ValueError(f"{path} holds rows that do not fit together, or not to {MANIFEST}; {advice}")
    return part, names


def _fits(part: GraphPart, manifest: Manifest, entry: PartEntry) -> bool:
    """Whether nothing leads outside of the arrays, and the counts are the manifest's."""
    n, parts = len(part.nodes), len(manifest.parts)
    same = (n, part.interior, len(part.rows.col)) == (entry.nodes, entry.interior, entry.entries)
    known = _is_index(part.nodes, manifest.num_nodes) and len(np.unique(part.nodes)) == n
    return (
        same
        and known
        and 0 <= part.interior <= n
        and all(
            _is_index(half.crow, len(half.col) + 1)
            and _is_index(half.col, n + int(half.received.sum()))
            and _is_index(half.send, n)
            and _is_index(half.sent, n + 1)
            and _is_index(half.received, manifest.num_nodes + 1)
            and len(half.sent) == len(half.received) == parts
            and len(half.send) == half.sent.sum()
            and len(half.crow) == n + 1
            and half.crow[0] == 0
            and bool((np.diff(half.crow) >= 0).all())
            and half.crow[-1] == len(half.col) == len(half.values)
            and half.values.ndim == 1
            and half.values.dtype.kind == "f"
            and half.values.dtype == part.rows.values.dtype
            for half in (part.rows, part.columns)
        )
        and entry.halo == int(part.rows.received.sum())
    )


def _is_index(array: NDArray[Any], top: int) -> bool:
    """Whether these are whole numbers from 0 to less than ``top``, in one row."""
    plain = array.ndim == 1 and array.dtype in (np.int32, np.int64)
    return plain and (not len(array) or bool(0 <= array.min() <= array.max() < top))


def _as_bytes(names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Names as bytes and where each ends: a file of numbers holds no text."""
    encoded = [name.encode() for name in names]
    return {
        "names.bytes": np.frombuffer(b"".join(encoded), np.uint8),
        "names.ends": np.cumsum([len(name) for name in encoded], dtype=np.int64),
    }


def _as_names(found: dict[str, NDArray[Any]]) -> list[str]:
    text, ends = found["names.bytes"].tobytes(), found["names.ends"].tolist()
    if ends != sorted(ends) or (ends and (ends[0] < 0 or ends[-1] != len(text))):
        raise ValueError("names that do not end where they should")
    return [text[first:end].decode() for first, end in zip([0, *ends[:-1]], ends, strict=False)]
