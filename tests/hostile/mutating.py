"""Edit stored files: every key of their JSON and every tensor, one at a time."""

import io
import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

NASTY: dict[str, Any] = {
    "null": None,
    "-1": -1,
    "1e9": 10**9,
    "1.5": 1.5,
    "empty text": "",
    "../x": "../x",
    "NaN": float("nan"),
    "lists": [[[]]],
    "a long text": "x" * 100_000,
    "true": True,
    "an object": {"a": {}},
    "2^70": 2**70,
}
"""What every value is replaced by."""
TYPES = {"F32": "I32", "I32": "F32", "F64": "I64", "I64": "F64", "U8": "I8", "BOOL": "U8", "F16": "BF16"}
"""Types of the same size."""

Edit = tuple[str, Callable[[Path], object]]
"""What is changed, in words, and how."""


def edited_values(value: Any, few: int | None) -> Iterator[tuple[str, Any]]:
    """The same JSON with one thing dropped or replaced, for every thing in it.

    Args:
        value: what JSON gave.
        few: so many of the nasty values for each thing, other ones for the next; all by default.
    """
    nasty = list(NASTY.items())
    for number, path in enumerate(_paths(value)):
        where = ".".join(map(str, path)) or "everything"
        if path:
            yield f"{where} dropped", _with(value, path, None, drop=True)
        chosen = nasty if few is None else [nasty[(number * few + i) % len(nasty)] for i in range(few)]
        for name, new in chosen:
            if not _same(new, _at(value, path)):
                yield f"{where} is {name}", _with(value, path, new)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """To everything; of long lists the first and the last thing."""
    yield path
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    for key in keys if isinstance(value, dict) or len(keys) < 3 else (keys[0], keys[-1]):
        yield from _paths(value[key], (*path, key))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def _with(value: Any, path: tuple[Any, ...], new: Any, drop: bool = False) -> Any:
    if not path:
        return new
    copy = json.loads(json.dumps(value))
    inside = _at(copy, path[:-1])
    if drop:
        del inside[path[-1]]
    else:
        inside[path[-1]] = new
    return copy


