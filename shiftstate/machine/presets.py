"""Presets: settings from a study's preset, then a user's TOML, then ``--set KEY=VALUE``; the later beats the earlier.

In each of them a key stands for all experiments and models that know it; a section named after an experiment narrows to
that experiment, one named after a model to that model. A preset has the experiments that it has a section for, or the
only one of its study.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any

from shiftstate.checks import check_name
from shiftstate.machine.design import Design, design_keys
from shiftstate.machine.parsing import parse_override, parse_toml, read_text
from shiftstate.machine.settings import Settings, build, difference, flat, keys
from shiftstate.machine.study import Experiment, Study
from shiftstate.machine.trial import Cell, Trial

READING = "reading"
"""The key of a preset's text."""
MOST_SETTINGS = 1_000_000
"""Bytes of a file of settings."""
MOST_TRIALS = 1_000_000


@dataclass(frozen=True)
class Preset:
    """Settings from all their sources, later ones winning, and what the preset is."""

    study: Study
    name: str
    reading: str
    sources: tuple[Mapping[str, Any], ...]
    given: tuple[tuple[str, str], ...] = ()
    """Fingerprints of the data that are given by path, by setting."""
    adapted: tuple[tuple[str, Any], ...] = ()
    """Values on axes that the data have in place of the preset's, by setting."""

    @property
    def experiments(self) -> tuple[str, ...]:
        """Those that the preset has a section for."""
        names = self.study.names
        return names if len(names) == 1 else tuple(name for name in names if name in self.sources[0])

    def design(self, experiment: str) -> Design:
        """Axes, units and repetitions of an experiment."""
        known = self.study[check_name("experiment", experiment, self.study.names)]
        if experiment not in self.experiments:
            raise ValueError(f"preset {self.name!r} has no {experiment}; expected one of {', '.join(self.experiments)}")
        wanted = design_keys(known)
        adapted = {key: value for key, value in self.adapted if key in wanted}
        return Design.parse(known, {**self._gather(experiment, wanted), **adapted})

    def trials(self, experiment: str) -> list[Trial]:
        """All trials of an experiment: every cell's first, the costliest of them in front."""
        design = self.design(experiment)
        cells = design.cells(self.study)
        count = len(cells) * design.units * design.repetitions
        if count > MOST_TRIALS:
            raise ValueError(f"{experiment} has {count:,} trials; expected {MOST_TRIALS:,} at most")
        numbers = design.numbers()
        settings = self._settings_of(design.experiment, cells)
        _check_same_data(design.experiment, settings)
        return [Trial(self.study, cell, unit, number, settings[cell]) for unit, number in numbers for cell in cells]

    def on(self, path: Path) -> "Preset":
        """The preset for data that are given by this path: their fingerprint, and what they have on the axes."""
        given, adapted = dict(self.given), dict(self.adapted)
        for source, experiment in ((one.source, one) for one in self.study.experiments):
            if source is None or experiment.name not in self.experiments:
                continue
            given[source.setting] = source.fingerprint(path)
            chosen = {
                key for later in self.sources[1:] for part in (later, later.get(experiment.name, {})) for key in part
            }
            design = {key: value for key, value in self._axes(experiment).items() if key not in chosen}
            adapted |= source.adapt(path, design)
        return replace(self, given=tuple(given.items()), adapted=tuple(adapted.items()))

    def _axes(self, experiment: Experiment) -> dict[str, Any]:
        design = self.design(experiment.name)
        return {axis.setting: design.values[axis.name] for axis in experiment.axes}

    def _settings_of(self, experiment: Experiment, cells: Iterable[Cell]) -> dict[Cell, Settings]:
        """Built once for all cells with the same sections and settings of their own."""
        built: dict[Any, Settings] = {}
        found = {}
        for cell in cells:
            section = experiment.section(cell[experiment.model])
            own = experiment.overrides(cell)
            key = (section, repr(sorted(own.items())))
            if key not in built:
                known = keys(experiment.settings)
                gathered = self._gather(experiment.name, known, section)
                gathered |= {name: value for name, value in self.given if name in known}
                built[key] = build(experiment.settings, {**gathered, **own})
            found[cell] = built[key]
        return found

    def _gather(self, experiment: str, known: Iterable[str], section: str = "") -> dict[str, Any]:
        wanted = set(known)
        settings: dict[str, Any] = {}
        for source in self.sources:
            for part in (source, source.get(experiment, {}), source.get(section, {})):
                settings |= {key: value for key, value in part.items() if key in wanted}
        return settings


def load_preset(study: Study, name: str, config: Path | None = None, overrides: Iterable[str] = ()) -> Preset:
    """A preset of a study, a user's TOML over it, ``KEY=VALUE`` over both; every key and value is checked."""
    check_name("preset", name, study.presets)
    sources = [dict(study.presets[name])]
    if config is not None:
        sources.append(_read(config))
    sources += [parse_override(text) for text in overrides]
    reading = str(sources[0].pop(READING, ""))
    for source in sources:
        _check_keys(study, source)
    preset = Preset(study, name, reading, tuple(sources))
    for experiment in preset.experiments:
        preset.trials(experiment)
    return preset


def read_presets(package: str, names: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """The files presets/NAME.toml of a package, in this order."""
    folder = resources.files(package).joinpath("presets")
    return {name: parse_toml(folder.joinpath(f"{name}.toml").read_text("utf-8")) for name in names}


def _read(path: Path) -> dict[str, Any]:
    text = read_text(path, "a TOML file of settings", MOST_SETTINGS)
    try:
        return parse_toml(text)
    except ValueError as error:
        raise ValueError(f"{path} is not valid TOML: {error}") from None


def _check_keys(study: Study, source: Mapping[str, Any]) -> None:
    settings = [key for one in study.experiments for key in keys(one.settings)]
    known = {one.name: [*keys(one.settings), *design_keys(one)] for one in study.experiments}
    known |= {one.section(model): settings for one in study.experiments for model in one.models}
    everywhere = [*(key for keys_of in known.values() for key in keys_of)]
    for key, value in source.items():
        if isinstance(value, dict):
            section = known[check_name("section", key, known)]
            for inner in value:
                check_name("setting", inner, dict.fromkeys(section))
        else:
            check_name("setting", key, dict.fromkeys(everywhere))


def _check_same_data(experiment: Experiment, settings: Mapping[Cell, Settings]) -> None:
    def group(cell: Cell) -> str:
        return repr([cell[name] for name in experiment.data_axes])

    for _, cells in groupby(sorted(settings, key=group), key=group):
        first, *others = cells
        for cell in others:
            key = difference(settings[first], settings[cell], "data")
            if key is not None:
                ours, theirs = (flat(settings[one])[key] for one in (first, cell))
                names = [one[experiment.model] for one in (first, cell)]
                raise ValueError(
                    f"{experiment.name} has {key} = {ours} for {names[0]} and {theirs} for {names[1]}; expected one "
                    f"for all: {experiment.axis(experiment.model).setting} are compared on the same data"  # type: ignore[union-attr]
                )
