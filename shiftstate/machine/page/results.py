"""The results of a directory as the page shows them: experiments with their cells, and claims."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from statistics import fmean
from typing import Any

from shiftstate.machine.judging.figures import colors_of, varying
from shiftstate.machine.judging.summary import Line, Summary
from shiftstate.machine.page.contract import (
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
from shiftstate.machine.results.columns import Columns
from shiftstate.machine.results.plan import Plan
from shiftstate.machine.study import Axis, Experiment, Landmark, Study

Record = Mapping[str, Any]

ERRORS = [
    ShownError(title="standard deviation", of="std", scale=1.0),
    ShownError(title="95 % interval of the mean", of="interval", scale=1.0),
]
PALETTE = ("#3b76b8", "#c8553d", "#7f8c9b", "#8a6bb1", "#b58900", "#2a9d8f", "#b0547f", "#6b705c", "#0b7a75", "#99582a")
"""For the lines of charts that show no models."""
SINGLE_CURVES = 1200
"""How many learning curves of single trainings a page carries; means are always of all."""


def describe_experiments(
    summary: Summary,
    records: Sequence[Record],
    plans: Mapping[str, Plan],
    landmarks: Mapping[str, Sequence[Landmark]],
    chances: Mapping[str, float | None],
) -> list[ShownExperiment]:
    """Every experiment that was planned or has results, with its cells."""
    study = summary.study
    by_cell: dict[Any, list[Record]] = defaultdict(list)
    for record in records:
        by_cell[_key(study, record)].append(record)
    single = max(1, SINGLE_CURVES // max(1, len(by_cell)))
    names = sorted({*plans, *(line.cell.experiment for line in summary.lines)} & {*study.names})
    stored = Counter(record["experiment"] for record in records)
    shown = []
    for name in names:
        experiment = study[name]
        pairs = zip(summary.lines, summary.intervals, strict=True)
        own = [(line, interval) for line, interval in pairs if line.cell.experiment == name]
        numbers = [count.column for count in experiment.counts]
        groups = [
            sorted(by_cell[_key(study, line.cell.to_dict())], key=lambda record: [record[one] for one in numbers])
            for line, _ in own
        ]
        cells = [_cell(study, *pair, group, single) for pair, group in zip(own, groups, strict=True)]
        one = _frame(study, experiment, cells, landmarks.get(name, ()), chances.get(name))
        one |= {
            "stored": stored[name],
            "plan": plans[name].to_dict() if name in plans else None,
            "cells": cells,
            "trainings": _trainings(study, groups, [count["name"] for count in one["counts"]]),
            "settings": _settings(experiment, [record for record in records if record["experiment"] == name]),
        }
        shown.append(one)
    return shown


def describe_metric(study: Study) -> ShownMetric:
    """What a study measures."""
    metric = study.metric
    return {
        "name": metric.name,
        "title": f"test {metric.title}",
        "better": metric.better,
        "low": metric.low if isfinite(metric.low) else None,
        "high": metric.high if isfinite(metric.high) else None,
        "scale": metric.scale,
        "unit": metric.unit,
        "digits": metric.digits,
    }


def _curve_kinds(study: Study) -> list[CurveKind]:
    metric = study.metric
    return [
        CurveKind(name="loss", title="training loss", scale=1.0, unit=""),
        CurveKind(name=Columns(study).valid, title=f"validation {metric.title}", scale=metric.scale, unit=metric.unit),
    ]


def _frame(
    study: Study,
    experiment: Experiment,
    cells: Sequence[ShownCell],
    landmarks: Sequence[Landmark],
    chance: float | None,
) -> Any:
    """What an experiment is, without its results."""
    lines = [ShownLine(title="chance", value=chance)] if chance is not None else []
    lines += [ShownLine(title=one.title, value=one.value) for one in landmarks]
    published = [cell["published"] for cell in cells if cell["published"] is not None]
    errors = [
        ShownError(title=heading.removeprefix("mean ± "), of="std", scale=share)
        for share, heading in experiment.picture.variants
        if share != 1
    ]
    metric = describe_metric(study)
    return {
        "name": experiment.name,
        "title": experiment.title,
        "about": experiment.about,
        "metric": metric,
        "axes": [shown for axis in experiment.axes if (shown := _axis(experiment, axis, cells))["values"]],
        "series": experiment.model,
        "place": varying(experiment, [tuple(cell["at"][name] for name in experiment.place) for cell in cells]),
        "picture": experiment.picture.kind,
        "counts": [ShownCount(name=count.column, title=count.title) for count in experiment.counts if count.key],
        "interval_unit": experiment.interval_unit or experiment.unit.title,
        "errors": [*errors, *ERRORS],
        "lines": lines,
        "published": study.published_by if published else None,
        "published_digits": _digits(metric, published),
        "notes": list(experiment.remarks),
        "curves": _curve_kinds(study),
    }


def _axis(experiment: Experiment, axis: Axis, cells: Sequence[ShownCell]) -> ShownAxis:
    """An axis with the values that cells have on it: numbers by size, words in the order of the cells."""
    values = list(dict.fromkeys(cell["at"][axis.name] for cell in cells if cell["at"][axis.name] is not None))
    if axis.name == experiment.model:
        series = describe_series(experiment, [str(value) for value in values])
        return ShownAxis(name=axis.name, title=axis.name, values=series)
    if axis.kind is not str:
        values.sort(key=lambda value: float(value or 0))
    shown = [ShownValue(value=value, title=str(value), place=axis.title(value), color=None) for value in values]
    return ShownAxis(name=axis.name, title=axis.name, values=shown)


def describe_series(experiment: Experiment, names: Sequence[str]) -> list[ShownValue]:
    """Name, title and colour of every series, in the order of the figures."""
    title = experiment.model_titles
    return [
        ShownValue(value=name, title=title(name), place=title(name), color=color)
        for name, color in colors_of(experiment, names).items()
    ]


def _digits(metric: ShownMetric, numbers: Sequence[ShownNumber]) -> int:
    """As many decimals as published numbers have, and no more than the metric's."""
    values = [value for one in numbers for value in (one["mean"], one["std"]) if value is not None]
    for digits in range(metric["digits"]):
        if all(abs(metric["scale"] * value - round(metric["scale"] * value, digits)) < 1e-9 for value in values):
            return digits
    return metric["digits"]


