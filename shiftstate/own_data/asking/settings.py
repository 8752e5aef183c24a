"""What `shiftstate train` is asked for, checked before anything is read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from shiftstate.checks import check_name, check_seed, check_whole

TASKS = ("node-classification", "node-regression", "signal-classification", "signal-regression", "forecast")
MISSING = ("refuse", "mask", "interpolate", "zero=missing")
FILES = ("edges", "nodes", "features", "signals", "targets")
"""Settings that name a file of data."""
LARGEST_SEED = 2**32 - 1
"""That scikit-learn takes."""
JOINS = ("name", "position")
HEADERS = {"yes": True, "no": False}
SEEDS = 3
"""Trainings of the kept model; with several splits one on each."""


def header_of(word: str | None) -> bool | None:
    """What --header says; None if it is to be guessed."""
    return None if word is None else HEADERS[check_name("header", word, HEADERS)]


@dataclass(frozen=True)
class TrainSettings:
    """Files, columns and choices of one training."""

    task: str
    edges: Path
    out: Path
    nodes: Path | None = None
    features: Path | None = None
    signals: Path | None = None
    target: str | None = None
    targets: Path | None = None
    """A table with a row per signal, where the signals stand in a matrix."""
    split: tuple[str, ...] = ()
    """Columns that say train, valid or test; with several all is done for each."""
    groups: str | None = None
    """Rows that are alike here stay together in a random split."""
    name: str | None = None
    """The column of node names in the table of nodes; the first by default."""
    source: str | None = None
    destination: str | None = None
    weight: str | None = None
    directed: bool = False
    fractions: tuple[float, ...] = (0.6, 0.2, 0.2)
    """Train, valid and test, where no column tells; for forecasts the last is the share of the last times."""
    filter: tuple[str, ...] = ("gcnn",)
    K: tuple[int | None, ...] = (None,)
    seeds: int | None = None
    seed: int = 0
    epochs: int | None = None
    metric: str | None = None
    history: int = 12
    horizons: tuple[int, ...] = (1,)
    period: int | None = None
    missing: str = "refuse"
    header: str | None = None
    """Whether the first line of an edge list in a text file holds names: yes or no; guessed by default."""
    join: str = "name"
    """Position joins features and matrices whose names are not those of the nodes."""
    keep_na: bool = False
    """Whether NA, NaN, null and their like are classes; otherwise such a target is unknown."""
    options: dict[str, Any] = field(default_factory=dict)
    """Other arguments of the estimator."""

    def __post_init__(self) -> None:
        check_name("task", self.task, TASKS)
        check_name("missing", self.missing, MISSING)
        check_name("join", self.join, JOINS)
        header_of(self.header)
        if self.seeds is not None:
            check_whole("seeds", self.seeds, 1)
        check_seed(self.seed)
        if self.seed + self.seed_count() - 1 > LARGEST_SEED:
            raise ValueError(f"seed is {self.seed}; expected seeds of {LARGEST_SEED:,} at most")
        needed: dict[str, Any] = {"signals": self.signals}
        if self.task.startswith("node"):
            needed = {"nodes": self.nodes}
        if self.task != "forecast":
            needed["target"] = self.target
        for name, value in needed.items():
            if value is None:
                raise ValueError(f"--{name} is not given; expected it for --task {self.task}")
        shares = [one for one in self.fractions if 0 < one < 1]
        if len(shares) != 3 or len(self.fractions) != 3 or abs(sum(shares) - 1) > 1e-6:
            raise ValueError(
                f"fractions is {self.fractions}; expected three shares for train, valid and test: 0.6,0.2,0.2"
            )
        for name in ("filter", "K", "horizons", "split"):
            given = getattr(self, name)
            if not given and name != "split":
                raise ValueError(f"--{name} names nothing; expected one or more, with commas between")
            if len(set(given)) < len(given):
                raise ValueError(f"--{name} names {given} with something twice; expected different ones")
        if self.split and self.groups is not None:
            raise ValueError("--split and --groups are both given; expected one of them")

    @property
    def random_state(self) -> int:
        """Of a random split."""
        return self.seed

    def absolute(self) -> TrainSettings:
        """The same with absolute paths: workers may start elsewhere."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        paths: dict[str, Any] = {name: one.absolute() for name, one in values.items() if isinstance(one, Path)}
        return replace(self, **paths)

    def splits(self) -> list[TrainSettings]:
        """The same for each split by itself."""
        return [replace(self, split=(one,)) for one in self.split] if self.split else [self]

    def seed_numbers(self) -> range:
        """Of the trainings of the kept model."""
        return range(self.seed, self.seed + self.seed_count())

    def seed_count(self) -> int:
        """How many trainings of the kept model."""
        return self.seeds if self.seeds is not None else 1 if len(self.split) > 1 else SEEDS

    def files(self) -> dict[str, Path]:
        """The files of data, by setting."""
        return {name: path for name in FILES if (path := getattr(self, name)) is not None}

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON; files by their absolute paths."""
        described = asdict(self)
        for one in fields(self):
            value = described[one.name]
            if isinstance(value, Path):
                described[one.name] = str(value.absolute())
            elif isinstance(value, tuple):
                described[one.name] = list(value)
        return described

    def differs_from(self, stored: Mapping[str, Any], same: Collection[str] = ()) -> list[str]:
        """What stored settings say differently, by name; ``out`` does not count, as directories are moved.

        Args:
            stored: settings as `as_dict` gives them.
            same: files of data whose content is known to be the same: these may lie elsewhere.
        """
        own = self.as_dict()
        usual = {one.name: one.default for one in fields(self)}  # of keys that older runs do not have
        names = [name for name in own if name != "out" and stored.get(name, usual[name]) != own[name]]
        return [name for name in names if name not in same or _ending(stored.get(name)) != _ending(own[name])]


def _ending(path: Any) -> str:
    """It says how a file is read."""
    return Path(path).suffix.lower() if isinstance(path, str) else ""
