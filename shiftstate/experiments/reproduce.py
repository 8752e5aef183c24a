"""One call that runs an experiment into a directory: resume, sweep, store, and write what the results say."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rich.console import Console

from shiftstate.errors import SweepError
from shiftstate.experiments.ceiling import Ceiling, ceiling
from shiftstate.experiments.config import EXPERIMENTS, Preset, Realization
from shiftstate.experiments.corpora import NO_TEXTS, prepare, write_corpora
from shiftstate.experiments.data import num_classes
from shiftstate.experiments.engines import Engine, work
from shiftstate.experiments.figures import draw
from shiftstate.experiments.lock import locked
from shiftstate.experiments.plan import Plan, write_plan
from shiftstate.experiments.progress import Progress
from shiftstate.experiments.protocols import SourceProtocol
from shiftstate.experiments.realization import Outcome
from shiftstate.experiments.rows import Row
from shiftstate.experiments.store import Store
from shiftstate.experiments.summary import Summary, claims_json, summarize, summary_json
from shiftstate.experiments.sweep import sweep
from shiftstate.experiments.tables import tables_markdown
from shiftstate.files import make_directory, write_whole
from shiftstate.pictures import render
from shiftstate.texts.corpus import fingerprint


@dataclass(frozen=True)
class Report:
    """What was written, and from what."""

    summary: Summary
    files: tuple[Path, ...]
    stored: int
    """Realizations in the directory."""
    ceilings: Mapping[str, Ceiling | None]
    """Of every experiment, where there is one."""
    chances: Mapping[str, float]
    """Of every experiment, the accuracy of guessing."""


def reproduce(
    experiments: Sequence[str],
    preset: Preset,
    out: Path,
    engine: Engine,
    console: Console | None = None,
    texts: Path | None = None,
) -> Report:
    """Run what is missing of these experiments into ``out`` and write summary, claims, CSV, tables and figures.

    Ended at any moment, it goes on where it stopped when called again. A realizations.csv in ``out`` is taken
    over where the store does not have its results yet. ``texts`` is the folder of the texts, for experiments on
    them; results know it by its contents, not by its path.
    """
    planned = [realization for name in experiments for realization in preset.realizations(name)]
    task, corpora = work, {}
    if any(EXPERIMENTS[name].needs_texts for name in experiments):
        if texts is None:
            raise ValueError(NO_TEXTS)
        preset = replace(preset, corpus=fingerprint(texts))
        planned = [realization for name in experiments for realization in preset.realizations(name)]
        corpora = prepare(texts, planned, out)
        task = partial(work, corpora=out.resolve())
    make_directory(out)
    with locked(out), Store(out) as store:
        write_corpora(corpora)
        if (out / "realizations.csv").exists():
            store.import_csv(out / "realizations.csv", planned)
        missing = store.missing(planned)
        plans = write_plan(out, preset, experiments)
        with Progress(planned, console) as progress:
            _show_known(progress, store.rows(), planned)

            def finished(realization: Realization, outcome: Outcome) -> None:
                store.add(realization, outcome)
                fit = outcome.fit
                progress.finished(realization, fit.accuracy_last, outcome.seconds, fit.outcome)

            try:
                sweep(missing, engine, finished, progress.started, task)
            except (KeyboardInterrupt, SweepError):
                write_report(out, store, plans)
                raise
        return write_report(out, store, plans)


def write_report(out: Path, store: Store, plans: Mapping[str, Plan]) -> Report:
    """Write every file of the directory from what is stored; plans say how each experiment reads the paper."""
    rows = store.rows()
    summary = summarize(rows, target="figure1" in plans and plans["figure1"].preset == "tuned")
    experiments = list(dict.fromkeys(line.experiment for line in summary.lines))
    ceilings = {experiment: _ceiling(rows, experiment) for experiment in experiments}
    protocols = {name: kind.protocol() for name, kind in EXPERIMENTS.items()}  # for what is planned and not stored yet
    protocols |= {row.realization.experiment: row.realization.protocol for row in rows}
    chances = {name: 1 / num_classes(protocol) for name, protocol in protocols.items()}
    contents: dict[str, str | bytes] = {
        "realizations.csv": store.to_csv(),
        "summary.json": summary_json(summary),
        "claims.json": claims_json(summary),
        "provenance.json": json.dumps(store.provenance(), indent=2) + "\n",
        "tables.md": f"{_readings(experiments, plans)}\n\n{tables_markdown(summary)}{_ceilings_markdown(ceilings)}",
    }
    for experiment, known in ceilings.items():
        figure = draw(experiment, summary.lines, known, chances[experiment])
        contents |= {f"{experiment}.{kind}": render(figure, kind) for kind in ("svg", "png")}
    for name, content in contents.items():
        write_whole(out / name, content)
    return Report(summary, tuple(out / name for name in contents), len(rows), ceilings, chances)


def _readings(experiments: Sequence[str], plans: Mapping[str, Plan]) -> str:
    """How the experiments read the paper; each is named where there are several readings."""
    unknown = "Settings of no preset: every line of realizations.csv has its own."
    readings: dict[str, list[str]] = {}
    for name in experiments or plans:
        readings.setdefault(plans[name].reading if name in plans else unknown, []).append(name)
    if len(readings) < 2:
        return "".join(readings) or unknown
    return "\n\n".join(f"{' and '.join(names)}: {reading}" for reading, names in readings.items())


def _ceiling(rows: Sequence[Row], experiment: str) -> Ceiling | None:
    chosen = [row.realization for row in rows if row.realization.experiment == experiment]
    protocols = [one.protocol for one in chosen if isinstance(one.protocol, SourceProtocol)]
    if not protocols or any(protocol.source != "any" for protocol in protocols):
        return None
    return ceiling(protocols[0], 1 + max(realization.graph for realization in chosen))


def _ceilings_markdown(ceilings: Mapping[str, Ceiling | None]) -> str:
    lines = [
        f"Matching templates on the graphs of {experiment}: {100 * one.shape:.1f} % by their shapes alone, "
        f"{100 * one.exact:.1f} % with their amplitudes."
        for experiment, one in ceilings.items()
        if one is not None
    ]
    return "".join(f"\n{line}\n" for line in lines)


def _show_known(progress: Progress, rows: Sequence[Row], planned: Sequence[Realization]) -> None:
    wanted = set(planned)
    for row in rows:
        if row.realization in wanted:
            progress.known(row.realization, row.accuracy_last, row.seconds)
