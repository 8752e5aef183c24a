"""`shiftstate report`: gather what a directory holds, and write its tables, figures and page."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from shiftstate.files import write_whole
from shiftstate.machine.conduct import write_results
from shiftstate.machine.page.contract import PageData, ShownExperiment
from shiftstate.machine.page.lenses import LensFile, read_lenses, that_fit
from shiftstate.machine.page.render import chart_library, render
from shiftstate.machine.page.results import PALETTE, describe_claims, describe_experiments
from shiftstate.machine.page.words import read_words
from shiftstate.machine.results.columns import Result
from shiftstate.machine.results.plan import Plan, guess_plan, read_plans
from shiftstate.machine.results.store import Store, open_results

PAGE = "report.html"
OTHER_FILES = ("tables.md", "summary.json", "claims.json", "provenance.json", "plan.json", "realizations.csv")
NO_CHARTS = "without its charts, as plotly is not installed: pip install 'shiftstate[report]', then report again"


@dataclass(frozen=True)
class WrittenPage:
    """What was written."""

    path: Path
    size: int
    """Bytes."""
    stored: int
    """Trainings."""
    lenses: int
    charts: bool
    """Whether the page has its charts; they need plotly."""

    def __str__(self) -> str:
        """One line on what was written, and what was left out."""
        lenses = f" and {self.lenses} under the lens" if self.lenses else ""
        end = "open it in a browser" if self.charts else NO_CHARTS
        return f"{self.path}: {self.stored} trainings{lenses}, {self.size / 1e6:.1f} MB; {end}"


def write_page(directory: Path) -> WrittenPage:
    """Write report.html, and the tables and figures that it shows, from what is stored in the directory.

    It may be called while a run goes on there: the page then says how far the run is. Without plotly everything is
    written except the page's charts.
    """
    if not directory.is_dir():
        raise ValueError(f"{directory} is not a directory; expected one that holds results")
    library = chart_library()
    data, lenses = gather(directory, charts=library is not None)
    content = render(data, [lens.content for lens in lenses], library).encode()
    write_whole(directory / PAGE, content)
    stored = sum(len(one["trainings"]["id"]) for one in data["experiments"])
    return WrittenPage(directory / PAGE, len(content), stored, len(lenses), data["charts"])


def gather(directory: Path, charts: bool = True) -> tuple[PageData, list[LensFile]]:
    """What the page shows; tables and figures are written on the way."""
    lenses, words = read_lenses(directory), read_words(directory)
    title = directory.resolve().name or "results"
    data: PageData = {
        "title": title,
        "out": shlex.quote(title),
        "palette": list(PALETTE),
        "experiments": [],
        "claims": [],
        "reading": "",
        "plan_recorded": False,
        "record": [("page by", f"shiftstate {metadata.version('shiftstate')}")],
        "versions": [],
        "files": [],
        "charts": charts,
        "lenses": [],
        "lenses_stored": len(lenses),
        "lens_first": 0,
        "networks": words,
    }
    with open_results(directory) as store:
        if store is None and not lenses and not words:
            raise ValueError(
                f"{directory} holds no results; expected results.sqlite, realizations.csv, a lens or a word network: "
                f"`shiftstate reproduce EXPERIMENT --out {directory}` makes some"
            )
        if store is not None:
            _add_results(data, directory, store)
    shown = that_fit(lenses, data["experiments"])
    data["lenses"] = [lens.described(data["experiments"]) for lens in shown]
    data["lens_first"] = next((place for place, lens in enumerate(shown) if lens.gated), 0)
    data["files"] = _files(directory)
    return data, shown


def _files(directory: Path) -> list[str]:
    pictures = sorted(path.name for kind in ("svg", "png") for path in directory.glob(f"*.{kind}"))
    return [name for name in OTHER_FILES if (directory / name).exists()] + pictures


def _add_results(data: PageData, directory: Path, store: Store) -> None:
    results, records = store.results(), store.records()
    recorded = read_plans(directory)
    plans = {**_guesses(results, recorded), **recorded}
    written = write_results(directory, store, plans)
    data["experiments"] = describe_experiments(written.summary, records, plans, written.landmarks, written.chances)
    data["claims"] = describe_claims(written.summary) if records else []
    data["reading"] = store.study.reading
    data["plan_recorded"] = bool(recorded)
    made = store.provenance()
    data["record"] += _record(made, data["experiments"])
    data["versions"] = made["versions"]


def _record(made: Mapping[str, Any], experiments: Sequence[ShownExperiment]) -> list[tuple[str, str]]:
    """Facts about the stored results."""
    seeds = dict.fromkeys(str(one["settings"]["common"].get("seed", "")) for one in experiments)
    facts = {
        "trainings": f"{made['realizations']}, {made['training_hours']} hours",
        "first finished": made["first_finished"],
        "last finished": made["last_finished"],
        "kernels": ", ".join(f"{name}: {count}" for name, count in made["kernels"].items()),
        "results version": str(made["results_version"]),
        "root seed": ", ".join(seed for seed in seeds if seed),
    }
    return [(title, text) for title, text in facts.items() if text]


def _guesses(results: Sequence[Result], recorded: Mapping[str, Plan]) -> dict[str, Plan]:
    trials = [result.trial for result in results]
    names = {trial.cell.experiment for trial in trials} - set(recorded)
    guesses = {name: guess_plan([trial for trial in trials if trial.cell.experiment == name]) for name in sorted(names)}
    return {name: plan for name, plan in guesses.items() if plan is not None}
