"""One trial: data, model and batch order from its configuration, then one training (or a few)."""

import platform
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import nn

from shiftstate.layers import Layer
from shiftstate.machine.settings import Training
from shiftstate.machine.study import Data
from shiftstate.machine.trial import Trial
from shiftstate.training import Fit, fit

Ending = Literal["finished", "diverged"]
ENDINGS: tuple[Ending, ...] = ("finished", "diverged")

_drawing = threading.Lock()  # layers draw from torch's one generator, and a Dask worker may have several threads


@dataclass(frozen=True)
class Outcome:
    """What a trial gave, and with what; networks and baselines fill it in alike."""

    last: Mapping[str, float]
    """Test scores of the model after the last epoch, by metric."""
    best: Mapping[str, float]
    """Test scores of the model that was best on validation data."""
    best_epoch: int = 1
    """Counted from 1."""
    ending: Ending = "finished"
    losses: tuple[float, ...] = ()
    """Mean training loss of every epoch."""
    valid_scores: tuple[float, ...] = ()
    """Validation score after every epoch."""
    seconds: float = 0.0
    """Of all trainings together."""
    chosen: float = 0.0
    """What was chosen on validation data: the learning rate, or a baseline's own number; 0 if nothing was."""
    channels: int = 0
    parameters: int = 0
    """Numbers that were learned, of the whole model."""
    kernel: str = "none"
    """The kernel that ran the first layer."""
    facts: Mapping[str, int | None] | None = None
    """What statistics have to know of the data."""
    versions: Mapping[str, str] = field(default_factory=lambda: known_versions())


def run(trial: Trial, prepared: Path | None = None) -> Outcome:
    """Train a trial's model or baseline.

    Data, initial draw and batch order depend on the seed, the unit and the repetition, and on nothing else: every
    model sees the same.

    Args:
        trial: what to run.
        prepared: the prepared file, where data are given by path.
    """
    data = trial.experiment.data(trial, prepared)
    if trial.model in trial.experiment.baselines:
        outcome: Outcome = trial.experiment.baselines[trial.model](trial, data)
        return outcome
    return train(trial, data)[0]


def train(trial: Trial, data: Data) -> tuple[Outcome, nn.Module]:
    """Train once with every learning rate of the settings, keep the best on validation data; the model is that one."""
    training: Training = trial.settings.training
    build = trial.experiment.models[trial.model]
    tried: list[tuple[float, Fit, nn.Module]] = []
    for learning_rate in training.learning_rate:
        model = build(trial, data)
        with torch.random.fork_rng(devices=[]):  # dropout draws from torch's one generator
            torch.manual_seed(trial.seed("noise", trial.unit, trial.repetition))
            tried.append((learning_rate, _fit(trial, data, model, learning_rate), model))
    learning_rate, kept, model = max(tried, key=lambda one: (one[1].outcome == "finished", _last_valid(trial, one[1])))
    outcome = Outcome(
        kept.last,
        kept.best,
        kept.best_epoch,
        kept.outcome,
        kept.losses,
        kept.valid_scores,
        sum(result.seconds for _, result, _ in tried),
        learning_rate,
        int(getattr(model, "channels", [0])[-1]),
        count_parameters(model),
        _kernel(model, data, training),
        trial.experiment.facts(data),
    )
    return outcome, model


def _fit(trial: Trial, data: Data, model: nn.Module, learning_rate: float) -> Fit:
    training: Training = trial.settings.training
    task = trial.experiment.task
    return fit(
        model,
        data.shift,
        data,
        task=task(trial, data) if task else None,
        epochs=training.epochs,
        batch_size=training.batch_size or None,
        learning_rate=learning_rate,
        weight_decay=training.weight_decay,
        clip=training.clip or None,
        schedule=training.schedule,
        smoothing=training.smoothing,
        seed=trial.seed("batches", trial.unit, trial.repetition),
        device=training.device,
        **trial.experiment.options(trial, data),
    )


def _last_valid(trial: Trial, result: Fit) -> float:
    return trial.experiment.metric.sign * result.valid_scores[-1]


def _kernel(model: nn.Module, data: Data, training: Training) -> str:
    layers = getattr(model, "layers", None)
    first = layers[0] if isinstance(layers, nn.ModuleList) and len(layers) else None
    if not isinstance(first, Layer):
        return "none"
    few = data.train.x[: training.batch_size].to(training.device)
    return first.kernel_in_use(few, data.shift.to(training.device))[0]


@contextmanager
def drawing(seed: int) -> Iterator[None]:
    """What is drawn inside comes from this seed, one model at a time; torch's generator is left as it was."""
    with _drawing, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def count_parameters(module: nn.Module) -> int:
    """Numbers that are learned."""
    return sum(parameter.numel() for parameter in module.parameters())


def known_versions() -> dict[str, str]:
    """What the numbers may depend on beside the configuration."""
    return dict(_versions())


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    return (
        ("shiftstate", metadata.version("shiftstate")),
        ("torch", str(torch.__version__)),
        ("numpy", np.__version__),
        ("numba", metadata.version("numba")),
        ("python", platform.python_version()),
        ("machine", f"{platform.system()} {platform.machine()}, {_processor()}, {_vectors()}"),
    )


def _vectors() -> str:
    """The widest vectors that torch uses: they decide how sums are rounded."""
    return str(torch.backends.cpu.get_cpu_capability())


def _processor() -> str:
    """The processor's name where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown processor"


def nearest_channels(count: Callable[[int], int], goal: int) -> int:
    """The number of channels whose network has nearest to so many parameters: a c² + b c + d, so three tell all."""
    one, two, three = (count(channels) for channels in (1, 2, 3))
    square = (three - 2 * two + one) // 2
    sizes = {c: square * (c * c - 1) + (two - one - 3 * square) * (c - 1) + one for c in range(1, 1025)}
    return min(sizes, key=lambda c: abs(sizes[c] - goal))


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread of torch inside: the same sums in the same order, however many cores there are."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
