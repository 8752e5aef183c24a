"""Settings of `shiftstate train` from a TOML file and from flags; flags win, unknown keys raise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from shiftstate.checks import check_name
from shiftstate.machine.parsing import parse_override, parse_toml, read_text, typed
from shiftstate.own_data.asking.settings import TrainSettings

PATHS = ("edges", "nodes", "features", "signals", "targets", "out")
WORDS = ("task", "target", "groups", "name", "source", "destination", "weight", "metric", "missing", "header", "join")
NUMBERS = ("seeds", "seed", "epochs", "history", "period")
SWITCHES = ("directed", "keep_na")
LISTS: dict[str, type] = {"split": str, "filter": str, "K": int, "horizons": int, "fractions": float}
MODEL = "model"
"""The table of a file that holds other arguments of the estimator."""


def settings_of(config: Path | None, given: Mapping[str, Any], model: Mapping[str, Any]) -> TrainSettings:
    """What a file and flags ask for together.

    Args:
        config: a TOML file; its paths count from its own folder.
        given: flags that were given, by name.
        model: other arguments of the estimator that were given.
    """
    values = {} if config is None else read_config(config)
    options = {**values.pop(MODEL, {}), **model}
    values |= {name: parsed(f"--{name}", name, value) for name, value in given.items()}
    for name, what in (("task", "what is to be learned"), ("edges", "the graph"), ("out", "where the run goes")):
        if name not in values:
            raise ValueError(f"--{name} is not given; expected {what}, as a flag or in --config FILE")
    return TrainSettings(**values, options=options)


def read_config(path: Path) -> dict[str, Any]:
    """The keys of a TOML file, checked."""
    text = read_text(path, "a TOML file of settings: `shiftstate train --init FILE` writes one")
    try:
        found = parse_toml(text)
    except ValueError as error:
        raise ValueError(f"{path} cannot be read as TOML ({error})") from None
    known = [one.name for one in fields(TrainSettings) if one.name != "options"]
    values: dict[str, Any] = {}
    for name, value in found.items():
        if name == MODEL:
            if not isinstance(value, dict):
                raise ValueError(f"{path}: {MODEL} is {value!r}; expected a table: [{MODEL}]")
            values[MODEL] = value
            continue
        try:
            check_name("key", name, known)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        values[name] = parsed(f"{path}: {name}", name, value)
        if name in PATHS:
            values[name] = path.parent / values[name]
    return values


def settings_from_record(asked: Mapping[str, Any], split: str | None = None) -> TrainSettings:
    """The settings that a run stored; of several splits one."""
    values = {name: value for name, value in asked.items() if name != "options" and value is not None}
    for name in PATHS:
        if name in values:
            values[name] = Path(values[name])
    values |= {name: tuple(values[name]) for name in LISTS if name in values}
    if split is not None:
        values["split"] = (split,)
    try:
        return TrainSettings(**values, options=asked.get("options", {}))
    except TypeError as error:
        raise ValueError(f"settings.json holds other keys than expected ({error})") from None


def model_options(given: list[str]) -> dict[str, Any]:
    """Arguments of the estimator from NAME=VALUE."""
    options: dict[str, Any] = {}
    for one in given:
        ((name, value),) = parse_override(one).items()
        if name in options:
            raise ValueError(f"--set {name} is given twice; expected one value")
        options[name] = value
    return options


def parsed(where: str, name: str, value: Any) -> Any:
    """A value of a file or a flag as the settings have it."""
    if name in LISTS:
        return _list(where, LISTS[name], value)
    kinds: dict[str, tuple[type, str]] = {one: (str, "a word") for one in (*PATHS, *WORDS)}
    kinds |= {one: (int, "a whole number") for one in NUMBERS} | {one: (bool, "true or false") for one in SWITCHES}
    kind, words = kinds[name]
    if isinstance(value, Path):
        return value
    empty = name in ("metric", *PATHS) and not value  # an empty path would be the folder itself
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)) or empty:
        raise ValueError(f"{where} is {value!r}; expected {words}")
    return Path(str(value)) if name in PATHS else value


def _list(where: str, kind: type, value: Any) -> tuple[Any, ...]:
    """Several values: a list of a file, or words with commas between."""
    try:
        if isinstance(value, str):
            return tuple(kind(one.strip()) for one in value.split(","))
        several: tuple[Any, ...] = typed(where, value, tuple[kind, ...])  # type: ignore[valid-type]
        return several
    except ValueError:
        words = {int: "whole numbers", float: "numbers", str: "words"}[kind]
        raise ValueError(f"{where} is {value!r}; expected {words} with commas between") from None
