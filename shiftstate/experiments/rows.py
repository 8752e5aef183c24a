"""The form of a stored realization: its columns, and how they are written and read back as text."""

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shiftstate.experiments.config import RESULTS_VERSION, Realization
from shiftstate.experiments.realization import Outcome, Split

csv.field_size_limit(2**31 - 1)  # a long training has a long curve

COLUMNS: dict[str, tuple[str, type]] = {
    "id": ("TEXT PRIMARY KEY", str),
    "experiment": ("TEXT NOT NULL", str),
    "filter": ("TEXT NOT NULL", str),
    "K": ("INTEGER NOT NULL", int),
    "L": ("INTEGER NOT NULL", int),
    "author": ("TEXT", str),
    "graph": ("INTEGER NOT NULL", int),
    "draw": ("INTEGER NOT NULL", int),
    "seed": ("INTEGER NOT NULL", int),
    "accuracy_last": ("REAL NOT NULL", float),
    "accuracy_best": ("REAL NOT NULL", float),
    "best_epoch": ("INTEGER NOT NULL", int),
    "outcome": ("TEXT NOT NULL", str),
    "learning_rate": ("REAL NOT NULL", float),
    "channels": ("INTEGER NOT NULL", int),
    "parameters": ("INTEGER NOT NULL", int),
    "kernel": ("TEXT NOT NULL", str),
    "seconds": ("REAL NOT NULL", float),
    "finished_at": ("TEXT NOT NULL", str),
    "results_version": ("INTEGER NOT NULL", int),
    "versions": ("TEXT NOT NULL", str),
    "config": ("TEXT NOT NULL", str),
    "curve": ("TEXT NOT NULL", str),
}
"""Columns of the table `realizations` and of realizations.csv."""

RANGES = {"accuracy_last": 1.0, "accuracy_best": 1.0, "seconds": 1e9, "learning_rate": 1e300}
RANGES |= dict.fromkeys(("best_epoch", "channels", "parameters"), 2**53)
"""Numbers of a row end here; they begin at 0."""

OUTCOMES = ("finished", "diverged")

Values = dict[str, Any]
"""A row, by column."""


@dataclass(frozen=True)
class Row:
    """What the summary needs of a stored realization."""

    realization: Realization
    accuracy_last: float
    accuracy_best: float
    outcome: str
    seconds: float
    split: Split | None = None
    """Of an author's excerpts."""


def values_of(realization: Realization, outcome: Outcome) -> Values:
    """The row of a realization that has just finished."""
    fit = outcome.fit
    return {
        "id": realization.id,
        "experiment": realization.experiment,
        "filter": realization.filter,
        "K": realization.K,
        "L": realization.L,
        "author": realization.author,
        "graph": realization.graph,
        "draw": realization.draw,
        "seed": realization.protocol.seed,
        "accuracy_last": fit.accuracy_last,
        "accuracy_best": fit.accuracy_best,
        "best_epoch": fit.best_epoch,
        "outcome": fit.outcome,
        "learning_rate": outcome.learning_rate,
        "channels": outcome.channels,
        "parameters": outcome.parameters,
        "kernel": outcome.kernel,
        "seconds": round(outcome.seconds, 3),
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "results_version": RESULTS_VERSION,
        "versions": json.dumps(outcome.versions, sort_keys=True),
        "config": realization.to_json(),
        "curve": json.dumps(_curve(outcome), allow_nan=False),
    }


def curve_of(curve: str) -> dict[str, Any]:
    """What a stored curve says, epoch by epoch; a loss that was not finite is NaN."""
    return {
        name: [math.nan if value is None else value for value in values] if isinstance(values, list) else values
        for name, values in json.loads(curve).items()
    }


def split_of(curve: str) -> Split | None:
    """The split that a stored curve names, if it does."""
    try:
        found = json.loads(curve).get("split")
        return None if found is None else Split(**found)
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"a stored curve cannot be read ({error}); was it written by a newer shiftstate?") from None


def to_csv(rows: Iterable[tuple[Any, ...]]) -> str:
    """Rows, column by column in the order of `COLUMNS`, as text; `read_csv` reads it back."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows)
    return text.getvalue()


def read_csv(path: Path) -> list[Values]:
    """The rows of a realizations.csv, every one of them checked."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:  # Excel puts a mark in front
            reader = csv.DictReader(file, strict=True)
            lines = list(reader)
        if set(reader.fieldnames or ()) != set(COLUMNS):
            raise ValueError("its columns are not those of realizations.csv")
        rows = [_parse(number, line) for number, line in enumerate(lines, start=2)]
        first: dict[str, int] = {}
        for number, row in enumerate(rows, start=2):
            if first.setdefault(row["id"], number) != number:
                raise ValueError(f"line {number} repeats line {first[row['id']]}")
    except (OSError, UnicodeDecodeError, csv.Error, ValueError) as error:
        raise ValueError(f"{path} cannot be taken over: {error}; move it away to start anew") from None
    return rows


def _parse(number: int, line: Mapping[str, Any]) -> Values:
    try:
        if set(line) != set(COLUMNS):
            raise ValueError("it has more cells than there are columns")
        values: Values = {
            name: None if (name, line[name]) == ("author", "") else kind(line[name])
            for name, (_, kind) in COLUMNS.items()
        }
        realization = Realization.from_json(values["config"])
        dict(json.loads(values["versions"]))
        datetime.fromisoformat(values["finished_at"])
        for curve in ("loss", "valid_accuracy"):
            list(json.loads(values["curve"])[curve])
        split_of(values["curve"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"line {number} is not a realization ({error})") from None
    if values["results_version"] != RESULTS_VERSION:
        raise ValueError(f"line {number} has results version {values['results_version']}; expected {RESULTS_VERSION}")
    for name, most in RANGES.items():
        if not 0 <= values[name] <= most:  # NaN too
            raise ValueError(f"line {number} has {name} = {values[name]}; expected a number from 0 to {most:g}")
    if values["outcome"] not in OUTCOMES:
        raise ValueError(f"line {number} has the outcome {values['outcome']!r}; expected {' or '.join(OUTCOMES)}")
    axes = ("id", "experiment", "filter", "K", "L", "author", "graph", "draw")
    shown = {name: getattr(realization, name) for name in axes} | {"seed": realization.protocol.seed}
    if any(values[name] != shown[name] for name in shown):
        raise ValueError(f"line {number} says one thing and its configuration another")
    return values


def _curve(outcome: Outcome) -> dict[str, Any]:
    """Losses and validation accuracies, and the split where there is one."""
    fit = outcome.fit
    curve = {"loss": _short(fit.losses), "valid_accuracy": _short(fit.valid_accuracies)}
    return curve if outcome.split is None else {**curve, "split": asdict(outcome.split)}


def _short(numbers: Iterable[float]) -> list[float | None]:
    """Six digits; a loss that is not finite is null, as JSON has no NaN."""
    return [float(f"{number:.6g}") if math.isfinite(number) else None for number in numbers]
