"""What a study fills in. The machine runs, stores, judges, tabulates and draws any study by this, and knows no other.

A `Study` is one or more experiments whose results lie in the same columns. An `Experiment` is a grid of cells on named
axes; every cell is repeated over independent units (graphs, splits, boards), and over repetitions inside each unit.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from shiftstate.machine.settings import keys
from shiftstate.machine.study.experiment import Data, Experiment
from shiftstate.machine.study.parts import Axis, Count, Landmark, Measure, Picture, Requirement, Source
from shiftstate.machine.trial import Cell, Value

__all__ = [
    "Axis",
    "Count",
    "Data",
    "Experiment",
    "Landmark",
    "Measure",
    "Picture",
    "Requirement",
    "Source",
    "Study",
]


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
