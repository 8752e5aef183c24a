"""Write and read estimators: safetensors with a header of JSON; no pickle, nothing that runs when it is read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, get_type_hints

import numpy as np
import torch
from torch import Tensor

from shiftstate.estimators.defaults import NetworkSettings
from shiftstate.estimators.scaling import SCALES
from shiftstate.json_file import (
    Schema,
    anything,
    check_schema,
    either,
    entries,
    flag,
    items,
    nothing,
    number,
    of_fields,
    of_type,
    shown,
    table,
    whole,
    word,
)
from shiftstate.layers import LAYERS
from shiftstate.model_file import check_tensors, read_model, write_model
from shiftstate.readout import READOUTS

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
    known = word(tuple(_ESTIMATORS))
    check_schema(path, described, table({"task": known, "arguments": entries(anything), "fitted": entries(anything)}))
    kind = _ESTIMATORS[described["task"]]
    check_schema(
        path,
        described,
        table({"task": known, "arguments": _arguments(described["task"]), "fitted": _fitted(len(tensors))}),
    )
    try:
        estimator = kind(**described["arguments"])
        estimator._restore(described["fitted"], tensors)
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError, OverflowError) as error:
        cause = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"{path} describes an estimator that cannot be built: {cause}") from None
    return estimator


def check_stored(
    estimator: Estimator, described: Mapping[str, Any], tensors: Mapping[str, Tensor], model: Mapping[str, Tensor]
) -> None:
    """Raise unless header and tensors fit together; nothing of the model's size has been made yet.

    Args:
        estimator: with the settings that the header describes.
        described: the header's fitted state.
        tensors: all of the file.
        model: names, shapes and dtypes of the weights that the settings ask for.
    """
    features, outputs = described["features"], described["readout"][1]["num_outputs"]
    widths = {"scale": 1 if estimator.forecasts else features} | ({"target": outputs} if "single" in described else {})
    expected = {f"model.{name}": tensor for name, tensor in model.items()}
    for name, width in widths.items():
        expected |= {f"{name}.{part}": torch.empty(width, dtype=torch.float64) for part in ("mean", "deviation")}
    check_tensors("it", tensors, expected)
    for name in widths:
        if not bool((tensors[f"{name}.deviation"] > 0).all()):
            raise ValueError(f"{name}.deviation holds numbers of 0 or less; expected what training data are divided by")
    lengths = {"feature_names": features, "node_names": described["readout"][1].get("num_nodes")}
    lengths |= {"classes": outputs, "horizons": outputs}
    for name, count in lengths.items():
        held = described.get(name)
        if held is not None and count is not None and len(held) != count:
            raise ValueError(f"{name} has {len(held)} entries; expected {count}, as its tensors have")


@cache
def _arguments(task: str) -> Schema:
    """Every argument by its type; ``verbose`` may be a number, as in scikit-learn."""
    kind = _ESTIMATORS[task]
    hints = {one: hint for one, hint in get_type_hints(kind).items() if one in kind().get_params(deep=False)}
    special = {"verbose": either(flag, whole(), nothing), "device": _device, "filter": word(tuple(LAYERS))}
    return table({}, {name: special.get(name) or of_type(hint) for name, hint in hints.items()})


def _fitted(tensors: int) -> Schema:
    """The fitted state in the header of a file with so many tensors: each layer and each member has some of its own."""
    names = either(items(word()), nothing)
    outputs = {"num_outputs": whole(1)}
    required = {
        "settings": of_fields(NetworkSettings, layers=whole(1, tensors), members=whole(1, tensors)),
        "readout": _pair(word(tuple(READOUTS)), table(outputs, {"num_nodes": whole(1), "pool": word()})),
        "normalization": word(),
        "features": whole(1),
        "scale": word(SCALES),
        "feature_names": names,
        "node_names": names,
    }
    classes = items(either(word(), number(), flag), 1)
    own = {"classes": classes, "classes_dtype": _dtype, "single": flag, "horizons": items(whole(1), 1)}
    return table(required, own)


def _pair(first: Schema, second: Schema) -> Schema:
    def check(place: str, value: Any) -> None:
        items(anything, 2, 2)(place, value)
        first(f"{place}[0]", value[0])
        second(f"{place}[1]", value[1])

    return check


def _device(place: str, value: Any) -> None:
    """A kind of device that torch can compute on; whether this machine has it is asked when it is used."""
    try:
        fine = isinstance(value, str) and torch.device(value).type != "meta"
    except RuntimeError:
        fine = False
    if not fine:
        raise ValueError(f"{place} is {shown(value)}; expected a device of torch, such as 'cpu'")


def _dtype(place: str, value: Any) -> None:
    """NumPy's short name of truth values, numbers or texts of bounded length."""
    if not isinstance(value, str) or not re.fullmatch(r"[<>|=]?([biuf][1248]|f16|U[0-9]{1,6})", value):
        raise ValueError(f"{place} is {shown(value)}; expected the type of classes, such as '<U4' or '<i8'")
