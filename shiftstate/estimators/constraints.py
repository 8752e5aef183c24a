"""Check the arguments of estimators by tables: a check by name, for its type, bounds and choices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from shiftstate.checks import check_device, check_flag, check_name, check_number, check_whole
from shiftstate.estimators.scaling import SCALES
from shiftstate.layers import LAYERS
from shiftstate.layers.options import INPUTS, MIXINGS
from shiftstate.tasks import REGRESSION_METRICS
from shiftstate.training.optimizer import SCHEDULES

NORMALIZATIONS = ("none", "symmetric", "row", "column", "spectral")

Check = Callable[[str, Any], Any]
"""From the name of an argument and its value to the value in plain Python; a ValueError if it is not allowed."""


def whole(least: int) -> Check:
    """A whole number of at least this."""
    return lambda name, value: check_whole(name, value, least)


def number(allowed: Callable[[float], bool], expected: str) -> Check:
    """A number within bounds."""
    return lambda name, value: check_number(name, value, allowed, expected)


def choice(known: Iterable[str]) -> Check:
    """One of these names."""
    names = tuple(known)
    return lambda name, value: check_name(name, value, names)


def optional(check: Check) -> Check:
    """None, or what the check allows."""
    return lambda name, value: None if value is None else check(name, value)


def _seed(name: str, value: Any) -> Any:
    try:
        if not isinstance(value, bool):
            check_random_state(value)
            return int(value) if isinstance(value, np.integer) else value
    except ValueError:
        pass
    expected = "a whole number from 0 to 2^32 - 1, a numpy.random.RandomState, or None"
    raise ValueError(f"{name} is {value!r}; expected {expected}")


SETTINGS: dict[str, Check] = {
    "K": whole(0),
    "channels": whole(1),
    "layers": whole(1),
    "mixing": choice(MIXINGS),
    "input": choice(INPUTS),
    "dropout": number(lambda share: 0 <= share < 1, "a share from 0 to less than 1"),
    "learning_rate": number(lambda rate: rate > 0, "a number above 0"),
    "weight_decay": number(lambda decay: decay >= 0, "a number of at least 0"),
    "epochs": whole(1),
    "patience": whole(1),
    "batch_size": optional(whole(1)),
    "schedule": choice(SCHEDULES),
    "clip": optional(number(lambda norm: norm > 0, "a number above 0")),
    "encode": check_flag,
    "around": check_flag,
    "linear": check_flag,
    "members": whole(1),
}
"""What a network is built and trained with."""

ARGUMENTS: dict[str, Check] = {
    **{name: optional(check) for name, check in SETTINGS.items()},
    "filter": choice(LAYERS),
    "normalization": choice(("auto", *NORMALIZATIONS)),
    "scale": choice(("auto", *SCALES)),
    "metric": optional(choice(REGRESSION_METRICS)),
    "validation_fraction": number(lambda share: 0 < share < 1, "a share between 0 and 1"),
    "random_state": _seed,
    "device": lambda name, value: str(check_device(name, value)),
    "verbose": optional(check_flag),
}
"""What all estimators share; classes with other arguments have ``constraints`` of their own."""


def checked(values: Mapping[str, Any], checks: Mapping[str, Check]) -> dict[str, Any]:
    """All values in plain Python; a ValueError that names the first that is not allowed."""
    return {name: checks[name](name, value) if name in checks else value for name, value in values.items()}


def constraints_of(kind: type) -> dict[str, Check]:
    """The checks of a class and of all its bases; those of the class itself come first."""
    found: dict[str, Check] = {}
    for base in reversed(kind.__mro__):
        found |= vars(base).get("constraints", {})
    return found
