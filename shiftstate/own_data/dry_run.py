"""`shiftstate train --dry-run`: what a run would take, measured on one step."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

from shiftstate.machine.run import one_thread
from shiftstate.own_data.asking.settings import TrainSettings
from shiftstate.own_data.checking import check_settings, rehearse
from shiftstate.own_data.reading.joining import Say
from shiftstate.own_data.reading.problems import Problem
from shiftstate.own_data.training import describe
from shiftstate.own_data.trials import fit_on, make_estimator, problem_of


def dry_run(settings: TrainSettings, say: Say) -> Iterator[str]:
    """Lines on the data, and on every model that would be tried; nothing is written."""
    settings = settings.absolute()
    check_settings(settings)
    problems = [problem_of(settings.splits()[0], say=say), *map(problem_of, settings.splits()[1:])]
    yield describe(problems[0])
    say(rehearse(settings, problems))
    for filter in settings.filter:
        for K in settings.K:
            yield _measured(settings, problems[0], filter, K)


def _measured(settings: TrainSettings, problem: Problem, filter: str, K: int | None) -> str:
    """Parameters, memory and time of a model; the first of two fits compiles kernels."""
    estimator = _one_step(make_estimator(settings, filter, K, settings.seed))
    for _ in range(2):
        with one_thread():
            fit_on(estimator, problem)
    used, steps, seconds = estimator.chosen_, estimator.steps_, estimator.seconds_
    parameters = sum(one.numel() for one in estimator.model_.parameters() if one.requires_grad)
    return "\n".join(
        [
            f"{filter}, K = {used.K}",
            f"  network: {used.layers} layer{'s' * (used.layers > 1)} of {used.channels} channels, input "
            f"{used.input!r}, dropout {used.dropout:g}; {parameters:,} parameters",
            f"  training: learning rate {used.learning_rate:g}, at most {used.epochs} epochs, ends after "
            f"{used.patience} without a better one",
            f"  graph normalised: {estimator.normalization_}; features scaled: {estimator.scaler_.kind}",
            f"  expected memory: {_memory()}",
            f"  time per epoch: {_time(steps * seconds)} ({steps} step{'s' * (steps > 1)} of {_time(seconds)}, "
            "measured on one core)",
        ]
    )


def _one_step(estimator: Any) -> Any:
    """The same estimator, whose fit makes one step, then three, with what it chose for all data, and times them."""
    kind: Any = type(estimator)

    class OneStep(kind):  # type: ignore[misc]
        def _train(self, shift: Any, data: Any, readout: Any, seed: int, **counts: Any) -> None:
            used = self.chosen_ = self._settings(per_node=self.task().per_node, **counts)
            self.steps_ = 1
            if hasattr(data, "valid") and hasattr(data.valid, "x"):  # signals in batches, not nodes of one graph
                batch = used.batch_size or len(data.train.x)
                self.steps_ = math.ceil(len(data.train.x) / batch)
                data = SimpleNamespace(train=_first(data.train, batch), valid=_first(data.valid, batch))
            before = self.get_params(deep=False)
            names = {field.name for field in fields(used)} & before.keys()
            took = []
            for epochs in (1, 3):  # what they differ by is two steps; the rest is preparation
                self.set_params(**{name: getattr(used, name) for name in names} | {"epochs": epochs})
                began = time.perf_counter()
                super()._train(shift, data, readout, seed, **counts)
                took.append(time.perf_counter() - began)
            self.seconds_ = max(took[1] - took[0], 1e-4) / 2
            self.set_params(**before)

    return OneStep(**estimator.get_params(deep=False))


def _first(part: Any, count: int) -> Any:
    return SimpleNamespace(**{name: one[:count] for name, one in vars(part).items()})


def _memory() -> str:
    try:
        import resource
    except ImportError:  # Windows
        return "unknown"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return f"{peak / 1e6:.0f} MB, the peak of this process, for each worker"


def _time(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
