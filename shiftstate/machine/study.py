"""What a study fills in. The machine runs, stores, judges, tabulates and draws any study by this, and knows no other.

A `Study` is one or more experiments whose results lie in the same columns. An `Experiment` is a grid of cells on named
axes; every cell is repeated over independent units (graphs, splits, boards), and over repetitions inside each unit.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from torch import nn

from shiftstate.checks import check_name, check_whole
from shiftstate.machine.parsing import shown, typed
from shiftstate.machine.settings import Settings, keys
from shiftstate.machine.trial import Cell, Trial, Value

Data = Any
"""Shift, train, valid and test; what a study's models and baselines are given."""


@dataclass(frozen=True)
class Measure:
    """What is measured on the test set; the stored columns are ``<name>_last`` and ``<name>_best``."""

    name: str
    title: str
    """In a sentence: "has the best accuracy"."""
    better: Literal["higher", "lower"] = "higher"
    low: float = 0.0
    high: float = 1.0
    scale: float = 100.0
    """Tables and figures show the value times this."""
    unit: str = "%"
    digits: int = 1

    @property
    def sign(self) -> int:
        """1 where higher is better, −1 where lower is."""
        return 1 if self.better == "higher" else -1

    def show(self, value: float | None, digits: int | None = None) -> str:
        """A value as tables show it, without its unit."""
        return "–" if value is None else f"{self.scale * value:.{self.digits if digits is None else digits}f}"


@dataclass(frozen=True)
class Axis:
    """A named axis of the cells, with the values that it has unless a preset or the user says otherwise."""

    name: str
    """In cells, stored columns and configurations."""
    values: tuple[Any, ...]
    kind: type = str
    key: str = ""
    """The setting that lists the values; the axis' name by default."""
    least: int | None = None
    """Smallest whole number, on an axis of whole numbers."""
    known: tuple[str, ...] | None = None
    """Names that it may have, on an axis of words; None for any."""
    absent: Value = None
    """The value of baselines, which have no place on this axis."""
    title: Callable[[Any], str] = str
    """How a value is shown where its place is named by it alone."""

    @property
    def setting(self) -> str:
        """The key that lists its values."""
        return self.key or self.name

    def parse(self, value: Any) -> Any:
        """The value, if the axis can have it."""
        parsed = typed(self.name, value, self.kind)
        if isinstance(parsed, str) and any(character < " " for character in parsed):
            raise ValueError(f"{self.name} is {shown(parsed)}; expected a name on one line")
        if self.known is not None:
            check_name(self.name, parsed, self.known)
        if self.least is not None:
            check_whole(self.name, parsed, self.least)
        return parsed


@dataclass(frozen=True)
class Count:
    """Units, or repetitions inside a unit: numbered from 0."""

    column: str
    """Of the store, and in configurations."""
    number: int = 1
    """How many, unless a preset or the user says otherwise."""
    key: str = ""
    """The setting that says how many; without one there is always this number, and nothing is said of it."""
    name: str = ""
    """In sentences; the column's by default."""

    @property
    def title(self) -> str:
        """What one of them is called."""
        return self.name or self.column


@dataclass(frozen=True)
class Source:
    """Data that are given by path: results know them by a fingerprint of their contents, not by the path."""

    option: str
    """Of the command line, such as ``--data``."""
    placeholder: str
    """What stands for the path in a recorded command."""
    missing: str
    """What to say if no path is given: what is needed, and where to get it."""
    setting: str
    """The key of the data group that holds the fingerprint."""
    fingerprint: Callable[[Path], str]
    prepare: Callable[[Path, Sequence[Trial], Path], Mapping[Path, bytes]]
    """Path, planned trials and directory of the results → files to put there for the workers; bad data raise here."""
    file: Callable[[Path, Settings], Path]
    """Directory of the results and settings → the prepared file."""
    holds: Callable[[Path, Trial], bool]
    """Whether a prepared file has what a trial needs."""
    adapt: Callable[[Path, Mapping[str, Any]], Mapping[str, Any]] = lambda path, design: {}
    """Path and the values on the axes by setting → those to take instead, where the data have others."""


@dataclass(frozen=True)
class Requirement:
    """A package of an extra, asked for before the first training."""

    module: str
    message: str
    """What needs it, how to install it, how to do without it."""


@dataclass(frozen=True)
class Landmark:
    """What a figure shows beside the results: a dashed line, and a sentence under the tables."""

    value: float
    title: str
    label: str
    """In the legend of the figure; may say more than the title."""
    sentence: str


