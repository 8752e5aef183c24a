"""The configuration of an experiment: typed and frozen; unknown keys are refused; every result stores its own.

Settings come from a preset, then a user's TOML, then ``--set KEY=VALUE``; the later beats the earlier. In each of
them a key stands for all experiments and filters that know it, ``[figure1]``, ``[table1]`` or ``[table2]`` narrows to
one experiment and ``[gcnn]``, ``[rsn]`` or ``[lssm]`` to one filter. A preset has the experiments it has a section for.
"""

import hashlib
import json
import tomllib
import typing
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from shiftstate.checks import check_name, check_whole
from shiftstate.experiments.grids import AuthorshipGrid, Grid, SourceGrid
from shiftstate.experiments.protocols import AuthorshipProtocol, Protocol, SourceProtocol
from shiftstate.layers import LAYERS

RESULTS_VERSION = 1
"""Raised whenever a change of the code changes what a configuration gives, beyond the rounding of single operations.

Rounding differs between processors as well; a training is sensitive to it, the mean of a cell is not."""

ADDED = {"smoothing": 0.0, "transform": "none", "init_gain": 1.0, "bias_init": "uniform"}
"""Settings younger than recorded results: a configuration names them only where they differ from this default."""

PRESETS = (
    *("smoke", "quick", "paper", "community", "tuned", "matched", "books"),
    *("library", "one_source", "baseline_bias"),
)


class Kind(NamedTuple):
    """What an experiment is configured by."""

    protocol: type[Protocol]
    grid: type[Grid]

    @property
    def needs_texts(self) -> bool:
        """Whether its data are texts, given by path."""
        return issubclass(self.protocol, AuthorshipProtocol)


EXPERIMENTS = {
    "figure1": Kind(SourceProtocol, SourceGrid),
    "table1": Kind(SourceProtocol, SourceGrid),
    "table2": Kind(AuthorshipProtocol, AuthorshipGrid),
}


class Cell(NamedTuple):
    """What means are taken over."""

    experiment: str
    filter: str
    K: int
    L: int
    author: str | None = None


@dataclass(frozen=True)
class Realization:
    """One training: this filter, on this graph, with this draw of the data; Table 2: on this split of an author."""

    experiment: str
    filter: str
    K: int
    L: int
    graph: int
    draw: int
    protocol: Protocol
    author: str | None = None

    def to_json(self) -> str:
        """The configuration, keys sorted; no author where there is none, nor `ADDED` settings at their default."""
        config = {**asdict(self), **asdict(self.protocol)}
        del config["protocol"]
        if self.author is None:
            del config["author"]
        said = {key: value for key, value in config.items() if key not in ADDED or value != ADDED[key]}
        return json.dumps(said, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "Realization":
        """The inverse of `to_json`; keys that a newer version added are refused."""
        config = json.loads(text)
        axes = {field.name: config.pop(field.name) for field in fields(cls) if field.name not in ("protocol", "author")}
        kind = EXPERIMENTS[check_name("experiment", axes["experiment"], EXPERIMENTS)].protocol
        author = config.pop("author", None)
        if (author is None) == issubclass(kind, AuthorshipProtocol):
            raise ValueError(f"author is {author!r}; expected one for experiments on texts, and none for others")
        for name in ("graph", "draw"):
            check_whole(name, axes[name], 0)
        return cls(**axes, protocol=_build(kind, config), author=author)

    @property
    def id(self) -> str:
        """Its name in the store: the same for the same configuration under the same results version."""
        return hashlib.sha256(f"{RESULTS_VERSION} {self.to_json()}".encode()).hexdigest()[:16]

    @property
    def cell(self) -> Cell:
        """What means are taken over: experiment, filter, K, L, author."""
        return Cell(self.experiment, self.filter, self.K, self.L, self.author)

    def __str__(self) -> str:
        if self.author is not None:
            return f"{self.experiment} {self.author} {self.filter} K={self.K} L={self.L} split {self.graph}"
        return f"{self.experiment} {self.filter} K={self.K} L={self.L} graph {self.graph} draw {self.draw}"


@dataclass(frozen=True)
class Preset:
    """Settings from all their sources, later ones winning, and how the preset reads the paper."""

    name: str
    reading: str
    sources: tuple[Mapping[str, Any], ...]
    corpus: str = ""
    """Fingerprint of the texts it is run on."""

    @property
    def experiments(self) -> tuple[str, ...]:
        """Those that the preset has a section for."""
        return tuple(name for name in EXPERIMENTS if name in self.sources[0])

    def realizations(self, experiment: str) -> list[Realization]:
        """All realizations of an experiment: every cell's first, the costliest of them in front."""
        kind = EXPERIMENTS[check_name("experiment", experiment, EXPERIMENTS)]
        if experiment not in self.experiments:
            raise ValueError(f"preset {self.name!r} has no {experiment}; expected one of {', '.join(self.experiments)}")
        grid = _build(kind.grid, self._settings(kind.grid, experiment))
        cells = grid.cells()
        protocols = {name: _build(kind.protocol, self._settings(kind.protocol, experiment, name)) for name, *_ in cells}
        _check_same_data(experiment, protocols)
        return [
            Realization(experiment, name, K, L, graph, draw, protocols[name], author)
            for graph, draw in grid.numbers()
            for name, K, L, author in cells
        ]

    def _settings(self, kind: type, experiment: str, filter: str | None = None) -> dict[str, Any]:
        settings: dict[str, Any] = {}
        for source in self.sources:
            for section in (source, source.get(experiment, {}), source.get((filter or "").split(":")[0], {})):
                settings |= {key: value for key, value in section.items() if key in _types(kind)}
        if self.corpus and "corpus" in _types(kind):
            settings["corpus"] = self.corpus
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
    for experiment in preset.experiments:
        preset.realizations(experiment)
    return preset


def _check_same_data(experiment: str, protocols: Mapping[str, Protocol]) -> None:
    first, *others = protocols
    for name in others:
        key = protocols[first].other_data(protocols[name])
        if key is not None:
            values = [getattr(protocols[one], key) for one in (first, name)]
            raise ValueError(
                f"{experiment} has {key} = {values[0]} for {first} and {values[1]} for {name}; expected one for all: "
                "filters are compared on the same data"
            )


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
        if parsed.startswith(("[", "{")):
            raise ValueError(
                f'--set was given {text!r}; expected a list as in K=[4,16] or filters=["gcnn","rsn"]: words in it need '
                "quotes, and all of it quotes for the shell"
            ) from None
    return {section: {name: parsed}} if dot else {name: parsed}


def _types(kind: type) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _check_keys(source: Mapping[str, Any]) -> None:
    protocols = [key for kind in EXPERIMENTS.values() for key in _types(kind.protocol)]
    known = {name: [*_types(kind.protocol), *_types(kind.grid)] for name, kind in EXPERIMENTS.items()}
    known |= dict.fromkeys(LAYERS, protocols)
    everywhere = [key for keys in known.values() for key in keys]
    for key, value in source.items():
        if isinstance(value, dict):
            section = known[check_name("section", key, known)]
            for inner in value:
                check_name("setting", inner, dict.fromkeys(section))
        else:
            check_name("setting", key, dict.fromkeys(everywhere))


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
