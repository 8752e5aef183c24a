"""What a run leaves: the model, predictions, metrics, pictures."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray

from shiftstate.checks import check_name
from shiftstate.estimators import Comparison, Forecaster
from shiftstate.estimators.defaults import NetworkSettings
from shiftstate.files import write_whole
from shiftstate.json_file import anything, either, entries, items, nothing, number, of_fields, read_json, table, word
from shiftstate.layers import LAYERS
from shiftstate.own_data.asking.settings import JOINS, MISSING, TASKS, TrainSettings
from shiftstate.own_data.left.manifest import MANIFEST, write_manifest
from shiftstate.own_data.reading.problems import Problem
from shiftstate.own_data.reading.splitting import PARTS
from shiftstate.pictures import render
from shiftstate.tasks import CLASSIFICATION_METRICS, REGRESSION_METRICS, Metric

METRICS = "metrics.json"
FINISHED = "the folder of a finished run"
FILES = ("model.safetensors", "predictions.csv")
PICTURES = ("curves.svg", "confusion.svg", "residuals.svg")
COVERAGE = 0.9
"""Intervals of predicted numbers hold so many of the validation targets."""


def graph_bytes(problem: Problem) -> bytes:
    """The graph and the names of its nodes as an .npz: what predictions on it need."""
    edges, weight = problem.shift.edges()
    buffer = io.BytesIO()
    names = np.array(problem.node_names, dtype=np.str_)
    np.savez_compressed(buffer, edges=edges.numpy(), weight=weight.numpy(), names=names)
    return buffer.getvalue()


def read_metrics(out: Path) -> dict[str, Any]:
    """What metrics.json of a finished run holds; scores that cannot be computed are NaN."""
    found: dict[str, Any] = read_json(out / METRICS, FINISHED, _METRICS, finite=False)
    try:
        metric_of(found["task"], found["metric"])
    except ValueError as error:
        raise ValueError(f"{out / METRICS}: {error}") from None
    return found


def read_settings(out: Path) -> dict[str, Any]:
    """What settings.json of a run holds."""
    found: dict[str, Any] = read_json(out / "settings.json", FINISHED, _SETTINGS)
    return found


_SETTINGS = of_fields(TrainSettings, task=word(TASKS), missing=word(MISSING), join=word(JOINS))
_SCORES, _ENDS = entries(number()), items(number(), 2, 2)
_METRICS = table(
    {
        "task": word(TASKS),
        "metric": word(),
        "filter": word(tuple(LAYERS)),
        "settings": of_fields(NetworkSettings),
        "normalization": word(),
        "scale": word(),
        **dict.fromkeys(PARTS, _SCORES),
        "seeds": table({"mean": number(), "seeds": items(number(), 1)}, {"interval": either(_ENDS, nothing)}, anything),
        "baselines": _SCORES,
        "rival": word(),
        "lead": number(),
        "interval": _ENDS,
        "verdict": word(),
        "table": word(),
    },
    {"half_width": number(0), "splits": _SCORES, "files_of": word()},
    anything,
)


def metric_of(task: str, name: str) -> Metric:
    """The metric of a run, by its name."""
    known = CLASSIFICATION_METRICS if task.endswith("classification") else REGRESSION_METRICS
    return known[check_name("metric", name, known)]


def write_run(settings: TrainSettings, problem: Problem, comparison: Comparison, out: Path) -> None:
    """All files of a finished run; the manifest last, so that its presence says that all is there."""
    (out / MANIFEST).unlink(missing_ok=True)  # what is being replaced is not whole
    estimator: Any = comparison.estimators[0]
    estimator.node_names_ = problem.node_names
    estimator.feature_names_ = problem.feature_names or None
    estimator.save(out / "model.safetensors")
    if isinstance(estimator, Forecaster):
        scores, rows, picture = _forecasts(estimator, problem)
    else:
        scores, rows, picture = _rows(estimator, problem)
    write_whole(out / "predictions.csv", as_csv(rows))
    write_whole(out / "curves.svg", render(_curves(comparison), "svg"))
    name = "confusion.svg" if hasattr(estimator, "predict_proba") else "residuals.svg"
    write_whole(out / name, render(picture, "svg"))
    found = comparison.as_dict()
    metrics = {
        "task": settings.task,
        "metric": comparison.metric.name,
        "filter": estimator.filter,
        "settings": {name: value for name, value in vars(estimator.settings_).items()},
        "normalization": estimator.normalization_,
        "scale": estimator.scaler_.kind,
        **scores,
        "seeds": found["test"],
        "baselines": found["baselines"],
        "rival": found["rival"],
        "lead": found["lead"],
        "interval": found["interval"],
        "verdict": found["verdict"],
        "table": comparison.table(),
    }
    if rows[0][-1] == "high":  # what an interval around a new prediction takes
        metrics["half_width"] = (float(rows[1][-1]) - float(rows[1][-2])) / 2
    write_whole(out / METRICS, json.dumps(metrics, indent=1) + "\n")
    write_manifest(out)


def as_csv(rows: list[list[Any]]) -> str:
    """Rows as CSV, the first being the header."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def _rows(estimator: Any, problem: Problem) -> tuple[dict[str, Any], list[list[Any]], Figure]:
    """Scores, predictions and a picture of nodes or signals."""
    assert problem.y is not None
    part = np.full(len(problem.y), "", dtype=object)
    for name in PARTS:
        part[problem.masks[name]] = name
    predicted = estimator.predict(problem.shift, problem.X)
    head: list[Any] = ["node" if len(problem.row_names) == problem.shift.num_nodes else "row", "split", "target"]
    if hasattr(estimator, "predict_proba"):
        chances = estimator.predict_proba(problem.shift, problem.X)
        outputs, targets = np.log(np.clip(chances, 1e-12, 1)), _codes(estimator.classes_, problem.y)
        beside = [[f"{value:.6g}" for value in row] for row in chances]
        head += ["predicted", *(f"p({name})" for name in estimator.classes_)]
        figure = _confusion(estimator.classes_, problem.y, predicted, problem.masks["test"])
    else:
        numbers = problem.y.astype(np.float64)
        outputs, targets = predicted, numbers  # type: ignore[assignment]
        width = _width(predicted, numbers, problem.masks["valid"])
        beside = [[f"{value - width:.6g}", f"{value + width:.6g}"] for value in predicted]
        head += ["predicted", "low", "high"]
        figure = _residuals(numbers[problem.masks["test"]], predicted[problem.masks["test"]])
    task = estimator.task()
    scores = {
        name: task.scores(torch.from_numpy(outputs[mask]), torch.from_numpy(targets[mask]))
        for name, mask in problem.masks.items()
    }
    shown = predicted if hasattr(estimator, "predict_proba") else [f"{value:.6g}" for value in predicted]
    lines = zip(problem.row_names, part, problem.y, shown, beside, strict=True)
    return scores, [head, *([name, where, y, one, *more] for name, where, y, one, more in lines)], figure


