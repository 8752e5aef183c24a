"""The summary: cells beside published numbers, and the claims, from all that is stored."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from shiftstate.machine.judging.claims import Finding, judge
from shiftstate.machine.judging.effects import Scores, mean_interval
from shiftstate.machine.results.columns import Result
from shiftstate.machine.study import Measure, Study
from shiftstate.machine.trial import Cell


@dataclass(frozen=True)
class Line:
    """A cell of the results: scores of the model after the last epoch unless said otherwise."""

    cell: Cell
    n: int
    mean: float
    std: float | None
    mean_best: float
    published_mean: float | None = None
    published_std: float | None = None


@dataclass(frozen=True)
class Summary:
    """What a directory's results say."""

    study: Study
    lines: list[Line]
    intervals: list[tuple[float, float] | None]
    """95 % interval of each line's mean, over the units of the statistics."""
    diverged: int
    findings: list[Finding]
    findings_best: list[Finding]
    """The same claims, judged by the models that were best on validation data."""


def summarize(study: Study, results: Sequence[Result], presets: Mapping[str, str] | None = None) -> Summary:
    """Summarise everything that is stored; a diverged run counts with the score it has.

    Args:
        study: whose results they are.
        results: all that is stored.
        presets: of every planned experiment; a study may claim more of one preset than of another.
    """
    last: dict[Cell, dict[tuple[int, int], float]] = defaultdict(dict)
    best: dict[Cell, dict[tuple[int, int], float]] = defaultdict(dict)
    for result in results:
        place = result.trial.experiment.unit_of(result.trial, result.facts)
        last[result.trial.cell][place] = result.last
        best[result.trial.cell][place] = result.best
    cells = sorted(last, key=study.order)
    overlaps = _Overlaps(study, results)
    families = study.claims(cells, presets or {})

    def judged(scores: Mapping[Cell, Scores]) -> list[Finding]:
        sign = study.metric.sign
        return [finding for family in families for finding in judge(scores, family, sign, overlaps.of)]

    return Summary(
        study,
        [_line(study, cell, last[cell], best[cell]) for cell in cells],
        [_within(study.metric, mean_interval(last[cell], overlaps.of(cell))) for cell in cells],
        sum(result.outcome == "diverged" for result in results),
        judged(last),
        judged(best),
    )


class _Overlaps:
    """n_test/n_train of every place, the mean over its trials; 0 where units are independent."""

    def __init__(self, study: Study, results: Sequence[Result]) -> None:
        self.study = study
        ratios: dict[Any, list[float]] = defaultdict(list)
        for result in results:
            overlap = result.trial.experiment.overlap
            if overlap is not None and result.facts is not None:
                ratios[self._place(result.trial.cell)].append(overlap(result.facts))
        self.means = {place: fmean(values) for place, values in ratios.items()}

    def of(self, cell: Cell) -> float:
        return self.means.get(self._place(cell), 0.0)

    def _place(self, cell: Cell) -> Any:
        return cell.experiment, self.study[cell.experiment].place_of(cell)


def _within(metric: Measure, interval: tuple[float, float] | None) -> tuple[float, float] | None:
    """An interval that ends where the metric does: few units and a mean near its end would carry it beyond."""
    return None if interval is None else (max(metric.low, interval[0]), min(metric.high, interval[1]))


def _line(study: Study, cell: Cell, scores: Scores, best: Scores) -> Line:
    values = list(scores.values())
    spread = stdev(values) if len(values) > 1 else None
    return Line(
        cell, len(values), fmean(values), spread, fmean(best.values()), *study.published.get(cell, (None, None))
    )


def line_dict(study: Study, line: Line) -> dict[str, Any]:
    """A line as summary.json holds it."""
    own = {"metric": study.metric.name} if study.names_metric else {}
    numbers = {"n": line.n, "mean": line.mean, "std": line.std, "mean_best": line.mean_best}
    by = study.published_by
    published = {f"{by}_mean": line.published_mean, f"{by}_std": line.published_std} if study.published else {}
    return {**line.cell.to_dict(), **own, **numbers, **published}


def summary_json(summary: Summary) -> str:
    """`summary.json`: a list of cells."""
    return _dump([line_dict(summary.study, line) for line in summary.lines])


def claims_json(summary: Summary) -> str:
    """`claims.json`: a list of claims, judged."""
    keys = ("claim", "verdict", "effect", "p", "n")
    return _dump([{key: getattr(finding, key) for key in keys} for finding in summary.findings])


def _dump(rows: list[dict[str, Any]]) -> str:
    body = ",\n".join(f"  {json.dumps(row, ensure_ascii=False, allow_nan=False)}" for row in rows)
    return f"[\n{body}\n]\n" if rows else "[]\n"
