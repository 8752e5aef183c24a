"""A trial: one training, named by its configuration; and the cell whose mean it is part of."""

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shiftstate.checks import check_name, check_whole
from shiftstate.machine.parsing import parse_table, typed
from shiftstate.machine.settings import Settings, build, said

if TYPE_CHECKING:
    from shiftstate.machine.study import Experiment, Study

RESULTS_VERSION = 1
"""Raised whenever a change of the code changes what a configuration gives, beyond the rounding of single operations.

Rounding differs between processors as well; a training is sensitive to it, the mean of a cell is not."""

Value = str | int | float | None
"""Of a cell on an axis; None where the axis is another experiment's."""

STREAMS = ("unit", "data", "weights", "batches", "noise")
"""What random numbers are drawn for, each independently of the others."""


@dataclass(frozen=True)
class Cell:
    """What means are taken over: an experiment, and a value on every axis of its study."""

    experiment: str
    values: tuple[tuple[str, Value], ...]

    @classmethod
    def of(cls, experiment: str, **values: Value) -> "Cell":
        """A cell by the names of its axes, in their order."""
        return cls(experiment, tuple(values.items()))

    def __getitem__(self, axis: str) -> Any:
        for name, value in self.values:
            if name == axis:
                return value
        raise KeyError(axis)

    def at(self, **values: Value) -> "Cell":
        """The cell beside this one, with other values on some axes."""
        return Cell(self.experiment, tuple((name, values.get(name, value)) for name, value in self.values))

    def to_dict(self) -> dict[str, Value]:
        """Experiment and axes, by name."""
        return {"experiment": self.experiment, **dict(self.values)}


@dataclass(frozen=True)
class Trial:
    """One training: the model of this cell, on this unit, in this repetition, with these settings."""

    study: "Study"
    cell: Cell
    unit: int
    repetition: int
    settings: Settings

    @property
    def experiment(self) -> "Experiment":
        """What it belongs to."""
        return self.study[self.cell.experiment]

    @property
    def model(self) -> str:
        """The name of its model or baseline."""
        name: str = self.cell[self.experiment.model]
        return name

    def __getitem__(self, axis: str) -> Any:
        return self.cell[axis]

    def seed(self, purpose: str, *numbers: int) -> int:
        """An independent seed for each purpose and numbers; for weights and batches by unit and repetition."""
        stream = STREAMS.index(check_name("purpose", purpose, STREAMS))
        return int(np.random.SeedSequence((self.settings.data.seed, stream, *numbers)).generate_state(1)[0])

    def to_json(self) -> str:
        """The configuration, keys sorted; no axis that has no value, nor `added` settings at their default."""
        return json.dumps(self._config(), sort_keys=True)

    def _config(self) -> dict[str, Any]:
        axes = {name: value for name, value in self.cell.to_dict().items() if value is not None}
        numbers = {self.experiment.unit.column: self.unit, self.experiment.repetition.column: self.repetition}
        return {**axes, **numbers, **said(self.settings)}

    @property
    def id(self) -> str:
        """Its name in the store: the same for the same configuration under the same results version."""
        return hashlib.sha256(f"{RESULTS_VERSION} {self.to_json()}".encode()).hexdigest()[:16]

    def __str__(self) -> str:
        experiment = self.experiment
        axes = [axis for axis in experiment.axes if axis.name != experiment.model]
        words = [str(self[axis.name]) for axis in axes if axis.kind is str]
        numbers = [f"{axis.name}={self[axis.name]}" for axis in axes if axis.kind is not str]
        places = [f"{experiment.unit.title} {self.unit}"]
        if experiment.repetition.key:
            places.append(f"{experiment.repetition.title} {self.repetition}")
        return " ".join([experiment.name, *words, self.model, *numbers, *places])

    def __reduce__(self) -> tuple[Any, ...]:
        """A worker is handed the configuration, and finds the study by itself."""
        return _revive, (self.study.reference, self.to_json())


def parse_trial(study: "Study", text: object) -> Trial:
    """The inverse of `Trial.to_json`, for whatever a store or a file holds: types, ranges and names are checked."""
    config = parse_table(text)
    experiment = study[check_name("experiment", config.pop("experiment", None), study.names)]
    model = config.get(experiment.model)
    cell = {axis.name: experiment.parse(axis.name, config.pop(axis.name, None), model) for axis in study.axes}
    unit, repetition = (_number(count.column, config.pop(count.column, None)) for count in experiment.counts)
    settings: Settings = build(experiment.settings, config)
    return Trial(study, Cell.of(experiment.name, **cell), unit, repetition, settings)


def _number(name: str, value: object) -> int:
    """Of a unit or a repetition."""
    number: int = typed(name, value, int)
    return check_whole(name, number, 0)


def _revive(reference: str, text: str) -> Trial:
    from shiftstate.machine.registry import find_study  # a study imports this module

    return parse_trial(find_study(reference), text)
