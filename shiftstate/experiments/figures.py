"""The paper's Figure 1 as bars, and its tables the same way."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from shiftstate.experiments.ceiling import Ceiling
from shiftstate.experiments.claims import title
from shiftstate.experiments.summary import Line

COLORS = {"gcnn": "#7f8c9b", "rsn": "#3b76b8", "lssm": "#c8553d", "gcnn:rsn": "#8fb4d9", "gcnn:lssm": "#e3a597"}
COLORS |= {"logistic": "#d9d3c3", "svm": "#b9b09a", "delta": "#e9e6dd"}
Place = tuple[int, int, str | None]


def draw(experiment: str, lines: Sequence[Line], ceiling: Ceiling | None = None, chance: float = 0.2) -> Figure:
    """Bars of mean accuracy for every filter and K, L or author.

    Figure 1 is drawn twice, with the paper's halved error bars and with whole ones; the tables once, beside the
    paper's numbers. A thin line shows the accuracy of chance.
    """
    own = [line for line in lines if line.experiment == experiment]
    scales = (0.5, 1.0) if experiment == "figure1" else (1.0,)
    authors = any(line.author is not None for line in own)
    figure = Figure(figsize=(8.6 if authors else 0.5 + 4.3 * len(scales), 3.6), layout="constrained")
    axes = figure.subplots(1, len(scales), sharey=True, squeeze=False)[0]
    for axis, scale in zip(axes, scales, strict=True):
        _bars(axis, own, scale)
        axis.axhline(100 * chance, color="#bbbbbb", linewidth=0.8, zorder=0)
        if ceiling is not None:
            label = f"matching shapes: {100 * ceiling.shape:.0f} %\n(with amplitudes: {100 * ceiling.exact:.0f} %)"
            axis.axhline(100 * ceiling.shape, color="#444444", linewidth=1, linestyle="--", label=label)
        heading = "mean ± standard deviation" if scale == 1 else "mean ± ½ standard deviation, as in the paper"
        axis.set_title(heading, fontsize="medium")
    axes[0].set_ylabel("test accuracy (%)")
    axes[0].set_ylim(0, max(105, axes[0].get_ylim()[1]))  # an error bar may end above 100
    _add_legend(figure, axes[0])
    return figure


def _add_legend(figure: Figure, axis: Axes) -> None:
    """Below the axes, in as few lines as the figure is wide enough for."""
    FigureCanvasAgg(figure)  # knows how wide a text is
    handles, labels = axis.get_legend_handles_labels()
    for columns in range(len(labels), 0, -1):
        legend = figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)
        if legend.get_window_extent().width <= figure.bbox.width or columns == 1:
            return
        legend.remove()


def _bars(axis: Axes, lines: Sequence[Line], scale: float) -> None:
    places = list(dict.fromkeys(_place(line) for line in lines))  # lines come in the order of the tables
    filters = [name for name in COLORS if any(line.filter == name for line in lines)]
    width = 0.8 / len(filters)
    at = {
        line: places.index(_place(line)) + (filters.index(line.filter) - (len(filters) - 1) / 2) * width
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


def _place(line: Line) -> Place:
    """K and L; an author's filters and baselines stand together, whatever their K and L."""
    return (line.K, line.L, None) if line.author is None else (0, 0, line.author)


def _names(places: Sequence[Place]) -> list[str]:
    """Name a place by what varies."""
    if places and places[0][2] is not None:
        return [(author or "").replace("_", " ") for *_, author in places]
    K, L = ({place[axis] for place in places} for axis in (0, 1))
    if len(L) == 1:
        return [f"K = {place[0]}" for place in places]
    return [f"L = {place[1]}" if len(K) == 1 else f"K = {place[0]}, L = {place[1]}" for place in places]
