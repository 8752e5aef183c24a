"""Write and read models: safetensors with a description in JSON; no pickle, nothing that runs when it is read."""

import hashlib
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

from shiftstate.files import open_regular, write_whole
from shiftstate.json_file import parse_json

FORMAT = 1
"""Version of the file format; a file of a newer one raises."""
CHECKSUM = "shiftstate.sha256"
"""The key of the checksum in a file's metadata."""
FLOATS = frozenset({torch.float16, torch.bfloat16, torch.float32, torch.float64})
DTYPES = FLOATS | {torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}
"""What a file of ours may hold; safetensors knows others, of which torch can compute little."""


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
    check_finite(f"the {kind}", tensors)
    text = _as_json(description)
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    metadata = {"shiftstate.format": str(FORMAT), f"shiftstate.{kind}": text, CHECKSUM: _checksum(text, plain)}
    try:
        write_whole(target, to_bytes(plain, metadata))
    except OSError as error:
        cause = error.strerror or error
        raise ValueError(f"{target} cannot be written ({cause}); expected a path in a writable folder") from None


def read_model(path: str | os.PathLike[str], kind: str, writer: str) -> tuple[Any, dict[str, Tensor]]:
    """Description and tensors of a file that `write_model` wrote; ``writer`` is the function that users know."""
    source, expected = _as_path(path), f"a file written by {writer}"
    if source.is_dir():
        raise ValueError(f"{path} is a folder; expected {expected}")
    if not source.exists():
        raise ValueError(f"{path} does not exist; expected {expected}")
    metadata, tensors = read_tensors(source, expected)
    version, text = metadata.get("shiftstate.format", ""), metadata.get(f"shiftstate.{kind}")
    if text is None or not version.isdecimal():
        raise ValueError(f"{path} holds no {kind} configuration; expected {expected}")
    if version != str(FORMAT):
        raise ValueError(f"{path} has format {version[:20]}; expected {FORMAT}; was it written by a newer shiftstate?")
    if metadata.get(CHECKSUM, "none") not in (_checksum(text, tensors), "none"):  # older files have none
        raise ValueError(f"{path} is not as it was written (its checksum differs): was it edited or damaged?")
    return parse_description(path, text), tensors


def read_tensors(path: Path, expected: str) -> tuple[dict[str, str], dict[str, Tensor]]:
    """Metadata and tensors of a safetensors file; only a regular file is opened, and all numbers are finite.

    Args:
        path: the file.
        expected: what it should be, for messages: "a file written by Network.save".
    """
    with open_regular(path, expected):
        pass  # what is no regular file has raised: safe_open would wait for the other end of a named pipe
    try:
        with safe_open(path, framework="pt") as file:
            metadata: dict[str, str] = file.metadata() or {}
            # A copy: the tensors given are a view of the file, and change when somebody writes to it.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, TypeError, RuntimeError) as error:  # the last three: strange dtypes
        cause = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(
            f"{path} cannot be read as safetensors ({cause}); is it truncated, or a file of another kind?"
        ) from error
    strange = next((name for name, tensor in tensors.items() if tensor.dtype not in DTYPES), None)
    if strange is not None:
        raise ValueError(f"{path} holds {strange!r} as {_form(tensors[strange])}; expected {expected}")
    check_finite(str(path), tensors)
    return metadata, tensors


def parse_description(path: object, text: str) -> Any:
    """The JSON in a file's metadata: not deep, whole numbers of 64 bits, numbers finite."""
    try:
        return parse_json(text)
    except ValueError as error:
        raise ValueError(
            f"{path} holds a configuration that is not JSON of ours ({error}); was the file edited by hand?"
        ) from None


def check_tensors(path: object, tensors: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> None:
    """Raise if tensors of a file have other names, shapes or dtypes than expected; these may be on the meta device."""
    for name in sorted(tensors.keys() | expected.keys()):
        found, wanted = (None if one is None else _form(one) for one in (tensors.get(name), expected.get(name)))
        if found != wanted:
            raise ValueError(
                f"{path} holds {name!r} as {found or 'nothing'}; expected {wanted or 'nothing'} for its own "
                "configuration; was the file edited, or put together from two?"
            )


def check_finite(what: str, tensors: Mapping[str, Tensor]) -> None:
    """Raise if a tensor holds NaN or infinity."""
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            count = int((~torch.isfinite(tensor)).sum())
            raise ValueError(
                f"{what} holds {count} of {tensor.numel()} values in {name!r} that are NaN or infinite; "
                "expected finite weights; did training diverge?"
            )


def _checksum(text: str, tensors: Mapping[str, Tensor]) -> str:
    """The SHA-256 of a description and of tensors with their names, shapes and dtypes."""
    digest = hashlib.sha256(text.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"\n{name} {_form(tensor)}\n".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _form(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} of shape {tuple(tensor.shape)}"


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
