"""An experiment: a grid of cells on named axes, repeated over independent units, and over repetitions inside each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import nn

from shiftstate.checks import check_name
from shiftstate.machine.parsing import shown
from shiftstate.machine.settings import Settings
from shiftstate.machine.study.parts import Axis, Count, Landmark, Measure, Picture, Requirement, Source
from shiftstate.machine.trial import Cell, Trial, Value

Data = Any
"""Shift, train, valid and test; what a study's models and baselines are given."""


@dataclass(frozen=True, eq=False, repr=False)
class Experiment:
    """A grid of cells, their units and repetitions, their data, models and baselines."""

    name: str
    title: str
    settings: type
    """A frozen dataclass of groups: see `shiftstate.machine.settings`."""
    axes: tuple[Axis, ...]
    model: str
    """The axis that names the model: a colour in pictures."""
    place: tuple[str, ...]
    """The axes that say where a model stands in pictures: the x axis."""
    unit: Count
    """What is independent: statistics are taken over units."""
    metric: Measure
    data: Callable[[Trial, Path | None], Data]
    """Trial and prepared file → data; the same for every model of a unit and repetition."""
    models: Mapping[str, Callable[[Trial, Data], nn.Module]]
    """By name: builds the network that `fit` trains."""
    baselines: Mapping[str, Callable[[Trial, Data], Any]] = field(default_factory=dict)
    """By name: trains without `fit` and returns a `shiftstate.machine.run.Outcome`."""
    repetition: Count = field(default=Count("repetition"))
    task: Callable[[Trial, Data], Any] | None = None
    """The task of `fit`; None for its default."""
    options: Callable[[Trial, Data], Mapping[str, Any]] = lambda trial, data: {}
    """Further options of `fit`."""
    facts: Callable[[Data], Mapping[str, int | None] | None] = lambda data: None
    """What statistics have to know of the data: stored with the curve under "split"."""
    unit_of: Callable[[Trial, Mapping[str, Any] | None], tuple[int, int]] = lambda trial, facts: (
        trial.unit,
        trial.repetition,
    )
    """The unit of statistics and the number in it; the facts may name another unit than the trial's."""
    overlap: Callable[[Mapping[str, Any]], float] | None = None
    """Facts → n_test/n_train, where units are splits of one set; None where they are independent."""
    source: Source | None = None
    requires: Callable[[Sequence[Trial]], Iterable[Requirement]] = lambda trials: ()
    overrides: Callable[[Cell], Mapping[str, Any]] = lambda cell: {}
    """Settings that a cell brings along; they win over all others."""
    data_axes: tuple[str, ...] = ()
    """Axes along which the data may differ; cells that differ on others only are compared on the same data."""
    cost: Callable[[Cell], float] = lambda cell: 0.0
    """The costliest cells are run first."""
    section: Callable[[str], str] = lambda model: model
    """The section of a preset that holds for a model."""
    chance: Callable[[Settings], float | None] = lambda settings: None
    """The score of guessing: a thin line in pictures."""
    landmarks: Callable[[Sequence[Trial]], Sequence[Landmark]] = lambda trials: ()
    picture: Picture = field(default=Picture())
    table: str = "experiment"
    """Heading of the first column; experiments with the same heading share a table."""
    note: str = ""
    """What stands under its table."""
    about: str = ""
    """What it is, on the page."""
    remarks: tuple[str, ...] = ()
    """Sentences under its chart on the page."""
    interval_unit: str = ""
    """What intervals are taken over, in words; the unit by default."""
    lens: Callable[[Trial], Any] = lambda trial: None
    """Which trials can be inspected, and the largest is taken first; None for those that cannot."""
    model_titles: Callable[[str], str] = str
    colors: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Experiment({self.name!r})"

    @property
    def counts(self) -> tuple[Count, Count]:
        """Unit and repetition."""
        return self.unit, self.repetition

    def axis(self, name: str) -> Axis | None:
        """The axis of this name, if the experiment has it."""
        return next((axis for axis in self.axes if axis.name == name), None)

    def parse(self, name: str, value: Any, model: object = None) -> Value:
        """A value of a stored configuration on an axis of the study.

        Args:
            name: of the axis.
            value: what is stored; None if nothing is.
            model: of the same configuration: a baseline may be absent from an axis.
        """
        axis = self.axis(name)
        if axis is None:
            if value is not None:
                raise ValueError(f"{name} is {shown(value)}; expected none in {self.name}")
            return None
        if name == self.model:
            return check_name(name, value, self.names)
        baseline = isinstance(model, str) and model in self.baselines
        if baseline and value == axis.absent and type(value) is type(axis.absent):
            return axis.absent
        parsed: Value = axis.parse(value)
        return parsed

    def lacks(self, cell: Cell, name: str) -> bool:
        """Whether a cell has no place on an axis: as a baseline, or as a cell of another experiment."""
        axis = self.axis(name)
        return axis is None or (cell[self.model] in self.baselines and cell[name] == axis.absent)

    def place_of(self, cell: Cell) -> tuple[Value, ...]:
        """Where a cell stands in pictures."""
        return tuple(cell[name] for name in self.place)

    @property
    def names(self) -> tuple[str, ...]:
        """Models, then baselines."""
        return (*self.models, *self.baselines)
