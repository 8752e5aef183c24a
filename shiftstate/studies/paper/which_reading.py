"""Which reading is the paper's? One table over records: the paper's claims, and the distance from its numbers.

A distance is |ours − the paper's| in units of the paper's standard deviation, the mean over the cells of its Tables 1
and 2 that were run: of the means, and of the standard deviations.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from shiftstate.machine.judging.claims import VERDICTS, Claim, judge
from shiftstate.machine.trial import Cell
from shiftstate.studies.paper.claims import OWN, authorship, source_localization

RECORD = "realizations.csv"
ONE_BY_ONE = "readings.csv"


@dataclass(frozen=True)
class Standing:
    """How a reading stands to the paper."""

    name: str
    verdicts: Counter[str]
    means: tuple[float, ...]
    """Distances of the cells' means from the published ones."""
    spreads: tuple[float, ...]
    """Distances of the cells' standard deviations."""


def paper_claims() -> list[Claim]:
    """What the paper says, without targets and baselines of ours."""
    return [*source_localization(OWN), *authorship()]


def standings(directories: Sequence[Path]) -> list[Standing]:
    """One for every record; a directory of readings changed one by one has one for each."""
    return [standing for directory in directories for standing in _of(directory)]


def as_markdown(rows: Sequence[Standing]) -> str:
    """The table."""
    head = f"| reading | {' | '.join(VERDICTS)} | distance of the means | of the spreads | published cells |"
    lines = [head, "|---|" + "--:|" * (len(VERDICTS) + 3)]
    for row in rows:
        counts = " | ".join(str(row.verdicts[verdict]) for verdict in VERDICTS)
        lines.append(f"| {row.name} | {counts} | {_mean(row.means)} | {_mean(row.spreads)} | {len(row.means)} |")
    return "\n".join(lines) + "\n"


def _mean(values: Sequence[float]) -> str:
    return f"{fmean(values):.1f}" if values else "–"


def _of(directory: Path) -> Iterator[Standing]:
    if (directory / ONE_BY_ONE).exists():
        yield from _one_by_one(directory / ONE_BY_ONE)
        return
    verdicts = {row["claim"]: row["verdict"] for row in _rows(directory, "claims.json", ("claim", "verdict"))}
    found = Counter(verdicts.get(claim.text, "not run") for claim in paper_claims())
    cells = _rows(directory, "summary.json", ("mean", "std", "paper_mean", "paper_std"))
    published = [row for row in cells if row["paper_mean"] is not None]
    yield Standing(
        directory.resolve().name,
        found,
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
        yield Standing(name, Counter(one.verdict for one in judge(cells, paper_claims())), (), ())


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
