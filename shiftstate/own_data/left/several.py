"""Several splits: a run for each, and one above them with means and intervals over the splits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import t as student

from shiftstate.estimators import Comparison
from shiftstate.files import make_directory, write_whole
from shiftstate.machine.results.data_files import write_fingerprints
from shiftstate.own_data.asking.settings import TrainSettings
from shiftstate.own_data.left.leaving import FILES, METRICS, PICTURES, graph_bytes, read_metrics, write_run
from shiftstate.own_data.left.manifest import write_manifest
from shiftstate.own_data.left.verdicts import is_share, sentence, table_of
from shiftstate.own_data.reading.problems import Problem
from shiftstate.own_data.reading.splitting import PARTS
from shiftstate.tasks import Metric

FOLDER = "splits"
LEVEL = 0.95


def write_several(
    settings: TrainSettings, problems: Sequence[Problem], comparisons: Sequence[Comparison], data: Mapping[str, str]
) -> None:
    """A directory for each split, and above them their means and the files of the split that is best on validation."""
    out = settings.out
    runs = []
    for one, problem, comparison in zip(settings.splits(), problems, comparisons, strict=True):
        folder = out / FOLDER / one.split[0]
        make_directory(folder, "the run of a split")
        write_whole(folder / "settings.json", json.dumps(replace(one, out=folder).as_dict(), indent=1) + "\n")
        write_fingerprints(folder, data)
        write_whole(folder / "graph.npz", graph_bytes(problem))
        write_run(one, problem, comparison, folder)
        runs.append(read_metrics(folder))
    metric = comparisons[0].metric
    scores = [comparison.model.valid for comparison in comparisons]
    best = int(np.argmax(scores) if metric.direction == "higher" else np.argmin(scores))
    shown = out / FOLDER / settings.split[best]
    for name in (*FILES, *PICTURES):
        if (shown / name).is_file():
            write_whole(out / name, (shown / name).read_bytes())
    write_whole(out / METRICS, json.dumps(_together(settings, runs, comparisons, best), indent=1) + "\n")
    write_manifest(out)


def _together(
    settings: TrainSettings, runs: Sequence[dict[str, Any]], comparisons: Sequence[Comparison], best: int
) -> dict[str, Any]:
    """What metrics.json holds: means over the splits, and of the lead an interval over them."""
    metric = comparisons[0].metric
    names = [name for name in runs[0]["baselines"] if all(name in run["baselines"] for run in runs)]
    tests = [comparison.model.test for comparison in comparisons]
    sign = 1 if metric.direction == "higher" else -1
    valid = {
        name: float(np.mean([one.valid for comparison in comparisons for one in comparison.others if one.name == name]))
        for name in names
    }
    rival = max(names, key=lambda name: sign * valid[name])
    others = {name: [run["baselines"][name] for run in runs] for name in names}
    lead = _interval([sign * (own - other) for own, other in zip(tests, others[rival], strict=True)])
    mean = {name: float(np.mean(values)) for name, values in others.items()}
    titles = {one.name: one.title for one in comparisons[0].others}
    rows: list[tuple[str, float, tuple[float, float] | None]] = [
        (comparisons[0].model.title, float(np.mean(tests)), _ends(metric, tests))
    ]
    rows += [(titles[name], mean[name], None) for name in names]
    return {
        **{key: runs[0][key] for key in ("task", "metric", "filter", "settings", "normalization", "scale")},
        **{part: _means([run[part] for run in runs]) for part in PARTS},
        "seeds": {"mean": float(np.mean(tests)), "std": float(np.std(tests, ddof=1)), "seeds": tests},
        "baselines": mean,
        "rival": rival,
        "lead": lead[0],
        "interval": [lead[1], lead[2]],
        "verdict": sentence(metric, rival, titles[rival], lead, mean[rival]),
        "table": table_of(metric, rows, f"mean of {len(runs)} splits"),
        "splits": {name: run["seeds"]["mean"] for name, run in zip(settings.split, runs, strict=True)},
        "files_of": settings.split[best],
    }


def _ends(metric: Metric, values: Sequence[float]) -> tuple[float, float]:
    """The interval of a mean score; a share lies between 0 and 1."""
    _, low, high = _interval(values)
    return (max(low, 0.0), min(high, 1.0)) if is_share(metric) else (low, high)


def _interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean and its interval, by Student's t."""
    mean = float(np.mean(values))
    half = float(student.ppf((1 + LEVEL) / 2, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
    return mean, mean - half, mean + half


def _means(scores: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([one[name] for one in scores])) for name in scores[0]}
