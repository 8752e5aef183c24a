"""The results and the claims as Markdown tables."""

from collections.abc import Sequence

from shiftstate.machine.judging.summary import Line, Summary
from shiftstate.machine.study import Experiment, Study

Interval = tuple[float, float] | None

NOTE = """\
Against several rivals the effect is that against the strongest; to hold, a claim has to hold against each, so its p is
the largest, and it fails with the p of the strongest rival times their number. The last column is the verdict if the
models count that were best on validation data."""


def tables_markdown(summary: Summary) -> str:
    """The cells of every experiment beside published numbers, then the claims."""
    study = summary.study
    both = list(zip(summary.lines, summary.intervals, strict=True))
    lines: list[str] = []
    for experiments in _sharing(study):
        own = [(line, interval) for line, interval in both if line.cell.experiment in experiments]
        if own or (not both and study.names[0] in experiments):
            lines += ["", *_cells(study, study[experiments[0]], own), "", study[experiments[0]].note]
    if summary.diverged:
        lines.append(f"{summary.diverged} of the runs diverged; they count with the {study.metric.title} they have.")
    if summary.findings:
        lines += ["", *_claims(summary)]
    return "\n".join(lines).lstrip("\n").rstrip("\n") + "\n"


def _sharing(study: Study) -> list[list[str]]:
    """Experiments that share a table, by its heading."""
    found: dict[str, list[str]] = {}
    for one in study.experiments:
        found.setdefault(one.table, []).append(one.name)
    return list(found.values())


def _cells(study: Study, first: Experiment, cells: Sequence[tuple[Line, Interval]]) -> list[str]:
    """The first column has the experiments that share the table, or the places of the only one."""
    leading = None if first.table == "experiment" else first.place[0]
    axes = [axis for axis in first.axes if axis.name != leading]
    heads = [first.table, *(axis.name for axis in axes), "n", "mean ± std", "95 % interval", "best on validation"]
    rules = ["---", *("---" if axis.kind is str else "--:" for axis in axes), *["--:"] * 4]
    if study.published:
        heads, rules = [*heads, study.published_by], [*rules, "--:"]
    lines = [f"| {' | '.join(heads)} |", f"|{'|'.join(rules)}|"]
    for line, interval in cells:
        experiment = study[line.cell.experiment]
        words = [str(line.cell[leading] if leading else line.cell.experiment)]
        words += [_value(experiment, line, axis.name) for axis in axes]
        words += [str(line.n), _mean(study, line.mean, line.std), _range(study, interval)]
        words += [study.metric.show(line.mean_best)]
        if study.published:
            words.append(_mean(study, line.published_mean, line.published_std, 0))
        lines.append(f"| {' | '.join(words)} |")
    return lines


def _value(experiment: Experiment, line: Line, name: str) -> str:
    model = line.cell[experiment.model]
    if name == experiment.model:
        return experiment.model_titles(model)
    return "–" if experiment.lacks(line.cell, name) else str(line.cell[name])


def _claims(summary: Summary) -> list[str]:
    study = summary.study
    experiments = {line.cell.experiment for line in summary.lines}
    unit = study.unit_word(experiments)
    points = "points" if study.metric.unit == "%" else study.metric.unit or study.metric.title
    lines = [f"| claim | verdict | effect ({points}) | 95 % interval | p | {unit} | by the best epoch |"]
    lines.append("|---|---|--:|--:|--:|--:|---|")
    for finding, best in zip(summary.findings, summary.findings_best, strict=True):
        p = "–" if finding.p is None else f"{finding.p:.2g}"
        effect = "–" if finding.effect is None else f"{study.metric.scale * finding.effect:+.{study.metric.digits}f}"
        within = _range(study, finding.interval)
        lines.append(
            f"| {finding.claim} | {finding.verdict} | {effect} | {within} | {p} | {finding.n} | {best.verdict} |"
        )
    return [*lines, "", study.claims_note(experiments), NOTE]


def _mean(study: Study, mean: float | None, std: float | None, digits: int | None = None) -> str:
    spread = "" if std is None else f" ± {study.metric.show(std, digits)}"
    return f"{study.metric.show(mean, digits)}{spread}"


def _range(study: Study, interval: Interval) -> str:
    return "–" if interval is None else f"{study.metric.show(interval[0])} … {study.metric.show(interval[1])}"
