"""One realization: graph, data, network and batch order from a configuration, then one training (or a few)."""

import platform
import threading
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

import numpy as np
import torch
from torch import nn

from shiftstate.datasets import SourceLocalization
from shiftstate.experiments.config import Protocol, Realization
from shiftstate.graphs import BlockGraph, stochastic_block_model
from shiftstate.layers import Layer
from shiftstate.network import Network
from shiftstate.readout import FlattenReadout
from shiftstate.training import Fit, fit

OPTIONS = {"gcnn": (), "rsn": ("output_activation", "state_activation"), "lssm": ("output_activation", "gate_bias")}
"""Layer options that not every filter has."""

_drawing = threading.Lock()  # layers draw from torch's one generator, and a Dask worker may have several threads


@dataclass(frozen=True)
class Outcome:
    """What a realization gave, and with what."""

    fit: Fit
    learning_rate: float
    """The one that was kept."""
    channels: int
    parameters: int
    """Of the whole network."""
    kernel: str
    """The kernel that ran the first layer."""
    versions: dict[str, str]
    seconds: float
    """Of all trainings together."""


def run(realization: Realization) -> Outcome:
    """Train once with every learning rate of the protocol, and keep the best on validation data.

    Graph, data, initial draw and batch order depend on the seed, the graph and the draw, and on nothing else:
    every filter, K and L of a realization sees the same.
    """
    return train(realization, build_data(realization))[0]


def build_data(realization: Realization) -> SourceLocalization:
    """Graph and signals, the same for every filter, K and L."""
    protocol = realization.protocol
    return SourceLocalization.generate(
        draw_graph(protocol, realization.graph),
        source=protocol.source,  # type: ignore[arg-type]
        standardize=protocol.standardize,
        num_samples=protocol.num_samples,  # type: ignore[arg-type]
        max_time=protocol.max_time,
        seed=_seed(protocol, "data", realization.graph, realization.draw),
        dtype=getattr(torch, protocol.dtype),
    )


def train(realization: Realization, data: SourceLocalization) -> tuple[Outcome, Network]:
    """What `run` does once the data are there; the network is the one that was kept."""
    protocol = realization.protocol
    channels = matched_channels(realization.filter, realization.K, realization.L, protocol)
    tried: list[tuple[float, Fit, Network]] = []
    for learning_rate in protocol.learning_rate:
        model = build(realization, channels).to(getattr(torch, protocol.dtype))
        result = fit(
            model,
            data.shift,
            data,
            epochs=protocol.epochs,
            batch_size=protocol.batch_size,
            learning_rate=learning_rate,
            weight_decay=protocol.weight_decay,
            clip=protocol.clip or None,
            schedule=protocol.schedule,
            seed=_seed(protocol, "batches", realization.graph, realization.draw),
            device=protocol.device,
        )
        tried.append((learning_rate, result, model))
    learning_rate, kept, model = max(tried, key=lambda one: (one[1].outcome == "finished", one[1].valid_accuracies[-1]))
    first = model.layers[0]
    assert isinstance(first, Layer)
    few = data.train.x[: protocol.batch_size].to(protocol.device)
    kernel, _ = first.kernel_in_use(few, data.shift.to(protocol.device))
    seconds = sum(result.seconds for _, result, _ in tried)
    return Outcome(kept, learning_rate, channels, count_parameters(model), kernel, dict(versions()), seconds), model


def draw_graph(protocol: Protocol, graph: int) -> BlockGraph:
    """The graph of this number, the same for every filter and every draw of the data on it."""
    return stochastic_block_model(protocol.block_sizes, protocol.p, protocol.q, _seed(protocol, "graph", graph))


def build(realization: Realization, channels: int) -> Network:
    """The network of a realization, drawn from its seed."""
    with _drawing, torch.random.fork_rng(devices=[]):
        torch.manual_seed(_seed(realization.protocol, "weights", realization.graph, realization.draw))
        return _network(realization.filter, realization.K, realization.L, channels, realization.protocol)


def matched_channels(filter: str, K: int, L: int, protocol: Protocol) -> int:
    """F; for a gcnn:rsn or gcnn:lssm the F whose parameters come nearest to those of the RSN or LSSM."""
    if ":" not in filter:
        return protocol.channels

    def size(name: str, channels: int) -> int:
        network = _network(name, K, L, channels, protocol)
        return count_parameters(network.layers if protocol.match == "filters" else network)

    own, model = filter.split(":")
    goal = size(model, protocol.channels)
    channels = 1
    while size(own, channels) < goal:
        channels += 1
    return min((max(1, channels - 1), channels), key=lambda F: abs(size(own, F) - goal))


def count_parameters(module: nn.Module) -> int:
    """Numbers that are learned."""
    return sum(parameter.numel() for parameter in module.parameters())


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """What the numbers may depend on beside the configuration."""
    return (
        ("shiftstate", metadata.version("shiftstate")),
        ("torch", str(torch.__version__)),
        ("numpy", np.__version__),
        ("python", platform.python_version()),
        ("machine", f"{platform.system()} {platform.machine()}, {_processor()}"),
    )


def _processor() -> str:
    """The processor's name where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown processor"


def _network(filter: str, K: int, L: int, channels: int, protocol: Protocol) -> Network:
    name = filter.split(":")[0]
    options = {key: getattr(protocol, key) for key in ("mixing", "bias", "init", "kernel", *OPTIONS[name])}
    readout = FlattenReadout(sum(protocol.block_sizes), len(protocol.block_sizes))
    return Network(name, [1] + [channels] * L, K, readout, protocol.activation, **options)


def _seed(protocol: Protocol, purpose: str, *numbers: int) -> int:
    """Independent streams for graph, data, weights and batches."""
    stream = ("graph", "data", "weights", "batches").index(purpose)
    return int(np.random.SeedSequence((protocol.seed, stream, *numbers)).generate_state(1)[0])
