"""Pictures of an evaluation: confusion, calibration, accuracy against length."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from shiftstate.attribution.labels import plain

COLORS = ("#c8553d", "#3b76b8", "#4f8f5b", "#8a6fb0", "#c99a2e")
OTHER = "#d5d8dc"


def draw_confusion(authors: Mapping[str, Any], names: Sequence[str]) -> Figure:
    """Rows: who wrote the excerpts; columns: who was named."""
    tested = list(authors)
    shares = np.zeros((len(tested), len(names)))
    for row, author in enumerate(tested):
        shares[row, names.index(author)] = authors[author]["accuracy_excerpts"]
        for other, share in authors[author]["taken_for"].items():
            shares[row, names.index(other)] = share
    size = 2.2 + 0.26 * len(names)
    figure = Figure(figsize=(size + 0.8, size), layout="constrained")
    axis = figure.add_subplot()
    shown = axis.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    axis.set_xticks(range(len(names)), [plain(name) for name in names], rotation=90, fontsize=7)
    axis.set_yticks(range(len(tested)), [plain(name) for name in tested], fontsize=7)
    axis.set(xlabel="named", ylabel="wrote it")
    figure.colorbar(shown, ax=axis, shrink=0.6, label="share of the author's excerpts")
    return figure


def draw_calibration(p: NDArray[np.float64], author: NDArray[np.int64], title: str) -> Figure:
    """How often answers of a certainty are right, in ten bins."""
    confidence, right = p.max(1), p.argmax(1) == author
    place = np.minimum((10 * confidence).astype(int), 9)
    bins = np.unique(place)
    figure = Figure(figsize=(4.2, 4.0), layout="constrained")
    axis = figure.add_subplot()
    axis.plot([0, 1], [0, 1], color=OTHER, linewidth=1)
    x = [confidence[place == one].mean() for one in bins]
    y = [right[place == one].mean() for one in bins]
    sizes = [20 + 200 * (place == one).mean() for one in bins]
    axis.plot(x, y, color=COLORS[1], linewidth=1)
    axis.scatter(x, y, sizes, color=COLORS[1])
    axis.set(
        xlabel="probability of the first author", ylabel="share that is right", title=title, xlim=(0, 1), ylim=(0, 1.02)
    )
    return figure


def draw_lengths(models: Mapping[str, Any]) -> Figure:
    """Accuracy of every model against the words that it is given."""
    figure = Figure(figsize=(7.2, 3.8), layout="constrained")
    axis = figure.add_subplot()
    for name, measures in models.items():
        lengths = measures["accuracy_by_length"]
        wide = 2.2 if name == "combined" else 1.0
        axis.plot(
            [int(words) for words in lengths],
            [100 * value for value in lengths.values()],
            "o-",
            label=name,
            linewidth=wide,
            markersize=3,
        )
    axis.set(xscale="log", xlabel="words of the text", ylabel="right, %")
    ticks = sorted({int(words) for measures in models.values() for words in measures["accuracy_by_length"]})
    axis.set_xticks(ticks, [f"{tick:,}" for tick in ticks], fontsize=8)
    axis.minorticks_off()
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, frameon=False)
    axis.spines[["top", "right"]].set_visible(False)
    return figure
