"""What `fit` may be called with."""

from numbers import Real
from typing import Any

from torch import nn

from shiftstate.checks import check_device, check_name, check_whole
from shiftstate.graphs import Shift
from shiftstate.tasks import SignalClassification, Task
from shiftstate.training.optimizer import SCHEDULES
from shiftstate.training.parts import Part


def check_call(model: object, shift: object, data: object, learning_rate: Any, device: object) -> None:
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
    number = isinstance(learning_rate, Real) and not isinstance(learning_rate, bool)
    if not number or not 0 <= learning_rate < float("inf"):
        raise ValueError(f"learning_rate is {learning_rate!r}; expected a number of at least 0")
    check_device("device", device)


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


def check_numbers(
    train: Part,
    epochs: Any,
    batch_size: Any,
    schedule: Any,
    clip: float | None,
    patience: Any,
    look_every: Any,
) -> int | None:
    """Raise if a number is out of range; the batch size: None where there is nothing to choose from."""
    check_whole("epochs", epochs, 1)
    check_whole("look_every", look_every, 1)
    check_name("schedule", schedule, SCHEDULES)
    if patience is not None:
        check_whole("patience", patience, 1)
    if clip is not None and not clip > 0:
        raise ValueError(f"clip is {clip}; expected the largest norm of the gradient, more than 0, or None")
    if batch_size is None or train.single:
        return None
    samples = train.samples()
    count = len(train.y if samples is None else samples)
    if check_whole("batch_size", batch_size, 1) > count:
        raise ValueError(
            f"batch_size is {batch_size}; expected at most {count}, the size of the training set "
            "(the last partial batch is dropped, so not one would be left)"
        )
    return int(batch_size)
