"""The data of a page whose study has axes, units and a metric that none of ours has, and of which less is better."""

from typing import Any

from shiftstate.machine.page.contract import (
    PageData,
    ShownAxis,
    ShownCell,
    ShownExperiment,
    ShownMetric,
    ShownValue,
    Trainings,
)

UNIT = "m³/s"
METRIC = ShownMetric(
    name="mae", title="mean absolute error", better="lower", low=0.0, high=None, scale=1.0, unit=UNIT, digits=2
)
MEANS = {("kalman", 1): 2.0, ("kalman", 24): 12.5, ("far_seeing", 1): 3.0, ("far_seeing", 24): 8.25}
VERDICTS = ("holds", "does not hold", "undecided", "not run", "not run")


def rivers() -> PageData:
    """One experiment, and claims of every verdict."""
    claims: Any = [
        {"claim": f"claim {place}", "verdict": verdict, "effect": None if verdict == "not run" else -4.25}
        | {"interval": None, "p": None, "n": 3}
        for place, verdict in enumerate(VERDICTS)
    ]
    return {
        "title": "rivers",
        "out": "rivers",
        "palette": ["#111111", "#222222"],
        "experiments": [_experiment()],
        "claims": [{"title": "Our claims", "note": "Effects are differences.", "metric": METRIC, "claims": claims}],
        "reading": "The preset",
        "plan_recorded": False,
        "record": [("page by", "hand")],
        "versions": [],
        "files": [],
        "charts": True,
        "lenses": [],
        "lenses_stored": 0,
        "lens_first": 0,
        "networks": None,
    }


def _experiment() -> ShownExperiment:
    horizons = [some_value(hours, f"{hours} h ahead") for hours in (1, 24)]
    models = [
        some_value("kalman", "Kalman filter", color="#123456"),
        some_value("far_seeing", "Far-seeing network", color="#abcdef"),
    ]
    cells = [
        some_cell({"model": model, "horizon": hours}, mean, 0.5, mean_best=None)
        for (model, hours), mean in MEANS.items()
    ]
    return {
        "name": "rivers",
        "title": "Rivers",
        "about": "How much water will come?",
        "metric": METRIC,
        "axes": [
            ShownAxis(name="horizon", title="horizon", values=horizons),
            ShownAxis(name="model", title="model", values=models),
        ],
        "series": "model",
        "place": ["horizon"],
        "picture": "bars",
        "counts": [{"name": "basin", "title": "river basin"}, {"name": "year", "title": "year"}],
        "interval_unit": "river basin",
        "errors": [{"title": "standard deviation", "of": "std", "scale": 1.0}],
        "lines": [{"title": "yesterday's flow", "value": 9.0}],
        "published": None,
        "published_digits": 0,
        "notes": ["Low is dry."],
        "curves": [{"name": "valid_mae", "title": "validation error", "scale": 1.0, "unit": UNIT}],
        "stored": 12,
        "plan": None,
        "cells": cells,
        "trainings": _trainings(cells),
        "settings": {"common": {"epochs": 5}, "own": []},
    }


def _trainings(cells: list[ShownCell]) -> Trainings:
    """Three of every cell."""
    made = no_trainings("basin", "year")
    for place, one in enumerate(cells):
        for basin in range(3):
            made["id"].append(f"run {place} {basin}")
            made["cell"].append(place)
            made["value"].append(one["mean"] + 0.5 * (basin - 1))
            made["outcome"].append("finished")
            made["seconds"].append(1.0 + basin)
            made["counts"]["basin"].append(basin)
            made["counts"]["year"].append(0)
    return made


def some_value(value: Any, place: str, color: str | None = None) -> ShownValue:
    return {"value": value, "title": place if color else str(value), "place": place, "color": color}


def some_cell(at: dict[str, Any], mean: float, std: float, **changes: Any) -> ShownCell:
    """A cell of seven trainings without curves or times."""
    made: Any = {"at": at, "n": 7, "mean": mean, "std": std, "mean_best": mean, "interval": None, "published": None,
                 "diverged": 0, "parameters": [5], "seconds": None, "curves": {}}  # fmt: skip
    changed: ShownCell = made | changes
    return changed


def no_trainings(*counts: str) -> Trainings:
    return {"id": [], "cell": [], "value": [], "outcome": [], "seconds": [], "counts": {name: [] for name in counts}}
