"""The summary: cells beside the paper's numbers, and the claims, from all that is stored."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import Any

from shiftstate.experiments.authorship_claims import PAPER_AUTHORS, against_baselines, table2
from shiftstate.experiments.claims import Finding, judge, section4
from shiftstate.experiments.config import Cell
from shiftstate.experiments.grids import BASELINES, FILTERS
from shiftstate.experiments.rows import Row
from shiftstate.experiments.statistics import Draws, mean_interval

PAPER: dict[Cell, tuple[float, float]] = {
    **{
        Cell("table2", name, 32, 1, author): value
        for name, values in {
            "gcnn": ((0.64, 0.20), (0.71, 0.16), (0.64, 0.18)),
            "rsn": ((0.80, 0.19), (0.68, 0.16), (0.72, 0.19)),
            "lssm": ((0.87, 0.14), (0.73, 0.15), (0.83, 0.14)),
        }.items()
        for author, value in zip(PAPER_AUTHORS, values, strict=True)
    },
    Cell("table1", "gcnn", 4, 2): (0.49, 0.05),
    Cell("table1", "gcnn", 4, 4): (0.40, 0.17),
    Cell("table1", "rsn", 4, 2): (0.62, 0.05),
    Cell("table1", "rsn", 4, 4): (0.53, 0.12),
    Cell("table1", "lssm", 4, 2): (0.62, 0.03),
    Cell("table1", "lssm", 4, 4): (0.60, 0.16),
}
"""Mean and standard deviation of the paper's Tables 1 and 2; it gives no numbers for its Figure 1."""


@dataclass(frozen=True)
class Line:
    """A cell of the results: accuracies as fractions, of the model after the last epoch unless said otherwise."""

    experiment: str
    filter: str
    K: int
    L: int
    author: str | None
    n: int
    mean: float
    std: float | None
    mean_best: float
    paper_mean: float | None
    paper_std: float | None


@dataclass(frozen=True)
class Summary:
    """What a directory's results say."""

    lines: list[Line]
    intervals: list[tuple[float, float] | None]
    """95 % interval of each line's mean; the unit is the graph, the split or the held-out book."""
    diverged: int
    findings: list[Finding]
    findings_best: list[Finding]
    """The same claims, judged by the models that were best on validation data."""


def summarize(rows: Sequence[Row], target: bool = False) -> Summary:
    """Summarise everything that is stored; a diverged run counts with the accuracy it has."""
    last: dict[Cell, dict[tuple[int, int], float]] = defaultdict(dict)
    best: dict[Cell, dict[tuple[int, int], float]] = defaultdict(dict)
    for row in rows:
        one = row.realization
        last[one.cell][_place(row)] = row.accuracy_last
        best[one.cell][_place(row)] = row.accuracy_best
    cells = sorted(last, key=_order)
    overlaps = _overlaps(rows)
    return Summary(
        [_line(cell, last[cell], best[cell]) for cell in cells],
        [_within_accuracies(mean_interval(last[cell], overlaps.get(cell.author or "", 0.0))) for cell in cells],
        sum(row.outcome == "diverged" for row in rows),
        _judge(last, overlaps, target),
        _judge(best, overlaps, target),
    )


def _judge(last: Mapping[Cell, Draws], overlaps: Mapping[str, float], target: bool) -> list[Finding]:
    """Source localization, Table 2 and the baselines are three families of claims: each has its own correction."""
    experiments = {cell.experiment for cell in last}
    names = [name for name in FILTERS if any(cell.filter == name and cell.author is None for cell in last)]
    baselines = [name for name in BASELINES if any(cell.filter == name for cell in last)]
    findings: list[Finding] = []
    if experiments != {"table2"}:
        findings += judge(last, section4(names, target))
    if "table2" in experiments:
        findings += judge(last, table2(overlaps))
    if baselines:
        findings += judge(last, against_baselines(overlaps, baselines))
    return findings


def _place(row: Row) -> tuple[int, int]:
    """The unit of the statistics, and the number in it: graph and draw, or held-out book and split."""
    if row.split is not None and row.split.book is not None:
        return row.split.book, row.realization.graph
    return row.realization.graph, row.realization.draw


def _order(cell: Cell) -> tuple[str, int, str, int, int, int]:
    """By experiment and place; baselines after the filters, authors in the paper's order, then the others."""
    authors = [*PAPER_AUTHORS, cell.author]
    at = authors.index(cell.author) if cell.author else 0
    name = [*FILTERS, *BASELINES].index(cell.filter)
    return cell.experiment, at, cell.author or "", int(cell.filter in BASELINES), cell.K * 1000 + cell.L, name


def _overlaps(rows: Sequence[Row]) -> dict[str, float]:
    """n_test/n_train of every author, the mean over his splits."""
    ratios: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.split is not None and row.realization.author is not None:
            ratios[row.realization.author].append(row.split.test / row.split.train)
    return {author: fmean(values) for author, values in ratios.items()}


def _within_accuracies(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    """An interval that ends at 0 and 1: few graphs and a mean near 1 would carry it beyond."""
    return None if interval is None else (max(0.0, interval[0]), min(1.0, interval[1]))


def _line(cell: Cell, draws: Draws, best: Draws) -> Line:
    values = list(draws.values())
    spread = stdev(values) if len(values) > 1 else None
    return Line(*cell, len(values), fmean(values), spread, fmean(best.values()), *_paper(cell))


def _paper(cell: Cell) -> tuple[float, float] | tuple[None, None]:
    return PAPER.get(cell, (None, None))


def summary_json(summary: Summary) -> str:
    """`summary.json`: a list of cells."""
    return _dump([asdict(line) for line in summary.lines])


def claims_json(summary: Summary) -> str:
    """`claims.json`: a list of claims, judged."""
    keys = ("claim", "verdict", "effect", "p", "n")
    return _dump([{key: getattr(finding, key) for key in keys} for finding in summary.findings])


def _dump(rows: list[dict[str, Any]]) -> str:
    body = ",\n".join(f"  {json.dumps(row, ensure_ascii=False, allow_nan=False)}" for row in rows)
    return f"[\n{body}\n]\n" if rows else "[]\n"
