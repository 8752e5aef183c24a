"""Tables of several splits; the verdict has the words of the one on a single split."""

from __future__ import annotations

from collections.abc import Sequence

from shiftstate.estimators.graph_help.verdict import is_share, plain, sentence
from shiftstate.tasks import Metric

__all__ = ["is_share", "plain", "sentence", "table_of"]


def table_of(metric: Metric, rows: Sequence[tuple[str, float, tuple[float, float] | None]], how: str) -> str:
    """One line per model, the best first."""
    ordered = sorted(rows, key=lambda row: row[1], reverse=metric.direction == "higher")
    width = max(len(title) for title, *_ in rows)
    lines = [
        f"{title:{width}}  {plain(metric, value)}"
        + ("" if ends is None else f"  ({plain(metric, ends[0])} … {plain(metric, ends[1])})")
        for title, value, ends in ordered
    ]
    return "\n".join([f"{metric.title} on test data, {how}", *lines])
