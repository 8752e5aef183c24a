"""Nasty inputs of predict, compare, report, export and partition, of runs that go on, and of files to be written."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.hostile.changes import ANY_FILE, Change, both, cell, cells, column, folder_at, put, swap
from tests.hostile.clean import NODES, PARTITION
from tests.hostile.forms import csr
from tests.hostile.judging import Case, Words

PREDICT = ("predict", "run", "--features", "features.csv", "--out", "new.csv")
FORECAST = ("predict", "series", "--signals", "series.csv", "--out", "new.csv")


def nothing(folder: Path) -> None:
    """All is as it was."""


def bad(words: Words, name: str, change: Change = nothing, *text: str) -> Case:
    """A command that cannot be meant."""
    return Case(f"{words[0]}: {name}", words, change, "refused", text)


def with_option(base: Words, option: str, *values: str) -> list[Case]:
    """The same command with values of an option that cannot be meant."""
    return [bad((*base, option, value), f"{option} {value!r}", nothing) for value in values]


TABLE = "features.csv"
RUN_FILES = ("model.safetensors", "metrics.json", "settings.json", "graph.npz", "predictions.csv", "manifest.json")
PREDICTIONS = [
    Case("predict: rows in another order", PREDICT, cells(TABLE, lambda rows: [rows[0], *rows[:0:-1]]), "same"),
    Case("predict: columns in another order", PREDICT, cells(TABLE, lambda rows: [[r[0], *r[:0:-1]] for r in rows]),
         "same"),
    Case("predict: another column", PREDICT, cells(TABLE, lambda rows: [[*r, "7" if i else "new"]
                                                                        for i, r in enumerate(rows)]), "same"),
    Case("predict: rows of other nodes", PREDICT, cells(TABLE, lambda rows: [*rows, ["x", "1", "2", "3"]]), "same"),
    Case("predict: the graph again", (*PREDICT, "--edges", "edges.csv"), nothing, "either"),
    bad(PREDICT, "a node less", cells(TABLE, lambda rows: rows[:-1]), TABLE, "town23"),
    bad(PREDICT, "a column less", cells(TABLE, lambda rows: [row[:-1] for row in rows]), TABLE),
    bad(PREDICT, "a column by another name", swap(TABLE, "wind", "gust"), TABLE),
    bad(PREDICT, "a gap", cell(TABLE, 7, 1, ""), TABLE, "row 8"),
    bad(PREDICT, "an infinite value", cell(TABLE, 7, 1, "inf"), TABLE, "row 8"),
    bad(PREDICT, "a word", cell(TABLE, 7, 1, "wet"), TABLE, "row 8"),
    bad(PREDICT, "names of no node", column(TABLE, 0, lambda i, old: f"v{i}"), TABLE),
    *(bad(PREDICT, f"features: {name}", make(TABLE), TABLE) for name, make in ANY_FILE.items()),
    *(bad((*PREDICT, "--edges", "edges.npz"), f"edges: {name}",
          lambda folder, parts=parts: np.savez(folder / "edges.npz", **csr(**parts)), "edges.npz")
      for name, parts in {"pointers that jump": {"indptr": np.r_[0, 10**9, np.zeros(23, int)]},
                          "a shape of 2^40": {"shape": np.array([2**40, 2**40])}}.items()),
    bad(("predict", "nope", *PREDICT[2:]), "a run that is not there", nothing, "nope"),
    bad(("predict", "towns.csv", *PREDICT[2:]), "a file as a run", nothing, "towns.csv"),
    bad(PREDICT[:2] + PREDICT[4:], "no features", nothing, "--features"),
    *with_option(PREDICT, "--missing", "", "nope"),
    *with_option(PREDICT, "--join", "", "nope"),
    *with_option(PREDICT, "--out", "nope/new.csv", "run", ".", "", TABLE, *(f"run/{name}" for name in RUN_FILES),
                 "run/../run/model.safetensors", "run/./metrics.json", "run/trials/x.csv"),
    bad(PREDICT, "a link to the model as output",
        lambda folder: (folder / "new.csv").symlink_to("run/model.safetensors"), "new.csv"),
    bad(FORECAST, "too few rows", cells("series.csv", lambda rows: rows[:5]), "series.csv", "12"),
    bad(FORECAST, "a node less in a series", cells("series.csv", lambda rows: [row[:-1] for row in rows]), "town23"),
    bad(FORECAST, "an infinite value in a series", cell("series.csv", 150, 3, "inf"), "series.csv"),
    bad(FORECAST[:2] + FORECAST[4:], "no signals", nothing, "--signals"),
]  # fmt: skip

COMPARED = [
    bad(("compare", "run", "nope"), "a run that is not there", nothing, "nope"),
    bad(("compare", "run", "towns.csv"), "a file as a run", nothing, "towns.csv"),
    bad(("compare", "run", "series"), "runs of two tasks", nothing),
    bad(("report", "nope"), "a folder that is not there", nothing, "nope"),
    bad(("report", "towns.csv"), "a file", nothing, "towns.csv"),
    bad(("report", "empty"), "an empty folder", lambda folder: (folder / "empty").mkdir(), "empty"),
    bad(("export", "run"), "no file named", nothing, "--onnx"),
    bad(("export", "nope", "--torch", "m.pt2"), "a run that is not there", nothing, "nope"),
    *with_option(("export", "run"), "--torch", "nope/m.pt2", "run/model.safetensors", "run"),
    *with_option(("export", "run"), "--onnx", "nope/m.onnx", "run/model.safetensors", "run"),
]  # fmt: skip

PARTS = [
    *with_option(PARTITION, "--parts", "0", "-1", "1.5", "", "99999999999", "99999999999999999999"),
    *with_option(PARTITION, "--method", "", "nope"),
    *with_option(PARTITION, "--source", "nope"),
    *with_option(PARTITION, "--weight", "nope", "source"),
    *with_option(PARTITION, "--nodes", "nope.csv", "series.csv"),
    *with_option(PARTITION, "--out", "towns.csv", "towns.csv/x", "/dev/null"),
    *(Case(f"partition: edges: {name}", PARTITION, make("edges.csv"), "refused", ("edges.csv",))
      for name, make in ANY_FILE.items()),
    bad(("partition", "edges.npz", *PARTITION[2:]), "pointers that jump",
        lambda folder: np.savez(folder / "edges.npz", **csr(indptr=np.r_[0, 10**9, np.zeros(23, int)])), "edges.npz"),
    bad(PARTITION, "a weight that is no number", cells("edges.csv", lambda rows: [
        [*row, "heavy" if i else "weight"] for i, row in enumerate(rows)]), "edges.csv", "weight"),
    bad(PARTITION, "an empty end", cell("edges.csv", 3, 1, ""), "edges.csv", "row 4"),
]  # fmt: skip

CHANGED = [
    bad(NODES, "labels changed", swap("towns.csv", "west", "east", 1), "towns.csv"),
    bad(NODES, "a feature changed", cell("towns.csv", 5, 4, "1.2345"), "towns.csv"),
    bad(NODES, "edges changed", cell("edges.csv", 5, 1, "town9"), "edges.csv"),
    bad(NODES, "rows in another order", cells("towns.csv", lambda rows: [rows[0], *rows[:0:-1]]), "towns.csv"),
    bad(
        NODES,
        "labels changed in an unfinished run",
        both(swap("towns.csv", "west", "east", 1), lambda folder: (folder / "run/metrics.json").unlink()),
        "towns.csv",
    ),
    bad((*NODES, "--seed", "7"), "another seed", nothing, "seed"),
    bad((*NODES, "--set", "channels=3"), "another argument of the model", nothing, "options"),
    Case("train: the same again", NODES, nothing, "same"),
]
"""A run goes on only with the data and settings that it began with."""

START = ("train", "--init", "new.toml", "--edges", "edges.csv", "--nodes", "towns.csv")
LINES = "a\nseeds = 9"
STARTED = [
    Case("init: a line in a column's name", START, swap("towns.csv", "rain", f'"{LINES}"', 1), "either"),
    Case("init: a line in the name of the split", START, swap("towns.csv", "split", f'"{LINES}"', 1), "any"),
    Case("init: quotation marks in a column's name", START, swap("towns.csv", "rain", '"a""b"', 1), "either"),
    Case("init: signs of control in a column's name", START, swap("towns.csv", "rain", "a\x01\x1b[31m", 1), "either"),
    Case("init: a file's name with a line", (*START, "--features", LINES), put(LINES, "town,x\ntown0,1\n"), "any"),
    bad((*START[:2], "towns.csv", *START[3:]), "a file that is there", nothing, "towns.csv"),
    bad((*START[:2], "nope/new.toml", *START[3:]), "a folder that is not there", nothing, "nope"),
    bad((*START[:2], "run.d", *START[3:]), "a folder", folder_at("run.d"), "run.d"),
    *(bad(START, f"edges: {name}", make("edges.csv"), "edges.csv") for name, make in ANY_FILE.items()),
]  # fmt: skip


def of_start(out: str) -> Any:
    """The settings that were written: no key that the data smuggled in."""
    import tomllib

    return sorted(tomllib.loads(Path("new.toml").read_text("utf-8")))


def of_parts(out: str) -> Any:
    """What the manifest of a partition says of its graph."""
    return json.loads(Path("cut/partition.json").read_text())["graph"]
