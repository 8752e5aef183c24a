"""Source localization, Figure 1 and Table 1: from which block of a graph did a diffused signal come?"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import get_args

import torch

from shiftstate.checks import check_name, check_whole
from shiftstate.datasets import SourceLocalization
from shiftstate.datasets.source_localization import Source, recovered
from shiftstate.graphs import BlockGraph, stochastic_block_model
from shiftstate.machine.results.columns import Result
from shiftstate.machine.settings import Training, check_range
from shiftstate.machine.study import Axis, Count, Experiment, Landmark, Picture, Requirement
from shiftstate.machine.trial import Trial
from shiftstate.studies.paper import networks
from shiftstate.studies.paper.ceiling import Ceiling, graph_ceiling
from shiftstate.studies.paper.networks import ACCURACY, COLORS, FILTERS, Architecture, Signals


@dataclass(frozen=True)
class SourceSignals(Signals):
    """Graphs of blocks, and signals that diffuse on them."""

    block_sizes: tuple[int, ...] = (10, 10, 10, 10, 10)
    p: float = 0.8
    """Probability of an edge within a block."""
    q: float = 0.2
    """Probability of an edge between blocks."""
    source: str = "hub"
    max_time: int = 50
    num_samples: tuple[int, ...] = (10240, 2560, 2560)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name("source", self.source, get_args(Source))
        check_whole("max_time", self.max_time, 0)
        for name in ("p", "q"):
            check_range(name, getattr(self, name), 0.0, 1.0)
        if len(self.num_samples) != 3 or min(self.num_samples) < 1:
            raise ValueError(f"num_samples is {list(self.num_samples)}; expected three: training, validation, test")
        if len(self.block_sizes) < 2 or min(self.block_sizes) < 1:
            raise ValueError(f"block_sizes is {list(self.block_sizes)}; expected two or more positive whole numbers")
        if self.q == 0:
            raise ValueError(f"q is {self.q}; expected more: blocks without an edge between them are never connected")


@dataclass(frozen=True)
class SourceSettings:
    """Everything that a training on diffused signals depends on."""

    data: SourceSignals = field(default=SourceSignals())
    architecture: Architecture = field(default=Architecture())
    training: Training = field(default=Training())

    def __post_init__(self) -> None:
        if self.training.batch_size > self.data.num_samples[0]:
            raise ValueError(
                f"batch_size is {self.training.batch_size}; expected at most {self.data.num_samples[0]}, "
                "the training samples"
            )


def draw_graph(trial: Trial) -> BlockGraph:
    """The graph of a trial, the same for every filter and every draw of the data on it."""
    data: SourceSignals = trial.settings.data
    return stochastic_block_model(data.block_sizes, data.p, data.q, trial.seed("unit", trial.unit))


def source_data(trial: Trial, prepared: Path | None = None) -> SourceLocalization:
    """Graph and signals, from the seed, the graph and the draw: the same for every filter, K and L."""
    data: SourceSignals = trial.settings.data
    return SourceLocalization.generate(
        draw_graph(trial),
        source=data.source,  # type: ignore[arg-type]
        standardize=data.standardize,
        num_samples=data.num_samples,  # type: ignore[arg-type]
        max_time=data.max_time,
        seed=trial.seed("data", trial.unit, trial.repetition),
        dtype=getattr(torch, data.dtype),
    )


def ceiling(trial: Trial, graphs: int) -> Ceiling:
    """The mean ceiling of the first so many graphs of a trial's settings."""
    data: SourceSignals = trial.settings.data
    each = [graph_ceiling(draw_graph(replace(trial, unit=graph)), data.max_time, data.dtype) for graph in range(graphs)]
    return Ceiling(sum(one.exact for one in each) / graphs, sum(one.shape for one in each) / graphs)


def _landmarks(trials: Sequence[Trial]) -> list[Landmark]:
    """What a classifier that knows every template could reach, where any node is a source."""
    if not trials or any(trial.settings.data.source != "any" for trial in trials):
        return []
    name = trials[0].cell.experiment
    one = ceiling(trials[0], 1 + max(trial.unit for trial in trials))
    return [
        Landmark(
            one.shape,
            "matching shapes",
            f"matching shapes: {100 * one.shape:.0f} %\n(with amplitudes: {100 * one.exact:.0f} %)",
            f"Matching templates on the graphs of {name}: {100 * one.shape:.1f} % by their shapes alone, "
            f"{100 * one.exact:.1f} % with their amplitudes.",
        )
    ]


def clusters_found(results: Sequence[Result]) -> dict[str, str]:
    """clusters.json, where classes are clusters: on how many graphs they are the blocks, or have the same sources."""
    graphs = {
        trial.unit: trial
        for trial in (result.trial for result in results)
        if isinstance(trial.settings.data, SourceSignals) and trial.settings.data.source == "clusters"
    }
    if not graphs:
        return {}
    found = [recovered(draw_graph(trial)) for trial in graphs.values()]
    blocks, sources = (sum(one) for one in zip(*found, strict=True))
    counts = {"graphs": len(found), "clusters_are_the_blocks": blocks, "sources_are_those_of_hub": sources}
    return {"clusters.json": json.dumps(counts) + "\n"}


def _requires(trials: Sequence[Trial]) -> list[Requirement]:
    if all(trial.settings.data.source != "clusters" for trial in trials):
        return []
    message = "source 'clusters' needs scikit-learn; expected it installed: pip install 'shiftstate[baselines]'"
    return [Requirement("sklearn.cluster", message)]


FIGURE1 = Experiment(
    "figure1",
    "Figure 1",
    settings=SourceSettings,
    axes=(
        Axis("filter", ("gcnn", "rsn", "lssm"), key="filters"),
        Axis("K", (4,), int, least=0, title=lambda K: f"K = {K}"),
        Axis("L", (1,), int, least=1, title=lambda L: f"L = {L}"),
    ),
    model="filter",
    place=("K", "L"),
    unit=Count("graph", 10, "graphs"),
    repetition=Count("draw", 10, "draws"),
    metric=ACCURACY,
    data=source_data,
    models=dict.fromkeys(FILTERS, networks.build),
    options=networks.fit_options,
    requires=_requires,
    cost=networks.cost,
    section=networks.section,
    chance=lambda settings: 1 / len(settings.data.block_sizes),
    landmarks=_landmarks,
    picture=Picture(((0.5, "mean ± ½ standard deviation, as in the paper"), (1.0, "mean ± standard deviation"))),
    note="Accuracies in %, of the model after the last epoch; the interval's unit is the graph.",
    about="Source localization: from which community did a diffusion start? One layer, for growing K, the number of "
    "shifts.",
    remarks=("The paper draws its Figure 1 with half a standard deviation and gives no numbers for it.",),
    lens=networks.richness,
    model_titles=networks.title,
    colors=COLORS,
)

TABLE1 = replace(
    FIGURE1,
    name="table1",
    title="Table 1",
    about="Source localization with deeper networks: L layers.",
    remarks=(),
    picture=Picture(),
)
