"""The data of the page: everything that it shows, by name.

The page's scripts know no study. They know experiments with named axes, a metric and cells; whatever has a name, a
title, a unit or a colour has it from here. `results` fills it in from a store, and `render` puts it into the page as
JSON. Numbers are those of the store: a metric's `scale` and `digits` say how they are shown.
"""

from typing import Any, Literal, NotRequired, TypedDict

Better = Literal["higher", "lower"]


class ShownMetric(TypedDict):
    """What is measured."""

    name: str
    title: str
    """On axes and in captions, such as "test accuracy"."""
    better: Better
    low: float | None
    high: float | None
    """Its range, if it has an end there: axes end with it."""
    scale: float
    """The page shows a value times this: 100 for shares that are shown in %."""
    unit: str
    """Of the value times `scale`, such as "%"; empty for none."""
    digits: int
    """Decimals of the value times `scale`."""


class ShownValue(TypedDict):
    """A value on an axis."""

    value: str | int | float | None
    """In cells; None if the axis does not apply to a cell."""
    title: str
    """In a table's column of this axis."""
    place: str
    """Where a place is named by it, such as "K = 4"."""
    color: str | None
    """Of a series."""


class ShownAxis(TypedDict):
    """An axis of the cells."""

    name: str
    title: str
    values: list[ShownValue]
    """In the order of tables and charts."""


class ShownLine(TypedDict):
    """A dashed line across a chart: chance, say."""

    title: str
    value: float


class ShownError(TypedDict):
    """A choice of error bars; the first is shown first."""

    title: str
    of: Literal["std", "interval"]
    scale: float
    """Share of the standard deviation that a bar shows."""


class ShownCount(TypedDict):
    """What is repeated: graphs and draws on each, or splits."""

    name: str
    title: str


class ShownCurve(TypedDict):
    """A curve over the epochs of the trainings of a cell."""

    of: int
    """Trainings that reached the last epoch; mean, low and high are over these."""
    mean: list[float | None]
    low: list[float | None]
    high: list[float | None]
    single: list[list[float | None]]
    """Of the first few trainings."""


class CurveKind(TypedDict):
    """What a curve is of."""

    name: str
    title: str
    scale: float
    unit: str


class ShownTime(TypedDict):
    """Seconds of a training."""

    mean: float
    min: float
    max: float


class ShownNumber(TypedDict):
    """A published number."""

    mean: float
    std: float | None


class ShownCell(TypedDict):
    """The trainings that differ in nothing but unit and repetition."""

    at: dict[str, str | int | float | None]
    """Its value on every axis, by the axis' name."""
    n: int
    mean: float
    std: float | None
    mean_best: float | None
    """Of the models that were best on validation data."""
    interval: tuple[float, float] | None
    """95 %, of the mean."""
    published: ShownNumber | None
    diverged: int
    parameters: list[int]
    seconds: ShownTime | None
    curves: dict[str, ShownCurve]


class Trainings(TypedDict):
    """Single trainings, column by column: half the size of row by row."""

    id: list[str]
    cell: list[int]
    """Its place among the experiment's cells."""
    value: list[float | None]
    outcome: list[str]
    seconds: list[float | None]
    counts: dict[str, list[int]]
    """Its number, by the name of what is repeated."""


class ShownPlan(TypedDict):
    """What was asked for."""

    preset: str
    reading: str
    """The preset's text."""
    command: str
    planned: int


class OwnSettings(TypedDict):
    """Settings that only one series has."""

    title: str
    settings: dict[str, Any]


class ShownSettings(TypedDict):
    """The settings of an experiment."""

    common: dict[str, Any]
    own: list[OwnSettings]


class ShownExperiment(TypedDict):
    """One section of the page."""

    name: str
    title: str
    about: str
    metric: ShownMetric
    axes: list[ShownAxis]
    """Those on which at least one cell has a value."""
    series: str
    """The axis that colours tell apart."""
    place: list[str]
    """The axes that say where in a chart a cell stands."""
    picture: Literal["bars", "dots"]
    """Bars beside each other and a row for each cell, or dots in lines and a row for each place."""
    counts: list[ShownCount]
    interval_unit: str
    """What is independent: the unit of the interval."""
    errors: list[ShownError]
    lines: list[ShownLine]
    published: str | None
    """Who published numbers of these cells; None if nobody did."""
    published_digits: int
    notes: list[str]
    """Sentences under the chart."""
    curves: list[CurveKind]
    stored: int
    plan: ShownPlan | None
    cells: list[ShownCell]
    trainings: Trainings
    settings: ShownSettings


class ShownClaim(TypedDict):
    """A claim, judged."""

    claim: str
    verdict: str
    """"holds", "does not hold", "undecided" or "not run"."""
    effect: float | None
    interval: tuple[float, float] | None
    p: float | None
    n: int


class ClaimFamily(TypedDict):
    """Claims that share a correction of their p values."""

    title: str
    note: str
    metric: ShownMetric
    """Of the effects."""
    claims: list[ShownClaim]


class ShownLens(TypedDict):
    """One training under the lens; its content stands in a script element of its own."""

    id: str
    title: str
    note: str


class ShownNetwork(TypedDict):
    """A network of names: those with most weight, and the strongest edges between them."""

    title: str
    names: list[str]
    of: int
    """Names in all."""
    edges_of: int
    weight: list[float]
    places: list[list[float]]
    """Of each name, in the unit square."""
    edges: list[list[float]]
    """[from, to, weight]."""
    after: list[list[list[Any]]]
    before: list[list[list[Any]]]
    """For each name its strongest edges, out and in: [name, weight]."""


class NetworkSection(TypedDict):
    """A section of networks, and its words."""

    name: str
    title: str
    about: str
    one: str
    """What a node is called."""
    many: str
    after: str
    before: str
    """What an edge out, and an edge in, mean."""
    networks: list[ShownNetwork]


class RunRow(TypedDict):
    """A model of a run, or one without the graph."""

    title: str
    score: str
    interval: str
    """Empty if there is none."""
    own: bool
    """Whether it is the run's own model."""


class ShownPicture(TypedDict):
    """A picture that the page carries."""

    caption: str
    source: str
    """A data: address."""


class ShownRun(TypedDict):
    """A run on somebody's own data."""

    heading: str
    """Of the verdict."""
    verdict: str
    caption: str
    """Of the table of scores."""
    rows: list[RunRow]
    scores: list[list[Any]]
    """Part of the data, and every metric of the model on it."""
    pictures: list[ShownPicture]
    lens_note: str
    """Why there is no lens, if there is none."""


class PageData(TypedDict):
    """All of it."""

    title: str
    out: str
    """The directory, quoted for a shell."""
    palette: list[str]
    """Colours for what has none of its own."""
    experiments: list[ShownExperiment]
    claims: list[ClaimFamily]
    reading: str
    """Heading of the presets' texts."""
    plan_recorded: bool
    record: list[tuple[str, str]]
    """Facts: title and text."""
    versions: list[dict[str, str]]
    files: list[str]
    charts: bool
    """Whether the page carries a chart library."""
    lenses: list[ShownLens]
    lenses_stored: int
    """Also those that the page has no room for."""
    lens_first: int
    networks: NetworkSection | None
    run: NotRequired[ShownRun]
    """Only of the page of a run."""
