"""Which reading is the paper's? Tables over records: the paper's claims, and the distance from its numbers.

A distance is |ours − the paper's| in units of the paper's standard deviation, the mean over the cells of its Tables 1
and 2 that were run: of the means, and of the standard deviations.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from shiftstate.machine.judging.claims import VERDICTS, Claim, judge
from shiftstate.machine.trial import Cell
from shiftstate.studies.paper.claims import OWN, authorship, source_localization

RECORD = "realizations.csv"
ONE_BY_ONE = "readings.csv"
NOT_RUN = "not run"


@dataclass(frozen=True)
class JudgedClaim:
    """A claim in one reading."""

    verdict: str = NOT_RUN
    effect: float | None = None
    """The lead over the strongest rival."""


@dataclass(frozen=True)
class Standing:
    """How a reading stands to the paper."""

    name: str
    claims: Mapping[str, JudgedClaim]
    """By the claim's text, for all of the paper's."""
    means: tuple[float, ...]
    """Distances of the cells' means from the published ones."""
    spreads: tuple[float, ...]
    """Distances of the cells' standard deviations."""
    whole: bool = True
    """Whether it is a preset of its own, rather than one setting changed at one place."""

    @property
    def verdicts(self) -> Counter[str]:
        """How many of the paper's claims have each verdict."""
        return Counter(judged.verdict for judged in self.claims.values())


def paper_claims() -> list[Claim]:
    """What the paper says, without targets and baselines of ours."""
    return [*source_localization(OWN), *authorship()]


def standings(directories: Sequence[Path]) -> list[Standing]:
    """One for every record; a directory of readings changed one by one has one for each."""
    return [standing for directory in directories for standing in _of(directory)]


def as_markdown(rows: Sequence[Standing]) -> str:
    """The table of readings; under it, for several presets, the claims by how they depend on the reading."""
    head = f"| reading | {' | '.join(VERDICTS)} | distance of the means | of the spreads | published cells |"
    lines = [head, "|---|" + "--:|" * (len(VERDICTS) + 3)]
    for row in rows:
        counts = " | ".join(str(row.verdicts[verdict]) for verdict in VERDICTS)
        lines.append(f"| {row.name} | {counts} | {_mean(row.means)} | {_mean(row.spreads)} | {len(row.means)} |")
    whole = [row for row in rows if row.whole]
    if len(whole) > 1:
        lines += _by_dependence(whole)
    return "\n".join(lines) + "\n"


def dependence(claim: str, rows: Sequence[Standing]) -> str:
    """Whether a claim holds in every reading that tested it, in some, or in none."""
    found = [row.claims[claim].verdict for row in rows if row.claims[claim].verdict != NOT_RUN]
    if not found:
        return NOT_RUN
    return "every" if set(found) == {"holds"} else "some" if "holds" in found else "none"


def _by_dependence(rows: Sequence[Standing]) -> list[str]:
    titles = {
        "every": "Holds in every reading",
        "some": "Hangs on the reading",
        "none": "Holds in no reading",
        NOT_RUN: "Not run",
    }
    lines = []
    for kind, title in titles.items():
        texts = [claim.text for claim in paper_claims() if dependence(claim.text, rows) == kind]
        if texts:
            lines += ["", f"**{title}**", "", f"| claim | {' | '.join(row.name for row in rows)} |"]
            lines += ["|---|" + "---|" * len(rows)]
            lines += [f"| {text} | {' | '.join(_judged(row.claims[text]) for row in rows)} |" for text in texts]
    lines += [
        "",
        "In brackets the lead over the strongest rival in points; of deviations, by how much ours is smaller.",
    ]
    return lines


def _judged(judged: JudgedClaim) -> str:
    if judged.verdict == NOT_RUN:
        return NOT_RUN
    return judged.verdict + ("" if judged.effect is None else f" ({100 * judged.effect:+.0f})")


def _mean(values: Sequence[float]) -> str:
    return f"{fmean(values):.1f}" if values else "–"


def _of(directory: Path) -> Iterator[Standing]:
    if (directory / ONE_BY_ONE).exists():
        yield from _one_by_one(directory / ONE_BY_ONE)
        return
    rows = _rows(directory, "claims.json", ("claim", "verdict", "effect"))
    found = {row["claim"]: JudgedClaim(row["verdict"], row["effect"]) for row in rows}
    cells = _rows(directory, "summary.json", ("mean", "std", "paper_mean", "paper_std"))
    published = [row for row in cells if row["paper_mean"] is not None]
    yield Standing(
        directory.resolve().name,
        {claim.text: found.get(claim.text, JudgedClaim()) for claim in paper_claims()},
        tuple(abs(row["mean"] - row["paper_mean"]) / row["paper_std"] for row in published),
        tuple(abs(row["std"] - row["paper_std"]) / row["paper_std"] for row in published if row["std"] is not None),
    )


def _one_by_one(path: Path) -> Iterator[Standing]:
    """Readings at one K of Figure 1: most claims were not run."""
    from shiftstate.studies.readings import read_record

    scores = read_record(path)
    for name in dict.fromkeys(reading for reading, _ in scores):
        cells = {
            Cell.of("figure1", filter=filter, K=16, L=1, author=None): own
            for (reading, filter), own in scores.items()
            if reading == name
        }
        judged = {one.claim: JudgedClaim(one.verdict, one.effect) for one in judge(cells, paper_claims())}
        yield Standing(name, judged, (), (), whole=False)


def _rows(directory: Path, name: str, keys: Sequence[str]) -> list[dict[str, Any]]:
    path = directory / name
    try:
        rows = json.loads(path.read_text("utf-8"))
        if not all(set(keys) <= set(row) for row in rows):
            raise ValueError(f"a row lacks one of {', '.join(keys)}")
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise ValueError(
            f"{path} cannot be read ({error}); expected a directory written by shiftstate reproduce, or one with "
            f"{ONE_BY_ONE}"
        ) from None
    return list(rows)
