"""The results and the claims as Markdown tables."""

from collections.abc import Sequence

from shiftstate.experiments.claims import title
from shiftstate.experiments.summary import Line, Summary

Interval = tuple[float, float] | None

NOTE_OF_SOURCES = "Accuracies in %, of the model after the last epoch; the interval's unit is the graph."
NOTE_OF_AUTHORS = """\
Accuracies in %, of the model after the last epoch; the interval's unit is the split, or the held-out book, with the
variance of overlapping splits after Nadeau and Bengio."""
NOTE_OF_GRAPHS = """\
Effects are paired differences of per-graph means, or of standard deviations with a jackknife over graphs; p is
two-sided, after Holm's correction over the claims that could be tested; intervals are not corrected."""
NOTE_OF_UNITS = """\
Effects are paired differences of the means of each unit (graph, split or held-out book), or of standard deviations
with a jackknife over graphs; p is two-sided, by the corrected resampled t-test for table2, after Holm's correction over
the claims of source localization, of table2, and against the baselines, each family for itself; intervals are not
corrected."""
NOTE = """\
Against several rivals the effect is that against the strongest; to hold, a claim has to hold against each, so its p is
the largest, and it fails with the p of the strongest rival times their number. The last column is the verdict if the
models count that were best on validation data."""


def tables_markdown(summary: Summary) -> str:
    """The cells of every experiment beside the paper's numbers, then the claims."""
    both = list(zip(summary.lines, summary.intervals, strict=True))
    source = [(line, interval) for line, interval in both if line.author is None]
    authorship = [(line, interval) for line, interval in both if line.author is not None]
    lines = [*_cells("experiment", source), "", NOTE_OF_SOURCES] if source or not authorship else []
    lines += ["", *_cells("table2: author", authorship), "", NOTE_OF_AUTHORS] if authorship else []
    if summary.diverged:
        lines.append(f"{summary.diverged} of the runs diverged; they count with the accuracy they have.")
    lines += ["", *_claims(summary, "graphs" if not authorship else "units")]
    return "\n".join(lines).lstrip("\n") + "\n"


def _cells(heading: str, cells: Sequence[tuple[Line, Interval]]) -> list[str]:
    lines = [f"| {heading} | filter | K | L | n | mean ± std | 95 % interval | best on validation | paper |"]
    lines.append("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for line, interval in cells:
        K, L = (line.K, line.L) if line.L else ("–", "–")  # a baseline has no graph
        lines.append(
            f"| {line.author or line.experiment} | {title(line.filter)} | {K} | {L} | {line.n} | "
            f"{_points(line.mean)}{_spread(line.std)} | {_range(interval)} | {_points(line.mean_best)} | "
            f"{_points(line.paper_mean, 0)}{_spread(line.paper_std, 0)} |"
        )
    return lines


def _claims(summary: Summary, unit: str) -> list[str]:
    lines = [f"| claim | verdict | effect (points) | 95 % interval | p | {unit} | by the best epoch |"]
    lines.append("|---|---|--:|--:|--:|--:|---|")
    for finding, best in zip(summary.findings, summary.findings_best, strict=True):
        p = "–" if finding.p is None else f"{finding.p:.2g}"
        effect = "–" if finding.effect is None else f"{100 * finding.effect:+.1f}"
        lines.append(
            f"| {finding.claim} | {finding.verdict} | {effect} | {_range(finding.interval)} | {p} | {finding.n} | "
            f"{best.verdict} |"
        )
    return [*lines, "", NOTE_OF_GRAPHS if unit == "graphs" else NOTE_OF_UNITS, NOTE]


def _points(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{100 * value:.{digits}f}"


def _spread(value: float | None, digits: int = 1) -> str:
    return "" if value is None else f" ± {100 * value:.{digits}f}"


def _range(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else f"{100 * interval[0]:.1f} … {100 * interval[1]:.1f}"
