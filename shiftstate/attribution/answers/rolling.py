"""Who wrote which part of a text, as a picture."""

import numpy as np
from matplotlib.figure import Figure

from shiftstate.attribution.answers.verdict import TextVerdict
from shiftstate.attribution.labels import plain

COLORS = ("#c8553d", "#3b76b8", "#4f8f5b", "#8a6fb0", "#c99a2e")
OTHER = "#d5d8dc"


def draw_rolling(verdict: TextVerdict) -> Figure:
    """Probabilities of the five likeliest authors along the text, stacked; the rest in grey."""
    figure = Figure(figsize=(9, 2.6), layout="constrained")
    axis = figure.add_subplot()
    leading = list(verdict.probabilities)[:5]
    shares = [verdict.rolling[:, verdict.authors.index(author)] for author in leading]
    rest = np.maximum(0, 1 - np.sum(shares, axis=0))
    at = verdict.rolling_at
    if len(at) == 1:  # an area needs two ends
        at, shares, rest = np.array([0, verdict.words]), [np.repeat(one, 2) for one in shares], np.repeat(rest, 2)
    parts, names, colors = [*shares], [*leading], [*COLORS[: len(leading)]]
    if len(verdict.authors) > len(leading):
        parts, names, colors = [*parts, rest], [*names, "others"], [*colors, OTHER]
    axis.stackplot(at, *parts, labels=[plain(name) for name in names], colors=colors)
    axis.set(xlabel="word of the text", ylabel="probability", ylim=(0, 1), xlim=(at[0], at[-1]))
    axis.xaxis.set_major_formatter("{x:,.0f}")
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False)
    return figure
