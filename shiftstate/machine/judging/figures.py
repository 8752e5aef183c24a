"""Results as bars: the mean of every model at every place, with error bars, beside published numbers."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from shiftstate.machine.judging.summary import Line
from shiftstate.machine.study import Experiment, Landmark, Study
from shiftstate.machine.trial import Value

SPARE_COLORS = ("#8a6bb1", "#b58900", "#2a9d8f", "#b0547f", "#6b705c")
"""For models that a study gives no colour."""
Place = tuple[Value, ...]


def colors_of(experiment: Experiment, models: Sequence[str]) -> dict[str, str]:
    """The colour of every model that occurs, in the order of the study's colours, then of the models."""
    known = [name for name in experiment.colors if name in models]
    others = [name for name in dict.fromkeys([*experiment.names, *models]) if name in models and name not in known]
    spare = {name: SPARE_COLORS[place % len(SPARE_COLORS)] for place, name in enumerate(others)}
    return {name: experiment.colors.get(name, spare.get(name, "")) for name in [*known, *others]}


def draw(
    study: Study, experiment: Experiment, lines: Sequence[Line], landmarks: Sequence[Landmark], chance: float | None
) -> Figure:
    """Bars of the mean score for every model and place; one panel for every variant of the experiment's picture.

    A thin line shows the score of chance, dashed ones the landmarks.
    """
    own = [line for line in lines if line.cell.experiment == experiment.name]
    variants, metric = experiment.picture.variants, study.metric
    figure = Figure(figsize=(experiment.picture.width or 0.5 + 4.3 * len(variants), 3.6), layout="constrained")
    axes = figure.subplots(1, len(variants), sharey=True, squeeze=False)[0]
    for axis, (share, heading) in zip(axes, variants, strict=True):
        _bars(axis, study, experiment, own, share)
        if chance is not None:
            axis.axhline(metric.scale * chance, color="#bbbbbb", linewidth=0.8, zorder=0)
        for one in landmarks:
            axis.axhline(metric.scale * one.value, color="#444444", linewidth=1, linestyle="--", label=one.label)
        axis.set_title(heading, fontsize="medium")
    axes[0].set_ylabel(f"test {metric.title} ({metric.unit})" if metric.unit else f"test {metric.title}")
    if metric.high < float("inf"):  # an error bar may end above
        axes[0].set_ylim(
            metric.scale * min(metric.low, 0.0) if metric.low > float("-inf") else None,
            max(1.05 * metric.scale * metric.high, axes[0].get_ylim()[1]),
        )
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


def _bars(axis: Axes, study: Study, experiment: Experiment, lines: Sequence[Line], share: float) -> None:
    scale = study.metric.scale
    places = list(dict.fromkeys(experiment.place_of(line.cell) for line in lines))  # in the order of the tables
    colors = colors_of(experiment, [line.cell[experiment.model] for line in lines])
    at = _positions(experiment, lines, places, list(colors))
    width = 0.8 / max(1, len(colors))
    for name, color in colors.items():
        chosen = [line for line in lines if line.cell[experiment.model] == name]
        axis.bar(
            [at[line] for line in chosen],
            [scale * line.mean for line in chosen],
            0.92 * width,
            yerr=[scale * share * (line.std or 0.0) for line in chosen],
            capsize=2.5,
            color=color,
            ecolor="#333333",
            label=experiment.model_titles(name),
        )
    published = [line for line in lines if line.published_mean is not None]
    if published:
        x = [at[line] + 0.23 * width for line in published]
        means = [scale * (line.published_mean or 0.0) for line in published]
        errors = [scale * share * (line.published_std or 0.0) for line in published]
        style = {"fmt": "D", "color": "black", "markersize": 4, "capsize": 2.5, "linewidth": 1}
        axis.errorbar(x, means, errors, label=study.published_by, **style)  # type: ignore[arg-type]
    axis.set_xticks(range(len(places)), place_names(experiment, places))
    axis.spines[["top", "right"]].set_visible(False)


def _positions(
    experiment: Experiment, lines: Sequence[Line], places: Sequence[Place], models: Sequence[str]
) -> Mapping[Line, float]:
    width = 0.8 / max(1, len(models))
    return {
        line: places.index(experiment.place_of(line.cell))
        + (models.index(line.cell[experiment.model]) - (len(models) - 1) / 2) * width
        for line in lines
    }


def place_names(experiment: Experiment, places: Sequence[Place]) -> list[str]:
    """Name every place by the axes on which the places differ."""
    differ = [experiment.place.index(name) for name in varying(experiment, places)]
    titles = [axis.title if (axis := experiment.axis(name)) else str for name in experiment.place]
    return [", ".join(titles[at](place[at]) for at in differ) for place in places]


def varying(experiment: Experiment, places: Sequence[Place]) -> list[str]:
    """The axes on which the places differ; the first one if they do not."""
    differ = [name for at, name in enumerate(experiment.place) if len({place[at] for place in places}) > 1]
    return differ or [experiment.place[0]]
