"""Nasty signals, series and targets."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.hostile.changes import Change, cell, cells, column, edit, parquet, put, swap
from tests.hostile.clean import SERIES, SIGNALS
from tests.hostile.forms import bomb, refused, same
from tests.hostile.judging import Case
from tests.own_data.towns import N

CSV = "series.csv"
MATRIX = ("--signals", "series.npy", "--nodes", "towns.csv")


def series(make: Callable[[Any], Any], file: str = "series.npy") -> Change:
    """The series as an array, changed."""

    def change(folder: Path) -> None:
        X = np.loadtxt(folder / CSV, delimiter=",", skiprows=1, usecols=range(1, N + 1))
        np.save(folder / file, make(X)) if file.endswith("npy") else np.savez(folder / file, x=make(X))

    return change


def bad(name: str, change: Change, says: str = "", *more: str) -> Case:
    """A series that cannot be meant."""
    return refused(SERIES, CSV, name, change, *more, says=says)


MISTAKEN: dict[str, Callable[[Any], Any]] = {
    "no columns": lambda X: X[:, :0],
    "no rows": lambda X: X[:0],
    "one row": lambda X: X[:1],
    "too few rows": lambda X: X[:14],
    "one column less": lambda X: X[:, 1:],
    "transposed": lambda X: X.T,
    "one dimension": lambda X: X[:, 0],
    "four dimensions": lambda X: X[..., None, None],
    "channels": lambda X: np.stack([X, X], -1),
    "NaN": lambda X: np.where(X > 2.9, np.nan, X),
    "infinite": lambda X: np.where(X > 2.9, np.inf, X),
    "complex": lambda X: X + 1j,
    "words": lambda X: X.astype(str),
}

SERIES_CASES = [
    same(SERIES, CSV, "semicolons", swap(CSV, ",", ";")),
    same(SERIES, CSV, "a byte order mark", edit(CSV, lambda data: b"\xef\xbb\xbf" + data)),
    same(SERIES, CSV, "columns in another order", cells(CSV, lambda rows: [[r[0], *r[:0:-1]] for r in rows])),
    same(SERIES, CSV, "without the time", cells(CSV, lambda rows: [row[1:] for row in rows])),
    same(SERIES, CSV, "times as dates", column(CSV, 0, lambda i, old: f"2020-01-01 {i % 24:02d}:00")),
    same(SERIES, "series.parquet", "Parquet", parquet("series.parquet", lambda made: made, CSV),
         "--signals", "series.parquet"),
    same(SERIES, "series.npy", "a matrix", series(lambda X: X), *MATRIX),
    same(SERIES, "series.npy", "a matrix by columns", series(np.asfortranarray), *MATRIX),
    same(SERIES, "series.npy", "a matrix of the other byte order", series(lambda X: X.astype(">f8")), *MATRIX),
    *(refused(SERIES, "series.npy", name, series(make), *MATRIX) for name, make in MISTAKEN.items()),
    refused(SERIES, "series.npz", "a bomb of 2 GB", put("series.npz", bomb("x.npy", 2 * 10**9)),
            *MATRIX, "--signals", "series.npz"),
    bad("a header only", edit(CSV, lambda data: data.splitlines(True)[0])),
    bad("a node less", cells(CSV, lambda rows: [row[:-1] for row in rows]), "town23"),
    bad("a node twice", swap(CSV, "town5,", "town6,", 1), "town6"),
    *(bad(f"a value of {value or 'nothing'}", cell(CSV, 9, 4, value), "row 10")
      for value in ("", "nan", "inf", "1e999", "wet", "0x1", "1+2j", "True")),
    bad("fifteen rows", cells(CSV, lambda rows: rows[:16])),
    bad("one row", cells(CSV, lambda rows: rows[:2])),
    bad("the same everywhere", cells(CSV, lambda rows: [rows[0], *([row[0], *["1"] * N] for row in rows[1:])])),
    bad("no value of a node at all", column(CSV, 4, lambda i, old: ""), "town3"),
    bad("no value of a node to interpolate", column(CSV, 4, lambda i, old: ""), "town3", "--missing", "interpolate"),
    bad("a split that is not there", lambda folder: None, "nope", "--split", "nope"),
    bad("a history that is too long", lambda folder: None, "", "--history", "500"),
]  # fmt: skip

SIGNALS_CSV, TARGETS_CSV = "signals.csv", "targets.csv"
TARGETS = ("--signals", "signals.npy", "--nodes", "towns.csv", "--targets", TARGETS_CSV)


def shaped(name: str, *shape: int) -> Case:
    """Signals that are nothing."""
    return refused(SIGNALS, "signals.npy", name, lambda at: np.save(at / "signals.npy", np.ones(shape)), *TARGETS)


def told(name: str, change: Change, says: str = "") -> Case:
    """Targets beside a matrix that cannot be meant."""
    return refused(SIGNALS, TARGETS_CSV, name, change, *TARGETS, says=says)


def signals(name: str, change: Change, says: str = "", *more: str) -> Case:
    """A table of signals that cannot be meant."""
    return refused(SIGNALS, SIGNALS_CSV, name, change, *more, says=says)


SIGNAL_CASES = [
    same(SIGNALS, SIGNALS_CSV, "semicolons", swap(SIGNALS_CSV, ",", ";")),
    same(SIGNALS, SIGNALS_CSV, "columns in another order", cells(SIGNALS_CSV, lambda rows: [r[::-1] for r in rows])),
    same(SIGNALS, "signals.npy", "a matrix, and its targets beside it", lambda folder: None, *TARGETS),
    refused(SIGNALS, "signals.npy", "no targets", lambda folder: None, *TARGETS[:-2]),
    told("a target less", edit(TARGETS_CSV, lambda data: data[: data[:-1].rindex(b"\n") + 1])),
    told("one class", put(TARGETS_CSV, "label\n" + "up\n" * 60), "one class"),
    told("no column of that name", swap(TARGETS_CSV, "label", "other"), "label"),
    signals("a target that is not there", lambda folder: None, "nope", "--target", "nope"),
    signals("an infinite value", cell(SIGNALS_CSV, 9, 4, "inf"), "row 10"),
    signals("three rows", cells(SIGNALS_CSV, lambda rows: rows[:4])),
    signals("groups that are two", lambda folder: None, "label", "--groups", "label"),
    shaped("no columns", 60, 0),
    shaped("no rows", 0, N),
    shaped("no channels", 60, N, 0),
]  # fmt: skip
