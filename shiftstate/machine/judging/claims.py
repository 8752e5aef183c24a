"""Claims: sentences about cells, and whether the results bear them out. A study makes its own of these parts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from shiftstate.machine.judging.effects import Effect, Scores, deviation_difference, difference, holm
from shiftstate.machine.trial import Cell

LEVEL = 0.05

Cells = Mapping[Cell, Scores]
Verdict = Literal["holds", "does not hold", "undecided", "not run"]
VERDICTS: tuple[Verdict, ...] = ("holds", "does not hold", "undecided", "not run")


@dataclass(frozen=True)
class Claim:
    """A sentence, and the comparisons that all have to come out in its favour for it to hold."""

    text: str
    ours: Cell
    rivals: tuple[Cell, ...]
    of: Literal["means", "deviations"] = "means"
    """What is compared: means, where the better one wins, or standard deviations, where the smaller one does."""
    margin: float = 0.0
    """By how much ours has to be better, in the metric's own unit."""


@dataclass(frozen=True)
class Finding:
    """A claim judged."""

    claim: str
    verdict: Verdict
    effect: float | None
    """The lead over the strongest rival, in the metric's own unit."""
    interval: tuple[float, float] | None
    """95 %, of the effect, without correction."""
    p: float | None
    """Two-sided, after Holm's correction over all claims of the family that could be tested."""
    n: int
    """Units."""


def beats(text: str, ours: Cell, rival: Cell, margin: float = 0.0) -> Claim:
    """Ours is better than one rival, by a margin if one is given."""
    return Claim(text, ours, (rival,), margin=margin)


def best(text: str, ours: Cell, rivals: Sequence[Cell], margin: float = 0.0) -> Claim:
    """Ours is better than every rival."""
    return Claim(text, ours, tuple(rivals), margin=margin)


def steadiest(text: str, ours: Cell, rivals: Sequence[Cell]) -> Claim:
    """Ours has the smallest standard deviation."""
    return Claim(text, ours, tuple(rivals), "deviations")


def judge(
    cells: Cells, claims: Sequence[Claim], sign: int = 1, overlap: Callable[[Cell], float] = lambda cell: 0.0
) -> list[Finding]:
    """Judge every claim of a family by the units that its cells have in common.

    It holds, or does not hold, when its effect is above, or below, its margin (0 unless the claim names one) at the
    5 % level after Holm's correction, and is undecided otherwise. A claim against several rivals holds only if it
    holds against each (so its p is the largest), and fails as soon as one rival is better (so its p is that one's,
    times their number). A claim about cells without any result was not run.

    Args:
        cells: scores by cell.
        claims: one family.
        sign: of the metric: −1 where lower is better.
        overlap: n_test/n_train of a cell whose units are splits of one set.
    """
    worst = [_against_all(cells, claim, sign, overlap(claim.ours)) for claim in claims]
    tested = [effect.p for effect in worst if effect is not None and effect.p is not None]
    adjusted = iter(holm(tested))
    findings = []
    for claim, effect in zip(claims, worst, strict=True):
        if effect is None:
            run = all(cells.get(cell) for cell in (claim.ours, *claim.rivals)) and claim.rivals
            findings.append(Finding(claim.text, "undecided" if run else "not run", None, None, None, 0))
            continue
        p = None if effect.p is None else next(adjusted)
        verdict: Verdict = "undecided"
        if p is not None and p < LEVEL:
            verdict = "holds" if effect.mean > effect.margin else "does not hold"
        findings.append(Finding(claim.text, verdict, effect.mean, effect.interval, p, effect.n))
    return findings


def _against_all(cells: Cells, claim: Claim, sign: int, overlap: float) -> Effect | None:
    if not claim.rivals or any(not cells.get(cell) for cell in (claim.ours, *claim.rivals)):
        return None
    effects = [_compare(claim, cells[claim.ours], cells[rival], sign, overlap) for rival in claim.rivals]
    if any(effect is None for effect in effects):
        return None
    known = [effect for effect in effects if effect is not None]
    worst = min(known, key=lambda effect: effect.mean)
    p_values = [effect.p for effect in known if effect.p is not None]
    if len(p_values) < len(known) or worst.p is None:
        return replace(worst, p=None)
    p = max(p_values) if worst.mean > worst.margin else min(1.0, len(known) * worst.p)
    return replace(worst, p=p)


def _compare(claim: Claim, ours: Scores, theirs: Scores, sign: int, overlap: float) -> Effect | None:
    if claim.of == "deviations":
        return deviation_difference(theirs, ours)
    better, worse = (ours, theirs) if sign > 0 else (theirs, ours)
    return difference(better, worse, claim.margin, overlap)
