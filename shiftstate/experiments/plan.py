"""The plan of a directory: what its runs set out to do, so that a half-finished one can say how far it is."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from shiftstate.experiments.config import EXPERIMENTS, PRESETS, Preset, Realization, load_preset
from shiftstate.files import write_whole

NAME = "plan.json"


@dataclass(frozen=True)
class Plan:
    """What one experiment was asked for."""

    preset: str
    reading: str
    """How the preset reads the paper."""
    command: str
    """What repeats it, but for ``--out``."""
    planned: int
    """Realizations."""


def write_plan(out: Path, preset: Preset, experiments: Sequence[str]) -> dict[str, Plan]:
    """Note in plan.json what is about to run, and return it; the plans of other experiments in the directory stay."""
    plans = read_plans(out) | {name: plan_of(preset, name) for name in experiments}
    write_whole(out / NAME, json.dumps({name: asdict(plan) for name, plan in plans.items()}, indent=2) + "\n")
    return plans


def read_plans(directory: Path) -> dict[str, Plan]:
    """The plan of every experiment that has one."""
    path = directory / NAME
    if not path.exists():
        return {}
    try:
        return {str(name): _plan(plan) for name, plan in json.loads(path.read_text("utf-8")).items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} cannot be read ({error}); expected what shiftstate wrote: delete it") from None


def guess_plan(stored: Sequence[Realization]) -> Plan | None:
    """The smallest preset that all of an experiment's realizations belong to, for results without a plan."""
    if not stored or stored[0].experiment not in EXPERIMENTS:
        return None
    for name in PRESETS:
        preset = replace(load_preset(name), corpus=getattr(stored[0].protocol, "corpus", ""))
        try:
            planned = preset.realizations(stored[0].experiment)
        except ValueError:
            continue  # a preset need not have every experiment
        if set(stored) <= set(planned):
            return plan_of(preset, stored[0].experiment)
    return None


def plan_of(preset: Preset, experiment: str) -> Plan:
    """The plan of one experiment under a preset."""
    settings = [f"--set {shlex.quote(one)}" for source in preset.sources[1:] for one in _overrides(source)]
    texts = ["--texts TEXTS"] if experiment == "table2" else []
    command = " ".join(["shiftstate reproduce", experiment, "--preset", preset.name, *settings, *texts])
    return Plan(preset.name, preset.reading.strip(), command, len(preset.realizations(experiment)))


def _overrides(source: Mapping[str, Any]) -> Iterator[str]:
    """A source as KEY=VALUE, in the order in which its sections beat each other: all, experiments, filters."""
    yield from (f"{key}={_toml(value)}" for key, value in source.items() if not isinstance(value, dict))
    sections = [(key, value) for key, value in source.items() if isinstance(value, dict)]
    for section, settings in sorted(sections, key=lambda pair: pair[0] not in EXPERIMENTS):
        yield from (f"{section}.{key}={_toml(value)}" for key, value in settings.items())


def _toml(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _plan(values: Mapping[str, Any]) -> Plan:
    plan = Plan(**values)
    kinds = {"preset": str, "reading": str, "command": str, "planned": int}
    for name, kind in kinds.items():
        if type(getattr(plan, name)) is not kind:
            raise ValueError(f"{name} is {getattr(plan, name)!r}")
    return plan
