"""The verdict on several splits, in the words of the one on a single split."""

from __future__ import annotations

from collections.abc import Sequence

from shiftstate.tasks import Metric


def sentence(metric: Metric, rival: str, title: str, lead: tuple[float, float, float], reference: float) -> str:
    """Whether the graph helps, in one sentence.

    Args:
        metric: by which all were judged.
        rival: the best model without the graph, by name.
        title: of that model.
        lead: by how much the model is better, and its interval.
        reference: the rival's score.
    """
    value, low, high = lead
    without = title if rival == "no_graph" else f"{title} without the graph"
    is_, it = ("are", "them") if rival == "trees" else ("is", "it")
    if low > 0:
        return f"the graph is worth {_shown(metric, value, low, high, reference)}, compared with {title}"
    if high < 0:
        return f"{without} {is_} better by {_shown(metric, -value, -high, -low, reference)}: prefer {it}"
    return f"{without} {is_} as good (the graph gives {_shown(metric, value, low, high, reference)}): prefer {it}"


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


def plain(metric: Metric, value: float) -> str:
    """A score as tables show it."""
    return f"{100 * value:.1f}" if is_share(metric) else f"{value:.4g}"


def is_share(metric: Metric) -> bool:
    """Whether scores are shown times 100."""
    return metric.direction == "higher" and metric.name != "r2"


def _shown(metric: Metric, value: float, low: float, high: float, reference: float) -> str:
    if is_share(metric):
        return f"{100 * value:.1f} points ({100 * low:.1f} … {100 * high:.1f})"
    return f"{value:.2g} ({low:.2g} … {high:.2g}) of {reference:.3g} in {metric.title}"
