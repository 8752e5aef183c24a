"""The results of a directory as the page shows them: experiments with their cells, and claims."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from shiftstate.experiments.ceiling import Ceiling
from shiftstate.experiments.claims import Finding, title
from shiftstate.experiments.figures import COLORS
from shiftstate.experiments.plan import Plan
from shiftstate.experiments.report.contract import (
    ClaimFamily,
    CurveKind,
    OwnSettings,
    ShownAxis,
    ShownCell,
    ShownCount,
    ShownCurve,
    ShownError,
    ShownExperiment,
    ShownLine,
    ShownMetric,
    ShownNumber,
    ShownSettings,
    ShownValue,
    Trainings,
)
from shiftstate.experiments.store import Store
from shiftstate.experiments.summary import Line, Summary

Record = Mapping[str, Any]
Key = tuple[str, str, int, int, str | None]
At = dict[str, str | int | float | None]

TITLES = {"figure1": "Figure 1", "table1": "Table 1", "table2": "Table 2"}
ABOUT = {
    "figure1": "Source localization: from which community did a diffusion start? One layer, for growing K, "
    "the number of shifts.",
    "table1": "Source localization with deeper networks: L layers.",
    "table2": "Authorship attribution: did this author write the text? Each network reads the author's graph of "
    "function words.",
}
NOTES = {"figure1": ["The paper draws its Figure 1 with half a standard deviation and gives no numbers for it."]}
METRIC = ShownMetric(
    name="accuracy", title="test accuracy", better="higher", low=0.0, high=1.0, scale=100.0, unit="%", digits=1
)
CURVES = [
    CurveKind(name="loss", title="training loss", scale=1.0, unit=""),
    CurveKind(name="valid_accuracy", title="validation accuracy", scale=100.0, unit="%"),
]
ERRORS = [
    ShownError(title="standard deviation", of="std", scale=1.0),
    ShownError(title="95 % interval of the mean", of="interval", scale=1.0),
]
HALF = ShownError(title="½ standard deviation, as in the paper", of="std", scale=0.5)
AXES = ("filter", "K", "L", "author")
CLAIMS = (
    "The paper's sentences about its results, and what these results say to them. Effects are paired differences of "
    "means, against the strongest rival if there are several; p is two-sided, after Holm's correction over the claims "
    "that could be tested; n counts graphs or, for texts, splits or books."
)

PALETTE = ("#3b76b8", "#c8553d", "#7f8c9b", "#8a6bb1", "#b58900", "#2a9d8f", "#b0547f", "#6b705c", "#0b7a75", "#99582a")
"""For the lines of a chart, and from the fourth on for series that have no colour of their own."""
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


def describe_experiments(
    summary: Summary,
    records: Sequence[Record],
    plans: Mapping[str, Plan],
    ceilings: Mapping[str, Ceiling | None],
    chances: Mapping[str, float],
) -> list[ShownExperiment]:
    """Every experiment that was planned or has results, with its cells."""
    by_cell: dict[Key, list[Record]] = defaultdict(list)
    for record in records:
        by_cell[_key(record)].append(record)
    single = max(1, SINGLE_CURVES // max(1, len(by_cell)))
    names = sorted({*plans, *(line.experiment for line in summary.lines)})
    stored = Counter(record["experiment"] for record in records)
    shown = []
    for name in names:
        pairs = zip(summary.lines, summary.intervals, strict=True)
        own = [(line, interval) for line, interval in pairs if line.experiment == name]
        groups = [
            sorted(by_cell[line.experiment, line.filter, line.K, line.L, line.author], key=_number) for line, _ in own
        ]
        cells = [_cell(*pair, group, single) for pair, group in zip(own, groups, strict=True)]
        one = _frame(name, cells, ceilings.get(name), chances.get(name))
        one |= {
            "stored": stored[name],
            "plan": asdict(plans[name]) if name in plans else None,
            "cells": cells,
            "trainings": _trainings(groups, [count["name"] for count in one["counts"]]),
            "settings": _settings([record for record in records if record["experiment"] == name]),
        }
        shown.append(one)
    return shown


def _frame(name: str, cells: Sequence[ShownCell], ceiling: Ceiling | None, chance: float | None) -> Any:
    """What an experiment is, without its results."""
    texts = any(cell["at"]["author"] is not None for cell in cells)
    lines = [ShownLine(title="chance", value=chance)] if chance is not None else []
    lines += [ShownLine(title="matching shapes", value=ceiling.shape)] if ceiling is not None else []
    published = [cell["published"] for cell in cells if cell["published"] is not None]
    return {
        "name": name,
        "title": TITLES.get(name, name),
        "about": ABOUT.get(name, ""),
        "metric": METRIC,
        "axes": [axis for name in AXES if (axis := _axis(name, cells))["values"]],
        "series": "filter",
        "place": ["author"] if texts else ["L"] if name == "table1" else ["K"],
        "picture": "dots" if texts else "bars",
        "counts": [ShownCount(name=one, title=one) for one in ("graph", "draw")],
        "interval_unit": "split or book" if texts else "graph",
        "errors": [HALF, *ERRORS] if name == "figure1" else ERRORS,
        "lines": lines,
        "published": "paper" if published else None,
        "published_digits": _digits(METRIC, published),
        "notes": NOTES.get(name, []),
        "curves": CURVES,
    }


def _axis(name: str, cells: Sequence[ShownCell]) -> ShownAxis:
    """An axis with the values that cells have on it: numbers by size, words in the order of the cells."""
    values = list(dict.fromkeys(cell["at"][name] for cell in cells if cell["at"][name] is not None))
    if name == "filter":
        return ShownAxis(name=name, title=name, values=describe_series([str(value) for value in values]))
    if all(isinstance(value, int | float) for value in values):
        values.sort(key=lambda value: float(value or 0))
    return ShownAxis(name=name, title=name, values=[_value(name, value) for value in values])


def _value(axis: str, value: Any) -> ShownValue:
    place = str(value) if isinstance(value, str) else f"{axis} = {value}"
    return ShownValue(value=value, title=str(value), place=place, color=None)


def describe_series(names: Sequence[str]) -> list[ShownValue]:
    """Name, title and colour of every series, in the order of the figures."""
    known = [name for name in COLORS if name in names]
    others = sorted(set(names) - set(known))
    spare = {name: PALETTE[3:][place % len(PALETTE[3:])] for place, name in enumerate(others)}
    return [
        ShownValue(value=name, title=title(name), place=title(name), color=(COLORS | spare)[name])
        for name in known + others
    ]


def _digits(metric: ShownMetric, numbers: Sequence[ShownNumber]) -> int:
    """As many decimals as published numbers have, and no more than the metric's."""
    values = [value for one in numbers for value in (one["mean"], one["std"]) if value is not None]
    for digits in range(metric["digits"]):
        if all(abs(metric["scale"] * value - round(metric["scale"] * value, digits)) < 1e-9 for value in values):
            return digits
    return metric["digits"]


