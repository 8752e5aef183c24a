"""Estimators as files: safetensors with a header of JSON; no pickle, nothing that runs when it is read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from shiftstate.model_file import read_model, write_model

if TYPE_CHECKING:
    from shiftstate.estimators.base import Estimator

NOT_STORED = ("shift",)
"""Arguments that a file does not hold: the graph is given at every call."""

_ESTIMATORS: dict[str, type[Estimator]] = {}


def register(estimators: dict[str, type[Estimator]]) -> None:
    """The estimators that files may hold, by the name of their task."""
    _ESTIMATORS.update(estimators)


def write_estimator(estimator: Estimator, path: str | os.PathLike[str]) -> None:
    """Write arguments, fitted state and weights as one file; the old file stays until the new one is whole."""
    arguments = {name: one for name, one in estimator.get_params(deep=False).items() if name not in NOT_STORED}
    if not isinstance(arguments["random_state"], int | np.integer):
        arguments["random_state"] = None  # a generator in use says nothing of the numbers it gave
    description = {"task": estimator.task_name, "arguments": arguments, "fitted": estimator._describe()}
    write_model(path, "estimator", description, estimator._tensors())


def read_estimator(path: str | os.PathLike[str]) -> Estimator:
    """The estimator that a file holds, whatever its task."""
    described, tensors = read_model(path, "estimator", "the save of an estimator, not by Network.save")
    keys = {"task", "arguments", "fitted"}
    if not isinstance(described, dict) or described.keys() != keys or described["task"] not in tuple(_ESTIMATORS):
        raise ValueError(f"{path} describes no estimator that is known; was the file edited by hand?")
    try:
        estimator = _ESTIMATORS[described["task"]](**described["arguments"])
        estimator._restore(described["fitted"], tensors)
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        cause = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"{path} describes an estimator that cannot be built: {cause}") from None
    return estimator
