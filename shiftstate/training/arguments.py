"""Check what `fit` is called with, before anything runs."""

from collections.abc import Callable, Mapping
from math import inf
from types import SimpleNamespace
from typing import Any

from torch import nn

from shiftstate.checks import check_device, check_flag, check_name, check_number, check_whole
from shiftstate.graphs import Shift
from shiftstate.tasks import SignalClassification, Task
from shiftstate.training.checkpoints import Checkpoints
from shiftstate.training.optimizer import SCHEDULES
from shiftstate.training.parts import Part

Check = Callable[[str, Any], Any]


def check_call(model: object, shift: object, data: object) -> None:
    """Raise if one of these is of another kind than `fit` needs."""
    if not isinstance(model, nn.Module):
        raise ValueError(f"model is a {type(model).__name__}; expected a module, such as a Network")
    if not isinstance(shift, Shift):
        raise ValueError(
            f"shift is a {type(shift).__name__}; expected a Shift: Shift.from_edges, from_matrix or from_networkx"
        )
    missing = [name for name in ("train", "valid") if not hasattr(data, name)]
    if missing:
        remedy = "types.SimpleNamespace(train=..., valid=..., test=...)"
        raise ValueError(f"data is a {type(data).__name__} without .{missing[0]}; expected parts by name: {remedy}")


def check_options(options: Mapping[str, Any]) -> SimpleNamespace:
    """The options of `fit` in plain Python, by name; a ValueError that names the first that is not allowed."""
    return SimpleNamespace(**{name: OPTIONS[name](name, value) for name, value in options.items()})


def check_batch_size(batch_size: int | None, train: Part) -> int | None:
    """None where there is nothing to choose from; a ValueError if not one batch can be made."""
    if batch_size is None or train.single:
        return None
    samples = train.samples()
    count = len(train.y if samples is None else samples)
    if batch_size > count:
        raise ValueError(
            f"batch_size is {batch_size}; expected at most {count}, the size of the training set "
            "(the last partial batch is dropped, so not one would be left)"
        )
    return batch_size


def check_task(task: object, smoothing: float) -> Task:
    """The task, or the default one."""
    if task is None:
        return SignalClassification(metrics=["accuracy"], smoothing=smoothing)
    if not isinstance(task, Task):
        hint = "; did you forget the parentheses?" if isinstance(task, type) else ""
        raise ValueError(f"task is {task!r}; expected a task, such as SignalClassification(){hint}")
    if smoothing:
        raise ValueError(f"smoothing is {smoothing} beside a task; expected it as an option of the task")
    return task


def _optional(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


def _whole(name: str, value: Any) -> int:
    return check_whole(name, value, 1)


def _clip(name: str, value: Any) -> float:
    expected = "the largest norm of the gradient, more than 0, or None"
    if isinstance(value, float) and value == inf:  # a limit that no gradient reaches
        return value
    return check_number(name, value, lambda norm: norm > 0, expected)


def _betas(name: str, value: Any) -> tuple[float, float]:
    expected = "two numbers from 0 to less than 1, such as (0.9, 0.999)"
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise ValueError(f"{name} is {value!r}; expected {expected}")
    first, second = (check_number(name, beta, lambda beta: 0 <= beta < 1, expected) for beta in value)
    return first, second


def _seed(name: str, value: Any) -> int:
    if check_whole(name, value, 0) >= 2**63:
        raise ValueError(f"{name} is {value!r}; expected a whole number below 2^63")
    return int(value)


def _progress(name: str, value: Any) -> Any:
    if not callable(value):
        raise ValueError(f"{name} is {value!r}; expected a function of an Epoch, or None")
    return value


def _checkpoints(name: str, value: Any) -> Checkpoints:
    if not isinstance(value, Checkpoints):
        raise ValueError(f"{name} is {value!r}; expected Checkpoints(path), or None")
    return value


OPTIONS: dict[str, Check] = {
    "epochs": _whole,
    "batch_size": _optional(_whole),
    "learning_rate": lambda name, value: check_number(name, value, lambda rate: rate >= 0, "a number of at least 0"),
    "betas": _betas,
    "weight_decay": lambda name, value: check_number(name, value, lambda decay: decay >= 0, "a number of at least 0"),
    "clip": _optional(_clip),
    "schedule": lambda name, value: check_name(name, value, SCHEDULES),
    "patience": _optional(_whole),
    "keep_best": check_flag,
    "look_every": _whole,
    "seed": _seed,
    "share_equal": check_flag,
    "device": check_device,
    "progress": _optional(_progress),
    "checkpoints": _optional(_checkpoints),
}
"""A check for every option of `fit`: its type, its bounds or its choices. A task checks its own."""
