"""The store: one SQLite row for every finished realization, committed as it finishes."""

import csv
import io
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
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


class Store:
    """The results of one directory, in ``results.sqlite``; opened as a context.

    Every write is one transaction that has reached the disk when `add` returns: whatever happens afterwards,
    the realization is there; whatever happens before, it is not, and nothing else is touched.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.path = directory / "results.sqlite"
        self._database = sqlite3.connect(self.path)
        try:
            self._database.execute("PRAGMA synchronous = FULL")
            self._check_whole()
            columns = ", ".join(f"{name} {kind}" for name, (kind, _) in COLUMNS.items())
            with self._database:
                self._database.execute(f"CREATE TABLE IF NOT EXISTS realizations ({columns})")
            self._check_columns()
        except sqlite3.DatabaseError as error:
            self._database.close()
            raise self._damaged(error) from error
        except ValueError:
            self._database.close()
            raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def add(self, realization: Realization, outcome: Outcome) -> None:
        """Commit one finished realization."""
        fit = outcome.fit
        values: dict[str, Any] = {
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
            "curve": json.dumps(_curve(outcome)),
        }
        self._insert([values])

    def rows(self) -> list[Row]:
        """All that is stored, in the order of the experiments' cells."""
        query = (
            "SELECT config, accuracy_last, accuracy_best, outcome, seconds, curve, results_version FROM realizations"
        )
        rows = []
        for config, last, best, outcome, seconds, curve, version in self._read(query):
            if version != RESULTS_VERSION:
                raise ValueError(
                    f"{self.path} holds results of version {version}; expected {RESULTS_VERSION}: the code has changed "
                    "what a configuration gives; choose another --out"
                )
            rows.append(Row(self._realization(config), last, best, outcome, seconds, _split(curve)))
        key = [(*row.realization.cell, row.realization.graph, row.realization.draw) for row in rows]
        return [row for _, row in sorted(zip(key, rows, strict=True), key=lambda pair: pair[0])]

    def missing(self, planned: Iterable[Realization]) -> list[Realization]:
        """Those that are not stored yet; refuses a plan that does not belong to what is stored."""
        stored = [row.realization for row in self.rows()]
        self._check_belong(stored, planned)
        finished = set(stored)
        return [realization for realization in planned if realization not in finished]

    def provenance(self) -> dict[str, Any]:
        """With what, when, and in how much time the stored results were made."""
        query = "SELECT versions, kernel, seconds, finished_at FROM realizations"
        rows = self._read(query)
        versions, kernels, seconds, times = ([row[column] for row in rows] for column in range(4))
        return {
            "realizations": len(seconds),
            "training_hours": round(sum(seconds) / 3600, 3),
            "first_finished": min(times, default=None),
            "last_finished": max(times, default=None),
            "results_version": RESULTS_VERSION,
            "kernels": dict(sorted(Counter(kernels).items())),
            "versions": [json.loads(one) for one in sorted(set(versions))],
        }

    def records(self) -> list[dict[str, Any]]:
        """Everything that is stored, column by name, with configuration, versions and curve parsed."""
        rows = self._read(f"SELECT {', '.join(COLUMNS)} FROM realizations ORDER BY finished_at, id")
        records = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
        try:
            return [one | {name: json.loads(one[name]) for name in ("config", "versions", "curve")} for one in records]
        except ValueError as error:
            raise ValueError(f"{self.path} holds a row that is not JSON ({error}); was it changed by hand?") from None

    def versions(self, realization: Realization) -> dict[str, str]:
        """With what this realization was made; empty if it is not stored."""
        rows = self._read("SELECT config, versions FROM realizations")
        found = next((text for config, text in rows if config == realization.to_json()), "{}")
        known: dict[str, str] = json.loads(found)
        return known

    def to_csv(self) -> str:
        """Everything that is stored, one line for every realization; `import_csv` reads it back."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        order = "experiment, filter, K, L, author, graph, draw"
        writer.writerows(self._read(f"SELECT {', '.join(COLUMNS)} FROM realizations ORDER BY {order}"))
        return text.getvalue()

    def import_csv(self, path: Path, planned: Iterable[Realization] = ()) -> int:
        """Take over what a realizations.csv holds and the store does not; return how many that were.

        Nothing is taken over from a file that does not belong to the plan.
        """
        try:
            with path.open(encoding="utf-8", newline="") as file:
                lines = list(csv.DictReader(file, strict=True))
            if not lines or set(lines[0]) != set(COLUMNS):
                raise ValueError("its columns are not those of realizations.csv")
            values = [_parse(number, line) for number, line in enumerate(lines, start=2)]
        except (OSError, UnicodeDecodeError, csv.Error, ValueError) as error:
            raise ValueError(f"{path} cannot be taken over: {error}; move it away to start anew") from None
        known = {row.realization for row in self.rows()}
        new = [one for one in values if self._realization(one["config"]) not in known]
        self._check_belong([self._realization(one["config"]) for one in new], planned)
        self._insert(new)
        return len(new)

    def _check_belong(self, stored: Iterable[Realization], planned: Iterable[Realization]) -> None:
        """Refuse two configurations in one cell, and cells of one experiment that have seen other data."""
        cells = {one.cell: one.protocol for one in stored}
        experiments = {one.experiment: one.protocol for one in stored}
        for one in planned:
            ours = one.protocol
            name = None
            if (there := cells.get(one.cell)) not in (None, ours):
                name = next(name for name in vars(there) if getattr(there, name) != getattr(ours, name))
            elif (there := experiments.get(one.experiment)) is not None:
                name = ours.other_data(there)
            if name is not None:
                raise ValueError(
                    f"{self.directory} holds {one.experiment} {one.filter} with {name} = {getattr(there, name)}, and "
                    f"this run has {getattr(ours, name)}; expected one configuration in a directory: "
                    "choose another --out"
                )

    def _insert(self, rows: list[dict[str, Any]]) -> None:
        names = ", ".join(COLUMNS)
        places = ", ".join(f":{name}" for name in COLUMNS)
        with self._database:
            self._database.executemany(f"INSERT OR REPLACE INTO realizations ({names}) VALUES ({places})", rows)

    def _read(self, query: str) -> list[tuple[Any, ...]]:
        try:
            with closing(self._database.execute(query)) as cursor:
                return cursor.fetchall()
        except sqlite3.DatabaseError as error:
            raise self._damaged(error) from error

    def _realization(self, config: str) -> Realization:
        try:
            return Realization.from_json(config)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{self.path} holds a configuration that cannot be read ({error}); "
                "expected one of this shiftstate: was it written by a newer one?"
            ) from None

    def _check_whole(self) -> None:
        verdict = self._database.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if verdict != "ok":
            raise sqlite3.DatabaseError(str(verdict).splitlines()[-1])

    def _check_columns(self) -> None:
        found = {row[1] for row in self._database.execute("PRAGMA table_info(realizations)")}
        if found != set(COLUMNS):
            raise ValueError(
                f"{self.path} has other columns than this shiftstate ({', '.join(sorted(found ^ set(COLUMNS)))}); "
                "expected a store of the same version: choose another --out"
            )

    def _damaged(self, error: sqlite3.Error) -> ValueError | sqlite3.Error:
        if isinstance(error, sqlite3.OperationalError):
            return error  # full disk, no permission, locked: the store is whole, the circumstances are not
        return ValueError(
            f"{self.path} is damaged ({error}); expected a store written by shiftstate: move it away, and the run "
            "starts from realizations.csv if that is there, or anew"
        )


def _curve(outcome: Outcome) -> dict[str, Any]:
    """Losses and validation accuracies, and the split where there is one."""
    fit = outcome.fit
    curve = {"loss": _short(fit.losses), "valid_accuracy": _short(fit.valid_accuracies)}
    return curve if outcome.split is None else {**curve, "split": asdict(outcome.split)}


def _split(curve: str) -> Split | None:
    try:
        found = json.loads(curve).get("split")
        return None if found is None else Split(**found)
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"a stored curve cannot be read ({error}); was it written by a newer shiftstate?") from None


def _short(numbers: Iterable[float]) -> list[float]:
    return [float(f"{number:.6g}") for number in numbers]


def _parse(number: int, line: dict[str, Any]) -> dict[str, Any]:
    try:
        values: dict[str, Any] = {
            name: None if (name, line[name]) == ("author", "") else kind(line[name])
            for name, (_, kind) in COLUMNS.items()
        }
        realization = Realization.from_json(values["config"])
        dict(json.loads(values["versions"]))
        _split(values["curve"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"line {number} is not a realization ({error})") from None
    if values["results_version"] != RESULTS_VERSION:
        raise ValueError(f"line {number} has results version {values['results_version']}; expected {RESULTS_VERSION}")
    shown = {name: getattr(realization, name) for name in ("experiment", "filter", "K", "L", "author", "graph", "draw")}
    if any(values[name] != shown[name] for name in shown):
        raise ValueError(f"line {number} says one thing and its configuration another")
    return values
