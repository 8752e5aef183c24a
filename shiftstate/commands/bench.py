"""`shiftstate bench`."""

from pathlib import Path
from typing import Annotated

import typer

from shiftstate.commands.console import plain_console, telling


def add_to(app: typer.Typer) -> None:
    """Make the command known."""
    app.command()(bench)


def bench(
    json: Annotated[Path | None, typer.Option(help="file for all numbers")] = None,
    plot: Annotated[Path | None, typer.Option(help="file for the growth curves: .svg, .png or .pdf")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda")] = "cpu",
    repeats: Annotated[int, typer.Option(min=1, help="rounds; the best counts")] = 5,
    quick: Annotated[bool, typer.Option(help="everything in miniature, to see that it runs")] = False,
) -> None:
    """Time the kernels against plain PyTorch, the bare shifts and PyTorch Geometric on this machine."""
    from shiftstate.bench import run
    from shiftstate.bench.show import check_writable, print_report, write_json
    from shiftstate.bench.show import plot as draw_growth
    from shiftstate.files import check_output

    for path in (json, plot):
        if path:
            check_writable(path)
            check_output(path, option="--json and --plot")
    with telling() as say:
        report = run(device, quick, repeats, say)
    print_report(report, plain_console(wrap=False))
    if json:
        write_json(report, json)
    if plot:
        draw_growth(report, plot)
