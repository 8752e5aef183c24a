"""`shiftstate compare`: runs side by side, with the paired difference of their predictions."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from shiftstate.own_data.left.leaving import METRICS, read_metrics
from shiftstate.own_data.left.manifest import check_run

RESAMPLES = 1000


def side_by_side(runs: Sequence[Path]) -> str:
    """A line per run, and a line for how the others differ from the first where they predict the same rows."""
    for run in runs:
        check_run(run, METRICS, "predictions.csv")
    found = [read_metrics(run) for run in runs]
    kinds = {(one["task"], one["metric"]) for one in found}
    if len(kinds) > 1:
        shown = " and ".join(sorted(f"{task} by {metric}" for task, metric in kinds))
        raise ValueError(f"the runs are of {shown}; expected runs of one task and metric")
    ((_, metric),) = kinds
    width = max(3, *(len(str(run)) for run in runs))
    lines = [f"{'run':{width}}  filter  K    {metric} on test data"]
    for run, one in zip(runs, found, strict=True):
        lines.append(f"{run!s:{width}}  {one['filter']:6}  {one['settings']['K']!s:3}  {one['seeds']['mean']:.4g}")
    for run in runs[1:]:
        lines.append(_difference(runs[0], run))
    return "\n".join(lines)


def _difference(first: Path, other: Path) -> str:
    """By how much the test errors of a run differ from the first's, with an interval by resampling rows."""
    one, two = _errors(first), _errors(other)
    rows = sorted(one.keys() & two.keys())
    if not rows:
        return f"{other} and {first} have no test rows in common"
    gap = np.array([two[row] - one[row] for row in rows])
    random = np.random.default_rng(0)
    means = [gap[random.integers(len(gap), size=len(gap))].mean() for _ in range(RESAMPLES)]
    low, high = np.quantile(means, [0.025, 0.975])
    return (
        f"{other} − {first}: mean error {gap.mean():+.4g} ({low:+.4g} … {high:+.4g}) on {len(rows)} test rows in common"
    )


def _errors(run: Path) -> dict[tuple[str, ...], float]:
    """1 for a wrong class and 0 for a right one, |predicted − target| for numbers; by row."""
    file = run / "predictions.csv"
    try:
        with file.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        errors = {}
        for row in rows:
            if row.get("split", "test") != "test" or row["target"] == "":
                continue
            key = tuple(row[name] for name in ("node", "row", "time", "horizon") if name in row)
            numbers = "low" in row
            wrong = (
                abs(float(row["predicted"]) - float(row["target"])) if numbers else row["predicted"] != row["target"]
            )
            errors[key] = float(wrong)
    except (OSError, KeyError, ValueError, csv.Error) as error:
        raise ValueError(f"{file} cannot be read ({error}); expected the directory of a finished run") from None
    return errors
