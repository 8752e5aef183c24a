"""The store: one SQLite row for every finished realization, committed as it finishes."""

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any

from shiftstate.experiments.config import RESULTS_VERSION, Cell, Realization
from shiftstate.experiments.realization import Outcome
from shiftstate.experiments.rows import COLUMNS, Row, Values, curve_of, read_csv, split_of, to_csv, values_of

PATIENCE = 600
"""Seconds to wait for another program that has the database open, a browser of databases say."""


class Store:
    """The results of one directory, in ``results.sqlite``; opened as a context.

    Every write is one transaction that has reached the disk when `add` returns: whatever happens afterwards,
    the realization is there; whatever happens before, it is not, and nothing else is touched.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.path = directory / "results.sqlite"
        try:
            self._database = sqlite3.connect(self.path, timeout=PATIENCE)
        except sqlite3.OperationalError as error:
            raise ValueError(f"{self.path} cannot be opened ({error}); expected a file that can be written") from None
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
        self._insert([values_of(realization, outcome)])

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
            if not all(isinstance(number, float) for number in (last, best, seconds)):
                raise ValueError(f"{self.path} holds numbers that are none; was it changed by hand?")
            rows.append(Row(self._realization(config), last, best, outcome, seconds, split_of(curve)))
        key = [(*row.realization.cell, row.realization.graph, row.realization.draw) for row in rows]
        return [row for _, row in sorted(zip(key, rows, strict=True), key=lambda pair: pair[0])]

    def missing(self, planned: Sequence[Realization]) -> list[Realization]:
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
            parsed = {name: json.loads for name in ("config", "versions")} | {"curve": curve_of}
            return [one | {name: parse(one[name]) for name, parse in parsed.items()} for one in records]
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
        order = "experiment, filter, K, L, author, graph, draw"
        return to_csv(self._read(f"SELECT {', '.join(COLUMNS)} FROM realizations ORDER BY {order}"))

    def import_csv(self, path: Path, planned: Sequence[Realization] = ()) -> int:
        """Take over what a realizations.csv holds and the store does not; return how many that were.

        Nothing is taken over from a file that does not belong to the plan, or to what is stored.
        """
        values = read_csv(path)
        stored = [row.realization for row in self.rows()]
        known = {one.id for one in stored}
        new = [one for one in values if one["id"] not in known]
        self._check_belong([*stored, *(self._realization(one["config"]) for one in new)], planned)
        self._insert(new)
        return len(new)

    def _check_belong(self, stored: Sequence[Realization], planned: Sequence[Realization]) -> None:
        """Refuse two configurations in one cell, and cells of one experiment that have seen other data."""
        cells: dict[Cell, Realization] = {}
        experiments: dict[str, Realization] = {}
        for place, one in enumerate([*stored, *planned]):
            there = cells.setdefault(one.cell, one)
            name = _difference(there, one)
            if name is None:
                there = experiments.setdefault(one.experiment, one)
                name = one.protocol.other_data(there.protocol)
            if name is not None:
                ours = "and this run has" if place >= len(stored) else "and also"
                raise ValueError(
                    f"{self.directory} holds {there.experiment} {there.filter} with {name} = "
                    f"{getattr(there.protocol, name)}, {ours} {getattr(one.protocol, name)}; "
                    "expected one configuration in a directory: choose another --out"
                )

    def _insert(self, rows: list[Values]) -> None:
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


def _difference(one: Realization, other: Realization) -> str | None:
    """The first setting in which two realizations differ."""
    ours, theirs = vars(one.protocol), vars(other.protocol)
    return next((name for name in ours if ours[name] != theirs[name]), None)
