"""Edited files of runs, models, partitions and attribution models, and the commands that read them."""

import contextlib
import csv
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.hostile.changes import ANY_FILE, Change
from tests.hostile.judging import Case, Words
from tests.hostile.mutating import Edit, array_edits, json_edits, tensor_edits, unsigned

COMPARE = ("compare", "run", "run")
REPORT = ("report", "run")
PREDICT = ("predict", "run", "--features", "features.csv", "--out", "new.csv")
FORECAST = ("predict", "series", "--signals", "series.csv", "--out", "new.csv")
RESUME = ("train", "--config", "run.toml", "--workers", "1")
LOAD = (
    *("train", "--graph", "parts", "--task", "node-classification", "--nodes", "towns.csv", "--target", "side"),
    *("--split", "split", "--name", "town", "--epochs", "1", "--filter", "gcnn", "--K", "1", "--out", "trained"),
)
WHO = ("attribute", "predict", "model", "text.txt", "--json", "answer.json")
PART = "part-0.safetensors"
SIGNED = 5
"""With its checksum every edit is found in the same way: one of so many is tried."""

Sign = Callable[[Path], None]
"""Makes the checksums in a folder those of the files as they are: a forger would."""


def sign_run(folder: Path) -> None:
    """The manifest of a run, and the checksum of its model."""
    model = folder / "model.safetensors"
    with contextlib.suppress(Exception):  # a file that is damaged needs no checksum
        model.write_bytes(unsigned(model.read_bytes()))
    _sign(folder, folder / "manifest.json", lambda found: found["files"].items(), lambda found: found["files"])


def _sign(folder: Path, manifest: Path, names: Any, place: Any) -> None:
    found = json.loads(manifest.read_text())
    for name, _ in list(names(found)):
        place(found)[name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    manifest.write_text(json.dumps(found))


def sign_parts(folder: Path) -> None:
    """The manifest of a partition, where it still names its parts."""
    try:
        found = json.loads((folder / "partition.json").read_text())
        for part in found["parts"]:
            part["sha256"] = hashlib.sha256((folder / part["file"]).read_bytes()).hexdigest()
    except Exception:
        return
    (folder / "partition.json").write_text(json.dumps(found))


def sign_model(folder: Path) -> None:
    """An attribution model without its checksum."""
    try:
        (folder / "model").write_bytes(unsigned((folder / "model").read_bytes()))
    except Exception:
        return


def edits(place: str, file: str, words: Words, found: Iterable[Edit], sign: Sign) -> list[Case]:
    """Some edits as they are; all of them with forged checksums, where other numbers may be right: nobody can tell."""
    cases = []
    for number, (how, change) in enumerate(found):
        name = f"{words[0]} {file}: {how}"
        if number % SIGNED == 0:
            cases.append(Case(name, words, _inside(place, change), text=(file,)))
        cases.append(Case(f"{name}, forged", words, _inside(place, change, sign), "any"))
    return cases


def damage(place: str, file: str, words: Words) -> list[Case]:
    """Nasty things in place of a stored file."""
    return [
        Case(f"{words[0]} {file}: {how}", words, make(f"{place}/{file}"), "refused", (file,))
        for how, make in ANY_FILE.items()
    ]


def _inside(place: str, *changes: Change) -> Change:
    return lambda folder: [change(folder / place) for change in changes]


def of_csv(out: str) -> Any:
    """The predictions that were written, in any order."""
    with open("new.csv", newline="") as file:
        return sorted(csv.reader(file))


def of_page(out: str) -> Any:
    """The data of the page that was written."""
    found = re.search(r'id="data">(.*?)</script>', Path("run/report.html").read_text("utf-8"), re.DOTALL)
    assert found is not None
    return {name: value for name, value in json.loads(found[1]).items() if name != "files"}


def of_answer(out: str) -> Any:
    """Probabilities of authors."""
    return json.loads(Path("answer.json").read_text())[0]["probabilities"]


EDITORS: dict[str, Callable[[Path, int | None], Iterable[Edit]]] = {
    ".json": json_edits,
    ".npz": array_edits,
    ".safetensors": tensor_edits,
    "": tensor_edits,
}


@dataclass(frozen=True)
class Kind:
    """Stored files, and a command that reads them."""

    words: Words
    numbers: Callable[[str], Any]
    files: Sequence[str]
    """To be edited: folder/file."""
    sign: Sign
    each: int = 1
    """One of so many edits is enough for every day."""
    damaged: Sequence[str] = ()
    """To be replaced by nasty things: folder/file."""

    def cases(self, stored: Path, thorough: bool = False) -> list[Case]:
        """For every thing in the files one nasty value, or all of them."""
        found: list[Case] = []
        for path in map(Path, self.files):
            made = list(EDITORS[path.suffix](stored / path, None if thorough else 1))
            chosen = made if thorough else made[:: self.each]
            found += edits(str(path.parent), path.name, self.words, chosen, self.sign)
        for path in map(Path, self.damaged):
            found += damage(str(path.parent), path.name, self.words)
        return found


MODEL = "model.safetensors"
KINDS = {
    "metrics, compared": Kind(
        COMPARE, str, ["run/metrics.json"], sign_run, 3, damaged=["run/metrics.json", "run/predictions.csv"]
    ),
    "metrics, on a page": Kind(REPORT, of_page, ["run/metrics.json"], sign_run, 10),
    "settings, on a page": Kind(REPORT, of_page, ["run/settings.json"], sign_run, 6, ["run/settings.json"]),
    "settings, in predictions": Kind(PREDICT, of_csv, ["run/settings.json"], sign_run, 4, ["run/manifest.json"]),
    "manifest": Kind(PREDICT, of_csv, ["run/manifest.json"], lambda folder: None),
    "model of nodes": Kind(PREDICT, of_csv, [f"run/{MODEL}"], sign_run, 6, [f"run/{MODEL}"]),
    "graph": Kind(PREDICT, of_csv, ["run/graph.npz"], sign_run, 3, ["run/graph.npz"]),
    "model of a series": Kind(FORECAST, of_csv, [f"series/{MODEL}", "series/metrics.json"], sign_run, 8),
    "partition": Kind(
        LOAD, str, ["parts/partition.json", f"parts/{PART}"], sign_parts, 4, ["parts/partition.json", f"parts/{PART}"]
    ),
    "attribution model": Kind(WHO, of_answer, ["model"], sign_model, 24, ["model"]),
}
