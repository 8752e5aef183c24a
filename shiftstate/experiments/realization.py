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

from shiftstate.datasets import Authorship
from shiftstate.experiments.baselines import fit_baseline, sklearn_version
from shiftstate.experiments.config import Realization
from shiftstate.experiments.data import Data, build_data, num_classes, seed_of
from shiftstate.experiments.grids import BASELINES
from shiftstate.experiments.protocols import AuthorshipProtocol, Protocol
from shiftstate.layers import Layer
from shiftstate.network import Network
from shiftstate.readout import FlattenReadout
from shiftstate.training import Fit, fit

OPTIONS = {"gcnn": (), "rsn": ("output_activation", "state_activation"), "lssm": ("output_activation", "gate_bias")}
"""Layer options that not every filter has."""

_drawing = threading.Lock()  # layers draw from torch's one generator, and a Dask worker may have several threads


@dataclass(frozen=True)
class Split:
    """How many excerpts a split trained on and was judged by, and which book it held out."""

    train: int
    test: int
    book: int | None


@dataclass(frozen=True)
class Outcome:
    """What a realization gave, and with what."""

    fit: Fit
    learning_rate: float
    """The one that was kept; of a baseline its C, or 0."""
    channels: int
    parameters: int
    """Of the whole network."""
    kernel: str
    """The kernel that ran the first layer."""
    versions: dict[str, str]
    seconds: float
    """Of all trainings together."""
    split: Split | None = None
    """Of an author's excerpts."""


def run(realization: Realization, corpus: Path | None = None) -> Outcome:
    """Train once with every learning rate of the protocol, and keep the best on validation data.

    Graph, data, initial draw and batch order depend on the seed, the graph and the draw, and on nothing else:
    every filter, K and L of a realization sees the same.

    Args:
        realization: what to run.
        corpus: the prepared corpus, where the experiment needs one.
    """
    data = build_data(realization, corpus)
    if isinstance(data, Authorship) and realization.filter in BASELINES:
        return _run_baseline(realization, data)
    return train(realization, data)[0]


def train(realization: Realization, data: Data) -> tuple[Outcome, Network]:
    """What `run` does with a network once the data are there; the network is the one that was kept."""
    protocol = realization.protocol
    nodes = data.shift.num_nodes
    channels = matched_channels(realization.filter, realization.K, realization.L, protocol, nodes)
    tried: list[tuple[float, Fit, Network]] = []
    for learning_rate in protocol.learning_rate:
        model = build(realization, channels, nodes).to(getattr(torch, protocol.dtype))
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
            smoothing=protocol.smoothing,
            seed=seed_of(protocol, "batches", realization.graph, realization.draw),
            share_equal=protocol.device
            == "cpu",  # late signals of one source are equal in float32: half of a batch repeats
            device=protocol.device,
        )
        tried.append((learning_rate, result, model))
    learning_rate, kept, model = max(tried, key=lambda one: (one[1].outcome == "finished", one[1].valid_accuracies[-1]))
    first = model.layers[0]
    assert isinstance(first, Layer)
    few = data.train.x[: protocol.batch_size].to(protocol.device)
    kernel, _ = first.kernel_in_use(few, data.shift.to(protocol.device))
    seconds = sum(result.seconds for _, result, _ in tried)
    parameters = count_parameters(model)
    outcome = Outcome(kept, learning_rate, channels, parameters, kernel, dict(versions()), seconds, _split_of(data))
    return outcome, model


def _run_baseline(realization: Realization, data: Authorship) -> Outcome:
    assert isinstance(realization.protocol, AuthorshipProtocol)
    result, C, parameters = fit_baseline(realization.filter, data, realization.protocol)
    known = {**dict(versions()), "scikit-learn": sklearn_version()}
    return Outcome(result, C, 0, parameters, "none", known, result.seconds, _split_of(data))


def _split_of(data: Data) -> Split | None:
    """What the statistics have to know of a split of excerpts."""
    if not isinstance(data, Authorship):
        return None
    return Split(len(data.train.y), len(data.test.y), data.book)


def build(realization: Realization, channels: int, num_nodes: int) -> Network:
    """The network of a realization, for a graph of this size, drawn from its seed."""
    with _drawing, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(realization.protocol, "weights", realization.graph, realization.draw))
        network = _network(realization.filter, realization.K, realization.L, channels, realization.protocol, num_nodes)
    with torch.no_grad():
        for name, weight in network.layers.named_parameters():
            own = name.split(".")[-1]
            if not own.startswith("b"):  # bias, b_f, …
                weight.mul_(realization.protocol.init_gain)
            elif own == "bias" and realization.protocol.bias_init == "zero":
                weight.zero_()
    return network


def matched_channels(filter: str, K: int, L: int, protocol: Protocol, num_nodes: int) -> int:
    """F; for a gcnn:rsn or gcnn:lssm the F whose parameters come nearest to those of the RSN or LSSM."""
    if ":" not in filter:
        return protocol.channels

    def size(name: str, channels: int) -> int:
        with torch.device("meta"):  # nothing is drawn
            network = _network(name, K, L, channels, protocol, num_nodes)
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
        ("numba", metadata.version("numba")),
        ("python", platform.python_version()),
        ("machine", f"{platform.system()} {platform.machine()}, {_processor()}, {_vectors()}"),
    )


def _vectors() -> str:
    """The widest vectors that torch uses: they decide how sums are rounded."""
    return str(torch.backends.cpu.get_cpu_capability())


def _processor() -> str:
    """The processor's name where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown processor"


def _network(filter: str, K: int, L: int, channels: int, protocol: Protocol, num_nodes: int) -> Network:
    name = filter.split(":")[0]
    options = {key: getattr(protocol, key) for key in ("mixing", "bias", "init", "kernel", *OPTIONS[name])}
    readout = FlattenReadout(num_nodes, num_classes(protocol))
    return Network(name, [1] + [channels] * L, K, readout, protocol.activation, **options)
