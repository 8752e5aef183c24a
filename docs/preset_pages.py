"""Write what the records say into the pages of docs/presets, between two marks; the rest of a page is by hand.

    python docs/preset_pages.py

A page is named like its folder under docs/results. A test compares the pages with the records.
"""

import json
import re
from pathlib import Path

DOCS = Path(__file__).parent
BEGIN, END = "<!-- from the record -->", "<!-- end of the record -->"
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


def _main(record: Path) -> str:
    names = ("realizations.csv", "results.csv", "readings.csv")
    return next(name for name in names if (record / name).exists())


def updated(page: Path) -> str:
    """A page's text as it should be."""
    text, count = PLACE.subn(lambda _: block(DOCS / "results" / page.stem), page.read_text("utf-8"))
    if count != 1:
        raise ValueError(f"{page} has {count} places for its record; expected one: {BEGIN} … {END}")
    return text


def main() -> None:
    """Write every page anew."""
    for page in sorted((DOCS / "presets").glob("*.md")):
        page.write_text(updated(page), encoding="utf-8")


if __name__ == "__main__":
    main()
