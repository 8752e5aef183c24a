"""One call that runs experiments of a study into a directory: resume, sweep, store, and write what the results say."""

import importlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console

from shiftstate.errors import SweepError
from shiftstate.files import make_directory, remove_leftovers, write_whole
from shiftstate.machine.judging.figures import draw
from shiftstate.machine.judging.summary import Summary, claims_json, summarize, summary_json
from shiftstate.machine.judging.tables import tables_markdown
from shiftstate.machine.presets import Preset
from shiftstate.machine.results.columns import Result
from shiftstate.machine.results.data_files import NAME as DATA
from shiftstate.machine.results.data_files import fingerprints, write_fingerprints
from shiftstate.machine.results.plan import NAME, Plan, write_plan
from shiftstate.machine.results.store import TEXT, Store
from shiftstate.machine.run import Outcome
from shiftstate.machine.running.engines import Engine, work
from shiftstate.machine.running.lock import locked
from shiftstate.machine.running.progress import Progress
from shiftstate.machine.running.sweep import sweep
from shiftstate.machine.study import Landmark
from shiftstate.machine.trial import Trial
from shiftstate.pictures import render

FILES = (TEXT, "summary.json", "claims.json", "provenance.json", "tables.md", NAME, DATA)
PICTURES = ("svg", "png")


@dataclass(frozen=True)
class Written:
    """What was written, and from what."""

    summary: Summary
    files: tuple[Path, ...]
    stored: int
    """Trials in the directory."""
    landmarks: Mapping[str, Sequence[Landmark]]
    """Of every experiment that has results."""
    chances: Mapping[str, float | None]
    """Of every experiment, the score of guessing."""


def conduct(
    experiments: Sequence[str],
    preset: Preset,
    out: Path,
    engine: Engine,
    console: Console | None = None,
    given: Path | None = None,
) -> Written:
    """Run what is missing of these experiments into ``out`` and write summary, claims, CSV, tables and figures.

    Ended at any moment, it goes on where it stopped when called again. A realizations.csv in ``out`` is taken
    over where the store does not have its results yet. What an earlier run left half-written is removed.

    Args:
        experiments: of the preset's study.
        preset: with its study.
        out: directory of the results.
        engine: where trials run.
        console: where progress is shown.
        given: the data, for experiments whose data are given by path.
    """
    preset = given_data(preset, experiments, given)
    planned = [trial for name in experiments for trial in preset.trials(name)]
    check_requirements(planned)
    prepared = _prepare(planned, out, given)
    data = _data_files(preset, experiments, given)
    with _directory(out), locked(out), Store(out, preset.study, data) as store:
        remove_leftovers(out, [*FILES, *(f"{name}.{kind}" for name in preset.study.names for kind in PICTURES)])
        for file, content in prepared.items():
            write_whole(file, content)
        if (out / TEXT).exists():
            store.import_csv(out / TEXT, planned)
        missing = store.missing(planned)
        if data:
            write_fingerprints(out, data)
        plans = write_plan(out, preset, experiments)
        try:
            with Progress(preset.study, planned, console) as progress:
                _show_known(progress, store.results(), planned)

                def finished(trial: Trial, outcome: Outcome) -> None:
                    store.add(trial, outcome)
                    progress.finished(trial, outcome.last[preset.study.metric.name], outcome.seconds, outcome.ending)

                sweep(missing, engine, finished, progress.started, partial(work, directory=out.resolve()))
        except (KeyboardInterrupt, SweepError) as error:
            if isinstance(error, KeyboardInterrupt) or store.results():
                write_results(out, store, plans)
            raise
        return write_results(out, store, plans)


@contextmanager
def _directory(out: Path) -> Iterator[None]:
    """Make the directory of a run; remove it if it is new and the run fails before anything is finished."""
    new = not out.exists()
    make_directory(out)
    try:
        yield
    except SweepError:
        if new and not (out / TEXT).exists():
            shutil.rmtree(out, ignore_errors=True)
        raise


