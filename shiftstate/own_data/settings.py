"""What `shiftstate train` is asked for, checked before anything is read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from shiftstate.checks import check_name, check_seed, check_whole

TASKS = ("node-classification", "node-regression", "signal-classification", "signal-regression", "forecast")
MISSING = ("refuse", "mask", "interpolate", "zero=missing")
SEEDS = 3
"""Trainings of the kept model; with several splits one on each."""


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
    filters: tuple[str, ...] = ("gcnn",)
    K: tuple[int | None, ...] = (None,)
    seeds: int = 3
    random_state: int = 0
    epochs: int | None = None
    metric: str | None = None
    history: int = 12
    horizons: tuple[int, ...] = (1,)
    period: int | None = None
    missing: str = "refuse"
    options: dict[str, Any] = field(default_factory=dict)
    """Other arguments of the estimator."""

    def __post_init__(self) -> None:
        check_name("task", self.task, TASKS)
        check_name("missing", self.missing, MISSING)
        check_whole("seeds", self.seeds, 1)
        check_seed(self.random_state)
        needed = {"signals": self.signals} if not self.task.startswith("node") else {"nodes": self.nodes}
        if self.task != "forecast":
            needed["target"] = self.target  # type: ignore[assignment]
        for name, value in needed.items():
            if value is None:
                raise ValueError(f"--{name} is not given; expected it for --task {self.task}")
        if (
            len(self.fractions) != 3
            or not all(0 < one < 1 for one in self.fractions)
            or abs(sum(self.fractions) - 1) > 1e-6
        ):
            raise ValueError(
                f"fractions is {self.fractions}; expected three shares for train, valid and test: 0.6,0.2,0.2"
            )

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

    def same_as(self, text: str) -> bool:
        """Whether stored settings ask for the same."""
        try:
            return bool(json.loads(text) == json.loads(json.dumps(self.as_dict())))
        except ValueError:
            return False
