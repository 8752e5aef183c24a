"""Write the pages of "Your own data", one per task: small tables are made, the commands run, their output pasted.

    python docs/own_data_pages.py

tests/own_data/test_pages.py runs the same commands and compares; numbers may differ by the processor.
"""

import contextlib
import csv
import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from typer.testing import CliRunner

from shiftstate.commands import app

FOLDER = Path(__file__).parent / "own_data"
SHORT = "--K 2 --epochs 40 --workers 1"


class Page(NamedTuple):
    """One task."""

    title: str
    about: str
    make: Callable[[], list[str]]
    """Writes the files of the example into the working directory; their names."""
    train: str
    after: str
    predict: str


def table(name: str, head: list[str], rows: list[list[object]]) -> str:
    """Write a CSV."""
    with open(name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])
    return name


def ring(count: int) -> str:
    """A ring of stations."""
    return table("edges.csv", ["source", "target"], [[f"s{i}", f"s{(i + 1) % count}"] for i in range(count)])


def circles() -> list[str]:
    """People in three circles of friends; what each of them likes says little."""
    random = np.random.default_rng(0)
    circle = np.repeat(np.arange(3), 40)
    near = random.random((120, 120)) < np.where(circle[:, None] == circle, 0.15, 0.01)
    edges = [[f"p{i}", f"p{j}"] for i in range(120) for j in range(i) if near[i, j]]
    likes = np.eye(3)[circle] + random.normal(size=(120, 3))
    names = ["red", "green", "blue"]
    rows = [[f"p{i}", names[circle[i]], *likes[i].round(3)] for i in range(120)]
    return [
        table("friends.csv", ["source", "target"], edges),
        table("people.csv", ["person", "circle", "music", "sports", "books"], rows),
    ]


def stations() -> list[str]:
    """Stations whose pollution comes from the traffic at their neighbours."""
    random = np.random.default_rng(0)
    traffic, wind = random.normal(size=(2, 150))
    pollution = np.roll(traffic, 1) + np.roll(traffic, -1) + 0.5 * wind + 0.1 * random.normal(size=150)
    rows = [[f"s{i}", *np.round([traffic[i], wind[i], pollution[i]], 3)] for i in range(150)]
    return [ring(150), table("stations.csv", ["station", "traffic", "wind", "pollution"], rows)]


def days(kind: str) -> list[str]:
    """Days at 16 stations: where the rain began, or how much fell in all."""
    random = np.random.default_rng(0)
    east = random.random(160) < 0.5
    begin = random.integers(0, 8, 160) + 8 * east
    place = np.arange(16)
    far = np.minimum((place - begin[:, None]) % 16, (begin[:, None] - place) % 16)
    rain = np.exp(-far / 2) + 0.3 * random.normal(size=(160, 16))
    answer: list[object] = ["east" if one else "west" for one in east]
    if kind == "number":
        answer = list((rain * np.roll(rain, 1, axis=1)).sum(1).round(3))
    rows = [[*day.round(3), one] for day, one in zip(rain, answer, strict=True)]
    head = [*(f"s{i}" for i in range(16)), "side" if kind == "class" else "damage"]
    return [ring(16), table("days.csv", head, rows)]


def hours() -> list[str]:
    """A series at 12 stations: each follows its neighbours' last values."""
    random = np.random.default_rng(0)
    values = np.zeros((240, 12))
    for t in range(1, 240):
        near = np.roll(values[t - 1], 1) + np.roll(values[t - 1], -1)
        values[t] = 0.45 * near + 0.5 * random.normal(size=12)
    rows = [[f"hour {t}", *(values[t] + 5).round(3)] for t in range(240)]
    return [ring(12), table("series.csv", ["time", *(f"s{i}" for i in range(12))], rows)]


