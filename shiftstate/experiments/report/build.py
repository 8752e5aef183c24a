"""`shiftstate report`: gather what a directory holds, and write its tables, figures and page."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from shiftstate.experiments.plan import Plan, guess_plan, read_plans
from shiftstate.experiments.report.lens import Lens, read_lenses, that_fit
from shiftstate.experiments.report.page import chart_library, render
from shiftstate.experiments.report.results import (
    TITLES,
    describe_claims,
    describe_experiments,
    describe_filters,
    describe_protocols,
    describe_realizations,
    open_results,
)
from shiftstate.experiments.report.words import read_words
from shiftstate.experiments.reproduce import write_report
from shiftstate.experiments.rows import Row
from shiftstate.experiments.store import Store
from shiftstate.files import write_whole

PAGE = "report.html"
OTHER_FILES = ("tables.md", "summary.json", "claims.json", "provenance.json", "plan.json", "realizations.csv")


@dataclass(frozen=True)
class Page:
    """What was written."""

    path: Path
    size: int
    """Bytes."""
    stored: int
    """Realizations."""
    lenses: int


def write_page(directory: Path) -> Page:
    """Write report.html, and the tables and figures that it shows, from what is stored in the directory.

    It may be called while a run goes on there: the page then says how far the run is.
    """
    if not directory.is_dir():
        raise ValueError(f"{directory} is not a directory; expected one that `shiftstate reproduce` wrote")
    library = chart_library()
    data, lenses = gather(directory)
    content = render(data, [lens.content for lens in lenses], library).encode()
    write_whole(directory / PAGE, content)
    return Page(directory / PAGE, len(content), len(data["realizations"]["id"]), len(lenses))


def gather(directory: Path) -> tuple[dict[str, Any], list[Lens]]:
    """What the page shows; tables and figures are written on the way."""
    lenses, words = read_lenses(directory), read_words(directory)
    with open_results(directory) as store:
        if store is None and not lenses and not words:
            raise ValueError(
                f"{directory} holds no results; expected results.sqlite, realizations.csv, a lens or a word network: "
                f"`shiftstate reproduce figure1 --out {directory}` makes some"
            )
        results = _results(directory, store) if store is not None else _no_results()
    shown = that_fit(lenses)
    title = directory.resolve().name or "results"
    data = results | {
        "title": title,
        "titles": TITLES,
        "out": shlex.quote(title),
        "version": metadata.version("shiftstate"),
        "files": _files(directory),
        "lenses": [{"id": lens.id, "title": lens.title} for lens in shown],
        "lenses_stored": len(lenses),
        "lens_first": next((place for place, lens in enumerate(shown) if lens.gated), 0),
        "words": words,
    }
    return data, shown


def _files(directory: Path) -> list[str]:
    pictures = sorted(path.name for kind in ("svg", "png") for path in directory.glob(f"*.{kind}"))
    return [name for name in OTHER_FILES if (directory / name).exists()] + pictures


def _results(directory: Path, store: Store) -> dict[str, Any]:
    rows, records = store.rows(), store.records()
    recorded = read_plans(directory)
    plans = {**_guesses(rows, recorded), **recorded}
    report = write_report(directory, store, plans)
    return {
        "filters": describe_filters([record["filter"] for record in records]),
        "experiments": describe_experiments(report.summary, records, plans, report.ceilings),
        "chance": dict(report.chances),
        "claims": describe_claims(report.summary.findings) if records else [],
        "realizations": describe_realizations(records),
        "protocols": describe_protocols(records),
        "provenance": store.provenance(),
        "plan_recorded": bool(recorded),
    }


def _no_results() -> dict[str, Any]:
    names = ("filters", "experiments", "claims", "protocols")
    nothing: dict[str, Any] = {name: [] for name in names}
    return nothing | {
        "chance": {},
        "realizations": describe_realizations([]),
        "provenance": None,
        "plan_recorded": False,
    }


def _guesses(rows: Sequence[Row], recorded: Mapping[str, Plan]) -> dict[str, Plan]:
    names = {row.realization.experiment for row in rows} - set(recorded)
    guesses = {
        name: guess_plan([row.realization for row in rows if row.realization.experiment == name])
        for name in sorted(names)
    }
    return {name: plan for name, plan in guesses.items() if plan is not None}
