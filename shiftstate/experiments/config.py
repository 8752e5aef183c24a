"""The configuration of an experiment: typed and frozen; unknown keys are refused; every result stores its own.

Settings come from a preset, then a user's TOML, then ``--set KEY=VALUE``; the later beats the earlier. In each of
them a key stands for all experiments and filters, ``[figure1]`` or ``[table1]`` narrows to one experiment and
``[gcnn]``, ``[rsn]`` or ``[lssm]`` to one filter.
"""

import hashlib
import json
import math
import tomllib
import typing
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any

from shiftstate.checks import check_name, check_whole
from shiftstate.filters.activations import ACTIVATIONS
from shiftstate.layers import LAYERS
from shiftstate.layers.base import INITS, KERNELS, MIXINGS
from shiftstate.training import SCHEDULES

RESULTS_VERSION = 1
"""Raised whenever a change of the code changes what a configuration gives."""

EXPERIMENTS = ("figure1", "table1")
PRESETS = ("smoke", "quick", "paper", "community", "tuned", "matched")
FILTERS = ("gcnn", "rsn", "lssm", "gcnn:rsn", "gcnn:lssm")
"""What ``filters`` may name; gcnn:rsn is a GCNN with as many parameters as the RSN."""


@dataclass(frozen=True)
class Protocol:
    """Everything that a training depends on beside its filter, K, L, graph and data draw."""

    block_sizes: tuple[int, ...] = (10, 10, 10, 10, 10)
    p: float = 0.8
    """Probability of an edge within a block."""
    q: float = 0.2
    """Probability of an edge between blocks."""
    source: str = "hub"
    standardize: bool = False
    max_time: int = 50
    num_samples: tuple[int, ...] = (10240, 2560, 2560)
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
    device: str = "cpu"
    seed: int = 0

    def __post_init__(self) -> None:
        choices: dict[str, Iterable[str]] = {
            "source": ("hub", "any"),
            "dtype": ("float32", "float64"),
            "match": ("filters", "network"),
            "mixing": MIXINGS,
            "init": INITS,
            "kernel": KERNELS,
            "schedule": SCHEDULES,
            **dict.fromkeys(("activation", "state_activation", "output_activation"), ACTIVATIONS),
        }
        for name, known in choices.items():
            check_name(name, getattr(self, name), known)
        for name in ("channels", "epochs", "batch_size"):
            check_whole(name, getattr(self, name), 1)
        for name in ("max_time", "seed"):
            check_whole(name, getattr(self, name), 0)
        for name, low, high in (("p", 0.0, 1.0), ("q", 0.0, 1.0), ("weight_decay", 0.0, 1.0), ("clip", 0.0, 1e9)):
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name} is {getattr(self, name)}; expected a number from {low:g} to {high:g}")
        if len(self.num_samples) != 3 or min(self.num_samples) < 1:
            raise ValueError(f"num_samples is {list(self.num_samples)}; expected three: training, validation, test")
        if not self.learning_rate or not all(0 < rate < math.inf for rate in self.learning_rate):
            raise ValueError(f"learning_rate is {list(self.learning_rate)}; expected one or more positive numbers")
        if len(self.block_sizes) < 2 or min(self.block_sizes) < 1:
            raise ValueError(f"block_sizes is {list(self.block_sizes)}; expected two or more positive whole numbers")


@dataclass(frozen=True)
class Grid:
    """Which realizations an experiment is made of."""

    filters: tuple[str, ...] = ("gcnn", "rsn", "lssm")
    K: tuple[int, ...] = (4,)
    L: tuple[int, ...] = (1,)
    graphs: int = 10
    draws: int = 10
    """Data draws on each graph."""

    def __post_init__(self) -> None:
        for name in self.filters:
            check_name("filter", name, FILTERS)
        for name, least in (("K", 0), ("L", 1)):
            for value in getattr(self, name):
                check_whole(name, value, least)
        for name in ("filters", "K", "L"):
            values = getattr(self, name)
            if not values or len(set(values)) < len(values):
                raise ValueError(f"{name} is {list(values)}; expected one or more different values")
        for name in ("graphs", "draws"):
            check_whole(name, getattr(self, name), 1)


