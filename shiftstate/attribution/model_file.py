"""A trained attributor as one file: arrays in safetensors, settings in its metadata, no pickle."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from shiftstate.files import read_regular, write_whole

FORMAT = 2
KIND = "shiftstate.attribution"


def check_place(path: Path) -> None:
    """Raise if no file can be written there."""
    if path.is_dir() or not path.parent.is_dir():
        raise ValueError(f"{path} cannot be written; expected a file name in a folder that exists")


def write_model(path: Path, head: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a model, whole or not at all."""
    check_place(path)
    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_whole(path, save(tensors, metadata={KIND: json.dumps({"format": FORMAT} | head)}))


def read_model(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The settings and arrays of a model."""
    expected = "a model of `shiftstate attribute train`"
    data = read_regular(path, expected)
    try:
        size = int.from_bytes(data[:8], "little")
        if size > len(data):
            raise ValueError("its length is wrong")
        metadata = json.loads(data[8 : 8 + size]).get("__metadata__", {})
        head = json.loads(metadata[KIND])
        if head["format"] != FORMAT:
            raise ValueError(f"format {head['format']}")
        return head, load(data)
    except Exception as error:  # JSON and safetensors raise a dozen kinds on damaged files
        cause = (str(error).strip() or type(error).__name__).splitlines()[0][:120]
        raise ValueError(f"{path} is no attribution model ({cause}); expected {expected}") from None
