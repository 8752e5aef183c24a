"""The records of long reach as one table and one figure: every model, every study, every distance."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from shiftstate.studies.reach.shared import COLORS, OURS

TITLES = {
    "average": "average",
    "mlp": "pointwise MLP",
    "tagconv": "TAGConv",
    "chebconv": "ChebConv",
    "resgcn": "GCN, residual",
    "adgn": "A-DGN",
    "graphcon": "GraphCON",
}
STUDIES: Mapping[str, tuple[str, float, int]] = {"ring": ("R²", 1.0, 3), "unbroken": ("accuracy", 100.0, 1)}
"""By record: what is measured, what it is shown times, and with how many digits."""


def title(filter: str) -> str:
    """A model's name in tables and figures."""
    return TITLES.get(filter, filter.upper())


def as_table(records: Path) -> str:
    """Means over draws, of the records in a directory; a dash where nothing was run."""
    means = _means(records)
    places = sorted(means, key=lambda place: (list(STUDIES).index(place[0]), place[1]))
    heads = [f"{study}, d = {hops} ({STUDIES[study][0]})" for study, hops in places]
    lines = [f"| model | {' | '.join(heads)} |", "|---|" + "--:|" * len(places)]
    for filter in ("average", "mlp", *COLORS):
        cells = [_cell(means[place].get(filter), place[0]) for place in places]
        lines.append(f"| {title(filter)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _means(records: Path) -> dict[tuple[str, int], dict[str, float]]:
    """By study and distance, by model."""
    means: dict[tuple[str, int], dict[str, float]] = {}
    for name in (name for name in STUDIES if (records / name).is_dir()):
        for row in read(records / name):
            means.setdefault((name, row["hop_limit"]), {})[row["filter"]] = row["mean"]
    return means


def draw_scores(records: Path) -> Figure:
    """Score against distance: a panel for every study, a line for every model; our filters are thick."""
    means, figure = _means(records), Figure(figsize=(10, 4.2), layout="constrained")
    for number, (study, (measure, scale, _)) in enumerate(STUDIES.items()):
        axis = figure.add_subplot(1, len(STUDIES), number + 1)
        for filter, color in COLORS.items():
            line = {d: scale * by[filter] for (name, d), by in sorted(means.items()) if name == study and filter in by}
            ours = filter in OURS
            style = {"linewidth": 2.6} if ours else {"linewidth": 1.2, "linestyle": "--", "zorder": 4}
            axis.plot(
                list(line), list(line.values()), color=color, marker="o", markersize=4, label=title(filter), **style
            )
        distances = sorted({d for name, d in means if name == study})
        axis.set(xlabel="distance d in hops", ylabel=measure if scale == 1 else f"{measure} in %", xticks=distances)
        axis.set_title({"ring": "Ring transfer", "unbroken": "Unbroken path"}[study], loc="left")
        axis.spines[["top", "right"]].set_visible(False)
    figure.legend(*axis.get_legend_handles_labels(), loc="outside right center", frameon=False)
    return figure


def read(record: Path) -> list[dict[str, Any]]:
    """The summary of a record's recommended variant."""
    rows: list[dict[str, Any]] = json.loads((record / "summary.json").read_text(encoding="utf-8"))
    return [row for row in rows if row["variant"] == "far"]


def _cell(mean: float | None, study: str) -> str:
    _, scale, digits = STUDIES[study]
    return "–" if mean is None else f"{round(scale * mean, digits) + 0.0:.{digits}f}"