@dataclass(frozen=True)
class Picture:
    """How an experiment is drawn: bars by place, one colour for each model."""

    variants: tuple[tuple[float, str], ...] = ((1.0, "mean ± standard deviation"),)
    """One panel each: the share of the standard deviation that error bars show, and the panel's heading."""
    width: float | None = None
    """Inches; by the number of panels if None."""
    kind: Literal["bars", "dots"] = "bars"
    """On the page: bars beside each other, or dots in lines, for many places."""


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
    repetition: Count = Count("repetition")
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
    picture: Picture = Picture()
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


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """Experiments whose results lie in the same columns, their presets, and what is claimed of them."""

    name: str
    experiments: tuple[Experiment, ...]
    presets: Mapping[str, Mapping[str, Any]]
    """By name, the smallest first: settings as in a TOML file, and under "reading" what the preset is."""
    claims: Callable[[Iterable[Cell], Mapping[str, str]], Sequence[Sequence[Any]]] = lambda cells, presets: ()
    """Cells that have results, and the preset of each experiment → families of claims; each has its own correction."""
    published: Mapping[Cell, tuple[float, float]] = field(default_factory=dict)
    """Mean and standard deviation that others have published."""
    published_by: str = "paper"
    reading: str = "The preset"
    """What the text of a preset is, where it is printed."""
    command: str = ""
    """What runs it, such as ``shiftstate reproduce``; the command for any study by default."""
    unit_word: Callable[[Iterable[str]], str] = lambda experiments: "units"
    """What the units of these experiments are called in the table of claims."""
    claims_note: Callable[[Iterable[str]], str] = lambda experiments: (
        "Effects are paired differences of the means of each unit, or of standard deviations with a jackknife over\n"
        "units; p is two-sided, after Holm's correction over the claims that could be tested; intervals are not\n"
        "corrected."
    )
    claims_about: str = (
        "What was claimed, and what these results say to it. Effects are paired differences of means, against the "
        "strongest rival if there are several; p is two-sided, after Holm's correction over the claims that could be "
        "tested; n counts units."
    )
    """What stands above the claims on the page."""
    extras: Callable[[Sequence[Any]], Mapping[str, str]] = lambda results: {}
    """Stored results (`shiftstate.machine.results.columns.Result`) → further files of its directory, by name."""
    names_metric: bool = True
    """Whether rows of summary.json name the metric."""
    origin: str = ""
    """Where the study was found: the path of its file, or the name of its module; `find_study` fills it in."""

    def __post_init__(self) -> None:
        for one in self.experiments:
            missing = {one.model, *one.place, *one.data_axes} - {axis.name for axis in one.axes}
            if missing:
                raise ValueError(f"{one.name} has no axis {sorted(missing)[0]!r}; expected one for every name it uses")
            if ("data", "seed") not in [(key.group, name) for name, key in keys(one.settings).items()]:
                raise ValueError(f"the settings of {one.name} have no data group with a seed; expected one")
            if (one.metric, *(count.column for count in one.counts)) != (self.metric, *self._columns):
                raise ValueError(f"{one.name} has another metric or columns than {self.names[0]}; expected the same")

    def __repr__(self) -> str:
        return f"Study({self.name!r})"

    def __getitem__(self, experiment: str) -> Experiment:
        return next(one for one in self.experiments if one.name == experiment)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the experiments."""
        return tuple(one.name for one in self.experiments)

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """Of all experiments, in the order of the stored columns."""
        return tuple({axis.name: axis for one in reversed(self.experiments) for axis in one.axes}[name]
                     for name in dict.fromkeys(axis.name for one in self.experiments for axis in one.axes))  # fmt: skip

    @property
    def metric(self) -> Measure:
        """What all its experiments measure."""
        return self.experiments[0].metric

    @property
    def _columns(self) -> tuple[str, str]:
        return self.experiments[0].unit.column, self.experiments[0].repetition.column

    @property
    def reference(self) -> str:
        """What another process finds the study by."""
        return self.origin or self.name

    def command_for(self, experiment: str) -> str:
        """What runs one experiment, without options."""
        return f"{self.command} {experiment}" if self.command else f"shiftstate study {self.reference}"

    def order(self, cell: Cell) -> tuple[Any, ...]:
        """Of cells in tables: by experiment and place, baselines after the models, then by the other axes."""
        experiment = self[cell.experiment]
        others = [axis.name for axis in experiment.axes if axis.name not in (*experiment.place, experiment.model)]
        return (
            cell.experiment,
            *(_rank(experiment.axis(name), cell[name]) for name in experiment.place),
            cell[experiment.model] in experiment.baselines,
            *(_rank(experiment.axis(name), cell[name]) for name in others),
            experiment.names.index(cell[experiment.model]),
        )


def _rank(axis: Axis | None, value: Value) -> tuple[Any, ...]:
    """Numbers by size; words in the order of the axis, then the others by name."""
    if axis is None or axis.kind is not str or value is None:
        return (value if value is not None else 0,)
    return (axis.values.index(value) if value in axis.values else len(axis.values), value)
