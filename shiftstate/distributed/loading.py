"""`load`: from the folder of a partitioned graph to this process's shift."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from shiftstate.distributed.exchange import RowExchange
from shiftstate.distributed.parts.cut import GraphPart, Half
from shiftstate.distributed.parts.folder import Manifest, read_manifest, read_part
from shiftstate.distributed.ranks import Ranks
from shiftstate.distributed.shift import PartitionedShift, made
from shiftstate.graphs.partitioned import Partitioned


def load(folder: str | os.PathLike[str], group: Any = None) -> PartitionedShift:
    """This process's part of a graph that `partition` wrote. Called by all processes of the group.

    With parts for more than one process, ``torch.distributed.init_process_group`` comes first. A part that is missing,
    another graph or another version in one process is an error in all of them.

    Args:
        folder: the folder; each process needs the manifest and its own part of it.
        group: of torch.distributed; None is the default one.
    """
    ranks = Ranks(group) if dist.is_initialized() else None
    found, failure = None, None
    try:
        found = _read(Path(folder), ranks)
    except ValueError as error:
        failure = str(error)
    if ranks is None:
        if found is None:
            raise ValueError(failure)
        return _shift(*found, None)
    ranks.agree("the version of shiftstate", metadata.version("shiftstate"))
    ranks.together(failure)
    assert found is not None
    ranks.agree("the graph", found[0].graph)
    ranks.agree("how the graph is cut", str(found[0].parts))
    return _shift(*found, ranks)


def _read(folder: Path, ranks: Ranks | None) -> tuple[Manifest, GraphPart, list[str] | None]:
    manifest = read_manifest(folder)
    rank, count = (0, 1) if ranks is None else (ranks.rank, ranks.count)
    if len(manifest.parts) != count:
        start = "torchrun --nproc-per-node" if ranks is None else "as many processes, or a partition with --parts"
        hint = f"{start} {len(manifest.parts) if ranks is None else count}"
        raise ValueError(f"{folder} holds {len(manifest.parts)} parts for {count} processes; expected {hint}")
    return manifest, *read_part(folder, manifest, rank)


def _shift(manifest: Manifest, part: GraphPart, names: list[str] | None, ranks: Ranks | None) -> PartitionedShift:
    halves = (part.rows, part.columns)
    tensors = [torch.from_numpy(array) for half in halves for array in (half.crow, half.col, half.values)]
    exchanges = [_exchange(half, ranks if manifest.halo else None) for half in halves]
    operator = Partitioned.of(tensors, part.interior, *exchanges)
    return made(operator, torch.from_numpy(part.nodes), manifest, ranks, names)


def _exchange(half: Half, ranks: Ranks | None) -> RowExchange:
    return RowExchange(ranks, torch.from_numpy(half.send), half.sent.tolist(), half.received.tolist())
