"""Write what the evaluations of docs/results/attribution say into docs/attribution.md, between two marks.

    python docs/attribution_record.py

A test compares the page with the records.
"""

import json
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
PAGE = DOCS / "attribution.md"
RECORD = DOCS / "results" / "attribution"
BEGIN, END = "<!-- from the record -->", "<!-- end of the record -->"
BASELINES = ("delta", "logistic", "svm")
ERROR = 0.05
CORPORA = {"french": "French", "english": "English"}


def updated(page: Path = PAGE) -> str:
    """The page with the block of the records as they are."""
    content = page.read_text(encoding="utf-8")
    return re.sub(f"{BEGIN}.*?{END}", lambda _: block(), content, flags=re.DOTALL)


def block() -> str:
    """Both evaluations as one table, and what follows from them in sentences."""
    files = {name: RECORD / name / "evaluation.json" for name in CORPORA}
    if not all(file.exists() for file in files.values()):
        return f"{BEGIN}\n\nNot all of the record is here.\n\n{END}"
    records = {name: json.loads(file.read_text("utf-8")) for name, file in files.items()}
    head = " | ".join(f"{title}: excerpts | texts | error" for title in CORPORA.values())
    lines = [BEGIN, "", *(_size(CORPORA[name], name, one) for name, one in records.items()), ""]
    lines += [f"| model | {head} |", f"|---|{'---|' * 6}"]
    for model in records["french"]["models"]:
        lines.append(f"| `{model}` | {' | '.join(_cells(one['models'][model]) for one in records.values())} |")
    lines += ["", *(_sentences(CORPORA[name], one) for name, one in records.items()), ""]
    lines += ["What was asked of the tool before it was measured:", "", *_asked(records), "", END]
    return "\n".join(lines)


def _size(title: str, name: str, one: dict[str, Any]) -> str:
    return (
        f"- {title}: {one['texts_held_out']} texts held out, {one['num_authors']} authors, "
        f"{one['excerpts_held_out']:,} excerpts, {one['folds']} folds: [tables](results/attribution/{name}/tables.md), "
        f"[confusion](results/attribution/{name}/confusion.svg), "
        f"[calibration](results/attribution/{name}/calibration.svg), "
        f"[length](results/attribution/{name}/lengths.svg)."
    )


def _cells(measures: dict[str, Any]) -> str:
    excerpts, books = (100 * measures[f"accuracy_{kind}"] for kind in ("excerpts", "books"))
    return f"{excerpts:.1f} % | {books:.1f} % | {measures['calibration_error']:.3f}"


def _sentences(title: str, one: dict[str, Any]) -> str:
    best = one["models"][one["recommended"]]
    lengths = best["accuracy_by_length"]
    whole = one["verification"]
    hands = one["two_hands"]
    found = ", ".join(f"{100 * row['strangers_found']:.0f} % at {row['words']:,} words" for row in one["strangers"])
    return (
        f"- {title}: {one['why'][0].upper()}{one['why'][1:]}. Without the least sure tenth it is "
        f"right for {100 * best['accuracy_sure_nine_tenths']:.1f} %, with 500 words for {100 * lengths['500']:.0f} %, "
        f"with 10,000 for {100 * lengths['10000']:.0f} %. Verification: mean of the PAN measures "
        f"{whole['overall']:.3f} for whole texts, {whole['by_length']['1000']['overall']:.3f} for 1,000 words. "
        f"Strangers found: {found}. A change of hand was named in {hands['changes_named']} of {hands['texts']} texts "
        f"by one author, and found in {hands['changes_found']} of {hands['joined']} joined ones."
    )


def _asked(records: dict[str, Any]) -> list[str]:
    """The goals, each with its figures and whether they reach it."""
    bests = [one["models"][one["recommended"]] for one in records.values()]
    ours, theirs = _mean_over(bests, "accuracy_excerpts"), {}
    for name in BASELINES:
        theirs[name] = _mean_over([one["models"][name] for one in records.values()], "accuracy_excerpts")
    rival = max(theirs, key=lambda name: theirs[name])
    errors = [best["calibration_error"] for best in bests]
    margins = [100 * (best["accuracy_sure_nine_tenths"] - best["accuracy_excerpts"]) for best in bests]
    books = [_books(one) for one in records.values()]
    return [
        f"- *The recommended model at least as accurate as the best of `delta`, `logistic` and `svm`, in the mean over "
        f"both corpora, for excerpts of {next(iter(records.values()))['length']:,} words*: {100 * ours:.1f} % against "
        f"{100 * theirs[rival]:.1f} % (`{rival}`): {_reached(ours >= theirs[rival])}. For whole texts: "
        f"{' and '.join(books)}.",
        f"- *Its calibration error at most {ERROR}*: {' and '.join(f'{error:.3f}' for error in errors)}: "
        f"{_reached(max(errors) <= ERROR)}. {_badly_calibrated(records)}",
        f"- *Right more often without the least sure tenth*: by {' and '.join(f'{margin:.1f}' for margin in margins)} "
        f"points: {_reached(min(margins) > 0)}.",
        f"- *Do networks add anything?* {' '.join(_added(CORPORA[name], one) for name, one in records.items())}",
    ]


def _mean_over(measures: list[dict[str, Any]], name: str) -> float:
    return sum(one[name] for one in measures) / len(measures)


def _reached(reached: bool) -> str:
    return "reached" if reached else "not reached"


def _books(one: dict[str, Any]) -> str:
    best = max(one["models"][name]["accuracy_books"] for name in BASELINES)
    return f"{100 * one['models'][one['recommended']]['accuracy_books']:.1f} % against {100 * best:.1f} %"


def _badly_calibrated(records: dict[str, Any]) -> str:
    found = [
        f"`{model}` on the {CORPORA[name]} texts ({measures['calibration_error']:.3f})"
        for name, one in records.items()
        for model, measures in one["models"].items()
        if measures["calibration_error"] > ERROR
    ]
    return f"Above it: {', '.join(found)}." if found else "No model is above it."


def _added(title: str, one: dict[str, Any]) -> str:
    add, graph = one["networks_add"], one["networks_add"]["filter_over_no_graph"]
    return (
        f"{title}: {add['verdict']}, {add['points']:+.1f} points ({add['interval'][0]:+.1f} to "
        f"{add['interval'][1]:+.1f}) to the combination of frequencies, and the filter's graph {graph['points']:+.1f} "
        f"({graph['interval'][0]:+.1f} to {graph['interval'][1]:+.1f}) to the filter without it."
    )


if __name__ == "__main__":
    PAGE.write_text(updated(), encoding="utf-8")
