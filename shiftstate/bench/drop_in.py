"""The layers in the place of PyTorch Geometric's own: an epoch and its memory on a large graph, and the conversion."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor, nn

from shiftstate.bench import memory

OURS = ("GCNNConv", "RSNConv", "LSSMConv")
FORMS = ("edge_index", "CSR")
PEERS = ("TAGConv", "GatedGraphConv")


@dataclass(frozen=True)
class Size:
    """A random directed graph, and layers of so many channels in and out."""

    nodes: int = 100_000
    edges: int = 2_000_000
    channels: int = 32
    K: int = 8


SMALL = Size(500, 2_000, 4, 2)


@dataclass(frozen=True)
class EpochCost:
    """Forward, backward and a step of Adam on the whole graph: the best seconds, and the first one's peak bytes."""

    layer: str
    form: str
    seconds: float
    bytes: int | None


@dataclass(frozen=True)
class DropIn:
    """What a user of PyG sees who replaces one import."""

    size: Size
    converted: dict[str, float]
    """Seconds from a form of the graph to S and Sᵀ, normalised, each call without a cache; "cached" with one."""
    epochs: list[EpochCost]


def contestants(quick: bool) -> list[tuple[str, str]]:
    """Layers and the form of the graph each is given; ours also with ``cached=True``."""
    if quick:
        return [("GCNNConv", "cached"), ("TAGConv", "CSR")]
    ours = [(layer, form) for layer in OURS for form in ("cached", *FORMS)]
    return ours + [(layer, form) for layer in PEERS for form in FORMS]


def measure(quick: bool, repeats: int, said: Callable[[str], None]) -> DropIn | None:
    """Everything, each epoch in a process of its own; None without PyTorch Geometric."""
    if find_spec("torch_geometric") is None:
        return None
    size = SMALL if quick else Size()
    said("PyTorch Geometric: conversion")
    converted = conversions(size, repeats)
    epochs = []
    for layer, form in contestants(quick):
        said(f"PyTorch Geometric: an epoch of {layer} on {form}")
        epochs.append(epoch(layer, form, size, repeats))
    return DropIn(size, converted, epochs)


def graphs(size: Size) -> dict[str, Tensor]:
    """One random graph in both forms."""
    generator = torch.Generator().manual_seed(0)
    edge_index = torch.randint(0, size.nodes, (2, size.edges), generator=generator)
    coo = torch.sparse_coo_tensor(edge_index.flip(0), torch.ones(size.edges), (size.nodes, size.nodes))
    return {"edge_index": edge_index, "CSR": coo.coalesce().to_sparse_csr()}


def conversions(size: Size, repeats: int) -> dict[str, float]:
    """Seconds of ``to_shift`` by form, and of the second call with ``cached=True``."""
    from shiftstate.pyg import GCNNConv

    x, forms = torch.randn(size.nodes, 1), graphs(size)
    plain, cached = GCNNConv(1, 1), GCNNConv(1, 1, cached=True)
    cached.to_shift(x, forms["edge_index"])
    seconds = {form: _best(lambda graph=graph: plain.to_shift(x, graph), repeats) for form, graph in forms.items()}  # type: ignore[misc]
    return seconds | {"cached": _best(lambda: cached.to_shift(x, forms["edge_index"]), repeats)}


def epoch(layer: str, form: str, size: Size, repeats: int) -> EpochCost:
    """One contestant in a fresh process, where nothing that came before is counted."""
    task = json.dumps({"layer": layer, "form": form, "size": asdict(size), "repeats": repeats})
    command = [sys.executable, "-c", "from shiftstate.bench.drop_in import answer; answer()"]
    result = subprocess.run(command, input=task, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"an epoch of {layer} on {form} failed: {result.stderr.strip().splitlines()[-1:]}")
    found = json.loads(result.stdout)
    return EpochCost(layer, form, found["seconds"], found["bytes"])


def answer() -> None:
    """The child's side: read a task from standard input, print seconds and bytes."""
    task = json.load(sys.stdin)
    torch.set_num_threads(1)
    size = Size(**task["size"])
    training(task["layer"], task["form"], SMALL)()  # compiles what there is to compile
    step = training(task["layer"], task["form"], size)
    peak = None
    if memory.supported():
        with memory.Peak() as watched:
            step()
        peak = watched.bytes
    print(json.dumps({"seconds": _best(step, task["repeats"]), "bytes": peak}))


def training(layer: str, form: str, size: Size) -> Callable[[], None]:
    """One epoch of a linear map, the layer with its defaults, and Adam."""
    graph = graphs(size)["edge_index" if form == "cached" else form]
    conv = make_layer(layer, size, cached=form == "cached")
    model = nn.ModuleList([nn.Linear(size.channels, size.channels), conv])
    x = torch.randn(size.nodes, size.channels, generator=torch.Generator().manual_seed(1))
    optimizer = torch.optim.Adam(model.parameters())

    def step() -> None:
        optimizer.zero_grad()
        conv(model[0](x), graph).square().mean().backward()
        optimizer.step()

    return step


def make_layer(layer: str, size: Size, cached: bool) -> Any:
    """A layer of K hops by name, ours or PyG's."""
    import torch_geometric.nn as theirs

    from shiftstate import pyg as ours

    if layer == "GatedGraphConv":
        return theirs.GatedGraphConv(size.channels, num_layers=size.K)
    if layer in OURS:
        return getattr(ours, layer)(size.channels, size.channels, K=size.K, cached=cached)
    return getattr(theirs, layer)(size.channels, size.channels, K=size.K)


def _best(run: Callable[[], object], repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best
