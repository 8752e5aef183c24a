"""Nasty tables of nodes and of their features, and clean ones in unusual forms."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.hostile.changes import Change, both, cell, cells, column, edit, parquet, put, swap
from tests.hostile.clean import NODES
from tests.hostile.forms import bomb, case, either, refused, same
from tests.hostile.judging import Case
from tests.own_data.towns import N

CSV = "towns.csv"
SIDE, SPLIT, RAIN = 1, 3, 4
"""Columns of the table."""


def like(name: str, change: Change) -> Case:
    """The clean table, written in another way."""
    return same(NODES, CSV, name, change)


def bad(name: str, change: Change, says: str = "", *more: str) -> Case:
    """A table of nodes that cannot be meant."""
    return refused(NODES, CSV, name, change, *more, says=says)


def option(name: str, value: str) -> Case:
    """An option that names a column which is not there."""
    return refused(NODES, CSV, f"{name} {value}", lambda folder: None, name, value, says=value)


def words(place: int, make: Callable[[int, str], str]) -> Change:
    """A column of the table."""
    return column(CSV, place, make)


TEXTS = [
    like("semicolons", swap(CSV, ",", ";")),
    like("lines that end as on Windows", swap(CSV, "\n", "\r\n")),
    like("a byte order mark", edit(CSV, lambda data: b"\xef\xbb\xbf" + data)),
    like("everything in quotation marks", cells(CSV, lambda rows: None, quoting=1)),
    like("rows in another order", cells(CSV, lambda rows: [rows[0], *rows[:0:-1]])),
    like("columns in another order", cells(CSV, lambda rows: [[r[0], *r[3:0:-1], *r[4:]] for r in rows])),
    like("numbers as 1e0", words(RAIN, lambda i, old: f"{float(old):.10e}")),
    like("numbers with a plus", words(RAIN, lambda i, old: old if old[0] == "-" else f"+{old}")),
    like("parts of the split in capitals", words(SPLIT, lambda i, old: old.upper())),
    like("parts of the split by other names", swap(CSV, ",valid,", ",val,")),
    like("blanks around the parts of the split", words(SPLIT, lambda i, old: f" {old} ")),
    bad("a header only", edit(CSV, lambda data: data.splitlines(True)[0])),
    Case("towns.csv: a node less", NODES, cells(CSV, lambda rows: rows[:-1]), "refused", ("edges.csv", "town23")),
    bad("a name twice", cell(CSV, 5, 0, "town9"), "town9"),
    bad("an empty name", cell(CSV, 5, 0, ""), "row 6"),
    bad("an empty class", cell(CSV, 1, SIDE, ""), "row 2"),
    bad("a class of the test only", cell(CSV, 3, SIDE, "north"), "north"),
    bad("one class", words(SIDE, lambda i, old: "west"), "one class"),
    *(bad(f"{word} as a class", cell(CSV, 1, SIDE, word), "row 2") for word in ("NA", "NaN", "null", "nan", "N/A")),
    bad("classes that are decimals", words(SIDE, lambda i, old: f"{i % 2}.5"), "side"),
    bad("a split that is not known", cell(CSV, 4, SPLIT, "holdout"), "holdout"),
    bad("a split without test", words(SPLIT, lambda i, old: "train" if i % 2 else "valid"), "test"),
    *(bad(f"a feature of {value or 'nothing'}", cell(CSV, 7, RAIN, value), "row 8")
      for value in ("", "nan", "inf", "-Infinity", "1e999", "wet", "1;5", "0x1F", "1+2j", "--1", "1_000", "True")),
    bad("a feature with commas for points",
        cells(CSV, lambda rows: [[*row[:4], row[4].replace(".", ","), row[5]] for row in rows], delimiter=";"), "rain"),
    bad("features that are words", both(*(words(place, lambda i, old: "w") for place in (2, 4, 5)))),
    bad("features that are constant", both(*(words(place, lambda i, old: "1") for place in (2, 4, 5)))),
    bad("features beyond float64", words(RAIN, lambda i, old: "9" * 400), "rain"),
    option("--target", "nope"), option("--split", "nope"), option("--name", "nope"), option("--target", "Side"),
    bad("a row too long", swap(CSV, "west", "west,west", 1), "row 2"),
    bad("cut in a row", edit(CSV, lambda data: data[: data.rindex(b",")])),
    bad("two columns of one name", swap(CSV, "rain,wind", "rain,rain", 1), "rain"),
    bad("text in Latin-1", edit(CSV, lambda data: data.replace(b"west", b"w\xe9st")), "UTF-8"),
    bad("a table without columns", put(CSV, "\n" * 30)),
]  # fmt: skip

FRAME = ("--nodes", "towns.parquet")


def frame(name: str, change: Any) -> Change:
    """The table of nodes as Parquet, with one column changed."""
    return parquet(
        "towns.parquet", lambda made: made.set_column(made.column_names.index(name), name, change(made[name])), CSV
    )


def cast(kind: str) -> Any:
    """As another type of Arrow."""
    return lambda values: values.cast(kind)


def each(make: Callable[[Any], Any]) -> Any:
    """Every value replaced by what Arrow makes a type of its own for."""

    def change(values: Any) -> Any:
        import pyarrow as pa

        return pa.array([make(one) for one in values.to_pylist()])

    return change


def lists(name: str) -> list[Case]:
    """A column of lists, and of structures."""
    return [
        refused(NODES, "towns.parquet", f"{kind} in column {name}", frame(name, each(make)), *FRAME, says=name)
        for kind, make in (("lists", lambda one: [one]), ("structures", lambda one: {"a": one}))
    ]


FRAMES = [
    same(NODES, "towns.parquet", "as it is", frame("side", cast("string")), *FRAME),
    same(NODES, "towns.parquet", "dictionaries", frame("side", lambda one: one.dictionary_encode()), *FRAME),
    same(NODES, "towns.parquet", "names as large strings", frame("town", cast("large_string")), *FRAME),
    same(NODES, "towns.parquet", "classes as large strings", frame("side", cast("large_string")), *FRAME),
    same(NODES, "towns.parquet", "classes as views of strings", frame("side", cast("string_view")), *FRAME),
    *(either(NODES, "towns.parquet", f"a feature as {kind}", frame("rain", cast(kind)), *FRAME)
      for kind in ("float32", "float64")),
    *lists("rain"), *lists("side"), *lists("town"), *lists("split"),
    refused(NODES, "towns.parquet", "bytes as classes", frame("side", cast("binary")), *FRAME),
]  # fmt: skip

TABLE = "features.csv"
APART = ("--nodes", "labels.csv", "--features", TABLE)


def matrix(make: Callable[[Any], Any]) -> Change:
    """The features as an array, changed."""

    def change(folder: Path) -> None:
        X = np.loadtxt(folder / TABLE, delimiter=",", skiprows=1, usecols=(1, 2, 3))
        np.save(folder / "features.npy", make(X))

    return change


def mistaken(name: str, change: Change, says: str = "") -> Case:
    """A table of features that cannot be meant."""
    return refused(NODES, TABLE, name, change, *APART, says=says)


ARRAY = (*APART, "--features", "features.npy")
MISTAKEN: dict[str, Callable[[Any], Any]] = {
    "one row less": lambda X: X[:-1],
    "transposed": lambda X: X.T,
    "one dimension": lambda X: X[0],
    "no columns": lambda X: X[:, :0],
    "NaN": lambda X: np.where(X > 1, np.nan, X),
    "infinite": lambda X: np.where(X > 1, np.inf, X),
    "complex": lambda X: X + 1j,
    "words": lambda X: X.astype(str),
    "dates": lambda X: X.astype("datetime64[s]"),
    "three dimensions": lambda X: X[None],
    "a masked array as an object": lambda X: np.array([np.ma.masked_less(X, 0), None], dtype=object)[:1],
}
WIDE = f"%%MatrixMarket matrix coordinate real general\n{N} {2**33} 1\n1 1 1\n"

FEATURES = [
    case(NODES, "same", "features.csv: features apart", lambda folder: None, *APART),
    same(NODES, TABLE, "rows in another order", cells(TABLE, lambda rows: [rows[0], *rows[:0:-1]]), *APART),
    same(NODES, TABLE, "rows of other nodes", cells(TABLE, lambda rows: [*rows, ["x", "1", "2", "3"]]), *APART),
    same(NODES, "features.npy", "a matrix", matrix(lambda X: X), *ARRAY),
    same(NODES, "features.npy", "a matrix by columns", matrix(np.asfortranarray), *ARRAY),
    same(NODES, "features.npy", "a matrix of the other byte order", matrix(lambda X: X.astype(">f8")), *ARRAY),
    *(refused(NODES, "features.npy", name, matrix(make), *ARRAY) for name, make in MISTAKEN.items()),
    refused(NODES, "features.npz", "a bomb of 2 GB", put("features.npz", bomb("x.npy", 2 * 10**9)),
            *APART, "--features", "features.npz"),
    refused(NODES, "features.mtx", "2^33 columns", put("features.mtx", WIDE), *APART, "--features", "features.mtx"),
    mistaken("a node less", cells(TABLE, lambda rows: rows[:-1]), "town23"),
    mistaken("a node twice", cells(TABLE, lambda rows: [*rows, rows[1]]), "town0"),
    mistaken("names of no node", column(TABLE, 0, lambda i, old: f"village{i}"), "town0"),
    mistaken("no names and fewer rows", cells(TABLE, lambda rows: [row[1:] for row in rows][:-3])),
    mistaken("no features", cells(TABLE, lambda rows: [row[:1] for row in rows])),
    mistaken("a gap", cell(TABLE, 7, 1, ""), "row 8"),
    mistaken("a word", cell(TABLE, 7, 1, "wet"), "row 8"),
]  # fmt: skip

CASES = [*TEXTS, *FRAMES, *FEATURES]
