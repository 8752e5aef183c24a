"""The paper's Figure 1 as bars, and Table 1 the same way."""

import io
from collections.abc import Sequence

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from shiftstate.experiments.ceiling import Ceiling
from shiftstate.experiments.claims import title
from shiftstate.experiments.summary import Line

COLORS = {"gcnn": "#7f8c9b", "rsn": "#3b76b8", "lssm": "#c8553d", "gcnn:rsn": "#8fb4d9", "gcnn:lssm": "#e3a597"}
CHANCE = 20
"""% of five classes."""


def draw(experiment: str, lines: Sequence[Line], ceiling: Ceiling | None = None) -> Figure:
    """Bars of mean accuracy for every filter and K or L.

    Figure 1 is drawn twice, with the paper's halved error bars and with whole ones; Table 1 once, beside the
    paper's numbers.
    """
    own = [line for line in lines if line.experiment == experiment]
    scales = (0.5, 1.0) if experiment == "figure1" else (1.0,)
    figure = Figure(figsize=(0.5 + 4.3 * len(scales), 3.6), layout="constrained")
    axes = figure.subplots(1, len(scales), sharey=True, squeeze=False)[0]
    for axis, scale in zip(axes, scales, strict=True):
        _bars(axis, own, scale)
        axis.axhline(CHANCE, color="#bbbbbb", linewidth=0.8, zorder=0)
        if ceiling is not None:
            label = f"matching shapes: {100 * ceiling.shape:.0f} % (with amplitudes: {100 * ceiling.exact:.0f} %)"
            axis.axhline(100 * ceiling.shape, color="#444444", linewidth=1, linestyle="--", label=label)
        heading = "mean ± standard deviation" if scale == 1 else "mean ± ½ standard deviation, as in the paper"
        axis.set_title(heading, fontsize="medium")
    axes[0].set_ylabel("test accuracy (%)")
    axes[0].set_ylim(0, 105)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 4), frameon=False)
    return figure


def _bars(axis: Axes, lines: Sequence[Line], scale: float) -> None:
    places = sorted({(line.K, line.L) for line in lines})
    filters = [name for name in COLORS if any(line.filter == name for line in lines)]
    width = 0.8 / len(filters)
    at = {
        line: places.index((line.K, line.L)) + (filters.index(line.filter) - (len(filters) - 1) / 2) * width
        for line in lines
    }
    for name in filters:
        chosen = [line for line in lines if line.filter == name]
        errors = [100 * scale * (line.std or 0.0) for line in chosen]
        axis.bar(
            [at[line] for line in chosen],
            [100 * line.mean for line in chosen],
            0.92 * width,
            yerr=errors,
            capsize=2.5,
            color=COLORS[name],
            ecolor="#333333",
            label=title(name),
        )
    paper = [line for line in lines if line.paper_mean is not None]
    if paper:
        x = [at[line] + 0.23 * width for line in paper]
        means = [100 * (line.paper_mean or 0.0) for line in paper]
        errors = [100 * scale * (line.paper_std or 0.0) for line in paper]
        axis.errorbar(x, means, errors, fmt="D", color="black", markersize=4, capsize=2.5, linewidth=1, label="paper")
    axis.set_xticks(range(len(places)), _names(places))
    axis.spines[["top", "right"]].set_visible(False)


def _names(places: Sequence[tuple[int, int]]) -> list[str]:
    """Name a place by what varies."""
    K, L = ({place[axis] for place in places} for axis in (0, 1))
    if len(L) == 1:
        return [f"K = {place[0]}" for place in places]
    return [f"L = {place[1]}" if len(K) == 1 else f"K = {place[0]}, L = {place[1]}" for place in places]


def render(figure: Figure, kind: str) -> bytes:
    """The figure as "svg" or "png", the same bytes for the same figure."""
    FigureCanvasAgg(figure)
    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "shiftstate", "svg.fonttype": "none"}):
        figure.savefig(buffer, format=kind, dpi=160, metadata={"Date": None} if kind == "svg" else {"Software": None})
    return buffer.getvalue()
