"""The store: one SQLite row for every finished trial, committed as it finishes."""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

from shiftstate.errors import keep
from shiftstate.machine.parsing import parse_table, read_text, shown
from shiftstate.machine.registry import study_with
from shiftstate.machine.results.columns import Columns, Result, Values, split_csv
from shiftstate.machine.results.data_files import changed, read_fingerprints
from shiftstate.machine.results.plan import planned_study, read_plans
from shiftstate.machine.run import Outcome
from shiftstate.machine.settings import difference, flat
from shiftstate.machine.study import Study
from shiftstate.machine.trial import RESULTS_VERSION, Cell, Trial

DATABASE = "results.sqlite"
TEXT = "realizations.csv"
PATIENCE = 600
"""Seconds to wait for another program that has the database open, a browser of databases say."""


class Store:
    """The results of one directory, in ``results.sqlite``; opened as a context.

    Every write is one transaction that has reached the disk when `add` returns: whatever happens afterwards,
    the trial is there; whatever happens before, it is not, and nothing else is touched.
    """

    def __init__(self, directory: Path, study: Study, data: Mapping[str, str] | None = None) -> None:
        """Open the store of a directory.

        Args:
            directory: of the results.
            study: whose results they are.
            data: fingerprints of the files that are given by path, to name those that are others than the stored ones.
        """
        self.directory, self.study, self.data = directory, study, data or {}
        self.columns = Columns(study)
        self.path = directory / DATABASE
        self._database = _connect(self.path)
        try:
            self._database.execute("PRAGMA synchronous = FULL")
            _check_whole(self._database)
            with self._database:
                self._database.execute(f"CREATE TABLE IF NOT EXISTS realizations ({self.columns.sql()})")
            self._check_columns()
        except sqlite3.DatabaseError as error:
            self._database.close()
            raise _damaged(self.path, error) from error
        except ValueError:
            self._database.close()
            raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def add(self, trial: Trial, outcome: Outcome) -> None:
        """Commit one finished trial."""
        self._insert([self.columns.values(trial, outcome)])

    def results(self) -> list[Result]:
        """All that is stored, in the order of the experiments' cells."""
        return self._sorted([self._parse(values) for values in self._values()])

    def missing(self, planned: Sequence[Trial]) -> list[Trial]:
        """Those that are not stored yet; refuses a plan that does not belong to what is stored."""
        stored = [result.trial for result in self.results()]
        self._check_belong(stored, planned)
        finished = set(stored)
        if finished:
            keep()
        return [trial for trial in planned if trial not in finished]

    def provenance(self) -> dict[str, Any]:
        """With what, when, and in how much time the stored results were made."""
        rows = self._values()
        for values in rows:
            self._parse(values)
        return {
            "realizations": len(rows),
            "training_hours": round(sum(values["seconds"] for values in rows) / 3600, 3),
            "first_finished": min((values["finished_at"] for values in rows), default=None),
            "last_finished": max((values["finished_at"] for values in rows), default=None),
            "results_version": RESULTS_VERSION,
            "kernels": dict(sorted(Counter(values["kernel"] for values in rows).items())),
            "versions": [parse_table(one) for one in sorted({values["versions"] for values in rows})],
        }

    def records(self) -> list[dict[str, Any]]:
        """Everything that is stored, column by name, with configuration, versions and curve parsed."""
        rows = self._values('ORDER BY "finished_at", "id"')
        for values in rows:
            self._parse(values)
        return [self.columns.record(values) for values in rows]

    def versions(self, trial: Trial) -> dict[str, str]:
        """With what this trial was made; empty if it is not stored."""
        found = next((values["versions"] for values in self._values() if values["config"] == trial.to_json()), "{}")
        return parse_table(found)

    def to_csv(self) -> str:
        """Everything that is stored, one line for every trial; `import_csv` reads it back."""
        order = ", ".join(f'"{name}"' for name in self.columns.order)
        return self.columns.to_csv(self._read(f"SELECT {self.columns.names()} FROM realizations ORDER BY {order}"))

    def import_csv(self, path: Path, planned: Sequence[Trial] = ()) -> int:
        """Take over what a realizations.csv holds and the store does not; return how many that were.

        Nothing is taken over from a file that does not belong to the plan, or to what is stored.
        """
        rows = self.columns.read_csv(path)
        stored = [result.trial for result in self.results()]
        known = {one.id for one in stored}
        new = [values for values in rows if values["id"] not in known]
        self._check_belong([*stored, *(self._parse(values).trial for values in new)], planned)
        self._insert(new)
        return len(new)

    def _sorted(self, results: list[Result]) -> list[Result]:
        def key(result: Result) -> tuple[Any, ...]:
            values = [(value is not None, value) for _, value in result.trial.cell.values]
            return result.trial.cell.experiment, *values, result.trial.unit, result.trial.repetition

        return sorted(results, key=key)

    def _check_belong(self, stored: Sequence[Trial], planned: Sequence[Trial]) -> None:
        """Refuse two configurations in one cell, and cells of one experiment that have seen other data."""
        cells: dict[Cell, Trial] = {}
        compared: dict[Any, Trial] = {}
        for place, one in enumerate([*stored, *planned]):
            there = cells.setdefault(one.cell, one)
            name = difference(there.settings, one.settings)
            if name is None:
                same = (one.cell.experiment, *(one[axis] for axis in one.experiment.data_axes))
                there = compared.setdefault(same, one)
                name = difference(there.settings, one.settings, "data")
            if name is not None:
                source = one.experiment.source
                if place >= len(stored) and source is not None and name == source.setting:
                    raise ValueError(self._other_data(there, source.option))
                ours = "and this run has" if place >= len(stored) else "and also"
                raise ValueError(
                    f"{self.directory} holds {there.cell.experiment} {there.model} with {name} = "
                    f"{flat(there.settings)[name]}, {ours} {flat(one.settings)[name]}; "
                    "expected one configuration in a directory: choose another --out"
                )

    def _other_data(self, stored: Trial, option: str) -> str:
        """What to say if this run's files are not those of the stored results."""
        others = changed(read_fingerprints(self.directory), self.data)
        named = f"{others[0]}{f' and {len(others) - 1} others' * (len(others) > 1)} changed" if others else option
        return (
            f"{self.directory} holds {stored.cell.experiment} {stored.model} on other data ({named}); expected the "
            f"same content to go on: give {option} as it was, or choose another --out"
        )

    def _insert(self, rows: list[Values]) -> None:
        places = ", ".join("?" for _ in self.columns.kinds)
        query = f"INSERT OR REPLACE INTO realizations ({self.columns.names()}) VALUES ({places})"
        with self._database:
            self._database.executemany(query, [[values[name] for name in self.columns.kinds] for values in rows])

    def _values(self, order: str = "") -> list[Values]:
        rows = self._read(f"SELECT {self.columns.names()} FROM realizations {order}")
        return [dict(zip(self.columns.kinds, row, strict=True)) for row in rows]

    def _read(self, query: str) -> list[tuple[Any, ...]]:
        try:
            with closing(self._database.execute(query)) as cursor:
                return cursor.fetchall()
        except sqlite3.DatabaseError as error:
            raise _damaged(self.path, error) from error

    def _parse(self, values: Values) -> Result:
        if type(values["results_version"]) is int and values["results_version"] != RESULTS_VERSION:
            raise ValueError(
                f"{self.path} holds results of version {values['results_version']}; expected {RESULTS_VERSION}: the "
                "code has changed what a configuration gives; choose another --out"
            )
        try:
            return self.columns.result(values)
        except ValueError as error:
            raise ValueError(
                f"{self.path} holds a result that cannot be read ({error}); "
                "expected one of this shiftstate: was it changed by hand, or written by a newer one?"
            ) from None

    def _check_columns(self) -> None:
        found = {str(row[1]) for row in self._database.execute("PRAGMA table_info(realizations)")}
        if found != set(self.columns.kinds):
            other = ", ".join(sorted(found ^ set(self.columns.kinds)))
            raise ValueError(
                f"{self.path} has other columns than {self.study.name} in this shiftstate ({other}); "
                "expected results of one study and the same version: choose another --out"
            )


