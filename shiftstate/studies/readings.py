"""Which readings of the paper matter: each is changed alone, on the same graphs, data, initial draws and batches.

Figure 1's cell K = 16 of the `paper` preset, one data draw on each of the first graphs; readings.md has the means with
the paired difference from the paper's letter.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from shiftstate.machine import Axis, Count, Picture, Study
from shiftstate.machine.judging.effects import difference
from shiftstate.machine.results.columns import Result
from shiftstate.studies.paper.source_localization import FIGURE1

READINGS: dict[str, dict[str, Any]] = {
    "as in the paper preset": {},
    "any node a source": {"source": "any"},
    "signals standardised": {"standardize": True},
    "any node, standardised (community)": {"source": "any", "standardize": True},
    "a bias in every filter": {"bias": True},
    "a bias, signals standardised": {"bias": True, "standardize": True},
    "initial weights of half the size": {"init_gain": 0.5},
    "initial weights of twice the size": {"init_gain": 2.0},
    "live initial states": {"init": "alive"},
    "twice the epochs": {"epochs": 80},
    "tanh inside RSN and LSSM": {"state_activation": "tanh", "output_activation": "tanh"},
}
BASE = next(iter(READINGS))
FILTERS = ("gcnn", "rsn", "lssm")
Scores = Mapping[tuple[str, str], Mapping[tuple[int, int], float]]
"""By reading and filter, then by graph and draw."""


def as_table(scores: Scores) -> str:
    """Means over graphs: last epoch ± standard deviation (paired difference from the base and its 95 % interval)."""
    head = f"| reading | {' | '.join(name.upper() for name in FILTERS)} |\n|---|{'--:|' * len(FILTERS)}\n"
    names = [name for name in READINGS if any(reading == name for reading, _ in scores)]
    lines = [f"| {name} | {' | '.join(_cell(scores, name, filter) for filter in FILTERS)} |\n" for name in names]
    return head + "".join(lines)


def read_record(path: Path) -> Scores:
    """The scores of a readings.csv: reading, settings, filter, graph, accuracy_last, accuracy_best."""
    scores: dict[tuple[str, str], dict[tuple[int, int], float]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            own = scores.setdefault((row["reading"], row["filter"]), {})
            own[int(row["graph"]), 0] = float(row["accuracy_last"])
    return scores


def _cell(scores: Scores, name: str, filter: str) -> str:
    own = {place: 100 * score for place, score in scores.get((name, filter), {}).items()}
    base = {place: 100 * score for place, score in scores.get((BASE, filter), {}).items()}
    if not own:
        return "–"
    spread = f" ± {stdev(own.values()):.1f}" if len(own) > 1 else ""
    mean, moved = f"{fmean(own.values()):.1f}{spread}", difference(own, base)
    if name == BASE or moved is None:
        return mean
    within = f": {moved.interval[0]:+.0f} … {moved.interval[1]:+.0f}" if moved.interval else ""
    return f"{mean} ({moved.mean:+.0f}{within})"


def _extras(results: Sequence[Result]) -> dict[str, str]:
    scores: dict[tuple[str, str], dict[tuple[int, int], float]] = {}
    for result in results:
        own = scores.setdefault((result.trial["reading"], result.trial["filter"]), {})
        own[result.trial.unit, result.trial.repetition] = result.last
    return {"readings.md": as_table(scores)}


EXPERIMENT = replace(
    FIGURE1,
    name="readings",
    title="Readings of the paper",
    axes=(Axis("reading", tuple(READINGS), known=tuple(READINGS)), *FIGURE1.axes),
    place=("reading",),
    repetition=Count("draw", 1, "draws"),
    overrides=lambda cell: READINGS[cell["reading"]],
    data_axes=("reading",),
    landmarks=lambda trials: (),
    picture=Picture(width=14.0, kind="dots"),
    about="Every reading of the paper that is open, changed alone.",
    remarks=(),
)
TEXT = "Every open reading of the paper changed alone, at K = 16, on five graphs; all else is the paper preset's."
STUDY = Study(
    "readings",
    (EXPERIMENT,),
    {"paper": {"reading": TEXT, "K": 16, "graphs": 5, "draws": 1}},
    reading="The readings",
    extras=_extras,
)
