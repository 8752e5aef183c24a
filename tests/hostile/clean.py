"""Clean files, the commands on them, and the numbers by which two inputs are the same."""

import contextlib
import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.own_data.towns import write_files

SMALL = ("--K", "1", "--epochs", "2", "--seeds", "1", "--workers", "1", "--out", "run")
NODES = (
    *("train", "--task", "node-classification", "--edges", "edges.csv", "--nodes", "towns.csv"),
    *("--target", "side", "--split", "split", *SMALL),
)
SERIES = ("train", "--task", "forecast", "--edges", "edges.csv", "--signals", "series.csv", *SMALL)
SIGNALS = (
    *("train", "--task", "signal-classification", "--edges", "edges.csv", "--signals", "signals.csv"),
    *("--target", "label", *SMALL),
)
PARTITION = ("partition", "edges.csv", "--parts", "2", "--method", "blocks", "--out", "cut")


def write_clean(folder: Path) -> Path:
    """A ring of towns: edges, a table of nodes, features apart, signals, a series, a file of settings."""
    write_files(folder)
    with (folder / "towns.csv").open() as file:
        rows = list(csv.reader(file))
    for name, columns in (("features.csv", (0, 2, 4, 5)), ("labels.csv", (0, 1, 3))):
        with (folder / name).open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([[row[place] for place in columns] for row in rows])
    with (folder / "signals.csv").open() as file:
        rows = list(csv.reader(file))
    np.save(folder / "signals.npy", np.array([row[:-1] for row in rows[1:]], dtype=float))
    (folder / "targets.csv").write_text("".join(f"{row[-1]}\n" for row in rows))
    settings = {word[2:]: value for word, value in zip(NODES[1::2], NODES[2::2], strict=True) if word != "--workers"}
    values = {name: value if value.isdecimal() else json.dumps(value) for name, value in settings.items()}
    (folder / "run.toml").write_text("".join(f"{name} = {value}\n" for name, value in values.items()))
    return folder


@contextlib.contextmanager
def reading_only() -> Iterator[list[Any]]:
    """`train --dry-run` ends when the data are read; they are kept in the list."""
    from shiftstate.own_data import dry_run

    found: list[Any] = []
    whole = dry_run.problem_of

    def read(*given: Any, **more: Any) -> None:
        found[:] = [whole(*given, **more)]
        raise SystemExit(0)

    dry_run.problem_of = read
    try:
        yield found
    finally:
        dry_run.problem_of = whole


def of_problem(problem: Any) -> Any:
    """Everything that a training sees; nodes in the order of their first number, so that names do not matter."""
    X = np.asarray(problem.X, dtype=np.float64)
    y = None if problem.y is None else [str(one) for one in problem.y]
    S = problem.shift.to_scipy().toarray().astype(np.float64)
    on_nodes = bool(problem.feature_names)
    order = np.argsort(X[:, -1] if on_nodes else X[0].reshape(len(S), -1)[:, 0], kind="stable")
    masks = {name: np.asarray(mask) for name, mask in problem.masks.items()}
    if on_nodes:
        X, y = X[order], [y[place] for place in order] if y is not None else None
        masks = {name: mask[order] for name, mask in masks.items()}
    else:
        X = X[:, order]
    return {
        "S": np.round(S[np.ix_(order, order)], 6).tolist(),
        "X": np.round(X, 6).tolist(),
        "y": y,
        "masks": {name: mask.tolist() for name, mask in masks.items()},
    }