def _key(record: Record) -> Key:
    return record["experiment"], record["filter"], record["K"], record["L"], record["author"]


def _number(record: Record) -> tuple[int, int]:
    return record["graph"], record["draw"]


def _cell(line: Line, interval: tuple[float, float] | None, records: Sequence[Record], single: int) -> ShownCell:
    times = [record["seconds"] for record in records]
    at: At = {"filter": line.filter, "K": line.K or None, "L": line.L or None, "author": line.author}
    published = None if line.paper_mean is None else ShownNumber(mean=line.paper_mean, std=line.paper_std)
    return {
        "at": at,
        "n": line.n,
        "mean": line.mean,
        "std": line.std,
        "mean_best": line.mean_best,
        "interval": interval,
        "published": published,
        "diverged": sum(record["outcome"] == "diverged" for record in records),
        "parameters": sorted({record["parameters"] for record in records}),
        "seconds": {"mean": short(fmean(times)) or 0.0, "min": min(times), "max": max(times)} if times else None,
        "curves": {kind["name"]: _curve(records, kind["name"], single) for kind in CURVES},
    }


def _curve(records: Sequence[Record], name: str, single: int) -> ShownCurve:
    """Mean, least and largest over the trainings at every epoch that all of them reached, and the first few whole."""
    curves = [record["curve"].get(name) or [] for record in records]
    longest = max(map(len, curves), default=0)
    full = [curve for curve in curves if len(curve) == longest and longest]
    epochs = list(zip(*full, strict=True))
    return {
        "of": len(full),
        "mean": [short(fmean(values)) for values in epochs],
        "low": [short(min(values)) for values in epochs],
        "high": [short(max(values)) for values in epochs],
        "single": [[short(value) for value in curve] for curve in curves[:single]],
    }


def _trainings(groups: Sequence[Sequence[Record]], counts: Sequence[str]) -> Trainings:
    """What single trainings gave; groups are the cells."""
    each = [(place, record) for place, group in enumerate(groups) for record in group]
    return {
        "id": [record["id"] for _, record in each],
        "cell": [place for place, _ in each],
        "value": [short(record["accuracy_last"]) for _, record in each],
        "outcome": [record["outcome"] for _, record in each],
        "seconds": [short(record["seconds"]) for _, record in each],
        "counts": {name: [record[name] for _, record in each] for name in counts},
    }


def _settings(records: Sequence[Record]) -> ShownSettings:
    """What every training of an experiment had in common, and what only those of a series did."""
    aside = {"experiment", *AXES, "graph", "draw"}
    by_series: dict[str, dict[str, Any]] = {}
    for record in records:
        settings = {name: value for name, value in record["config"].items() if name not in aside}
        by_series.setdefault(record["filter"], settings)
    every = list(by_series.values())
    common = {
        key: value for key, value in (every[0] if every else {}).items() if all(one.get(key) == value for one in every)
    }
    own = [
        OwnSettings(title=title(name), settings={key: value for key, value in one.items() if key not in common})
        for name, one in by_series.items()
    ]
    return {"common": common, "own": [one for one in own if one["settings"]]}


def describe_claims(findings: Sequence[Finding]) -> list[ClaimFamily]:
    """The claims, judged."""
    claims: list[Any] = [asdict(finding) for finding in findings]
    return [ClaimFamily(title="", note=CLAIMS, metric=METRIC, claims=claims)]


def short(value: float) -> float | None:
    """Four digits of a number are more than a chart shows; a number that is none is left out."""
    return float(f"{value:.4g}") if isfinite(value) else None