def json_edits(file: Path, few: int | None = None) -> Iterator[Edit]:
    """Edits of a file of JSON, and damage to its text."""
    text = file.read_text()
    for name, value in edited_values(json.loads(text), few):
        yield name, _writer(file.name, json.dumps(value).encode())
    for name, content in (("is cut", text[: len(text) // 2]), ("is nested deeply", "[" * 100_000), ("is empty", "")):
        yield name, _writer(file.name, content.encode())
    yield "is not UTF-8", _writer(file.name, b"\xff" + text.encode())


def tensor_edits(file: Path, few: int | None = None) -> Iterator[Edit]:
    """Edits of a safetensors file: of the JSON in its metadata, of the names, types, shapes and values of tensors."""
    data = file.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    head, body = json.loads(data[8 : 8 + size]), data[8 + size :]

    def put(changed: Any, content: bytes = body) -> Callable[[Path], object]:
        packed = json.dumps(changed).encode()
        return _writer(file.name, struct.pack("<Q", len(packed)) + packed + content)

    told = head.get("__metadata__", {})
    for key, text in told.items():
        for name, new in [*((name, str(new)) for name, new in NASTY.items())][: few or None]:
            yield f"metadata {key} is {name}", put(head | {"__metadata__": told | {key: new}})
        if text[:1] == "{":
            for name, value in edited_values(json.loads(text), few):
                yield f"{key}: {name}", put(head | {"__metadata__": told | {key: json.dumps(value)}})
    yield "no metadata", put({name: one for name, one in head.items() if name != "__metadata__"})
    for name, one in head.items():
        if name != "__metadata__":
            yield from ((f"tensor {name} {how}", put(*made)) for how, made in _tensor(head, body, name, one))
    for how, length in (("0", 0), ("2^60", 2**60), ("one more", size + 1), ("one less", size - 1)):
        yield f"a header of length {how}", _writer(file.name, struct.pack("<Q", length) + data[8:])
    yield "cut in the midst", _writer(file.name, data[: len(data) // 2])
    yield "cut in the header", _writer(file.name, data[:50])
    yield "one byte less", _writer(file.name, data[:-1])
    yield "one byte more", _writer(file.name, data + b"\0")


def unsigned(data: bytes) -> bytes:
    """A model's file without its checksum, as older versions wrote it: what is edited in it is judged by itself."""
    size = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8 : 8 + size])
    told = {key: text for key, text in head["__metadata__"].items() if not key.endswith("sha256")}
    for key, text in told.items():
        if text[:1] == "{":
            told[key] = json.dumps({name: value for name, value in json.loads(text).items() if name != "digest"})
    packed = json.dumps(head | {"__metadata__": told}).encode()
    return struct.pack("<Q", len(packed)) + packed + data[8 + size :]


def _tensor(head: dict[str, Any], body: bytes, name: str, one: dict[str, Any]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    rest = {key: value for key, value in head.items() if key != name}
    first, last = one["data_offsets"]
    count = int(np.prod(one["shape"]))
    yield "renamed", ({**rest, f"{name}x": one},)
    yield "relabelled", ({**rest, name: one | {"dtype": TYPES.get(one["dtype"], "U8")}},)
    yield "flattened or boxed", ({**rest, name: one | {"shape": [1, count] if len(one["shape"]) == 1 else [count]}},)
    yield "with a shape of 2^62", ({**rest, name: one | {"shape": [2**62]}},)
    yield "with a shape below zero", ({**rest, name: one | {"shape": [-1]}},)
    yield "with other offsets", ({**rest, name: one | {"data_offsets": [first + 1, last + 1]}},)
    if last > first:
        yield "of ones", (head, body[:first] + b"\xff" * (last - first) + body[last:])
        kind = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4"}.get(one["dtype"])
        for how, value in (("of infinities", np.inf), ("of NaN", np.nan)) if kind in ("<f4", "<f8") else ():
            yield how, (head, body[:first] + np.full(count, value, kind).tobytes() + body[last:])
        for how, value in (("of 10^9", 10**9), ("below zero", -1)) if kind in ("<i4", "<i8") else ():
            yield how, (head, body[:first] + np.full(count, value, kind).tobytes() + body[last:])


def array_edits(file: Path, few: int | None = None) -> Iterator[Edit]:
    """Edits of the arrays of an .npz."""
    with np.load(file) as found:
        arrays = {name: found[name] for name in found.files}
    for name, one in arrays.items():
        rest = {key: value for key, value in arrays.items() if key != name}
        yield f"{name} dropped", _writer(file.name, _packed(rest))
        ways: dict[str, Callable[[], Any]] = {
            "shorter": lambda one=one: one[..., :-1],
            "longer": lambda one=one: np.concatenate([one, one], -1),
            "empty": lambda one=one: one[..., :0],
            "without a dimension": lambda one=one: one.ravel()[0],
            "with a dimension more": lambda one=one: one[None],
            "of objects": lambda one=one: np.array([None, {}], dtype=object),
            "of words": lambda one=one: np.full(one.shape, "word"),
            "of NaN": lambda one=one: np.full(one.shape, np.nan),
            "of 10^9": lambda one=one: np.full(one.shape, 10**9),
            "below zero": lambda one=one: np.full(one.shape, -1),
            "of 2^62": lambda one=one: np.full(one.shape, 2**62),
            "of halves": lambda one=one: np.full(one.shape, 0.5),
            "of yes": lambda one=one: np.full(one.shape, True),
            "complex": lambda one=one: np.full(one.shape, 1j),
        }
        for how, make in ways.items():
            yield f"{name} {how}", _writer(file.name, _packed({**rest, name: make()}))
    data = file.read_bytes()
    for share in (0.02, 0.3, 0.6, 0.9):
        yield f"cut at {share:.0%}", _writer(file.name, data[: int(share * len(data))])
    for share in (0.1, 0.4, 0.8):
        place = int(share * len(data))
        yield (
            f"bytes turned at {share:.0%}",
            _writer(file.name, data[:place] + bytes(255 - one for one in data[place : place + 8]) + data[place + 8 :]),
        )


def _packed(arrays: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def _writer(name: str, data: bytes) -> Callable[[Path], object]:
    """Writes a file's new content over the old; told the folder of the file."""
    return lambda folder: (folder / name).write_bytes(data)