@contextmanager
def open_results(directory: Path) -> Iterator[Store | None]:
    """The store of a directory, or one made from its realizations.csv, or None; nothing is written there.

    The study is found by the plan of the directory, or by the experiments that its results name.
    """
    if (directory / DATABASE).exists():
        with Store(directory, study_in(directory)) as store:
            yield store
    elif (directory / TEXT).exists():
        with TemporaryDirectory() as scratch, Store(Path(scratch), study_in(directory)) as store:
            store.import_csv(directory / TEXT)
            yield store
    else:
        yield None


def study_in(directory: Path) -> Study:
    """The study whose results a directory holds."""
    planned = planned_study(directory)
    if planned is not None:
        return planned
    names = _names_in_database(directory / DATABASE) or _names_in_text(directory / TEXT) or set(read_plans(directory))
    study = study_with(names)
    if study is None:
        raise ValueError(
            f"{directory} holds results of {', '.join(sorted(names))}; expected those of a known study: was it written "
            "by a newer shiftstate?"
        )
    return study


def _names_in_database(path: Path) -> set[str]:
    if not path.exists():
        return set()
    with closing(_connect(path)) as database:
        try:
            _check_whole(database)
            tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
            if "realizations" not in tables:
                return set()
            columns = {str(row[1]) for row in database.execute("PRAGMA table_info(realizations)")}
            if "experiment" not in columns:
                raise ValueError(
                    f"{path} has other columns than this shiftstate; expected results: choose another --out"
                )
            return {_name(row[0]) for row in database.execute("SELECT DISTINCT experiment FROM realizations")}
        except sqlite3.DatabaseError as error:
            raise _damaged(path, error) from error


def _names_in_text(path: Path) -> set[str]:
    if not path.exists():
        return set()
    try:
        header, lines = split_csv(read_text(path, "a realizations.csv", 2**31))
        at = header.index("experiment") if "experiment" in header else -1
        if at < 0:
            raise ValueError("it has no column experiment")
        return {_name(line[at]) for line in lines if len(line) > at}
    except ValueError as error:
        raise ValueError(f"{path} cannot be taken over: {error}; move it away to start anew") from None


def _name(value: object) -> str:
    return value if isinstance(value, str) else shown(value)


def _connect(path: Path) -> sqlite3.Connection:
    try:
        return sqlite3.connect(path, timeout=PATIENCE)
    except sqlite3.OperationalError as error:
        raise ValueError(f"{path} cannot be opened ({error}); expected a file that can be written") from None


def _check_whole(database: sqlite3.Connection) -> None:
    verdict = database.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if verdict != "ok":
        raise sqlite3.DatabaseError(str(verdict).splitlines()[-1])


def _damaged(path: Path, error: sqlite3.Error) -> ValueError | sqlite3.Error:
    if isinstance(error, sqlite3.OperationalError) and "decode" not in str(error):
        return error  # full disk, no permission, locked: the store is whole, the circumstances are not
    return ValueError(
        f"{path} is damaged ({error}); expected a store written by shiftstate: move it away, and the run "
        "starts from realizations.csv if that is there, or anew"
    )
