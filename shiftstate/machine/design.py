"""The design of an experiment: which values its axes have, how many units and repetitions, and so which trials."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from shiftstate.checks import check_name, check_whole
from shiftstate.machine.parsing import typed
from shiftstate.machine.study import Axis, Experiment, Study
from shiftstate.machine.trial import Cell

BASELINES = "baselines"
"""The setting that lists the baselines, of experiments that have some."""


def design_keys(experiment: Experiment) -> list[str]:
    """The settings that a design is made of."""
    counts = [count.key for count in experiment.counts if count.key]
    return [*(axis.setting for axis in experiment.axes), *([BASELINES] if experiment.baselines else []), *counts]


@dataclass(frozen=True)
class Design:
    """The cells of an experiment, and how often each is repeated."""

    experiment: Experiment
    values: Mapping[str, tuple[Any, ...]]
    """By axis."""
    baselines: tuple[str, ...]
    units: int
    repetitions: int

    @classmethod
    def parse(cls, experiment: Experiment, settings: Mapping[str, Any]) -> "Design":
        """Checked, from the settings that `design_keys` names."""
        values = {
            axis.name: _values(experiment, axis, settings.get(axis.setting, axis.values)) for axis in experiment.axes
        }
        baselines = typed(BASELINES, settings.get(BASELINES, tuple(experiment.baselines)), tuple[str, ...])
        for name in baselines:
            check_name("baseline", name, experiment.baselines)
        _check_different(BASELINES, baselines, least=0)
        counts = [
            check_whole(count.key, typed(count.key, settings.get(count.key, count.number), int), 1)
            for count in experiment.counts
        ]
        return cls(experiment, values, baselines, *counts)

    def cells(self, study: Study) -> list[Cell]:
        """All cells: the costliest in front, the baselines last."""
        model = self.experiment.model
        numbers = [axis.name for axis in self.experiment.axes if axis.kind is not str]
        words = [axis.name for axis in self.experiment.axes if axis.kind is str and axis.name != model]
        nothing = {axis.name: None for axis in study.axes}
        networks = [
            Cell.of(self.experiment.name, **{**nothing, **dict(zip([*numbers, model, *words], values, strict=True))})
            for values in product(*(self.values[name] for name in (*numbers, model, *words)))
        ]
        absent = {axis.name: axis.absent for axis in self.experiment.axes}
        others = [
            Cell.of(self.experiment.name, **{**nothing, **absent, **dict(zip([model, *words], values, strict=True))})
            for values in product(self.baselines, *(self.values[name] for name in words))
        ]
        return [*sorted(networks, key=lambda cell: -self.experiment.cost(cell)), *others]

    def numbers(self) -> list[tuple[int, int]]:
        """Unit and repetition of the trials of every cell: each unit's first repetition comes first."""
        return [(unit, number) for number in range(self.repetitions) for unit in range(self.units)]


def _values(experiment: Experiment, axis: Axis, given: Any) -> tuple[Any, ...]:
    values: tuple[Any, ...] = typed(axis.setting, given, tuple[axis.kind, ...])  # type: ignore[name-defined]
    for value in values:
        if axis.name == experiment.model:
            check_name(axis.name, value, experiment.models)
        axis.parse(value)
    _check_different(axis.setting, values)
    return values


def _check_different(name: str, values: tuple[object, ...], least: int = 1) -> None:
    if len(values) < least or len(set(values)) < len(values):
        raise ValueError(f"{name} is {list(values)}; expected one or more different values")
