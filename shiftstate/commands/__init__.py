"""The commands of `shiftstate`, one subject per module: arguments in, one call out.

A module here imports nothing heavy at its top: what a command needs it imports when it runs, so that help and version
come at once.
"""

from importlib import metadata
from typing import Annotated

import typer

from shiftstate.commands import attribute, bench, distributed, own_data, paper, results, study, texts

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"shiftstate {metadata.version('shiftstate')}")
        raise typer.Exit


@app.callback()
def shiftstate(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="show the version and exit")
    ] = False,
) -> None:
    """Nonlinear state-space graph neural networks: the experiments of the paper, and tools around them."""


for module in (paper, study, results, own_data, distributed, texts, attribute, bench):
    module.add_to(app)
