"""The folder of a partitioned graph: a manifest in JSON, and a safetensors file per part. No pickle."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from shiftstate.distributed.parts.cut import GraphPart, Half
from shiftstate.files import read_regular, write_whole

FORMAT = 1
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
    try:
        found = json.loads(read_regular(path, f"a folder written by {WRITER}"))
        if found["format"] != FORMAT:
            raise ValueError(f"{path} has format {found['format']}; expected {FORMAT}; is it of a newer shiftstate?")
        parts = tuple(PartEntry(**part) for part in found.pop("parts"))
        return Manifest(**found, parts=parts)
    except (KeyError, TypeError, json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is no manifest ({error!r:.100}); expected one written by {WRITER}") from None


def write_part(path: Path, part: GraphPart, names: Sequence[str] | None, graph: str) -> None:
    """One part; ``names`` are those of its nodes, in the order of its rows."""
    arrays = {"nodes": part.nodes, "interior": np.array([part.interior])}
    for side, half in zip(SIDES, (part.rows, part.columns), strict=True):
        arrays |= {f"{side}.{name}": getattr(half, name) for name in FIELDS}
    if names is not None:
        arrays |= _as_bytes(names)
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_whole(path, save(arrays, {"shiftstate.partition": str(FORMAT), "shiftstate.graph": graph}))


def read_part(path: Path, graph: str) -> tuple[GraphPart, list[str] | None]:
    """One part and the names of its nodes, if they have names."""
    try:
        with safe_open(path, framework="numpy") as file:
            metadata: dict[str, str] = file.metadata() or {}
            found: dict[str, NDArray[Any]] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist; expected every part that the manifest names") from None
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} cannot be read ({error}); is it truncated?") from None
    if metadata.get("shiftstate.partition") != str(FORMAT):
        raise ValueError(f"{path} is no part of a graph; expected a file written by {WRITER}")
    if metadata.get("shiftstate.graph") != graph:
        raise ValueError(f"{path} is a part of another graph than the manifest's; were two folders mixed?")
    try:
        halves = [Half(*(found[f"{side}.{name}"] for name in FIELDS)) for side in SIDES]
        part = GraphPart(found["nodes"], int(found["interior"][0]), *halves)
    except KeyError as error:
        raise ValueError(f"{path} lacks {error}; expected a file written by {WRITER}") from None
    return part, _as_names(found) if "names.bytes" in found else None


def _as_bytes(names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Names as bytes and where each ends: a file of numbers holds no text."""
    encoded = [name.encode() for name in names]
    return {
        "names.bytes": np.frombuffer(b"".join(encoded), np.uint8),
        "names.ends": np.cumsum([len(name) for name in encoded], dtype=np.int64),
    }


def _as_names(found: dict[str, NDArray[Any]]) -> list[str]:
    text, ends = found["names.bytes"].tobytes(), found["names.ends"].tolist()
    return [text[first:end].decode() for first, end in zip([0, *ends[:-1]], ends, strict=False)]
