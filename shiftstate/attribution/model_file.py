"""A trained attributor as one file: arrays in safetensors, settings in its metadata, no pickle."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from shiftstate.files import read_regular, write_whole

FORMAT = 2
KIND = "shiftstate.attribution"
MAX_BYTES = 8_000_000_000
"""Of a model: 25 authors and 5,000 words have a third of it."""


def check_place(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Raise if no file can be written there, or if it is one of the files that are read."""
    if path.is_dir() or not path.parent.is_dir():
        raise ValueError(f"{path} cannot be written; expected a file name in a folder that exists")
    if any(one.exists() and path.exists() and one.samefile(path) for one in inputs):
        raise ValueError(f"{path} is read, and would be overwritten; expected another file for the output")


def write_model(path: Path, head: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a model, whole or not at all."""
    check_place(path)
    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    head = {"format": FORMAT} | head
    write_whole(path, save(tensors, metadata={KIND: json.dumps(head | {"digest": _digest(head, tensors)})}))


def _digest(head: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> str:
    """Of all settings and arrays, so that a changed number is found whatever it is."""
    digest = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()


def read_model(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The settings and arrays of a model."""
    expected = "a model of `shiftstate attribute train`"
    data = read_regular(path, expected, MAX_BYTES)
    try:
        size = int.from_bytes(data[:8], "little")
        if size > len(data):
            raise ValueError("its length is wrong")
        metadata = json.loads(data[8 : 8 + size]).get("__metadata__", {})
        head = json.loads(metadata[KIND])
        if head["format"] != FORMAT:
            raise ValueError(f"format {head['format']}")
        arrays = load(data)
        digest = head.pop("digest", None)  # older files have none
        if digest is not None and digest != _digest(head, arrays):
            raise ValueError("it was changed after it was written")
        return head, arrays
    except Exception as error:  # JSON and safetensors raise a dozen kinds on damaged files
        cause = (str(error).strip() or type(error).__name__).splitlines()[0][:120]
        raise ValueError(f"{path} is no attribution model ({cause}); expected {expected}") from None
