"""The form of a stored result: its columns, and how they are written, read back and checked."""

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shiftstate.machine.parsing import check_number, parse_cell, parse_table, read_text, shown, typed
from shiftstate.machine.run import ENDINGS, Outcome
from shiftstate.machine.study import Study
from shiftstate.machine.trial import RESULTS_VERSION, Trial, parse_trial

NUMBERS = {"seconds": 1e9, "learning_rate": 1e300} | dict.fromkeys(("best_epoch", "channels", "parameters"), 2**53)
"""Numbers of a result end here; they begin at 0."""
PLAIN = re.compile(r'[^,"\n]*')
"""A cell of a CSV without quotes."""
SQL = {str: "TEXT NOT NULL", int: "INTEGER NOT NULL", float: "REAL NOT NULL"}

Values = dict[str, Any]
"""A result, by column."""


@dataclass(frozen=True)
class Result:
    """What the summary needs of a stored trial."""

    trial: Trial
    last: float
    best: float
    outcome: str
    seconds: float
    facts: Mapping[str, Any] | None = None
    """What statistics have to know of the data."""


class Columns:
    """The columns of a study: of the table `realizations` and of realizations.csv."""

    def __init__(self, study: Study) -> None:
        self.study = study
        unit, repetition = study.experiments[0].counts
        metric = study.metric.name
        self.scores = (f"{metric}_last", f"{metric}_best")
        self.valid = f"valid_{metric}"
        self.optional = tuple(
            axis.name for axis in study.axes if any(one.axis(axis.name) is None for one in study.experiments)
        )
        self.kinds: dict[str, type] = {
            "id": str,
            "experiment": str,
            **{axis.name: axis.kind for axis in study.axes},
            unit.column: int,
            repetition.column: int,
            "seed": int,
            **dict.fromkeys(self.scores, float),
            "best_epoch": int,
            "outcome": str,
            "learning_rate": float,
            "channels": int,
            "parameters": int,
            "kernel": str,
            "seconds": float,
            "finished_at": str,
            "results_version": int,
            "versions": str,
            "config": str,
            "curve": str,
        }
        self.order = ["experiment", *(axis.name for axis in study.axes), unit.column, repetition.column]

    def sql(self) -> str:
        """The columns as SQLite creates them."""
        special = {"id": "TEXT PRIMARY KEY", **{name: SQL[self.kinds[name]].split()[0] for name in self.optional}}
        return ", ".join(f'"{name}" {special.get(name, SQL[kind])}' for name, kind in self.kinds.items())

    def names(self) -> str:
        """The columns in a query."""
        return ", ".join(f'"{name}"' for name in self.kinds)

    def values(self, trial: Trial, outcome: Outcome) -> Values:
        """The result of a trial that has just finished."""
        curve = {"loss": _short(outcome.losses), self.valid: _short(outcome.valid_scores)}
        if outcome.facts is not None:
            curve["split"] = dict(outcome.facts)  # type: ignore[assignment]
        return {
            **self._said(trial),
            **dict(zip(self.scores, self._scores(outcome), strict=True)),
            "best_epoch": outcome.best_epoch,
            "outcome": outcome.ending,
            "learning_rate": outcome.chosen,
            "channels": outcome.channels,
            "parameters": outcome.parameters,
            "kernel": outcome.kernel,
            "seconds": round(outcome.seconds, 3),
            "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "results_version": RESULTS_VERSION,
            "versions": json.dumps(dict(outcome.versions), sort_keys=True),
            "config": trial.to_json(),
            "curve": json.dumps(curve, allow_nan=False),
        }

    def _scores(self, outcome: Outcome) -> tuple[float, float]:
        name = self.study.metric.name
        return outcome.last[name], outcome.best[name]

    def _said(self, trial: Trial) -> Values:
        """What the columns say of a configuration."""
        numbers = {trial.experiment.unit.column: trial.unit, trial.experiment.repetition.column: trial.repetition}
        return {"id": trial.id, **trial.cell.to_dict(), **numbers, "seed": trial.settings.data.seed}

    def result(self, values: Mapping[str, Any]) -> Result:
        """A stored row, every column of it checked."""
        for name, kind in self.kinds.items():
            if not (values[name] is None and name in self.optional):
                typed(name, values[name], kind)
        if values["results_version"] != RESULTS_VERSION:
            raise ValueError(f"results version {values['results_version']}; expected {RESULTS_VERSION}")
        trial = parse_trial(self.study, values["config"])
        said = self._said(trial)
        if any(values[name] != said[name] for name in said):
            raise ValueError("its columns say one thing and its configuration another")
        metric = self.study.metric
        for name, least, most in (
            *((name, metric.low, metric.high) for name in self.scores),
            *((name, 0, most) for name, most in NUMBERS.items()),
        ):
            check_number(name, values[name], least, most)
        if values["outcome"] not in ENDINGS:
            raise ValueError(f"the outcome {shown(values['outcome'])}; expected {' or '.join(ENDINGS)}")
        _parse_versions(values["versions"])
        _parse_time(values["finished_at"])
        curve = self.curve(values["curve"])
        last, best = (values[name] for name in self.scores)
        return Result(trial, last, best, values["outcome"], values["seconds"], curve.get("split"))

    def curve(self, text: object) -> dict[str, Any]:
        """What a stored curve says, epoch by epoch (a loss that was not finite is NaN), and the facts of the data."""
        curve = parse_table(text)
        for name in ("loss", self.valid):
            values = curve.get(name)
            if not isinstance(values, list):
                raise ValueError(f"the curve's {name} is {shown(values)}; expected a list of numbers")
            curve[name] = [math.nan if value is None else typed(name, value, float) for value in values]
        facts = curve.get("split")
        if facts is not None:
            if not isinstance(facts, dict):
                raise ValueError(f"the curve's split is {shown(facts)}; expected a table of whole numbers")
            for name, value in facts.items():
                if value is not None:
                    check_number(name, typed(name, value, int), 0, 2**53)
        return curve

    def record(self, values: Mapping[str, Any]) -> Values:
        """A stored row with configuration, versions and curve parsed."""
        self.result(values)
        parsed: dict[str, Callable[[object], Any]] = {"config": parse_table, "versions": parse_table}
        parsed["curve"] = self.curve
        return {**values, **{name: parse(values[name]) for name, parse in parsed.items()}}

    def to_csv(self, rows: Iterable[tuple[Any, ...]]) -> str:
        """Rows, column by column, as text; `read_csv` reads it back."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.kinds)
        writer.writerows(rows)
        return text.getvalue()

    def read_csv(self, path: Path) -> list[Values]:
        """The rows of a realizations.csv, every one of them checked."""
        try:
            names, lines = split_csv(read_text(path, "a realizations.csv", 2**31))
            if set(names) != set(self.kinds) or len(names) != len(self.kinds):
                raise ValueError(f"its columns are not those of {self.study.name}")
            rows = []
            first: dict[str, int] = {}
            for number, line in enumerate(lines, start=2):
                rows.append(self._parse(number, names, line))
                if first.setdefault(rows[-1]["id"], number) != number:
                    raise ValueError(f"line {number} repeats line {first[rows[-1]['id']]}")
        except ValueError as error:
            raise ValueError(f"{path} cannot be taken over: {error}; move it away to start anew") from None
        return rows

    def _parse(self, number: int, names: list[str], line: list[str]) -> Values:
        try:
            if len(line) != len(names):
                raise ValueError(f"{len(line)} cells; expected {len(names)}")
            texts = dict(zip(names, line, strict=True))
            values = {
                name: None if name in self.optional and texts[name] == "" else parse_cell(name, texts[name], kind)
                for name, kind in self.kinds.items()
            }
            self.result(values)
        except ValueError as error:
            raise ValueError(f"line {number} is not a result of {self.study.name} ({error})") from None
        return values


def split_csv(text: str) -> tuple[list[str], list[list[str]]]:
    """Header and lines of a CSV with cells of any length.

    Python's csv has one limit of a cell's length for the whole process, 131,072 characters, and a long training has a
    longer curve: so quoted cells are found here.
    """
    rows: list[list[str]] = []
    row: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == '"':
            cell, at = _quoted(text, at + 1)
        else:
            cell = PLAIN.match(text, at)[0]  # type: ignore[index]
            at += len(cell)
            cell = cell.rstrip("\r")
        row.append(cell)
        after = text[at : at + 1]
        if after not in ("", ",", "\n"):
            raise ValueError(
                f"line {len(rows) + 1} has {shown(after)} inside or after a cell; expected quotes around it"
            )
        at += 1
        if after != ",":
            rows.append(row)
            row = []
    if row:
        rows.append([*row, ""])
    if not rows:
        raise ValueError("it is empty")
    return rows[0], [one for one in rows[1:] if one != [""]]


def _quoted(text: str, at: int) -> tuple[str, int]:
    """The cell that begins at this place, after its quote, and the place after its other quote."""
    parts = []
    while True:
        end = text.find('"', at)
        if end < 0:
            raise ValueError("a quoted cell does not end")
        parts.append(text[at:end])
        if text[end + 1 : end + 2] != '"':
            after = end + 1
            return "".join(parts), after + (text[after : after + 2] == "\r\n")
        parts.append('"')
        at = end + 2


def _parse_versions(text: object) -> None:
    for name, value in parse_table(text).items():
        typed(name, value, str)


def _parse_time(text: str) -> None:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"finished_at is {shown(text)}; expected a time such as 2026-01-31T12:00:00+00:00") from None


def _short(numbers: Iterable[float]) -> list[float | None]:
    """Six digits; a loss that is not finite is null, as JSON has no NaN."""
    return [float(f"{number:.6g}") if math.isfinite(number) else None for number in numbers]
