"""`shiftstate train`: trials, the best one beside its baselines, and everything that a run leaves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from shiftstate.estimators import ESTIMATORS, Comparison, Estimator, Forecaster, compare
from shiftstate.estimators.nodes import NodeEstimator
from shiftstate.files import make_directory, write_whole
from shiftstate.own_data.joining import Say
from shiftstate.own_data.leaving import graph_bytes, write_run
from shiftstate.own_data.problems import Problem, read_problem
from shiftstate.own_data.settings import TrainSettings

SETTINGS = "settings.json"


def train(settings: TrainSettings, say: Say) -> Comparison:
    """Train every filter with every K, keep the best on validation data, and compare it with models without the graph.

    Every finished trial is stored in ``trials/`` at once; the same settings go on from there.
    """
    out = settings.out
    stored = out / SETTINGS
    if stored.is_file() and not settings.same_as(stored.read_text("utf-8")):
        raise ValueError(f"{out} holds a run with other settings; expected the same ones to go on, or another --out")
    problem = read_problem(settings, say)
    say(describe(problem))
    trials = [(filter, K) for filter in settings.filters for K in settings.K]
    estimators = [make_estimator(settings, filter, K) for filter, K in trials]
    for estimator in estimators:
        estimator.reported()
    make_directory(out / "trials", "the trials")
    write_whole(stored, json.dumps(settings.as_dict(), indent=1) + "\n")
    write_whole(out / "graph.npz", graph_bytes(problem))
    best = estimators[0]
    if len(trials) > 1:
        scores = [_trial(out, problem, one, say) for one in estimators]
        metric = best.task().metric
        place = 0
        for number, score in enumerate(scores):
            place = number if metric.better(score, than=scores[place]) else place
        best = estimators[place]
        say(f"best on validation data: {best.filter}" + ("" if best.K is None else f", K = {best.K}"))
    say(f"training it with {settings.seeds} seeds, and models without the graph")
    comparison = _compared(settings, problem, best)
    write_run(settings, problem, comparison)
    return comparison


def make_estimator(settings: TrainSettings, filter: str, K: int | None) -> Estimator:
    """The estimator of the task, with what the settings say."""
    options: dict[str, Any] = {"K": K, "epochs": settings.epochs, "metric": settings.metric, **settings.options}
    if settings.task == "forecast":
        missing = "zero" if settings.missing == "zero=missing" else "nan"
        share = settings.fractions[1] / (1 - settings.fractions[2])
        options |= {"history": settings.history, "horizons": settings.horizons, "missing": missing}
        options["validation_fraction"] = share
    return ESTIMATORS[settings.task](filter, random_state=settings.random_state, **options)


def describe(problem: Problem) -> str:
    """Nodes, edges, components, spectral radius, rows and features."""
    from scipy.sparse.csgraph import connected_components

    shift = problem.shift
    components = connected_components(shift.to_scipy(), directed=False, return_labels=False)
    parts = ", ".join(f"{int(mask.sum())} {name}" for name, mask in problem.masks.items())
    width = f", {problem.X.shape[1]} features" if problem.feature_names else ""
    return (
        f"{shift.num_nodes} nodes, {shift.num_edges} edges, {components} component{'s' * (components > 1)}, "
        f"spectral radius {shift.spectral_radius():.3g}; rows: {parts}{width}"
    )


def _trial(out: Path, problem: Problem, estimator: Estimator, say: Say) -> float:
    """The validation score of one training, from the file if it was finished before."""
    name = f"{estimator.filter}-K{'auto' if estimator.K is None else estimator.K}"
    file = out / "trials" / f"{name}.json"
    if file.is_file():
        try:
            return float(json.loads(file.read_text("utf-8"))["valid"])
        except (ValueError, KeyError, TypeError):
            say(f"{file} cannot be read; the trial is made again")
    fit_on(estimator, problem)
    fit = estimator.fit_
    score = fit.valid_scores[fit.look_epochs.index(fit.best_epoch)]
    write_whole(file, json.dumps({"valid": score, "metric": fit.metric, "epochs": len(fit.losses)}) + "\n")
    say(f"{name}: {fit.metric} {score:.4g} on validation data, {fit.seconds:.0f} s")
    return score


def fit_on(estimator: Any, problem: Problem) -> None:
    """Fit on the training rows, by the validation rows."""
    masks = problem.masks
    if isinstance(estimator, Forecaster):
        estimator.fit(problem.shift, problem.X[~masks["test"]])
    elif isinstance(estimator, NodeEstimator):
        estimator.fit(problem.shift, problem.X, problem.y, train=masks["train"], valid=masks["valid"])
    else:
        assert problem.y is not None
        X, y, choose = problem.X, problem.y, masks["valid"]
        estimator.fit(problem.shift, X[masks["train"]], y[masks["train"]], valid=(X[choose], y[choose]))


def _compared(settings: TrainSettings, problem: Problem, best: Estimator) -> Comparison:
    if isinstance(best, Forecaster):
        share = float(np.mean(problem.masks["test"]))
        return compare(
            best, problem.shift, problem.X, seeds=settings.seeds, test_fraction=share, period=settings.period
        )
    masks: dict[str, Any] = {**problem.masks}
    return compare(best, problem.shift, problem.X, problem.y, **masks, seeds=settings.seeds)
