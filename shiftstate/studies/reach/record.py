"""The records of long reach as one table and one figure: every model, every study, every distance."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from shiftstate.studies.reach.shared import COLORS, OURS, VARIANTS

TITLES = {
    "average": "average",
    "mlp": "pointwise MLP",
    "tagconv": "TAGConv",
    "chebconv": "ChebConv",
    "resgcn": "GCN, residual",
    "adgn": "A-DGN",
    "graphcon": "GraphCON",
    "ceiling": "ceiling (exact)",
}


class Column(NamedTuple):
    """How a record is shown: its heading, what its scores are called and shown times, and with how many digits."""

    heading: str
    measure: str
    scale: float
    digits: int

    def cell(self, mean: float | None) -> str:
        """A dash where nothing was run."""
        return "–" if mean is None else f"{round(self.scale * mean, self.digits) + 0.0:.{self.digits}f}"


RINGS: Mapping[str, Column] = {
    "ring": Column("ring, d = {}", "R²", 1.0, 3),
    "unbroken": Column("unbroken, d = {}", "accuracy", 100.0, 1),
}
RECORDS: Mapping[str, Column] = {
    **RINGS,
    "boards_short": Column("boards, 1,000 steps", "ROC AUC", 100.0, 2),
    "boards": Column("boards, 3,000 steps", "ROC AUC", 100.0, 2),
}
PARTS: Mapping[str, Column] = {
    "ring_parts": Column("GSN, ring, d = 10", "R²", 1.0, 3),
    "unbroken_parts": Column("GSN, unbroken, d = 11", "accuracy", 100.0, 1),
    "boards_parts": Column("RSN, boards, one deal", "ROC AUC", 100.0, 2),
}


def title(filter: str) -> str:
    """A model's name in tables and figures."""
    return TITLES.get(filter, filter.upper())


def as_table(records: Path) -> str:
    """Means over draws, of the records in a directory; a dash where nothing was run."""
    means = _means(records)
    places = sorted(means, key=lambda place: (list(RECORDS).index(place[0]), place[1]))
    heads = [f"{RECORDS[name].heading.format(hops)} ({RECORDS[name].measure})" for name, hops in places]
    lines = [f"| model | {' | '.join(heads)} |", "|---|" + "--:|" * len(places)]
    for filter in ("average", "mlp", *COLORS, "ceiling"):
        cells = [RECORDS[place[0]].cell(means[place].get(filter)) for place in places]
        lines.append(f"| {title(filter)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _means(records: Path) -> dict[tuple[str, int], dict[str, float]]:
    """By record and distance, by model; of several K the better one."""
    means: dict[tuple[str, int], dict[str, float]] = {}
    for name in (name for name in RECORDS if (records / name).is_dir()):
        for row in read(records / name):
            place = means.setdefault((name, row.get("hop_limit", 0)), {})
            place[row["filter"]] = max(row["mean"], place.get(row["filter"], row["mean"]))
    return means


def parts_as_table(records: Path) -> str:
    """The recommended form and each of its parts taken away: means over draws, of the records in a directory."""
    shown = {name: column for name, column in PARTS.items() if (records / name).is_dir()}
    means = {name: {row["variant"]: row["mean"] for row in _summary(records / name) if _ours(row)} for name in shown}
    heads = [f"{column.heading} ({column.measure})" for column in shown.values()]
    lines = [f"| form | {' | '.join(heads)} |", "|---|" + "--:|" * len(shown)]
    for variant in VARIANTS:
        cells = [column.cell(means[name].get(variant)) for name, column in shown.items()]
        lines.append(f"| {variant} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _ours(row: Mapping[str, Any]) -> bool:
    return bool(row["filter"] == ("rsn" if row["experiment"] == "boards" else "gsn"))


def draw_scores(records: Path) -> Figure:
    """Score against distance: a panel for every study, a line for every model; our filters are thick."""
    means, figure = _means(records), Figure(figsize=(10, 4.2), layout="constrained")
    for number, (study, (_, measure, scale, _)) in enumerate(RINGS.items()):
        axis = figure.add_subplot(1, len(RINGS), number + 1)
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
    return [row for row in _summary(record) if row["variant"] == "far"]


def _summary(record: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((record / "summary.json").read_text(encoding="utf-8"))
    return rows