@dataclass(frozen=True)
class Realization:
    """One training: this filter, on this graph, with this draw of the data."""

    experiment: str
    filter: str
    K: int
    L: int
    graph: int
    draw: int
    protocol: Protocol

    def to_json(self) -> str:
        """The complete configuration, keys sorted."""
        config = {**asdict(self), **asdict(self.protocol)}
        del config["protocol"]
        return json.dumps(config, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "Realization":
        """The inverse of `to_json`; keys that a newer version added are refused."""
        config = json.loads(text)
        axes = {field.name: config.pop(field.name) for field in fields(cls) if field.name != "protocol"}
        return cls(**axes, protocol=_build(Protocol, config))

    @property
    def id(self) -> str:
        """Its name in the store: the same for the same configuration under the same results version."""
        return hashlib.sha256(f"{RESULTS_VERSION} {self.to_json()}".encode()).hexdigest()[:16]

    @property
    def cell(self) -> tuple[str, str, int, int]:
        """What means are taken over: experiment, filter, K, L."""
        return self.experiment, self.filter, self.K, self.L

    def __str__(self) -> str:
        return f"{self.experiment} {self.filter} K={self.K} L={self.L} graph {self.graph} draw {self.draw}"


@dataclass(frozen=True)
class Preset:
    """Settings from all their sources, later ones winning, and how the preset reads the paper."""

    name: str
    reading: str
    sources: tuple[Mapping[str, Any], ...]

    def realizations(self, experiment: str) -> list[Realization]:
        """All realizations of an experiment: every cell's first, the costliest of them in front."""
        check_name("experiment", experiment, EXPERIMENTS)
        grid = _build(Grid, self._settings(Grid, experiment))
        protocols = {name: _build(Protocol, self._settings(Protocol, experiment, name)) for name in grid.filters}
        cells = [(name, K, L) for K in grid.K for L in grid.L for name in grid.filters]
        cells.sort(key=lambda cell: -cell[1] * cell[2])
        return [
            Realization(experiment, name, K, L, graph, draw, protocols[name])
            for draw in range(grid.draws)
            for graph in range(grid.graphs)
            for name, K, L in cells
        ]

    def _settings(self, kind: type, experiment: str, filter: str | None = None) -> dict[str, Any]:
        settings: dict[str, Any] = {}
        for source in self.sources:
            for section in (source, source.get(experiment, {}), source.get((filter or "").split(":")[0], {})):
                settings |= {key: value for key, value in section.items() if key in _types(kind)}
        return settings


def load_preset(name: str, config: Path | None = None, overrides: Iterable[str] = ()) -> Preset:
    """A preset of the package, a user's TOML over it, ``KEY=VALUE`` over both; every key and value is checked."""
    check_name("preset", name, PRESETS)
    text = resources.files("shiftstate.experiments").joinpath("presets", f"{name}.toml").read_text("utf-8")
    sources = [tomllib.loads(text)]
    if config is not None:
        sources.append(_read(config))
    sources += [_parse_override(text) for text in overrides]
    reading = str(sources[0].pop("reading"))
    for source in sources:
        _check_keys(source)
    preset = Preset(name, reading, tuple(sources))
    for experiment in EXPERIMENTS:
        preset.realizations(experiment)
    return preset


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}); expected a TOML file of settings") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not valid TOML: {error}") from None


def _parse_override(text: str) -> dict[str, Any]:
    key, equals, value = text.partition("=")
    section, dot, name = key.strip().rpartition(".")
    if not equals or not name:
        raise ValueError(f"--set was given {text!r}; expected KEY=VALUE, as in epochs=10 or figure1.K=[4,16]")
    try:
        parsed = tomllib.loads(f"value = {value.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value.strip()  # a bare word is a string
    return {section: {name: parsed}} if dot else {name: parsed}


def _types(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _check_keys(source: Mapping[str, Any]) -> None:
    keys = [*_types(Protocol), *_types(Grid)]
    for key, value in source.items():
        if isinstance(value, dict):
            known = keys if check_name("section", key, [*EXPERIMENTS, *LAYERS]) in EXPERIMENTS else _types(Protocol)
            for inner in value:
                check_name("setting", inner, known)
        else:
            check_name("setting", key, keys)


def _build(kind: type, settings: Mapping[str, Any]) -> Any:
    types = _types(kind)
    for key in settings:
        check_name("setting", key, types)
    return kind(**{key: _typed(key, value, types[key]) for key, value in settings.items()})


def _typed(key: str, value: Any, kind: Any) -> Any:
    """The value as this type, without guessing: a whole number may stand for a float, one value for a list of one."""
    if typing.get_origin(kind) is tuple:
        values = value if isinstance(value, list | tuple) else [value]
        return tuple(_typed(key, item, typing.get_args(kind)[0]) for item in values)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not kind:
        names = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}
        raise ValueError(f"{key} is {value!r}; expected {names[kind]}")
    return value
