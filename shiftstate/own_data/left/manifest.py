"""Note the checksums of a run's files, and check them before the files are read back.

People may add files to the folder of a run, and remove its page and lens, which are written again. What the manifest
names is not for editing: a changed file raises.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from shiftstate.checks import check_device
from shiftstate.estimators.storage import read_estimator
from shiftstate.files import check_as_written, checksum, write_whole
from shiftstate.json_file import entries, read_json, shown, table, whole

MANIFEST = "manifest.json"
FORMAT = 1
MODEL = "model.safetensors"
FILES = (
    "settings.json",
    "data.json",
    "graph.npz",
    MODEL,
    "predictions.csv",
    "curves.svg",
    "confusion.svg",
    "residuals.svg",
    "metrics.json",
)
"""What a run writes; of the pictures the last two are for classes and for numbers."""
ADVICE = "give the same `shiftstate train` again after removing it: finished trainings are not made again"


def write_manifest(folder: Path) -> None:
    """Note the files of a run; written last, so that its presence says that all are there."""
    found = {name: checksum(folder / name, "a file of the run") for name in FILES if (folder / name).is_file()}
    write_whole(folder / MANIFEST, json.dumps({"format": FORMAT, "files": found}, indent=1) + "\n")


def is_finished(folder: Path) -> bool:
    """Whether a run has written its manifest, and no file of it was removed since."""
    return (folder / MANIFEST).exists() and all((folder / name).exists() for name in _read(folder))


def check_run(folder: Path, *needed: str) -> None:
    """Raise if a file of a finished run is not the one that was written, or is gone.

    Args:
        folder: of the run.
        needed: files that have to be among them.
    """
    found = _read(folder)
    for name in needed:
        if name not in found:
            raise ValueError(f"{folder / MANIFEST} does not name {name}; expected the manifest of a finished run")
    for name, written in found.items():
        check_as_written(folder / name, written, MANIFEST, ADVICE)


def read_run_model(folder: Path) -> Any:
    """The estimator of a run, on a device that this machine has; `check_run` comes first."""
    estimator = read_estimator(folder / MODEL)
    check_device(f"{folder / MODEL}: device", estimator.device)
    return estimator


def _read(folder: Path) -> dict[str, str]:
    expected = "the folder of a finished run; an unfinished or older one is completed by the same `shiftstate train`"
    schema = table({"format": whole(FORMAT, FORMAT), "files": entries(_digest, _name)})
    found: dict[str, str] = read_json(folder / MANIFEST, expected, schema)["files"]
    return found


def _name(place: str, value: str) -> None:
    if value not in FILES:
        raise ValueError(f"{place} is {shown(value)}; expected files of a run: {', '.join(FILES)}")


def _digest(place: str, value: Any) -> None:
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{64}", value):
        raise ValueError(f"{place} is {shown(value)}; expected a SHA-256 in 64 digits")
