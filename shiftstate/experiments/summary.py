"""The summary: cells beside the paper's numbers, and the claims, from all that is stored."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import Any

from shiftstate.experiments.claims import Cell, Finding, judge, section4, title
from shiftstate.experiments.config import FILTERS
from shiftstate.experiments.statistics import Draws, mean_interval
from shiftstate.experiments.store import Row

PAPER: dict[Cell, tuple[float, float]] = {
    ("table1", "gcnn", 4, 2): (0.49, 0.05),
    ("table1", "gcnn", 4, 4): (0.40, 0.17),
    ("table1", "rsn", 4, 2): (0.62, 0.05),
    ("table1", "rsn", 4, 4): (0.53, 0.12),
    ("table1", "lssm", 4, 2): (0.62, 0.03),
    ("table1", "lssm", 4, 4): (0.60, 0.16),
}
"""Mean and standard deviation of the paper's Table 1; it gives no numbers for its Figure 1."""


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
    """95 % interval of each line's mean, the graph as the unit."""
    diverged: int
    findings: list[Finding]


def summarize(rows: Sequence[Row], target: bool = False) -> Summary:
    """Summarise everything that is stored; a diverged run counts with the accuracy it has."""
    last: dict[Cell, dict[tuple[int, int], float]] = defaultdict(dict)
    best: dict[Cell, list[float]] = defaultdict(list)
    for row in rows:
        one = row.realization
        last[one.cell][one.graph, one.draw] = row.accuracy_last
        best[one.cell].append(row.accuracy_best)
    cells = sorted(last, key=lambda cell: (cell[0], cell[2], cell[3], FILTERS.index(cell[1])))
    names = [name for name in FILTERS if any(cell[1] == name for cell in cells)]
    return Summary(
        [_line(cell, last[cell], best[cell]) for cell in cells],
        [mean_interval(last[cell]) for cell in cells],
        sum(row.outcome == "diverged" for row in rows),
        judge(last, section4(names, target)),
    )


def _line(cell: Cell, draws: Draws, best: Sequence[float]) -> Line:
    experiment, name, K, L = cell
    values = list(draws.values())
    spread = stdev(values) if len(values) > 1 else None
    return Line(experiment, name, K, L, None, len(values), fmean(values), spread, fmean(best), *_paper(cell))


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


def tables_markdown(summary: Summary) -> str:
    """The results and the claims as two Markdown tables."""
    lines = ["| experiment | filter | K | L | n | mean ± std | 95 % interval | best on validation | paper |"]
    lines.append("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for line, interval in zip(summary.lines, summary.intervals, strict=True):
        lines.append(
            f"| {line.experiment} | {title(line.filter)} | {line.K} | {line.L} | {line.n} | "
            f"{_points(line.mean)}{_spread(line.std)} | {_range(interval)} | {_points(line.mean_best)} | "
            f"{_points(line.paper_mean, 0)}{_spread(line.paper_std, 0)} |"
        )
    lines += ["", "Accuracies in %, of the model after the last epoch; the interval's unit is the graph."]
    if summary.diverged:
        lines.append(f"{summary.diverged} of the runs diverged; they count with the accuracy they have.")
    lines += ["", "| claim | verdict | effect (points) | 95 % interval | p | graphs |", "|---|---|--:|--:|--:|--:|"]
    for finding in summary.findings:
        p = "–" if finding.p is None else f"{finding.p:.2g}"
        effect = "–" if finding.effect is None else f"{100 * finding.effect:+.1f}"
        lines.append(
            f"| {finding.claim} | {finding.verdict} | {effect} | {_range(finding.interval)} | {p} | {finding.n} |"
        )
    note = "Effects are paired differences of per-graph means, against the strongest rival where there are several;"
    lines += ["", f"{note} p is two-sided, the largest of the rivals' where there are several,"]
    lines += ["after Holm's correction over the claims that could be tested."]
    return "\n".join(lines) + "\n"


def _points(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{100 * value:.{digits}f}"


def _spread(value: float | None, digits: int = 1) -> str:
    return "" if value is None else f" ± {100 * value:.{digits}f}"


def _range(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else f"{100 * interval[0]:.1f} … {100 * interval[1]:.1f}"
