"""Write what the records say into their pages, between two marks; the rest of a page is by hand.

    python docs/preset_pages.py

A page of docs/presets is named like its folder under docs/results; docs/which_reading.md compares the readings among
them. A test compares the pages with the records.
"""

import csv
import json
import re
from pathlib import Path
from statistics import fmean

from shiftstate.studies.paper.which_reading import as_markdown, standings

DOCS = Path(__file__).parent
BEGIN, END = "<!-- from the record -->", "<!-- end of the record -->"
READINGS = ("paper", "library", "one_source", "baseline_bias", "community", "tuned", "readings")
"""Records of the same experiments, the letter of the paper first."""
COMPARISON = DOCS / "which_reading.md"
PAGES = [*sorted((DOCS / "presets").glob("*.md")), COMPARISON]
PLACE = re.compile(f"{BEGIN}.*?{END}", re.DOTALL)


def block(record: Path) -> str:
    """What a folder of results holds, as Markdown: commands, figures, tables and claims."""
    lines = [f"Generated from [the record](../results/{record.name}/{_main(record)}) by `python docs/preset_pages.py`."]
    plans = record / "plan.json"
    if plans.exists():
        commands = [f"{plan['command']} --out DIR" for plan in json.loads(plans.read_text("utf-8")).values()]
        lines += ["", "```console", *commands, "```"]
    for figure in sorted(record.glob("*.svg")):
        lines += ["", f"![{figure.stem} of the {record.name} record](../results/{record.name}/{figure.name})"]
    tables = next(record / name for name in ("tables.md", "table.md") if (record / name).exists())
    lines += ["", tables.read_text("utf-8").strip()]
    if record.name.endswith("_float64"):
        lines += ["", *in_float32(record, record.with_name(record.name.removesuffix("_float64")))]
    return "\n".join([BEGIN, "", *lines, "", END])


def in_float32(record: Path, other: Path) -> list[str]:
    """The trainings of a record beside the same ones (cell, graph, draw) of another record."""
    ours, theirs = _accuracies(record), _accuracies(other)
    lines = ["The same trainings in float32, from the record of the preset:", ""]
    lines += ["| filter | K | n | float64 | float32 | mean difference | largest |", "|---|--:|--:|--:|--:|--:|--:|"]
    for filter, K in dict.fromkeys(key[:2] for key in ours):
        keys = [key for key in ours if key[:2] == (filter, K) and key in theirs]
        gaps = [ours[key] - theirs[key] for key in keys]
        means = " | ".join(f"{100 * fmean(one[key] for key in keys):.1f}" for one in (ours, theirs))
        ends = f"{100 * fmean(gaps):+.1f} | {100 * max(map(abs, gaps)):.1f}"
        lines.append(f"| {filter.upper()} | {K} | {len(keys)} | {means} | {ends} |")
    return lines


def _accuracies(record: Path) -> dict[tuple[str, ...], float]:
    with (record / "realizations.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["experiment"] == "figure1"]
    names = ("filter", "K", "graph", "draw")
    return {tuple(row[name] for name in names): float(row["accuracy_last"]) for row in rows}


def comparison() -> str:
    """The readings on record side by side, and the command that prints it."""
    folders = [DOCS / "results" / name for name in READINGS if (DOCS / "results" / name).is_dir()]
    command = f"shiftstate readings {' '.join(f'docs/results/{folder.name}' for folder in folders)}"
    lines = ["Generated from the records by `python docs/preset_pages.py`; the command alone is", ""]
    return "\n".join(
        [BEGIN, "", *lines, "```console", command, "```", "", as_markdown(standings(folders)).strip(), "", END]
    )


def _main(record: Path) -> str:
    names = ("realizations.csv", "results.csv", "readings.csv")
    return next(name for name in names if (record / name).exists())


def updated(page: Path) -> str:
    """A page's text as it should be."""
    filling = comparison() if page == COMPARISON else block(DOCS / "results" / page.stem)
    text, count = PLACE.subn(lambda _: filling, page.read_text("utf-8"))
    if count != 1:
        raise ValueError(f"{page} has {count} places for its record; expected one: {BEGIN} … {END}")
    return text


def main() -> None:
    """Write every page anew."""
    for page in PAGES:
        page.write_text(updated(page), encoding="utf-8")


if __name__ == "__main__":
    main()
