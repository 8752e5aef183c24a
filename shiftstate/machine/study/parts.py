"""The parts of an experiment: what is measured, varied, counted, given by path, needed, and shown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from shiftstate.checks import check_name, check_whole
from shiftstate.machine.parsing import shown, typed
from shiftstate.machine.settings import Settings
from shiftstate.machine.trial import Trial, Value


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
    files: Callable[[Path], Sequence[Path]] = lambda path: [path]
    """Path → the files that the fingerprint is of, to name those that have changed."""


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
