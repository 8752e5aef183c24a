"""The sentences of the paper's Section 4, and whether the results bear them out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from shiftstate.experiments.config import Cell
from shiftstate.experiments.grids import BASELINES
from shiftstate.experiments.statistics import Draws, Effect, deviation_difference, difference, holm

LEVEL = 0.05
TARGET = 0.05
"""By how much RSN and LSSM are to beat the equally tuned GCNN on the task that stays hard."""

Cells = Mapping[Cell, Draws]
Verdict = Literal["holds", "does not hold", "undecided"]
Compare = Callable[[Draws, Draws], Effect | None]


@dataclass(frozen=True)
class Claim:
    """A sentence, and the comparisons that all have to come out positive for it to hold."""

    text: str
    ours: Cell
    rivals: tuple[Cell, ...]
    compare: Compare


@dataclass(frozen=True)
class Finding:
    """A claim judged."""

    claim: str
    verdict: Verdict
    effect: float | None
    """The lead over the strongest rival; accuracies as fractions."""
    interval: tuple[float, float] | None
    """95 %, of the effect, without correction."""
    p: float | None
    """Two-sided, after Holm's correction over all claims that could be tested."""
    n: int
    """Graphs; Table 2: splits, or books."""


def judge(cells: Cells, claims: Sequence[Claim]) -> list[Finding]:
    """Judge every claim by the graphs that its cells have in common.

    It holds, or does not hold, when its effect is above, or below, its margin (0 unless the claim names one) at the
    5 % level after Holm's correction, and is undecided otherwise. A claim against several rivals holds only if it
    holds against each (so its p is the largest), and fails as soon as one rival is better (so its p is that one's,
    times their number).
    """
    worst = [_against_all(cells, claim) for claim in claims]
    tested = [effect.p for effect in worst if effect is not None and effect.p is not None]
    adjusted = iter(holm(tested))
    findings = []
    for claim, effect in zip(claims, worst, strict=True):
        if effect is None:
            findings.append(Finding(claim.text, "undecided", None, None, None, 0))
            continue
        p = None if effect.p is None else next(adjusted)
        verdict: Verdict = "undecided"
        if p is not None and p < LEVEL:
            verdict = "holds" if effect.mean > effect.margin else "does not hold"
        findings.append(Finding(claim.text, verdict, effect.mean, effect.interval, p, effect.n))
    return findings


def _against_all(cells: Cells, claim: Claim) -> Effect | None:
    if claim.ours not in cells or any(rival not in cells for rival in claim.rivals):
        return None
    effects = [claim.compare(cells[claim.ours], cells[rival]) for rival in claim.rivals]
    if any(effect is None for effect in effects):
        return None
    known = [effect for effect in effects if effect is not None]
    worst = min(known, key=lambda effect: effect.mean)
    p_values = [effect.p for effect in known if effect.p is not None]
    if len(p_values) < len(known) or worst.p is None:
        return replace(worst, p=None)
    p = max(p_values) if worst.mean > worst.margin else min(1.0, len(known) * worst.p)
    return replace(worst, p=p)


def section4(filters: Sequence[str], target: bool = False) -> list[Claim]:
    """The claims of Section 4 on source localization.

    Args:
        filters: those that were run; where there is a GCNN of equal size, it is the rival.
        target: whether to add the target of the `tuned` preset, a lead of 5 points at K = 16 and 32.
    """
    claims: list[Claim] = []
    for K in (4, 16, 32):
        claims += [_beats(name, "figure1", K, 1, filters) for name in ("rsn", "lssm")]
    claims += [_best("rsn", "figure1", 4, 1, filters)]
    claims += [_best("lssm", "figure1", K, 1, filters) for K in (16, 32)]
    claims += [_steadiest("lssm", K, filters) for K in (16, 32)]
    for L in (2, 4):
        claims += [_beats(name, "table1", 4, L, filters) for name in ("rsn", "lssm")]
        claims += [_best("lssm", "table1", 4, L, filters)]
    if "gcnn" in filters:
        claims += [_best_order("gcnn", 32, (4, 16))]
    if target:
        claims += [_beats(name, "figure1", K, 1, filters, TARGET) for K in (16, 32) for name in ("rsn", "lssm")]
    return claims


def title(filter: str) -> str:
    """A filter's name in a sentence: gcnn:rsn is a GCNN of the RSN's size."""
    if filter in BASELINES:
        return {"logistic": "logistic regression", "svm": "SVM", "delta": "Cosine Delta"}[filter]
    name, _, model = filter.partition(":")
    return f"{name.upper()} of the {model.upper()}'s size" if model else name.upper()


def _beats(name: str, experiment: str, K: int, L: int, filters: Sequence[str], margin: float = 0.0) -> Claim:
    rival = f"gcnn:{name}" if f"gcnn:{name}" in filters else "gcnn"
    lead = f" by {100 * margin:g} points or more" if margin else ""
    return Claim(
        f"{title(name)} beats the {title(rival)}{lead} at {_place(experiment, K, L)}",
        Cell(experiment, name, K, L),
        (Cell(experiment, rival, K, L),),
        lambda ours, theirs: difference(ours, theirs, margin),
    )


def _best(name: str, experiment: str, K: int, L: int, filters: Sequence[str]) -> Claim:
    rivals = tuple(Cell(experiment, rival, K, L) for rival in filters if rival != name)
    text = f"{title(name)} has the best accuracy at {_place(experiment, K, L)}"
    return Claim(text, Cell(experiment, name, K, L), rivals, difference)


def _best_order(name: str, K: int, others: Sequence[int]) -> Claim:
    rivals = tuple(Cell("figure1", name, other, 1) for other in others)
    text = f"{title(name)} of one layer has its best accuracy at K = {K}"
    return Claim(text, Cell("figure1", name, K, 1), rivals, difference)


def _steadiest(name: str, K: int, filters: Sequence[str]) -> Claim:
    rivals = tuple(Cell("figure1", rival, K, 1) for rival in filters if rival != name)
    text = f"{title(name)} has the smallest standard deviation at {_place('figure1', K, 1)}"
    return Claim(text, Cell("figure1", name, K, 1), rivals, lambda ours, theirs: deviation_difference(theirs, ours))


def _place(experiment: str, K: int, L: int) -> str:
    return f"K = {K}" if experiment == "figure1" else f"L = {L}, K = {K}"
