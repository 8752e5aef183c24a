"""`shiftstate report` and `shiftstate inspect`: what a directory of results holds."""

from pathlib import Path
from typing import Annotated

import typer

from shiftstate.commands.console import plain_console


def add_to(app: typer.Typer) -> None:
    """Make the commands known."""
    app.command()(inspect)
    app.command()(report)


def inspect(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="directory of the results")],
    realization: Annotated[str | None, typer.Option(metavar="ID", help="which; a sensible one by default")] = None,
    texts: Annotated[Path | None, typer.Option(help="folder of the texts, if the corpus is not in DIR")] = None,
) -> None:
    """Train a stored realization again, and put every layer under the lens.

    Exit code 3 if the recorded score does not come again; the lens is written all the same.
    """
    from shiftstate.lens.verdict_table import verdict_table
    from shiftstate.machine.inspection import inspect as train_again

    found = train_again(directory, realization, texts, plain_console(stderr=True))
    console = plain_console(wrap=False)
    console.print(found.comparison())
    console.print(verdict_table(found.lens))
    console.print(str(found.lens), soft_wrap=True)
    console.print(f"The lens: {', '.join(map(str, found.files))}", soft_wrap=True)
    if not found.same:
        raise typer.Exit(3)


def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="directory of results, or of a run of train")],
) -> None:
    """Write tables, figures and one self-contained page from what is stored in a directory."""
    from shiftstate.own_data.left.page import is_run, write_run_page

    if is_run(directory):
        print(write_run_page(directory, plain_console(stderr=True).print))
        return
    from shiftstate.machine.page.build import write_page

    print(write_page(directory))
