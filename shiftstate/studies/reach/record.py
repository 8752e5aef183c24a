"""The records of long reach as one table: a line for every model, a column for every study and distance."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shiftstate.studies.reach.shared import COLORS

TITLES = {
    "average": "average",
    "mlp": "pointwise MLP",
    "tagconv": "TAGConv",
    "chebconv": "ChebConv",
    "resgcn": "GCN, residual",
    "adgn": "A-DGN",
    "graphcon": "GraphCON",
}
STUDIES: Mapping[str, tuple[str, float, str]] = {"ring": ("R²", 1.0, ".2f"), "unbroken": ("accuracy", 100.0, ".1f")}
"""By record: what is measured, what it is shown times, and with how many digits."""


def title(filter: str) -> str:
    """A model's name in tables and figures."""
    return TITLES.get(filter, filter.upper())


def as_table(records: Path) -> str:
    """Means over draws, of the records in a directory; a dash where nothing was run."""
    means: dict[tuple[str, int], dict[str, float]] = {}
    for name in (name for name in STUDIES if (records / name).is_dir()):
        for row in read(records / name):
            means.setdefault((name, row["hop_limit"]), {})[row["filter"]] = row["mean"]
    places = sorted(means, key=lambda place: (list(STUDIES).index(place[0]), place[1]))
    heads = [f"{study}, d = {hops} ({STUDIES[study][0]})" for study, hops in places]
    lines = [f"| model | {' | '.join(heads)} |", "|---|" + "--:|" * len(places)]
    for filter in ("average", "mlp", *COLORS):
        cells = [_cell(means[place].get(filter), place[0]) for place in places]
        lines.append(f"| {title(filter)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def read(record: Path) -> list[dict[str, Any]]:
    """The summary of a record's recommended variant."""
    rows: list[dict[str, Any]] = json.loads((record / "summary.json").read_text(encoding="utf-8"))
    return [row for row in rows if row["variant"] == "far"]


def _cell(mean: float | None, study: str) -> str:
    _, scale, digits = STUDIES[study]
    return "–" if mean is None else format(scale * mean + 0.0, digits).replace("-0.00", "0.00")
