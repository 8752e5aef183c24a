"""A model as a file: safetensors with a description in JSON; no pickle, nothing that runs when it is read."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor

from shiftstate.files import write_whole

FORMAT = 1
"""Version of the file format; a file of a newer one raises."""


def write_model(
    path: str | os.PathLike[str], kind: str, description: Mapping[str, Any], tensors: Mapping[str, Tensor]
) -> None:
    """Write tensors and their description as one file; the old file stays until the new one is whole.

    Args:
        path: the file.
        kind: what is described: "network", "estimator", …; the description's key in the file is ``shiftstate.KIND``.
        description: whatever JSON can hold, with numbers and arrays of NumPy among it.
        tensors: by name.
    """
    target = _as_path(path)
    if not target.parent.is_dir():
        raise ValueError(f"{target.parent} is not a folder; expected the path of a file in one that exists")
    _check_finite(f"the {kind}", tensors)
    metadata = {"shiftstate.format": str(FORMAT), f"shiftstate.{kind}": _as_json(description)}
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    try:
        write_whole(target, to_bytes(plain, metadata))
    except OSError as error:
        cause = error.strerror or error
        raise ValueError(f"{target} cannot be written ({cause}); expected a path in a writable folder") from None


def read_model(path: str | os.PathLike[str], kind: str, writer: str) -> tuple[Any, dict[str, Tensor]]:
    """Description and tensors of a file that `write_model` wrote; ``writer`` is the function that users know."""
    source = _as_path(path)
    if source.is_dir():
        raise ValueError(f"{path} is a folder; expected a file written by {writer}")
    try:
        with safe_open(source, framework="pt") as file:
            metadata = file.metadata() or {}
            # A copy: the tensors given are a view of the file, and change when somebody writes to it.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist; expected a file written by {writer}") from None
    except (SafetensorError, OSError) as error:
        raise ValueError(
            f"{path} cannot be read as safetensors ({error}); is it truncated, or a file of another kind?"
        ) from error
    version, text = metadata.get("shiftstate.format", ""), metadata.get(f"shiftstate.{kind}")
    if text is None or not version.isdecimal():
        raise ValueError(f"{path} holds no {kind} configuration; expected a file written by {writer}")
    if version != str(FORMAT):
        raise ValueError(f"{path} has format {version[:20]}; expected {FORMAT}; was it written by a newer shiftstate?")
    try:
        description = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} holds a configuration that is not JSON; was the file edited by hand?") from error
    _check_finite(str(path), tensors)
    return description, tensors


def _as_path(path: object) -> Path:
    try:
        return Path(path)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"path is {path!r}; expected the path of a file, such as 'model.safetensors'") from None


def _as_json(description: Mapping[str, Any]) -> str:
    try:
        return json.dumps(description, default=_plain)
    except TypeError as error:
        raise ValueError(f"the configuration cannot be written ({error}); expected names and numbers") from error


def _plain(value: object) -> Any:
    """NumPy's numbers and arrays as Python's."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no name or number")


def _check_finite(what: str, tensors: Mapping[str, Tensor]) -> None:
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            count = int((~torch.isfinite(tensor)).sum())
            raise ValueError(
                f"{what} holds {count} of {tensor.numel()} values in {name!r} that are NaN or infinite; "
                "expected finite weights; did training diverge?"
            )
