"""Say in one sentence whether the graph helps; "as good" is said only of an interval within a stated margin."""

from __future__ import annotations

from shiftstate.tasks import Metric

MARGIN = 0.02
"""Two models are as good if the whole interval of their difference lies within this margin: 2 points of accuracy, F1 or
AUC, 0.02 of R², 2 % of the rival's score for errors and losses. A wider interval that holds 0 says nothing."""


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
    gives = f"the graph gives {_shown(metric, value, low, high, reference)}"
    margin = margin_of(metric, reference)
    if -margin <= low and high <= margin:
        return f"{without} {is_} as good ({gives}): prefer {it}"
    return (
        f"no difference was found; the data cannot tell ({gives}, compared with {title}; "
        f"as good means within {_margin_shown(metric, margin)})"
    )


def margin_of(metric: Metric, reference: float) -> float:
    """The margin in units of the metric, beside a rival with this score."""
    return MARGIN if metric.direction == "higher" else MARGIN * abs(reference)


def is_share(metric: Metric) -> bool:
    """Whether scores are shown times 100."""
    return metric.direction == "higher" and metric.name != "r2"


def plain(metric: Metric, value: float) -> str:
    """A score as tables show it."""
    return f"{100 * value:.1f}" if is_share(metric) else f"{value:.4g}"


def _shown(metric: Metric, value: float, low: float, high: float, reference: float) -> str:
    if is_share(metric):
        return f"{100 * value:.1f} points ({100 * low:.1f} … {100 * high:.1f})"
    return f"{value:.2g} ({low:.2g} … {high:.2g}) of {reference:.3g} in {metric.title}"


def _margin_shown(metric: Metric, margin: float) -> str:
    return f"{100 * margin:.0f} points" if is_share(metric) else f"{margin:.2g}"
