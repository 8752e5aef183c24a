"""The results of a directory as the page shows them: cells, claims, single trainings, curves, times."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from shiftstate.experiments.ceiling import Ceiling
from shiftstate.experiments.claims import Finding, title
from shiftstate.experiments.figures import COLORS
from shiftstate.experiments.plan import Plan
from shiftstate.experiments.store import Store
from shiftstate.experiments.summary import Line, Summary

Record = Mapping[str, Any]
Key = tuple[str, str, int, int, str | None]

TITLES = {"figure1": "Figure 1", "table1": "Table 1", "table2": "Table 2"}

SPARE_COLORS = ("#8a6bb1", "#b58900", "#2a9d8f", "#b0547f", "#6b705c")
"""For filters that the figures have no colour for."""
SINGLE_CURVES = 1200
"""How many learning curves of single trainings a page carries; means are always of all."""


@contextmanager
def open_results(directory: Path) -> Iterator[Store | None]:
    """The store of a directory, or one made from its realizations.csv, or None; nothing is written there."""
    if (directory / "results.sqlite").exists():
        with Store(directory) as store:
            yield store
    elif (directory / "realizations.csv").exists():
        with TemporaryDirectory() as scratch, Store(Path(scratch)) as store:
            store.import_csv(directory / "realizations.csv")
            yield store
    else:
        yield None


def describe_filters(names: Sequence[str]) -> list[dict[str, str]]:
    """Name, title and colour of every filter, in the order of the figures."""
    known = [name for name in COLORS if name in names]
    others = sorted(set(names) - set(known))
    spare = {name: SPARE_COLORS[place % len(SPARE_COLORS)] for place, name in enumerate(others)}
    return [{"name": name, "title": title(name), "color": (COLORS | spare)[name]} for name in known + others]


def describe_experiments(
    summary: Summary, records: Sequence[Record], plans: Mapping[str, Plan], ceilings: Mapping[str, Ceiling | None]
) -> list[dict[str, Any]]:
    """Every experiment that was planned or has results, with its cells."""
    stored = Counter(record["experiment"] for record in records)
    by_cell: dict[Key, list[Record]] = defaultdict(list)
    for record in records:
        by_cell[_key(record)].append(record)
    single = max(1, SINGLE_CURVES // max(1, len(by_cell)))
    cells: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line, interval in zip(summary.lines, summary.intervals, strict=True):
        of_cell = by_cell[line.experiment, line.filter, line.K, line.L, line.author]
        cells[line.experiment].append(_cell(line, interval, of_cell, single))
    names = dict.fromkeys([*plans, *cells])
    return [
        {
            "name": name,
            "stored": stored[name],
            "plan": asdict(plans[name]) if name in plans else None,
            "ceiling": asdict(known) if (known := ceilings.get(name)) else None,
            "cells": cells[name],
        }
        for name in sorted(names)
    ]


def _key(record: Record) -> Key:
    return record["experiment"], record["filter"], record["K"], record["L"], record["author"]


def _cell(line: Line, interval: tuple[float, float] | None, records: Sequence[Record], single: int) -> dict[str, Any]:
    times = [record["seconds"] for record in records]
    return asdict(line) | {
        "interval": interval,
        "diverged": sum(record["outcome"] == "diverged" for record in records),
        "parameters": sorted({record["parameters"] for record in records}),
        "seconds": {"mean": round(fmean(times), 2), "min": min(times), "max": max(times)} if times else None,
        "curves": {name: _curves(records, name, single) for name in ("loss", "valid_accuracy")},
    }


def _curves(records: Sequence[Record], name: str, single: int) -> dict[str, Any]:
    """Mean, least and largest over the trainings at every epoch that all of them reached, and the first few whole."""
    curves = [record["curve"].get(name) or [] for record in records]
    longest = max(map(len, curves), default=0)
    full = [curve for curve in curves if len(curve) == longest and longest]
    epochs = list(zip(*full, strict=True))
    return {
        "of": len(full),
        "mean": [_short(fmean(values)) for values in epochs],
        "low": [_short(min(values)) for values in epochs],
        "high": [_short(max(values)) for values in epochs],
        "single": [[_short(value) for value in curve] for curve in curves[:single]],
    }


def describe_claims(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """The claims, judged."""
    return [asdict(finding) for finding in findings]


def describe_realizations(records: Sequence[Record]) -> dict[str, list[Any]]:
    """What single trainings gave, column by column: half the size of row by row."""
    names = ("id", "experiment", "filter", "K", "L", "author", "graph", "draw", "accuracy_last", "outcome", "seconds")
    return {name: [_short(record[name]) for record in records] for name in names}


def describe_protocols(records: Sequence[Record]) -> list[dict[str, Any]]:
    """What every training of an experiment had in common, and what only those of a filter did."""
    axes = {"experiment", "filter", "K", "L", "graph", "draw", "author"}
    configs: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for record in records:
        settings = {name: value for name, value in record["config"].items() if name not in axes}
        configs[record["experiment"]].setdefault(record["filter"], settings)
    described = []
    for experiment, by_filter in sorted(configs.items()):
        every = list(by_filter.values())
        common = {key: value for key, value in every[0].items() if all(one.get(key) == value for one in every)}
        own = {
            name: {key: value for key, value in settings.items() if key not in common}
            for name, settings in by_filter.items()
        }
        described.append(
            {"experiment": experiment, "common": common, "own": {name: one for name, one in own.items() if one}}
        )
    return described


def _short(value: Any) -> Any:
    """Four digits of a number are more than a chart shows; a number that is none is left out."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.4g}") if abs(value) < float("inf") else None
