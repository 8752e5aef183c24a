"""Edited files of runs, models, partitions and attribution models, and the commands that read them."""

import csv
import json
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.hostile.changes import ANY_FILE, Change
from tests.hostile.clean import NODES, SERIES, write_clean
from tests.hostile.judging import Case, Words
from tests.hostile.mutating import Edit

COMPARE = ("compare", "run", "other")
REPORT = ("report", "run")
PREDICT = ("predict", "run", "--features", "features.csv", "--out", "new.csv")
FORECAST = ("predict", "series", "--signals", "series.csv", "--out", "new.csv")
LOAD = (
    *("train", "--graph", "parts", "--task", "node-classification", "--nodes", "towns.csv", "--target", "side"),
    *("--split", "split", "--name", "town", "--epochs", "1", "--filter", "gcnn", "--K", "1", "--out", "trained"),
)
WHO = ("attribute", "predict", "model", "text.txt", "--json", "answer.json")


def write_stored(folder: Path, run: Callable[..., Any]) -> Path:
    """Runs, a partition, and the data that they were made of; the paths in their settings lead nowhere."""
    origin = folder / "origin"
    origin.mkdir()
    write_clean(origin)
    for words in ((*NODES, "--out", "run"), (*NODES, "--out", "other", "--K", "2"), (*SERIES, "--out", "series")):
        run(*words, folder=origin)
    run("partition", "edges.csv", "--parts", "1", "--method", "blocks", "--out", "parts", folder=origin)
    shutil.move(origin, folder / "stored")
    return folder / "stored"


def edits(place: str, file: str, words: Words, found: Iterable[Edit], name: str | None = None) -> list[Case]:
    """Cases from edits: the message names the file."""
    kind = words[0]
    return [
        Case(f"{kind}: {file}: {how}", words, _inside(place, change), text=(name or file,)) for how, change in found
    ]


def damage(place: str, file: str, words: Words, name: str | None = None) -> list[Case]:
    """Nasty things in place of a stored file."""
    return [
        Case(
            f"{words[0]}: {file}: {how}", words, make(f"{place}/{file}" if place else file), "refused", (name or file,)
        )
        for how, make in ANY_FILE.items()
    ]


def _inside(place: str, change: Change) -> Change:
    return lambda folder: change(folder / place)


def of_csv(out: str) -> Any:
    """The predictions that were written."""
    with open("new.csv", newline="") as file:
        return list(csv.reader(file))


def of_page(out: str) -> Any:
    """The data of the page that was written."""
    found = re.search(r'id="data">(.*?)</script>', Path("run/report.html").read_text("utf-8"), re.DOTALL)
    assert found is not None
    return {name: value for name, value in json.loads(found[1]).items() if name != "files"}


def of_training(out: str) -> Any:
    """What a training on a partition printed."""
    return re.sub(r"\d+\.\d+ s", "", out)
