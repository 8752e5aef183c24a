"""Protocols: everything that a training depends on beside its filter, K, L, author, graph and data draw."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, get_args

import torch

from shiftstate.checks import check_name, check_whole
from shiftstate.datasets.authorship import SPLITS, TRANSFORMS
from shiftstate.datasets.source_localization import Source
from shiftstate.filters.activations import ACTIVATIONS
from shiftstate.layers.base import INITS, KERNELS, MIXINGS
from shiftstate.training import SCHEDULES


def _check_device(name: str) -> None:
    try:
        torch.device(name)
    except RuntimeError:
        raise ValueError(f"device is {name!r}; expected a device of torch, such as 'cpu' or 'cuda:0'") from None


@dataclass(frozen=True)
class Protocol:
    """What the experiments have in common: network and training."""

    DATA: ClassVar[tuple[str, ...]] = ("standardize", "dtype", "seed")
    """Settings that data depend on: the same for every filter of an experiment, as filters are compared in pairs."""

    standardize: bool = False
    dtype: str = "float32"
    channels: int = 4
    """F, of every layer."""
    match: str = "filters"
    """What a gcnn:rsn or gcnn:lssm has as many of: parameters of the "filters", or of the whole "network"."""
    mixing: str = "bank"
    bias: bool = False
    gate_bias: bool = False
    """LSSM only."""
    init: str = "paper"
    init_gain: float = 1.0
    """Factor on the initial weights of the filters; the readout keeps its own."""
    bias_init: str = "uniform"
    """Initial biases of the filters: "uniform", drawn from the same interval as the weights, or "zero"."""
    activation: str = "relu"
    state_activation: str = "relu"
    """RSN only."""
    output_activation: str = "relu"
    """RSN and LSSM."""
    kernel: str = "auto"
    epochs: int = 40
    batch_size: int = 100
    learning_rate: tuple[float, ...] = (0.001,)
    """Of several, each realization keeps the one with the best validation accuracy after the last epoch."""
    schedule: str = "constant"
    weight_decay: float = 0.0
    clip: float = 0.0
    """Largest norm of the gradient; 0 for none."""
    smoothing: float = 0.0
    """Share of each label that is spread over all classes."""
    device: str = "cpu"
    seed: int = 0

    def __post_init__(self) -> None:
        choices: dict[str, Iterable[str]] = {
            "dtype": ("float32", "float64"),
            "match": ("filters", "network"),
            "mixing": MIXINGS,
            "init": INITS,
            "bias_init": ("uniform", "zero"),
            "kernel": KERNELS,
            "schedule": SCHEDULES,
            **dict.fromkeys(("activation", "state_activation", "output_activation"), ACTIVATIONS),
        }
        for name, known in choices.items():
            check_name(name, getattr(self, name), known)
        for name in ("channels", "epochs", "batch_size"):
            check_whole(name, getattr(self, name), 1)
        if check_whole("seed", self.seed, 0) >= 2**63:
            raise ValueError(f"seed is {self.seed}; expected less than 2^63")
        _check_device(self.device)
        ranges = {"weight_decay": (0.0, 100.0), "clip": (0.0, 1e9), "smoothing": (0.0, 0.99), "init_gain": (0.0, 100.0)}
        self._check_ranges(ranges)
        self._check_positive("learning_rate")

    def other_data(self, other: "Protocol") -> str | None:
        """The first of the settings that data depend on in which the two differ."""
        return next((name for name in self.DATA if getattr(self, name) != getattr(other, name)), None)

    def _check_ranges(self, ranges: Mapping[str, tuple[float, float]]) -> None:
        for name, (low, high) in ranges.items():
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name} is {getattr(self, name)}; expected a number from {low:g} to {high:g}")

    def _check_positive(self, name: str) -> None:
        values = getattr(self, name)
        if not values or not all(0 < value < math.inf for value in values):
            raise ValueError(f"{name} is {list(values)}; expected one or more positive numbers")


@dataclass(frozen=True)
class SourceProtocol(Protocol):
    """Source localization: Figure 1 and Table 1."""

    DATA = (*Protocol.DATA, "block_sizes", "p", "q", "source", "max_time", "num_samples")

    block_sizes: tuple[int, ...] = (10, 10, 10, 10, 10)
    p: float = 0.8
    """Probability of an edge within a block."""
    q: float = 0.2
    """Probability of an edge between blocks."""
    source: str = "hub"
    max_time: int = 50
    num_samples: tuple[int, ...] = (10240, 2560, 2560)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name("source", self.source, get_args(Source))
        check_whole("max_time", self.max_time, 0)
        self._check_ranges({"p": (0.0, 1.0), "q": (0.0, 1.0)})
        if len(self.num_samples) != 3 or min(self.num_samples) < 1:
            raise ValueError(f"num_samples is {list(self.num_samples)}; expected three: training, validation, test")
        if self.batch_size > self.num_samples[0]:
            raise ValueError(
                f"batch_size is {self.batch_size}; expected at most {self.num_samples[0]}, the training samples"
            )
        if len(self.block_sizes) < 2 or min(self.block_sizes) < 1:
            raise ValueError(f"block_sizes is {list(self.block_sizes)}; expected two or more positive whole numbers")
        if self.q == 0:
            raise ValueError(f"q is {self.q}; expected more: blocks without an edge between them are never connected")


@dataclass(frozen=True)
class AuthorshipProtocol(Protocol):
    """Authorship attribution: Table 2."""

    DATA = (
        *Protocol.DATA,
        *("corpus", "words", "excerpt_length", "window", "decay", "split", "test", "valid", "outside", "kin"),
        "transform",
    )

    epochs: int = 25
    learning_rate: tuple[float, ...] = (0.005,)
    corpus: str = ""
    """Fingerprint of the texts: results of other texts have another name, wherever the texts lie."""
    words: str = ""
    """The list beside the texts, else the package's; or "package", or "auto:200" for the texts' most frequent."""
    excerpt_length: int = 1000
    window: int = 10
    decay: float = 0.8
    split: str = "excerpts"
    """What is held out for the test: "excerpts" of any book, or whole "books"."""
    test: float = 0.05
    """Share of the excerpts; of the "excerpts" split only, as a book has the size it has."""
    valid: float = 0.087
    """Share of what is not in the test."""
    outside: tuple[str, ...] = ("bronte", "allen_james_lane")
    """Authors in nobody's pool of others."""
    kin: tuple[str, ...] = ("bronte", "bronte_charlotte")
    """Authors that are not in each other's pools."""
    C: tuple[float, ...] = (0.001, 0.01, 0.1, 1.0, 10.0)
    """Of the logistic regression and the SVM; of several, each realization keeps the best on validation."""
    svm: str = "rbf"
    transform: str = "none"
    """Of the counts, for networks and baselines alike: "none", "sqrt" or "log"."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name("split", self.split, SPLITS)
        check_name("transform", self.transform, TRANSFORMS)
        check_name("svm", self.svm, ("rbf", "linear"))
        for name in ("excerpt_length", "window"):
            check_whole(name, getattr(self, name), 1)
        self._check_ranges({"test": (0.0, 0.9), "valid": (0.0, 0.9), "decay": (0.0, 1.0)})
        self._check_positive("C")
        if not re.fullmatch(r"|package|auto:[1-9]\d*", self.words):
            raise ValueError(f"words is {self.words!r}; expected 'package', 'auto:200', or nothing for the texts' own")
