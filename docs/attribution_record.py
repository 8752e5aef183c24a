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
    lines += ["", *(_sentences(CORPORA[name], one) for name, one in records.items()), "", _mean(records), "", END]
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
    add, graph = one["networks_add"], one["networks_add"]["filter_over_no_graph"]
    lengths = best["accuracy_by_length"]
    whole = one["verification"]
    hands = one["two_hands"]
    found = ", ".join(f"{100 * row['strangers_found']:.0f} % at {row['words']:,} words" for row in one["strangers"])
    return (
        f"- {title}: {one['why'][0].upper()}{one['why'][1:]}. Networks add {add['points']:+.1f} points to frequencies "
        f"({add['interval'][0]:+.1f} to {add['interval'][1]:+.1f}); the filter's graph alone {graph['points']:+.1f} "
        f"({graph['interval'][0]:+.1f} to {graph['interval'][1]:+.1f}). Without the least sure tenth it is right for "
        f"{100 * best['accuracy_sure_nine_tenths']:.1f} %, with 500 words for {100 * lengths['500']:.0f} %, "
        f"with 10,000 for {100 * lengths['10000']:.0f} %. Verification: mean of the PAN measures "
        f"{whole['overall']:.3f} for whole texts, {whole['by_length']['1000']['overall']:.3f} for 1,000 words. "
        f"Strangers found: {found}. A change of hand was named in {hands['changes_named']} of {hands['texts']} texts "
        f"by one author, and found in {hands['changes_found']} of {hands['joined']} joined ones."
    )


def _mean(records: dict[str, Any]) -> str:
    ours = [one["models"][one["recommended"]]["accuracy_excerpts"] for one in records.values()]
    theirs = {
        name: sum(one["models"][name]["accuracy_excerpts"] for one in records.values()) / len(records)
        for name in BASELINES
    }
    best = max(theirs, key=lambda name: theirs[name])
    return (
        f"In the mean over both corpora the recommended model tells {100 * sum(ours) / len(ours):.1f} % of the "
        f"excerpts right, the best of the first three (`{best}`) {100 * theirs[best]:.1f} %."
    )


if __name__ == "__main__":
    PAGE.write_text(updated(), encoding="utf-8")
