"""What the commands that run a study have in common."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from shiftstate.commands.console import plain_console

if TYPE_CHECKING:
    from shiftstate.machine.presets import Preset
    from shiftstate.machine.running.engines import Engine


def run_and_tell(names: Sequence[str], preset: "Preset", out: Path, engine: "Engine", given: Path | None) -> None:
    """Run experiments into a directory, and print the tables and where everything is."""
    from rich.markdown import Markdown

    from shiftstate.machine.conduct import conduct
    from shiftstate.machine.judging.tables import tables_markdown

    written = conduct(names, preset, out, engine, given=given)
    console = plain_console()
    tables = tables_markdown(written.summary)
    console.print(Markdown(tables) if console.is_terminal else tables)
    console.print(f"{preset.study.reading}: {preset.reading.strip()}")
    console.print(f"Tables and figures of {written.stored} realizations: {', '.join(map(str, written.files))}")
