"""Write what the records say into their pages, between two marks; the rest of a page is by hand.

    python docs/preset_pages.py

A page of docs/presets is named like its folder under docs/results; docs/which_reading.md compares the readings among
them. A test compares the pages with the records.
"""

import json
import re
from pathlib import Path

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
    return "\n".join([BEGIN, "", *lines, "", END])


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