def _forecasts(estimator: Forecaster, problem: Problem) -> tuple[dict[str, Any], list[list[Any]], Figure]:
    scores: dict[str, Any] = {}
    task, ends = estimator.task(), {}
    for name in PARTS:
        places = np.flatnonzero(problem.masks[name])
        first = max(int(places[0]), estimator.history)
        forecast, came = estimator.forecast(problem.shift, problem.X[: int(places[-1]) + 1], first)
        known = ~np.isnan(came)
        ends[name] = (first, forecast, came, known)
        scores[name] = task.scores(torch.from_numpy(forecast[known]), torch.from_numpy(came[known]))
        for place, horizon in enumerate(estimator.horizons_):
            told = known[:, place]
            each = task.scores(torch.from_numpy(forecast[:, place][told]), torch.from_numpy(came[:, place][told]))
            each["mse"] = each["rmse"] ** 2
            scores[name] |= {f"{metric} at {horizon}": value for metric, value in each.items()}
        scores[name]["mse"] = scores[name]["rmse"] ** 2
    _, forecast, came, known = ends["valid"]
    width = _width(forecast[known], came[known], slice(None))
    first, forecast, came, known = ends["test"]
    rows: list[list[Any]] = [["time", "horizon", "node", "target", "predicted", "low", "high"]]
    for sample in range(len(forecast)):
        for place, horizon in enumerate(estimator.horizons_):
            time = problem.row_names[first - 1 + sample + horizon]
            for node, name in enumerate(problem.node_names):
                value, target = forecast[sample, place, node], came[sample, place, node]
                shown = "" if np.isnan(target) else f"{target:.6g}"
                rows.append(
                    [time, horizon, name, shown, f"{value:.6g}", f"{value - width:.6g}", f"{value + width:.6g}"]
                )
    return scores, rows, _residuals(came[known], forecast[known])


def _width(predicted: NDArray[np.float64], targets: NDArray[np.float64], mask: Any) -> float:
    """Half of an interval: what held COVERAGE of the validation targets."""
    return float(np.quantile(np.abs(predicted - targets)[mask], COVERAGE))


def _codes(classes: NDArray[Any], y: NDArray[Any]) -> NDArray[np.int64]:
    place = {label: number for number, label in enumerate(classes.tolist())}
    return np.array([place.get(label, -1) for label in y.tolist()])


def _curves(comparison: Comparison) -> Figure:
    figure = Figure(figsize=(7, 3), layout="constrained")
    left, right = figure.subplots(1, 2)
    for estimator in comparison.estimators:
        fit = estimator.fit_
        left.plot(range(1, len(fit.losses) + 1), fit.losses, lw=1)
        right.plot(fit.look_epochs, fit.valid_scores, lw=1)
    left.set(xlabel="epoch", ylabel="training loss")
    right.set(xlabel="epoch", ylabel=f"{comparison.estimators[0].task().metric.title} on validation data")
    return figure


def _confusion(classes: NDArray[Any], y: NDArray[Any], predicted: NDArray[Any], mask: NDArray[np.bool_]) -> Figure:
    from sklearn.metrics import confusion_matrix

    table = confusion_matrix(y[mask].astype(str), predicted[mask].astype(str), labels=classes.astype(str))
    size = max(3.0, 0.5 * len(classes) + 2)
    figure = Figure(figsize=(size, size), layout="constrained")
    axes = figure.subplots()
    axes.imshow(table, cmap="Blues")
    if len(classes) <= 20:
        for row, column in np.ndindex(*table.shape):
            dark = table[row, column] > table.max() / 2
            axes.text(column, row, str(table[row, column]), ha="center", va="center", color="w" if dark else "k")
    places = range(len(classes))
    axes.set_xticks(places, [str(name) for name in classes], rotation=90)
    axes.set_yticks(places, [str(name) for name in classes])
    axes.set(xlabel="predicted", ylabel="class", title="test data")
    return figure


def _residuals(targets: NDArray[np.float64], predicted: NDArray[np.float64]) -> Figure:
    chosen = np.random.default_rng(0).permutation(targets.size)[:5000]  # more points only make the file large
    figure = Figure(figsize=(7, 3), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(targets.ravel()[chosen], predicted.ravel()[chosen], ".", ms=2)
    left.set(xlabel="target", ylabel="predicted", title="test data")
    right.hist((predicted - targets).ravel(), bins=50)
    right.set(xlabel="predicted − target")
    return figure
