"""Edited files of runs, models, partitions and attribution models, and the commands that read them."""

import csv
import hashlib
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.hostile.changes import ANY_FILE, Change
from tests.hostile.judging import Case, Words
from tests.hostile.mutating import Edit, array_edits, json_edits, tensor_edits, unsigned

COMPARE = ("compare", "run", "other")
REPORT = ("report", "run")
PREDICT = ("predict", "run", "--features", "features.csv", "--out", "new.csv")
FORECAST = ("predict", "series", "--signals", "series.csv", "--out", "new.csv")
RESUME = ("train", "--config", "run.toml", "--workers", "1")
LOAD = (
    *("train", "--graph", "parts", "--task", "node-classification", "--nodes", "towns.csv", "--target", "side"),
    *("--split", "split", "--name", "town", "--epochs", "1", "--filter", "gcnn", "--K", "1", "--out", "trained"),
)
WHO = ("attribute", "predict", "model", "text.txt", "--json", "answer.json")
SIGNED = 5
"""With its checksum every edit is found in the same way: one of so many is tried."""

Sign = Callable[[Path], None]
"""Makes the checksums in a folder those of the files as they are: a forger would."""


def sign_run(folder: Path) -> None:
    """The manifest of a run, and the checksum of its model."""
    model = folder / "model.safetensors"
    try:
        model.write_bytes(unsigned(model.read_bytes()))
    except Exception:  # a file that is damaged needs no checksum
        pass
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
        cases.append(Case(f"{name}, forged", words, _inside(place, change, sign), "any", (file,)))
    return cases


def damage(place: str, file: str, words: Words) -> list[Case]:
    """Nasty things in place of a stored file."""
    whole = f"{place}/{file}" if place else file
    return [Case(f"{words[0]} {file}: {how}", words, make(whole), "refused", (file,)) for how, make in ANY_FILE.items()]


def _inside(place: str, *changes: Change) -> Change:
    return lambda folder: [change(folder / place) for change in changes]


def of_csv(out: str) -> Any:
    """The predictions that were written."""
    with open("new.csv", newline="") as file:
        return list(csv.reader(file))


def of_page(out: str) -> Any:
    """The data of the page that was written."""
    found = re.search(r'id="data">(.*?)</script>', Path("run/report.html").read_text("utf-8"), re.DOTALL)
    assert found is not None
    return {name: value for name, value in json.loads(found[1]).items() if name != "files"}


def of_answer(out: str) -> Any:
    """Probabilities of authors."""
    return json.loads(Path("answer.json").read_text())[0]["probabilities"]


Made = Callable[[Path, int | None], list[Case]]
KINDS: dict[str, tuple[Words, Callable[[str], Any], Made]] = {
    "metrics, compared": (COMPARE, str, lambda at, few: [
        *edits("run", "metrics.json", COMPARE, json_edits(at / "run/metrics.json", few), sign_run),
        *damage("run", "metrics.json", COMPARE), *damage("run", "predictions.csv", COMPARE)]),
    "metrics, on a page": (REPORT, of_page, lambda at, few: [
        *edits("run", "metrics.json", REPORT, json_edits(at / "run/metrics.json", few), sign_run)]),
    "settings, on a page": (REPORT, of_page, lambda at, few: [
        *edits("run", "settings.json", REPORT, json_edits(at / "run/settings.json", few), sign_run),
        *damage("run", "settings.json", REPORT)]),
    "settings, in predictions": (PREDICT, of_csv, lambda at, few: [
        *edits("run", "settings.json", PREDICT, json_edits(at / "run/settings.json", few), sign_run),
        *damage("run", "manifest.json", PREDICT)]),
    "manifest": (PREDICT, of_csv, lambda at, few: [
        *edits("run", "manifest.json", PREDICT, json_edits(at / "run/manifest.json", few), lambda folder: None)]),
    "model of nodes": (PREDICT, of_csv, lambda at, few: [
        *edits("run", "model.safetensors", PREDICT, tensor_edits(at / "run/model.safetensors", few), sign_run),
        *damage("run", "model.safetensors", PREDICT)]),
    "graph": (PREDICT, of_csv, lambda at, few: [
        *edits("run", "graph.npz", PREDICT, array_edits(at / "run/graph.npz"), sign_run),
        *damage("run", "graph.npz", PREDICT)]),
    "model of a series": (FORECAST, of_csv, lambda at, few: [
        *edits("series", "model.safetensors", FORECAST, tensor_edits(at / "series/model.safetensors", few), sign_run),
        *edits("series", "metrics.json", FORECAST, json_edits(at / "series/metrics.json", few), sign_run)]),
    "partition": (LOAD, str, lambda at, few: [
        *edits("parts", "partition.json", LOAD, json_edits(at / "parts/partition.json", few), sign_parts),
        *edits("parts", "part-0.safetensors", LOAD, tensor_edits(at / "parts/part-0.safetensors", few), sign_parts),
        *damage("parts", "partition.json", LOAD), *damage("parts", "part-0.safetensors", LOAD)]),
    "attribution model": (WHO, of_answer, lambda at, few: [
        *edits("", "model", WHO, tensor_edits(at / "model", few), sign_model), *damage("", "model", WHO)]),
}  # fmt: skip
"""By kind: the clean command, its numbers, and the cases, from the stored files and how many values each key gets."""
