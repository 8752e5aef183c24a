"""Authorship attribution, Table 2: is an excerpt by this author, or by one of the others?"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from shiftstate.checks import check_whole
from shiftstate.datasets import Authorship
from shiftstate.datasets.authorship import SPLITS, TRANSFORMS
from shiftstate.machine.run import Outcome
from shiftstate.machine.settings import Training, added, check_choices, check_range
from shiftstate.machine.study import Axis, Count, Experiment, Picture, Requirement
from shiftstate.machine.trial import Trial
from shiftstate.studies.paper import networks
from shiftstate.studies.paper.baselines import BASELINES, NO_SKLEARN, Classifiers, fit_baseline
from shiftstate.studies.paper.corpora import TEXTS, load_corpus
from shiftstate.studies.paper.networks import ACCURACY, COLORS, FILTERS, Architecture, Signals
from shiftstate.studies.paper.published import PAPER_AUTHORS
from shiftstate.texts.corpus import Corpus


@dataclass(frozen=True)
class ExcerptSignals(Signals):
    """Excerpts of texts, and how they are split."""

    corpus: str = ""
    """Fingerprint of the texts: results of other texts have another name, wherever the texts lie."""
    words: str = ""
    """The list beside the texts, else the package's; or "package", or "auto:200" for the texts' most frequent."""
    excerpt_length: int = 1000
    window: int = 10
    decay: float = 0.8
    split: str = "excerpts"
    """What is held out for the test: "excerpts" of any book, or whole "books"."""
    test: float = 0.05
    """Share of the excerpts; of the "excerpts" split only, as a book has the size it has."""
    valid: float = 0.087
    """Share of what is not in the test."""
    outside: tuple[str, ...] = ("bronte", "allen_james_lane")
    """Authors in nobody's pool of others."""
    kin: tuple[str, ...] = ("bronte", "bronte_charlotte")
    """Authors that are not in each other's pools."""
    transform: str = added("none")
    """Of the counts, for networks and baselines alike: "none", "sqrt" or "log"."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choices(self, {"split": SPLITS, "transform": TRANSFORMS})
        for name in ("excerpt_length", "window"):
            check_whole(name, getattr(self, name), 1)
        for name, high in (("test", 0.9), ("valid", 0.9), ("decay", 1.0)):
            check_range(name, getattr(self, name), 0.0, high)
        if not re.fullmatch(r"|package|auto:[1-9]\d*", self.words):
            raise ValueError(f"words is {self.words!r}; expected 'package', 'auto:200', or nothing for the texts' own")


@dataclass(frozen=True)
class AuthorshipSettings:
    """Everything that a training on excerpts depends on."""

    data: ExcerptSignals = field(default=ExcerptSignals())
    architecture: Architecture = field(default=Architecture())
    training: Training = field(default=Training(epochs=25, learning_rate=(0.005,)))
    baselines: Classifiers = field(default=Classifiers())


def excerpts(trial: Trial, prepared: Path | None = None) -> Authorship:
    """The split of a trial, from its prepared corpus."""
    if prepared is None:
        raise ValueError(f"{trial} was given no texts; expected a prepared corpus")
    return split_corpus(trial, load_corpus(prepared))


def split_corpus(trial: Trial, corpus: Corpus) -> Authorship:
    """The split of a trial, from the seed, the split's number and the author: the same for every filter."""
    data: ExcerptSignals = trial.settings.data
    author: str = trial["author"]
    return Authorship.generate(
        corpus,
        author,
        split=data.split,  # type: ignore[arg-type]
        number=trial.unit,
        test=data.test,
        valid=data.valid,
        outside=data.outside,
        kin=data.kin,
        transform=data.transform,  # type: ignore[arg-type]
        standardize=data.standardize,
        seed=trial.seed("data", trial.unit, trial.repetition, *author.encode()),
        dtype=getattr(torch, data.dtype),
    )


def _facts(data: Authorship) -> dict[str, int | None]:
    """How many excerpts a split trained on and was judged by, and which book it held out."""
    return {"train": len(data.train.y), "test": len(data.test.y), "book": data.book}


def _baseline(trial: Trial, data: Authorship) -> Outcome:
    return replace(fit_baseline(trial.model, data, trial.settings.baselines), facts=_facts(data))


def _unit_of(trial: Trial, facts: Mapping[str, Any] | None) -> tuple[int, int]:
    """Split and draw, or held-out book and split."""
    book = None if facts is None else facts.get("book")
    return (trial.unit, trial.repetition) if book is None else (book, trial.unit)


def _requires(trials: Sequence[Trial]) -> list[Requirement]:
    names = {trial.model for trial in trials}
    modules = {"logistic": "sklearn.linear_model", "svm": "sklearn.svm"}
    return [Requirement(module, NO_SKLEARN) for name, module in modules.items() if name in names]


TABLE2 = Experiment(
    "table2",
    "Table 2",
    settings=AuthorshipSettings,
    axes=(
        Axis("filter", ("gcnn", "rsn", "lssm"), key="filters"),
        Axis("K", (32,), int, least=0, absent=0, title=lambda K: f"K = {K}"),
        Axis("L", (1,), int, least=1, absent=0, title=lambda L: f"L = {L}"),
        Axis("author", (*PAPER_AUTHORS, "bronte"), key="authors", title=lambda author: author.replace("_", " ")),
    ),
    model="filter",
    place=("author",),
    unit=Count("graph", 30, "splits", "split"),
    repetition=Count("draw"),
    metric=ACCURACY,
    data=excerpts,
    models=dict.fromkeys(FILTERS, networks.build),
    baselines=dict.fromkeys(BASELINES, _baseline),
    options=networks.fit_options,
    facts=_facts,
    unit_of=_unit_of,
    overlap=lambda facts: facts["test"] / facts["train"],
    source=TEXTS,
    requires=_requires,
    cost=networks.cost,
    section=networks.section,
    chance=lambda settings: 0.5,
    picture=Picture(width=8.6, kind="dots"),
    table="table2: author",
    note=(
        "Accuracies in %, of the model after the last epoch; the interval's unit is the split, or the held-out book, "
        "with the\nvariance of overlapping splits after Nadeau and Bengio."
    ),
    about="Authorship attribution: did this author write the text? Each network reads the author's graph of function "
    "words.",
    interval_unit="split or book",
    lens=networks.richness,
    model_titles=lambda name: BASELINES.get(name) or networks.title(name),
    colors=COLORS | {"logistic": "#d9d3c3", "svm": "#b9b09a", "delta": "#e9e6dd"},
)
