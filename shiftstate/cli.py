"""The command line: arguments in, one call out."""

import sqlite3
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markdown import Markdown

from shiftstate.bench import run as run_bench
from shiftstate.bench.show import plot as draw_growth
from shiftstate.bench.show import print_report, write_json
from shiftstate.checks import check_name
from shiftstate.experiments.config import EXPERIMENTS, load_preset
from shiftstate.experiments.corpora import NO_TEXTS
from shiftstate.experiments.engines import make_engine
from shiftstate.experiments.reproduce import reproduce as run_reproduce
from shiftstate.experiments.sweep import SweepError
from shiftstate.experiments.tables import tables_markdown

# typer carries a copy of click under a private name; this is the base of its complaints about arguments
ClickException: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def shiftstate() -> None:
    """Nonlinear state-space graph neural networks: the experiments of the paper, and tools around them."""


@app.command()
def reproduce(
    experiment: Annotated[str, typer.Argument(help="figure1, table1, table2 or all")],
    out: Annotated[Path, typer.Option(help="directory of the results; an earlier run in it is continued")],
    preset: Annotated[str, typer.Option(help="smoke, quick, paper, community, tuned, matched or books")] = "quick",
    workers: Annotated[int | None, typer.Option(help="processes; as many as cores by default")] = None,
    engine: Annotated[str, typer.Option(help="local, or dask")] = "local",
    scheduler: Annotated[str | None, typer.Option(help="address of a Dask scheduler")] = None,
    texts: Annotated[Path | None, typer.Option(help="folder of the novels, for table2")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file of settings, over the preset's")] = None,
    set: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="one setting, over all others")] = None,
) -> None:
    """Run an experiment of the paper, or go on with it, and say which of its claims hold."""
    check_name("experiment", experiment, [*EXPERIMENTS, "all"])
    settings = load_preset(preset, config, set or ())
    names = list(settings.experiments) if experiment == "all" else [experiment]
    left_out = [name for name in names if experiment == "all" and EXPERIMENTS[name].needs_texts and texts is None]
    names = [name for name in names if name not in left_out]
    report = run_reproduce(names, settings, out, make_engine(engine, workers, scheduler), texts=texts)
    console = Console(soft_wrap=True, highlight=False, markup=False)
    tables = tables_markdown(report.summary)
    console.print(Markdown(tables) if console.is_terminal else tables)
    if left_out:
        console.print(f"Left out: {NO_TEXTS}")
    console.print(f"The reading of the paper: {settings.reading.strip()}")
    console.print(f"Tables and figures of {report.stored} realizations: {', '.join(map(str, report.files))}")


@app.command()
def bench(
    json: Annotated[Path | None, typer.Option(help="file for all numbers")] = None,
    plot: Annotated[Path | None, typer.Option(help="file for the growth curves: .svg, .png or .pdf")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda")] = "cpu",
    repeats: Annotated[int, typer.Option(min=1, help="rounds; the best counts")] = 5,
    quick: Annotated[bool, typer.Option(help="everything in miniature, to see that it runs")] = False,
) -> None:
    """Time the kernels against plain PyTorch, the bare shifts and PyTorch Geometric on this machine."""
    wide = None if sys.stdout.isatty() else 140
    with Console(stderr=True).status("") as status:
        report = run_bench(device, quick, repeats, status.update)
    print_report(report, Console(width=wide, highlight=False, markup=False))
    if json:
        write_json(report, json)
    if plot:
        draw_growth(report, plot)


def main() -> None:
    """Run the command line; every error is one line, without a traceback.

    Exit codes: 2 for bad input, 1 for a run that could not go on, 130 for Ctrl-C.
    """
    try:
        if app(standalone_mode=False) == 130:  # how newer versions of typer report Ctrl-C
            raise KeyboardInterrupt
    except ValueError as error:
        _fail(str(error), 2)
    except ClickException as error:
        _fail(error.format_message(), 2)
    except (KeyboardInterrupt, typer.Abort):
        _fail("stopped; what was finished is stored, and the same command goes on from there", 130)
    except (OSError, sqlite3.Error, SweepError) as error:
        _fail(f"{error}; what was finished is stored, and the same command goes on from there", 1)


def _fail(message: str, code: int) -> None:
    if message:  # empty where the help was shown instead
        print(f"shiftstate: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)