def _key(study: Study, values: Mapping[str, Any]) -> tuple[Any, ...]:
    return values["experiment"], *(values[axis.name] for axis in study.axes)


def _cell(
    study: Study, line: Line, interval: tuple[float, float] | None, records: Sequence[Record], single: int
) -> ShownCell:
    times = [record["seconds"] for record in records]
    number = ShownNumber(mean=line.published_mean, std=line.published_std) if line.published_mean is not None else None
    return {
        "at": {
            name: None if study[line.cell.experiment].lacks(line.cell, name) else line.cell[name]
            for name in (axis.name for axis in study.axes)
        },
        "n": line.n,
        "mean": line.mean,
        "std": line.std,
        "mean_best": line.mean_best,
        "interval": interval,
        "published": number,
        "diverged": sum(record["outcome"] == "diverged" for record in records),
        "parameters": sorted({record["parameters"] for record in records}),
        "seconds": {"mean": short(fmean(times)) or 0.0, "min": min(times), "max": max(times)} if times else None,
        "curves": {kind["name"]: _curve(records, kind["name"], single) for kind in _curve_kinds(study)},
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


def _trainings(study: Study, groups: Sequence[Sequence[Record]], counts: Sequence[str]) -> Trainings:
    """What single trainings gave; groups are the cells."""
    each = [(place, record) for place, group in enumerate(groups) for record in group]
    last = Columns(study).scores[0]
    return {
        "id": [record["id"] for _, record in each],
        "cell": [place for place, _ in each],
        "value": [short(record[last]) for _, record in each],
        "outcome": [record["outcome"] for _, record in each],
        "seconds": [short(record["seconds"]) for _, record in each],
        "counts": {name: [record[name] for _, record in each] for name in counts},
    }


def _settings(experiment: Experiment, records: Sequence[Record]) -> ShownSettings:
    """What every training of an experiment had in common, and what only those of a series did."""
    aside = {"experiment", *(axis.name for axis in experiment.axes), *(count.column for count in experiment.counts)}
    by_series: dict[str, dict[str, Any]] = {}
    for record in records:
        settings = {name: value for name, value in record["config"].items() if name not in aside}
        by_series.setdefault(record[experiment.model], settings)
    every = list(by_series.values())
    common = {
        key: value for key, value in (every[0] if every else {}).items() if all(one.get(key) == value for one in every)
    }
    own = [
        OwnSettings(
            title=experiment.model_titles(name),
            settings={key: value for key, value in one.items() if key not in common},
        )
        for name, one in by_series.items()
    ]
    return {"common": common, "own": [one for one in own if one["settings"]]}


def describe_claims(summary: Summary) -> list[ClaimFamily]:
    """The claims, judged."""
    claims: list[Any] = [asdict(finding) for finding in summary.findings]
    note, metric = summary.study.claims_about, describe_metric(summary.study)
    return [ClaimFamily(title="", note=note, metric=metric, claims=claims)] if claims else []


def short(value: float) -> float | None:
    """Four digits of a number are more than a chart shows; a number that is none is left out."""
    return float(f"{value:.4g}") if isfinite(value) else None
