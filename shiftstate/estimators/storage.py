"""Estimators as files: safetensors with a header of JSON; no pickle, nothing that runs when it is read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor

from shiftstate.files import write_whole

if TYPE_CHECKING:
    from shiftstate.estimators.base import Estimator

FORMAT = 1
NOT_STORED = ("shift",)
"""Arguments that a file does not hold: the graph is given at every call."""

_ESTIMATORS: dict[str, type[Estimator]] = {}


def register(estimators: dict[str, type[Estimator]]) -> None:
    """The estimators that files may hold, by the name of their task."""
    _ESTIMATORS.update(estimators)


def write_estimator(estimator: Estimator, path: str | os.PathLike[str]) -> None:
    """Write arguments, fitted state and weights as one file; the old file stays until the new one is whole."""
    target = Path(path)
    if not target.parent.is_dir():
        raise ValueError(f"{target.parent} is not a folder; expected the path of a file in one that exists")
    arguments = {name: one for name, one in estimator.get_params(deep=False).items() if name not in NOT_STORED}
    described = {"task": estimator.task_name, "arguments": arguments, "fitted": estimator._describe()}
    try:
        text = json.dumps(described, default=_plain)
    except TypeError as error:
        raise ValueError(
            f"the estimator cannot be written ({error}); expected arguments of names and numbers"
        ) from None
    metadata = {"shiftstate.format": str(FORMAT), "shiftstate.estimator": text}
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in estimator._tensors().items()}
    try:
        write_whole(target, to_bytes(tensors, metadata))
    except OSError as error:
        raise ValueError(
            f"{target} cannot be written ({error.strerror}); expected a place where files may be"
        ) from None


def read_estimator(path: str | os.PathLike[str]) -> Estimator:
    """The estimator that a file holds, whatever its task."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist; expected a file written by save") from None
    except (SafetensorError, OSError, TypeError) as error:
        raise ValueError(f"{path} cannot be read as safetensors ({error}); is it a file of another kind?") from None
    described = _described(path, metadata)
    _check_tensors(path, tensors)
    try:
        estimator = _ESTIMATORS[described["task"]](**described["arguments"])
        estimator._restore(described["fitted"], tensors)
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        cause = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"{path} describes an estimator that cannot be built: {cause}") from None
    return estimator


def _described(path: Any, metadata: dict[str, str]) -> dict[str, Any]:
    text, version = metadata.get("shiftstate.estimator"), metadata.get("shiftstate.format", "")
    if text is None:
        raise ValueError(f"{path} holds no estimator; expected a file written by its save, not by Network.save")
    if version != str(FORMAT):
        raise ValueError(f"{path} has format {version[:20]}; expected {FORMAT}; was it written by a newer shiftstate?")
    try:
        described = json.loads(text)
    except (ValueError, RecursionError):
        described = None
    keys = {"task", "arguments", "fitted"}
    if not isinstance(described, dict) or described.keys() != keys or described["task"] not in tuple(_ESTIMATORS):
        raise ValueError(f"{path} describes no estimator that is known; was the file edited by hand?")
    return described


def _check_tensors(path: Any, tensors: dict[str, Tensor]) -> None:
    for name, tensor in tensors.items():
        if not tensor.is_floating_point() or not bool(tensor.isfinite().all()):
            raise ValueError(f"{path} holds {name!r} with values that are not finite numbers; expected finite weights")


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no name or number")