def given_data(preset: Preset, experiments: Sequence[str], given: Path | None) -> Preset:
    """The preset for the data that are given by path, if these experiments need some."""
    sources = [source for name in experiments if (source := preset.study[name].source)]
    if not sources:
        return preset
    if given is None:
        raise ValueError(sources[0].missing)
    return preset.on(given)


def _data_files(preset: Preset, experiments: Sequence[str], given: Path | None) -> dict[str, str]:
    """Fingerprints of all files that are given by path, by option and name: they tell which of them has changed."""
    found: dict[str, Path] = {}
    for source in (preset.study[name].source for name in experiments):
        if source is not None and given is not None:
            root = given if given.is_dir() else given.parent
            found |= {f"{source.option} {os.path.relpath(one, root)}": one for one in source.files(given)}
    return fingerprints(found)


def check_requirements(planned: Sequence[Trial]) -> None:
    """Refuse to begin where a package is missing that one of the trainings needs."""
    for experiment in dict.fromkeys(trial.experiment for trial in planned):
        own = [trial for trial in planned if trial.experiment is experiment]
        for one in experiment.requires(own):
            try:
                importlib.import_module(one.module)
            except ImportError:
                raise ValueError(one.message) from None


def _prepare(planned: Sequence[Trial], out: Path, given: Path | None) -> dict[Path, bytes]:
    prepared: dict[Path, bytes] = {}
    for experiment in dict.fromkeys(trial.experiment for trial in planned):
        if experiment.source is not None and given is not None:
            own = [trial for trial in planned if trial.experiment is experiment]
            prepared |= experiment.source.prepare(given, own, out)
    return prepared


def write_results(out: Path, store: Store, plans: Mapping[str, Plan]) -> Written:
    """Write every file of the directory from what is stored; plans say what each experiment was asked for."""
    study, results = store.study, store.results()
    summary = summarize(study, results, {name: plan.preset for name, plan in plans.items()})
    experiments = list(dict.fromkeys(line.cell.experiment for line in summary.lines))
    trials = {name: [one.trial for one in results if one.trial.cell.experiment == name] for name in experiments}
    landmarks = {name: study[name].landmarks(trials[name]) for name in experiments}
    chances = {
        one.name: one.chance(trials[one.name][-1].settings if one.name in trials else one.settings())
        for one in study.experiments
    }
    contents: dict[str, str | bytes] = {
        TEXT: store.to_csv(),
        "summary.json": summary_json(summary),
        "claims.json": claims_json(summary),
        "provenance.json": json.dumps(store.provenance(), indent=2) + "\n",
        "tables.md": f"{_readings(experiments, plans)}\n\n{tables_markdown(summary)}{_sentences(landmarks)}",
    }
    contents |= study.extras(results)
    for name in experiments:
        figure = draw(study, study[name], summary.lines, landmarks[name], chances[name])
        contents |= {f"{name}.{kind}": render(figure, kind) for kind in PICTURES}
    for name, content in contents.items():
        write_whole(out / name, content)
    return Written(summary, tuple(out / name for name in contents), len(results), landmarks, chances)


def _readings(experiments: Sequence[str], plans: Mapping[str, Plan]) -> str:
    """What the presets are; experiments are named where there are several."""
    unknown = f"Settings of no preset: every line of {TEXT} has its own."
    readings: dict[str, list[str]] = {}
    for name in experiments or plans:
        readings.setdefault(plans[name].reading if name in plans else unknown, []).append(name)
    if len(readings) < 2:
        return "".join(readings) or unknown
    return "\n\n".join(f"{' and '.join(names)}: {reading}" for reading, names in readings.items())


def _sentences(landmarks: Mapping[str, Sequence[Landmark]]) -> str:
    return "".join(f"\n{one.sentence}\n" for several in landmarks.values() for one in several)


def _show_known(progress: Progress, results: Sequence[Result], planned: Sequence[Trial]) -> None:
    wanted = set(planned)
    for result in results:
        if result.trial in wanted:
            progress.known(result.trial, result.last, result.seconds)