PAGES = {
    "node_classification": Page(
        "Classes of nodes",
        "One graph, a table with a row per node, and a class for some of the nodes: topics of papers, roles of people, "
        "kinds of places. The other nodes get a prediction. Here: people in three circles of friends.",
        circles,
        "--task node-classification --edges friends.csv --nodes people.csv --target circle",
        "`predictions.csv` has a row per node with a probability for every class; rows that are neither train, valid "
        "nor test have a prediction too. `--split COLUMN` takes the split from the table; several columns, with commas "
        "between, train on each split and give means and intervals over them.",
        "--features people.csv",
    ),
    "node_regression": Page(
        "Numbers of nodes",
        "One graph, a table with a row per node, and a number to predict: pollution at stations, prices of houses. "
        "Here the pollution of a station comes from the traffic at its neighbours.",
        stations,
        "--task node-regression --edges edges.csv --nodes stations.csv --target pollution",
        "`predictions.csv` has intervals (`low`, `high`) that held 90 % of the validation targets.",
        "--features stations.csv",
    ),
    "signal_classification": Page(
        "Classes of signals",
        "One graph, many signals on it (a row per signal, a column per node), and a class for each: on which side did "
        "the rain of a day begin? Signals may also be a matrix (`.npy`, `.npz`, `.mtx`; several channels as a third "
        "axis), with the classes in a table of their own: `--targets FILE`.",
        lambda: days("class"),
        "--task signal-classification --edges edges.csv --signals days.csv --target side",
        "`--groups COLUMN` keeps rows that belong together (of one patient, say) in one part of the split.",
        "--signals days.csv",
    ),
    "signal_regression": Page(
        "Numbers of signals",
        "One graph, many signals on it, and a number for each: the damage that the rain of a day did.",
        lambda: days("number"),
        "--task signal-regression --edges edges.csv --signals days.csv --target damage",
        "New signals are read block by block, so a file may be larger than the memory.",
        "--signals days.csv",
    ),
    "forecast": Page(
        "Forecasts",
        "A table of times × nodes: a row per time, a column per node. The first times are for training, the next for "
        "validation, the last for testing. `--history` says how many last values a forecast sees, `--horizons` how "
        "many steps ahead it looks; several are learned at once. Missing values: `--missing mask`, or "
        "`--missing zero=missing` where a zero means that nothing was measured.",
        hours,
        "--task forecast --edges edges.csv --signals series.csv --history 3 --horizons 1,2",
        "`metrics.json` has every metric for all horizons together and for each (`rmse at 1`). `predict` looks ahead "
        "from the last rows of the table that it is given.",
        "--signals series.csv",
    ),
}


def said(command: str) -> str:
    """What a command prints, errors and results together."""
    result = CliRunner().invoke(app, shlex.split(command))
    if result.exit_code:
        raise RuntimeError(f"{command}: {result.exception or result.output}")
    return "\n".join(line.rstrip() for line in result.output.splitlines() if "compiling the fused" not in line)


def beginning(file: str, lines: int = 3) -> str:
    """The first lines of a file, long ones cut."""
    shown = Path(file).read_text("utf-8").splitlines()[:lines]
    return "\n".join(line if len(line) <= 100 else f"{line[:100]}…" for line in shown)


def render(page: Page) -> str:
    """The page, with what its commands print now; run in an empty working directory."""
    files = page.make()
    command = f"train {page.train} {SHORT} --out run"
    trained = said(command)
    predicted = said(f"predict run {page.predict} --out new.csv")
    parts = [
        f"# {page.title}",
        page.about,
        "## The files",
        *(f"`{name}`:\n\n```text\n{beginning(name)}\n…\n```" for name in files),
        "## Training",
        f"```console\nshiftstate {command.replace(f' {SHORT}', '')}\n```",
        f"With `{SHORT.removesuffix(' --workers 1')}`, for a short example, it prints:",
        f"```text\n{trained}\n```",
        page.after,
        "## Predictions",
        f"```console\nshiftstate predict run {page.predict} --out new.csv\n```",
        f"```text\n{predicted}\n{beginning('new.csv')}\n…\n```",
        "The [overview](../own_data.md) has what all tasks share: files, splits, missing values, what a run leaves.",
    ]
    return "\n\n".join(parts) + "\n"


def fresh(page: Page) -> str:
    """The page as it comes out of an empty directory."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return render(page)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / f"{name}.md").write_text(fresh(page), "utf-8")
        print(FOLDER / f"{name}.md")
