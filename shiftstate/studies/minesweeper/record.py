"""The record under docs/results/minesweeper: made before the machine was, by the same network, trials and training.

Its CSVs have filter, split, val, test, best_epoch, epochs, channels, parameters, cpu_seconds and setting; scores are in
per cent, of the epoch that was best on validation cells. They are read as they are: what a run of the machine stores
beside (scores of the last epoch, curves, versions) was not kept then, so nothing could stand in its columns.
"""

import csv
import json
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

OPTIONS = ("mixing", "init", "gate_bias", "state_activation", "output_activation")


def read_record(path: Path) -> list[dict[str, Any]]:
    """The runs of a CSV, numbers as numbers and the setting as a table."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    whole = ("split", "best_epoch", "epochs", "channels", "parameters")
    return [
        {
            **row,
            **{name: int(row[name]) for name in whole},
            **{name: float(row[name]) for name in ("val", "test", "cpu_seconds") if name in row},
            "setting": json.loads(row["setting"]),
        }
        for row in rows
    ]


def settings_of(setting: dict[str, Any]) -> dict[str, Any]:
    """A recorded setting by the keys of the study."""
    renamed = {"blocks": setting["blocks"], "shift": setting["shift"], "dropout": setting["dropout"]}
    return {**renamed, "learning_rate": (setting["lr"],), **setting["options"]}


def table(rows: list[dict[str, Any]]) -> str:
    """Mean ± standard deviation of every filter, and on how many splits it is above TAGConv."""
    base = {row["split"]: row["test"] for row in rows if row["filter"] == "tagconv"}
    lines = [
        "| filter | test ROC AUC | validation | above TAGConv | channels | parameters | CPU s a run |",
        "|---" * 7 + "|",
    ]
    for name in dict.fromkeys(row["filter"] for row in rows):
        own = [row for row in rows if row["filter"] == name]
        test = [row["test"] for row in own]
        spread = f" ± {stdev(test):.2f}" if len(test) > 1 else ""
        above = sum(row["test"] > base.get(row["split"], 100) for row in own)
        seconds = round(sum(row["cpu_seconds"] for row in own)) / len(own)
        lines.append(
            f"| {name} | {fmean(test):.2f}{spread} | {fmean(row['val'] for row in own):.2f} | {above} of {len(own)} "
            f"splits | {own[0]['channels']} | {own[0]['parameters']:,} | {seconds:.0f} |"
        )
    return "\n".join(lines) + "\n"
