"""The plan of a directory: what its runs set out to do, so that a half-finished one can say how far it is."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from shiftstate.files import write_whole
from shiftstate.machine.parsing import parse_table, read_text, shown, typed
from shiftstate.machine.presets import Preset, load_preset
from shiftstate.machine.registry import find_study
from shiftstate.machine.study import Study
from shiftstate.machine.trial import Trial

NAME = "plan.json"


@dataclass(frozen=True)
class Plan:
    """What one experiment was asked for."""

    preset: str
    reading: str
    """What the preset is."""
    command: str
    """What repeats it, except for ``--out``."""
    planned: int
    """Trials."""
    study: str = ""
    """The file of a user's own study."""

    def to_dict(self) -> dict[str, Any]:
        """As plan.json holds it."""
        return {name: value for name, value in asdict(self).items() if name != "study" or value}


def write_plan(out: Path, preset: Preset, experiments: Sequence[str]) -> dict[str, Plan]:
    """Note in plan.json what is about to run, and return it; the plans of other experiments in the directory stay."""
    plans = read_plans(out) | {name: plan_of(preset, name) for name in experiments}
    write_whole(out / NAME, json.dumps({name: plan.to_dict() for name, plan in plans.items()}, indent=2) + "\n")
    return plans


def read_plans(directory: Path) -> dict[str, Plan]:
    """The plan of every experiment that has one."""
    path = directory / NAME
    if not path.exists():
        return {}
    try:
        return {name: _parse(plan) for name, plan in parse_table(read_text(path, "what shiftstate wrote")).items()}
    except ValueError as error:
        raise ValueError(f"{path} cannot be read ({error}); expected what shiftstate wrote: delete it") from None


def planned_study(directory: Path) -> Study | None:
    """The user's own study that a directory was made with, if it was."""
    origins = {plan.study for plan in read_plans(directory).values()} - {""}
    if len(origins) > 1:
        raise ValueError(f"{directory / NAME} names several studies; expected one in a directory")
    return find_study(origins.pop()) if origins else None


def guess_plan(stored: Sequence[Trial]) -> Plan | None:
    """The smallest preset that all of an experiment's trials belong to, for results without a plan."""
    if not stored:
        return None
    study, experiment = stored[0].study, stored[0].experiment
    for name in study.presets:
        preset = load_preset(study, name)
        if experiment.source is not None:
            key = experiment.source.setting
            preset = replace(preset, given=((key, getattr(stored[0].settings.data, key)),))
        if experiment.name in preset.experiments and set(stored) <= set(preset.trials(experiment.name)):
            return plan_of(preset, experiment.name)
    return None


def plan_of(preset: Preset, experiment: str) -> Plan:
    """The plan of one experiment under a preset."""
    study, source = preset.study, preset.study[experiment].source
    settings = [f"--set {shlex.quote(one)}" for part in preset.sources[1:] for one in _overrides(study, part)]
    given = [f"{source.option} {source.placeholder}"] if source else []
    command = " ".join([study.command_for(experiment), "--preset", preset.name, *settings, *given])
    return Plan(preset.name, preset.reading.strip(), command, len(preset.trials(experiment)), study.origin)


def _overrides(study: Study, source: Mapping[str, Any]) -> Iterator[str]:
    """A source as KEY=VALUE, in the order in which its sections beat each other: all, experiments, models."""
    yield from (f"{key}={_toml(value)}" for key, value in source.items() if not isinstance(value, dict))
    sections = [(key, value) for key, value in source.items() if isinstance(value, dict)]
    for section, settings in sorted(sections, key=lambda pair: pair[0] not in study.names):
        yield from (f"{section}.{key}={_toml(value)}" for key, value in settings.items())


def _toml(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _parse(values: object) -> Plan:
    kinds = {"preset": str, "reading": str, "command": str, "planned": int, "study": str}
    if not isinstance(values, dict) or not set(kinds) - {"study"} <= set(values) <= set(kinds):
        raise ValueError(f"a plan is {shown(values)}; expected a table with {', '.join(kinds)}")
    return Plan(**{name: typed(name, value, kinds[name]) for name, value in values.items()})
