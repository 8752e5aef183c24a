"""Check a whole run before anything is written: its settings, its size, and every model of it against the data."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch

from shiftstate.checks import check_name
from shiftstate.estimators import ESTIMATORS, Comparison, Forecaster, compare
from shiftstate.layers import LAYERS
from shiftstate.machine.parsing import typed
from shiftstate.memory import check_fits
from shiftstate.own_data.asking.settings import TrainSettings
from shiftstate.own_data.reading.problems import Problem
from shiftstate.own_data.trials import make_estimator

MOST_TRAININGS = 100_000
MOST = {"K": 10_000, "layers": 1_000}
"""More shifts, or more layers, are a slip of the keyboard."""
DECIDED = {
    "filter": "--filter", "K": "--K", "epochs": "--epochs", "metric": "--metric", "history": "--history",
    "horizons": "--horizons", "missing": "--missing", "random_state": "--seed",
    "validation_fraction": "--split or --fractions", "shift": "--edges",
}  # fmt: skip
"""Arguments of estimators that a run sets itself, some of them differently for the models that it compares."""
NUMBER = 4
"""Bytes of a parameter, and of a number of a signal."""
COPIES = 5
"""Of a parameter in training: itself, its gradient, two moments of Adam, and the best so far."""
PER_LAYER = 5_000
"""Bytes of a layer without its parameters, at least."""


def check_settings(settings: TrainSettings) -> None:
    """Raise if a filter, an order, a metric or an option is not known, or the plan is larger than can be meant."""
    _check_options(settings.task, settings.options)
    trainings = count_trainings(settings)
    if trainings > MOST_TRAININGS:
        raise ValueError(
            f"the plan has {trainings:,} trainings; expected {MOST_TRAININGS:,} at most: fewer --seeds, --filter, "
            "--K or --split"
        )
    for filter in settings.filter:
        check_name("filter", filter, LAYERS)
        for K in settings.K:
            if K is not None and not 0 <= K <= MOST["K"]:
                raise ValueError(f"--K has {K}; expected filter orders from 0 to {MOST['K']:,}")
            make_estimator(settings, filter, K, settings.seed).reported()


def count_trainings(settings: TrainSettings) -> int:
    """How many networks a run trains at most: every choice once, then the kept one and the same with K = 0."""
    choices = len(settings.filter) * len(settings.K)
    splits = max(1, len(settings.split))
    return splits * ((choices if choices > 1 else 0) + 2 * settings.seed_count())


@dataclass(frozen=True)
class TrainingSize:
    """What one training takes."""

    parameters: int
    memory: int
    """Bytes, at least."""


class _Ready(Exception):
    """All that comes before the training went well."""

    def __init__(self, size: TrainingSize) -> None:
        super().__init__()
        self.size = size


def rehearse(settings: TrainSettings, problems: Sequence[Problem]) -> str:
    """Prepare every model of the plan on the data of every split, up to its first step; a line on the plan's size."""
    sizes: list[TrainingSize] = []
    for one, problem in zip(settings.splits(), problems, strict=True):
        _check_known(one, problem)
        sizes += _sizes(one, problem)
    largest, memory = max(size.parameters for size in sizes), max(size.memory for size in sizes)
    count = count_trainings(settings)
    return (
        f"plan: {count:,} training{'s' * (count > 1)} of up to {largest:,} parameters, at least "
        f"{_bytes(memory)} of memory each; {_bytes(count * largest * NUMBER)} on disk"
    )


def compared(settings: TrainSettings, problem: Problem, estimator: Any) -> Comparison:
    """The comparison of a run: the estimator beside models without the graph, on the data of one split."""
    seeds = settings.seed_count()
    if isinstance(estimator, Forecaster):
        known = int((~problem.masks["test"]).sum())
        estimator.set_params(validation_fraction=int(problem.masks["valid"].sum()) / known)
        share = float(problem.masks["test"].mean())
        return compare(estimator, problem.shift, problem.X, seeds=seeds, test_fraction=share, period=settings.period)
    masks: dict[str, Any] = {**problem.masks}
    return compare(estimator, problem.shift, problem.X, problem.y, **masks, seeds=seeds)


