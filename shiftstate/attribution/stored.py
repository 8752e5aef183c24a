"""Check the settings and arrays of a model's file: every number is used later, and a wrong one answers wrongly."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shiftstate.attribution.certainty.calibration import Calibration
from shiftstate.attribution.certainty.impostors import Impostors
from shiftstate.attribution.certainty.strangers import SIZES, Known
from shiftstate.attribution.models import MODELS
from shiftstate.attribution.models.base import check_arrays
from shiftstate.attribution.pieces import SHORTEST
from shiftstate.attribution.verification import Verifier
from shiftstate.checks import check_name, check_whole

COMBINED = "combined"
NAMES = (*MODELS, COMBINED)
"""Models that a file calibrates."""
Arrays = Mapping[str, NDArray[Any]]


def check_head(head: Mapping[str, Any]) -> None:
    """Raise for settings of a file that no training writes."""
    settings = head["settings"]
    if not isinstance(settings, dict) or settings.keys() != {"words", "length", "model"}:
        raise ValueError("its settings are not words, length and model")
    check_whole("length", settings["length"], SHORTEST)
    check_name("model", settings["model"], ["auto", *NAMES])
    if not isinstance(settings["words"], str) or not isinstance(head["why"], str):
        raise ValueError("its settings hold no text where one is expected")
    for key, least in (("authors", 2), ("words", 1)):
        if len(set(_texts(head, key))) < max(least, len(head[key])):
            raise ValueError(f"{key} are not {least} or more different names")
    _texts(head, "titles")
    check_name("model", head["recommended"], NAMES)
    for name, measures in _table(head, "held_out").items():
        for key in ("accuracy", "calibration_error"):
            if not 0 <= number(measures[key], f"{key} of {name}") <= 1:
                raise ValueError(f"{key} of {name} is {measures[key]}; expected 0 to 1")


def read_calibrations(head: Mapping[str, Any]) -> dict[str, Calibration]:
    """The calibration of every model."""
    found = {}
    for name, values in _table(head, "calibrations").items():
        *weights, power = (number(value, f"the calibration of {name}") for value in values)
        if len(weights) != (len(MODELS) if name == COMBINED else 1) or min(weights) < 0 or not 0 <= power <= 1:
            raise ValueError(f"the calibration of {name} is not a weight per model, and a power from 0 to 1")
        found[name] = Calibration(tuple(weights), power)
    return found


def read_verifier(head: Mapping[str, Any]) -> Verifier:
    """The verifier, of a slope and an intercept for every size."""
    slopes, intercepts = (tuple(number(value, "the verifier") for value in values) for values in head["verifier"])
    if not len(slopes) == len(intercepts) == len(SIZES):
        raise ValueError(f"the verifier has {len(slopes)} slopes; expected {len(SIZES)}, and as many intercepts")
    return Verifier(slopes, intercepts)


def read_strangers(arrays: Arrays, texts: int) -> Known:
    """The scores of the test for strangers, of those texts that were held out."""
    held = arrays["present"].shape[-1] if arrays["present"].ndim else 0
    if not 0 < held <= texts:
        raise ValueError(f"present is of {held} texts; expected 1 to {texts}")
    return Known(**_known_scores(arrays, (len(SIZES), held)))


def read_impostors(arrays: Arrays, authors: int, words: int, texts: int) -> Impostors:
    """The texts that a new one is compared with."""
    arrays = dict(arrays)
    author = arrays.pop("author")
    if author.dtype != np.int64 or author.shape != (texts,) or set(author.tolist()) != set(range(authors)):
        raise ValueError(f"author is {author.dtype} of shape {author.shape}; expected an author for each text")
    known = _known_scores({key: arrays.pop(key) for key in ("present", "absent")}, (len(SIZES), texts))
    check_arrays(arrays, {"profiles": (texts, words), "spans": (len(SIZES), texts, words)})
    return Impostors(arrays["profiles"], author, arrays["spans"], **known)


def number(value: object, what: str) -> float:
    """A finite number of a file."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"{what} holds {str(value)[:40]!r}; expected a finite number")
    return float(value)


def _known_scores(arrays: Arrays, shape: tuple[int, int]) -> dict[str, NDArray[np.float64]]:
    """Scores of texts whose author is there, and of texts whose author is not; NaN is one that is not known."""
    if arrays.keys() != {"present", "absent"}:
        raise ValueError(f"it holds {', '.join(sorted(arrays))}; expected absent and present")
    for name, array in arrays.items():
        if array.dtype != np.float64 or array.shape != shape:
            raise ValueError(f"{name} is {array.dtype} of shape {array.shape}; expected float64 of shape {shape}")
        if not (np.isnan(array) | ((array >= 0) & (array <= 1))).all():
            raise ValueError(f"{name} holds scores outside of 0 to 1")
    return dict(arrays)


def _texts(head: Mapping[str, Any], key: str) -> list[str]:
    values = head[key]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{key} is no list of names")
    return values


def _table(head: Mapping[str, Any], key: str) -> dict[str, Any]:
    """What a file says of every model."""
    table = head[key]
    if not isinstance(table, dict) or table.keys() != set(NAMES):
        raise ValueError(f"{key} does not name the models {', '.join(NAMES)}")
    return table
