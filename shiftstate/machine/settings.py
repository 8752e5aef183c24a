"""Settings: everything that a training depends on beside its cell, its unit and its repetition.

The settings of an experiment are a frozen dataclass whose fields are groups: frozen dataclasses in their turn, each
with checks of its own. One of them is called ``data``: what the data depend on, which is the same for all that is
compared; it has a ``seed``. In presets, ``--set`` and stored configurations the keys of all groups stand side by side.
"""

import typing
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from typing import Any, NamedTuple, TypeVar

import torch

from shiftstate.checks import check_name, check_whole
from shiftstate.machine.parsing import typed
from shiftstate.training import SCHEDULES

Settings = Any
"""An instance of an experiment's settings class."""
Kind = TypeVar("Kind")


def added(default: Any) -> Any:
    """A setting younger than recorded results: a configuration names it only where it differs from this default."""
    return field(default=default, metadata={"added": True})


class Key(NamedTuple):
    """One setting."""

    group: str
    kind: Any
    """Its type: bool, int, float, str, or a tuple of one of them."""
    added: bool
    default: Any


def keys(kind: type) -> dict[str, Key]:
    """Every setting of a class of settings, by name."""
    return _keys(kind)


@cache
def _keys(kind: type) -> dict[str, Key]:
    found: dict[str, Key] = {}
    groups = typing.get_type_hints(kind)
    for group in fields(kind):
        hints = typing.get_type_hints(groups[group.name])
        for one in fields(groups[group.name]):
            if one.name in found:
                raise TypeError(f"{kind.__name__} has {one.name} in two groups; expected every key once")
            found[one.name] = Key(group.name, hints[one.name], "added" in one.metadata, one.default)
    return found


def flat(settings: Settings) -> dict[str, Any]:
    """The settings of all groups, by key."""
    return {name: getattr(getattr(settings, key.group), name) for name, key in keys(type(settings)).items()}


def said(settings: Settings) -> dict[str, Any]:
    """The settings that a stored configuration names: all but those `added` ones that have their default."""
    known = keys(type(settings))
    return {
        name: value
        for name, value in flat(settings).items()
        if not known[name].added or known[name].default is MISSING or value != known[name].default
    }


def build(kind: type[Kind], values: Mapping[str, Any]) -> Kind:
    """Settings from keys of all groups; what is not given has its default; unknown keys and other types are refused."""
    known = keys(kind)
    for name in values:
        check_name("setting", name, known)
    groups = {}
    for group in fields(kind):  # type: ignore[arg-type]
        own = {name: typed(name, value, known[name].kind) for name, value in values.items()
               if known[name].group == group.name}  # fmt: skip
        groups[group.name] = replace(_default(group), **own)
    return kind(**groups)


def change(settings: Kind, **values: Any) -> Kind:
    """The same settings with some keys changed."""
    known = keys(type(settings))
    groups: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        groups.setdefault(known[check_name("setting", name, known)].group, {})[name] = value
    changed = {group: replace(getattr(settings, group), **own) for group, own in groups.items()}
    return replace(settings, **changed)  # type: ignore[type-var]


def difference(one: Settings, other: Settings, group: str | None = None) -> str | None:
    """The first key, of one group or of all, in which two settings differ."""
    if type(one) is not type(other):
        return "settings"
    ours, theirs, known = flat(one), flat(other), keys(type(one))
    return next((key for key in ours if ours[key] != theirs[key] and group in (None, known[key].group)), None)


def check_range(name: str, value: float, low: float, high: float) -> None:
    """Refuse what is not from low to high."""
    if not low <= value <= high:
        raise ValueError(f"{name} is {value}; expected a number from {low:g} to {high:g}")


def check_positive(name: str, values: tuple[float, ...]) -> None:
    """Refuse an empty list, and numbers that are not positive and finite."""
    if not values or not all(0 < value < float("inf") for value in values):
        raise ValueError(f"{name} is {list(values)}; expected one or more positive numbers")


def check_choices(group: object, choices: Mapping[str, Iterable[str]]) -> None:
    """Refuse settings of a group that are none of the names they may have."""
    for name, known in choices.items():
        check_name(name, getattr(group, name), known)


def check_seed(seed: int) -> None:
    """Refuse what cannot be a root seed."""
    if check_whole("seed", seed, 0) >= 2**63:
        raise ValueError(f"seed is {seed}; expected less than 2^63")


@dataclass(frozen=True)
class Training:
    """How `fit` trains: the group that experiments with networks have in common."""

    epochs: int = 40
    batch_size: int = 100
    """Signals in a step; 0 takes all of them."""
    learning_rate: tuple[float, ...] = (0.001,)
    """Of several, each trial keeps the one with the best validation score after the last epoch."""
    schedule: str = "constant"
    weight_decay: float = 0.0
    clip: float = 0.0
    """Largest norm of the gradient; 0 for none."""
    smoothing: float = added(0.0)
    """Share of each label that is spread over all classes."""
    device: str = "cpu"

    def __post_init__(self) -> None:
        check_choices(self, {"schedule": SCHEDULES})
        check_whole("epochs", self.epochs, 1)
        check_whole("batch_size", self.batch_size, 0)
        for name, high in (("weight_decay", 100.0), ("clip", 1e9), ("smoothing", 0.99)):
            check_range(name, getattr(self, name), 0.0, high)
        check_positive("learning_rate", self.learning_rate)
        try:
            torch.device(self.device)
        except RuntimeError:
            raise ValueError(
                f"device is {self.device!r}; expected a device of torch, such as 'cpu' or 'cuda:0'"
            ) from None


def _default(group: Any) -> Any:
    return group.default_factory() if group.default is MISSING else group.default