def _check_known(settings: TrainSettings, problem: Problem) -> None:
    """Raise if there are no features, too few times, or a part of a series in which all values are missing."""
    X, file = problem.X, settings.features or settings.signals or settings.nodes
    if not X.size:
        raise ValueError(f"{file} has the shape {X.shape}; expected at least one number per row")
    if settings.task != "forecast":
        return
    ahead, test = max(settings.horizons), int(problem.masks["test"].sum())
    needed = 2 * (settings.history + ahead)
    if len(X) - test < needed or test < ahead:
        raise ValueError(
            f"{file} has {len(X) - test} times before the test data and {test} in them; expected at least {needed} and "
            f"{ahead}, for a history of {settings.history} and horizons up to {ahead}"
        )
    known = ~np.isnan(X) if settings.missing != "zero=missing" else np.nan_to_num(X) != 0
    for name, mask in problem.masks.items():
        if not known[mask].any():
            raise ValueError(f"{file} has no value in the {int(mask.sum())} {name} times; expected some that are known")


def _sizes(settings: TrainSettings, problem: Problem) -> Iterator[TrainingSize]:
    for filter in settings.filter:
        for K in dict.fromkeys((*settings.K, 0)):
            try:
                compared(settings, problem, _rehearsed(make_estimator(settings, filter, K, settings.seed)))
            except _Ready as ready:
                yield ready.size
            except MemoryError as error:
                raise ValueError(f"{filter} with K = {K} does not fit into memory ({error})") from None


def _rehearsed(estimator: Any) -> Any:
    """The same estimator, whose fit ends where the training of its first network would begin."""
    kind: Any = type(estimator)

    class Rehearsed(kind):  # type: ignore[misc]
        def _train_member(self, shift: Any, data: Any, seed: int, channels: int) -> Any:
            raise _Ready(_size(self, shift, data, channels))

    Rehearsed.__name__ = kind.__name__
    return Rehearsed(**estimator.get_params(deep=False))


def _size(estimator: Any, shift: Any, data: Any, channels: int) -> TrainingSize:
    """Parameters and bytes of a network that is not built; raise if they cannot be had.

    Layers after the first are alike, so a network of one and one of two layers tell the size of any.
    """
    used = estimator.settings_
    for name, most in MOST.items():
        if getattr(used, name) > most:
            raise ValueError(f"{name} is {getattr(used, name)}; expected {most:,} at most")

    def count(layers: int) -> int:
        estimator.settings_ = replace(used, layers=layers)
        with torch.device("meta"):
            network = estimator._build_member(channels)
        return sum(one.numel() for one in network.parameters())

    first, second = count(1), count(2)
    parameters = used.members * (first + (used.layers - 1) * (second - first))
    inputs = data.x if hasattr(data, "x") else data.train.x
    rows = inputs[: used.batch_size] if inputs.dim() == 3 else inputs
    nodes = rows.numel() // max(1, rows.shape[-1])
    signals = NUMBER * nodes * used.channels * used.layers
    if used.linear:  # the least-squares start sees all shifts of all training data side by side
        signals += NUMBER * inputs.numel() * (used.K + 1)
    memory = NUMBER * parameters * COPIES + PER_LAYER * used.layers * used.members + signals
    what = (
        f"a network of {used.layers} layers of {used.channels} channels with K = {used.K} needs {{}} bytes in training"
    )
    check_fits(memory, torch.device("cpu"), what, "fewer layers or channels, a smaller K or batch_size")
    return TrainingSize(parameters, memory)


def _check_options(task: str, options: Mapping[str, Any]) -> None:
    """Raise for arguments of the model that are not known, are of another type, or are the run's own."""
    hints = typing.get_type_hints(ESTIMATORS[task])
    known = {one.name: hints[one.name] for one in fields(ESTIMATORS[task])}
    for name, value in options.items():
        check_name("argument of the model", name, sorted(known))
        if name in DECIDED:
            raise ValueError(
                f"{name} is given by --set, or in [model]; expected {DECIDED[name]}: it is a setting of the run, in "
                "which the models that it compares may differ"
            )
        simple = {*(typing.get_args(known[name]) or (known[name],))} & {str, int, float, bool}  # int of "int | None"
        for kind in simple:
            typed(name, value, kind)


def _bytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{max(count / 1e6, 0.1):.1f} MB"
