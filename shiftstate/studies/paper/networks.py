"""The networks of the paper: filters by name, L layers of them with one readout, and GCNNs of equal size."""

from dataclasses import dataclass
from typing import Any

import torch

from shiftstate.checks import check_whole
from shiftstate.filters.activations import ACTIVATIONS
from shiftstate.layers import LAYERS
from shiftstate.layers.options import INITS, KERNELS, MIXINGS
from shiftstate.machine.run import count_parameters, drawing
from shiftstate.machine.settings import Training, added, check_choices, check_range, check_seed
from shiftstate.machine.study import Data, Measure
from shiftstate.machine.trial import Cell, Trial
from shiftstate.network import Network
from shiftstate.readout import FlattenReadout

MATCHED = "gcnn"
"""The filter that there is in the size of every other: gcnn:rsn has as many parameters as the RSN."""
FILTERS = (*LAYERS, *(f"{MATCHED}:{name}" for name in LAYERS if name != MATCHED))
COLORS = {"gcnn": "#7f8c9b", "rsn": "#3b76b8", "lssm": "#c8553d", "gcnn:rsn": "#8fb4d9", "gcnn:lssm": "#e3a597"}
ACCURACY = Measure("accuracy", "accuracy")


@dataclass(frozen=True)
class Architecture:
    """The network, beside its filter, K and L."""

    channels: int = 4
    """F, of every layer."""
    match: str = "filters"
    """What a gcnn:rsn or gcnn:lssm has as many of: parameters of the "filters", or of the whole "network"."""
    mixing: str = "bank"
    bias: bool = False
    gate_bias: bool = False
    """LSSM only."""
    init: str = "paper"
    init_gain: float = added(1.0)
    """Factor on the initial weights of the filters; the readout keeps its own."""
    bias_init: str = added("uniform")
    """Initial biases of the filters: "uniform", drawn from the same interval as the weights, or "zero"."""
    activation: str = "relu"
    state_activation: str = "relu"
    """RSN only."""
    output_activation: str = "relu"
    """RSN and LSSM."""
    kernel: str = "auto"

    def __post_init__(self) -> None:
        check_choices(
            self,
            {
                "match": ("filters", "network"),
                "mixing": MIXINGS,
                "init": INITS,
                "bias_init": ("uniform", "zero"),
                "kernel": KERNELS,
                **dict.fromkeys(("activation", "state_activation", "output_activation"), ACTIVATIONS),
            },
        )
        check_whole("channels", self.channels, 1)
        check_range("init_gain", self.init_gain, 0.0, 100.0)


@dataclass(frozen=True)
class Signals:
    """What all data of the paper have in common; the groups of both experiments begin with it."""

    standardize: bool = False
    dtype: str = "float32"
    seed: int = 0

    def __post_init__(self) -> None:
        check_choices(self, {"dtype": ("float32", "float64")})
        check_seed(self.seed)


def build(trial: Trial, data: Data, channels: int | None = None) -> Network:
    """The network of a trial, for the graph of its data, drawn from its seed.

    Args:
        trial: its filter, K, L and settings.
        data: has the graph.
        channels: F; the settings' own, or that of equal size, by default.
    """
    nodes, classes = data.shift.num_nodes, num_classes(trial)
    F = matched_channels(trial, nodes) if channels is None else channels
    with drawing(trial.seed("weights", trial.unit, trial.repetition)):
        network = _network(trial.model.split(":")[0], F, trial, nodes, classes)
    architecture: Architecture = trial.settings.architecture
    with torch.no_grad():
        for name, weight in network.layers.named_parameters():
            own = name.split(".")[-1]
            if not own.startswith("b"):  # bias, b_f, …
                weight.mul_(architecture.init_gain)
            elif own == "bias" and architecture.bias_init == "zero":
                weight.zero_()
    return network.to(getattr(torch, trial.settings.data.dtype))


def matched_channels(trial: Trial, num_nodes: int) -> int:
    """F; for a gcnn:rsn or gcnn:lssm the F whose parameters come nearest to those of the RSN or LSSM."""
    architecture: Architecture = trial.settings.architecture
    if ":" not in trial.model:
        return architecture.channels

    def size(name: str, channels: int) -> int:
        with torch.device("meta"):  # nothing is drawn
            network = _network(name, channels, trial, num_nodes, num_classes(trial))
        return count_parameters(network.layers if architecture.match == "filters" else network)

    own, model = trial.model.split(":")
    goal = size(model, architecture.channels)
    channels = 1
    while size(own, channels) < goal:
        channels += 1
    return min((max(1, channels - 1), channels), key=lambda F: abs(size(own, F) - goal))


def num_classes(trial: Trial) -> int:
    """Classes to tell apart: as many as one over the chance of guessing."""
    chance = trial.experiment.chance(trial.settings)
    return round(1 / chance) if chance else 2


def fit_options(trial: Trial, data: Data) -> dict[str, Any]:
    """Late signals of one source are equal in float32: half of a batch repeats, and is filtered once on the CPU."""
    training: Training = trial.settings.training
    return {"share_equal": torch.device(training.device).type == "cpu"}


def cost(cell: Cell) -> float:
    """Shifts of a forward pass."""
    return float(cell["K"] * cell["L"])


def section(filter: str) -> str:
    """Of a preset: a GCNN of another size is a GCNN."""
    return filter.split(":")[0]


def richness(trial: Trial) -> tuple[int, int, int] | None:
    """What to look at first: the filter with the most gates, the largest K and L; nothing in a baseline."""
    order = list(LAYERS)  # from the simplest filter to the one with gates
    name = section(trial.model)
    return (order.index(name), trial["K"], trial["L"]) if name in order else None


def title(filter: str) -> str:
    """A filter's name in a sentence: gcnn:rsn is a GCNN of the RSN's size."""
    name, _, model = filter.partition(":")
    return f"{name.upper()} of the {model.upper()}'s size" if model else name.upper()


def _network(name: str, channels: int, trial: Trial, num_nodes: int, classes: int) -> Network:
    architecture: Architecture = trial.settings.architecture
    options = {key: value for key, value in vars(architecture).items() if key in LAYERS[name].option_names()}
    readout = FlattenReadout(num_nodes, classes)
    return Network(name, [1] + [channels] * trial["L"], trial["K"], readout, architecture.activation, **options)
