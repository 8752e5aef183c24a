"""A ring of towns as files, and the command line in this process."""

import csv

import numpy as np
from typer.testing import CliRunner

from shiftstate.commands import app

N = 24


def run(*words):
    """The command in this process: its exit code and what it printed; ValueErrors become exit code 2 in cli.main."""
    words = (*words, "--workers", "1") if words[0] == "train" else words
    result = CliRunner().invoke(app, [str(word) for word in words])
    message = str(result.exception) if isinstance(result.exception, ValueError) else ""
    if result.exception and not message and not isinstance(result.exception, SystemExit):
        raise result.exception
    return (2 if message else result.exit_code), result.stdout, message


def table(file, header, rows):
    with open(file, "w", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])
    return file


def write_files(tmp_path):
    """A ring of towns, a table of them, signals and a series on them."""
    random = np.random.default_rng(0)
    names = [f"town{i}" for i in range(N)]
    table(tmp_path / "edges.csv", ["source", "target"], [(names[i], names[(i + 1) % N]) for i in range(N)])
    x = random.normal(size=(N, 2)) + np.where(np.arange(N) < N // 2, 2, -2)[:, None]
    part = ["train", "valid", "test"] * (N // 3)
    rows = [
        (names[i], "west" if i < N // 2 else "east", round(float(x[i].sum()), 4), part[i], *x[i].round(4))
        for i in range(N)
    ]
    table(tmp_path / "towns.csv", ["town", "side", "sum", "split", "rain", "wind"], rows)
    signals = random.normal(size=(60, N)).round(4)
    label = np.where(signals[:, 0] > 0, "up", "down")
    table(tmp_path / "signals.csv", [*names, "label"], [(*row, one) for row, one in zip(signals, label, strict=True)])
    t = np.arange(150)[:, None]
    series = (np.sin(t / 4 + np.arange(N) / 3) + 2 + 0.05 * random.normal(size=(150, N))).round(4)
    table(tmp_path / "series.csv", ["hour", *names], [(i, *row) for i, row in enumerate(series)])
    return tmp_path


NODE = ("--task", "node-classification", "--target", "side", "--split", "split", "--K", "1", "--epochs", "30")


def node_words(files, out="run", *more):
    return ("train", *NODE, "--edges", files / "edges.csv", "--nodes", files / "towns.csv", "--out", files / out, *more)
