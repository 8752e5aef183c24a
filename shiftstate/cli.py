"""The command line: arguments in, one call out."""

import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape

from shiftstate.bench import run as run_bench
from shiftstate.bench.show import check_writable, print_report, write_json
from shiftstate.bench.show import plot as draw_growth
from shiftstate.checks import check_name
from shiftstate.experiments.config import EXPERIMENTS, Preset, load_preset
from shiftstate.experiments.engines import check_devices, make_engine
from shiftstate.experiments.inspect import inspect as run_inspect
from shiftstate.experiments.inspect import verdict_table
from shiftstate.experiments.report.build import write_page
from shiftstate.experiments.reproduce import reproduce as run_reproduce
from shiftstate.experiments.stability import write as write_stability
from shiftstate.experiments.sweep import SweepError
from shiftstate.experiments.tables import tables_markdown
from shiftstate.texts.folder import check_author
from shiftstate.texts.gutenberg.catalogue import load_catalogue
from shiftstate.texts.gutenberg.fetch import GUTENBERG
from shiftstate.texts.gutenberg.fetch import fetch as fetch_books
from shiftstate.texts.network_files import GET_TEXTS, reproduce_figure2, write_wan

# typer carries a copy of click under a private name; this is the base of its complaints about arguments
ClickException: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
data_app = typer.Typer(no_args_is_help=True)
app.add_typer(data_app, name="data", help="Get data that is not part of the package.")


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"shiftstate {metadata.version('shiftstate')}")
        raise typer.Exit


@app.callback()
def shiftstate(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="say which")
    ] = False,
) -> None:
    """Nonlinear state-space graph neural networks: the experiments of the paper, and tools around them."""


@app.command()
def reproduce(
    experiment: Annotated[str, typer.Argument(help="figure1, table1, table2, figure2, stability or all")],
    out: Annotated[Path, typer.Option(help="directory of the results; an earlier run in it is continued")],
    preset: Annotated[str, typer.Option(help="one of the names in docs/experiments.md")] = "quick",
    workers: Annotated[int | None, typer.Option(help="processes; as many as cores by default")] = None,
    engine: Annotated[str, typer.Option(help="local, or dask")] = "local",
    scheduler: Annotated[str | None, typer.Option(help="address of a Dask scheduler")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file of settings, over the preset's")] = None,
    set: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="one setting, over all others")] = None,
    texts: Annotated[Path | None, typer.Option(help="folder of the texts: author/*.txt or Author_Title.txt")] = None,
    author: Annotated[str, typer.Option(help="whose network figure2 draws")] = "stevenson",
) -> None:
    """Run an experiment of the paper, or go on with it, and say which of its claims hold."""
    check_name("experiment", experiment, [*EXPERIMENTS, "figure2", "stability", "all"])
    settings = load_preset(preset, config, set or ())
    pool = make_engine(engine, workers, scheduler)
    names = _planned(experiment, settings, texts)
    if engine == "local":
        check_devices(one for name in names for one in settings.realizations(name))
    if experiment in ("stability", "all"):
        print(f"The paper's Section 2.1: {', '.join(map(str, write_stability(out)))}")
    if experiment == "figure2" or (experiment == "all" and texts is not None):
        print(f"The network of {author}: {', '.join(map(str, reproduce_figure2(texts, author, out)))}")
    if not names:
        return
    report = run_reproduce(names, settings, out, pool, texts=texts)
    console = Console(soft_wrap=True, highlight=False, markup=False)
    tables = tables_markdown(report.summary)
    console.print(Markdown(tables) if console.is_terminal else tables)
    console.print(f"The reading of the paper: {settings.reading.strip()}")
    console.print(f"Tables and figures of {report.stored} realizations: {', '.join(map(str, report.files))}")


@app.command()
def inspect(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="directory of the results")],
    realization: Annotated[str | None, typer.Option(metavar="ID", help="which; a sensible one by default")] = None,
    texts: Annotated[Path | None, typer.Option(help="folder of the texts, if the corpus is not in DIR")] = None,
) -> None:
    """Train a stored realization again, and put every layer under the lens.

    Exit code 3 if the recorded accuracy does not come again; the lens is written all the same.
    """
    console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    found = run_inspect(directory, realization, texts, console)
    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False, markup=False)
    console.print(found.comparison())
    console.print(verdict_table(found.lens))
    console.print(str(found.lens), soft_wrap=True)
    console.print(f"The lens: {', '.join(map(str, found.files))}", soft_wrap=True)
    if not found.same:
        raise typer.Exit(3)


def _planned(experiment: str, settings: Preset, texts: Path | None) -> list[str]:
    """The experiments that are trainings; of "all" those on texts are left out where there are none."""
    if experiment != "all":
        return [experiment] if experiment in EXPERIMENTS else []
    names = list(settings.experiments)
    if texts is not None:
        return names
    left_out = [name for name in names if EXPERIMENTS[name].needs_texts]
    if left_out == names:
        raise ValueError(f"preset {settings.name!r} has no experiment without texts; {GET_TEXTS}")
    print(f"{' and '.join(['figure2', *left_out])} left out: texts are needed; {GET_TEXTS}")
    return [name for name in names if name not in left_out]


@app.command()
def bench(
    json: Annotated[Path | None, typer.Option(help="file for all numbers")] = None,
    plot: Annotated[Path | None, typer.Option(help="file for the growth curves: .svg, .png or .pdf")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda")] = "cpu",
    repeats: Annotated[int, typer.Option(min=1, help="rounds; the best counts")] = 5,
    quick: Annotated[bool, typer.Option(help="everything in miniature, to see that it runs")] = False,
) -> None:
    """Time the kernels against plain PyTorch, the bare shifts and PyTorch Geometric on this machine."""
    for path in (json, plot):
        if path:
            check_writable(path)
    wide = None if sys.stdout.isatty() else 140
    with _telling() as say:
        report = run_bench(device, quick, repeats, say)
    print_report(report, Console(width=wide, highlight=False, markup=False))
    if json:
        write_json(report, json)
    if plot:
        draw_growth(report, plot)


@app.command()
def wan(
    text: Annotated[list[Path], typer.Argument(help="texts in UTF-8, counted together")],
    out: Annotated[Path, typer.Option(help="file of the network: .npz, .csv or .graphml")],
    words: Annotated[
        str | None, typer.Option(help="file with a word a line, or auto:200 for the most frequent")
    ] = None,
    window: Annotated[int, typer.Option(help="the farthest word that still follows, in words")] = 10,
    decay: Annotated[float, typer.Option(help="factor of the weight for every word between")] = 0.8,
    excerpt_length: Annotated[int | None, typer.Option(help="words an excerpt; adds them to an .npz")] = None,
    picture: Annotated[Path | None, typer.Option(help="file for a picture: .svg or .png")] = None,
    edges: Annotated[int, typer.Option(help="strongest edges in the picture")] = 200,
) -> None:
    """Count the word adjacency network of texts: which words follow which, and how closely."""
    with _telling() as say:
        network = write_wan(text, out, words, window, decay, excerpt_length, picture, edges, say)
    occur = int((network.counts > 0).sum())
    print(f"{out}: {occur} of {len(network.words)} words occur, {int((network.matrix > 0).sum())} edges")
    if picture:
        print(picture)


@data_app.callback()
def data() -> None:
    """Get data that is not part of the package."""


@data_app.command()
def fetch(
    source: Annotated[str, typer.Argument(help="gutenberg")],
    out: Annotated[Path, typer.Option(help="folder of the texts; what it holds already is not fetched again")],
    mirror: Annotated[str, typer.Option(metavar="URL", help="server")] = GUTENBERG,
    catalogue: Annotated[Path | None, typer.Option(help="CSV of other books: folder,id,author,title")] = None,
    author: Annotated[list[str] | None, typer.Option(help="only the books of this folder")] = None,
    strict: Annotated[bool, typer.Option(help="refuse every edition but the catalogue's")] = False,
    attempts: Annotated[int, typer.Option(min=1, help="tries for each book")] = 5,
    pause: Annotated[float, typer.Option(min=0, help="seconds between two books")] = 1.0,
    deadline: Annotated[float, typer.Option(help="seconds for each book, over all its tries")] = 40.0,
) -> None:
    """Get the novels of the paper's authors from Project Gutenberg, or go on with it."""
    check_name("source", source, ["gutenberg"])
    books = load_catalogue(catalogue)
    folders = dict.fromkeys(book.folder for book in books)
    wanted = {check_author(name, folders) for name in author} if author else set(folders)
    chosen = [book for book in books if book.folder in wanted]
    with _telling() as say:
        done = fetch_books(
            chosen, out, mirror=mirror, strict=strict, attempts=attempts, pause=pause, deadline=deadline, say=say
        )
    print(f"{done.new} books fetched, {done.kept} were there: {out}")
    if done.other_edition:
        names = ", ".join(done.other_edition[:3]) + (" …" if len(done.other_edition) > 3 else "")
        print(f"{len(done.other_edition)} in another edition than the catalogue's, of nearly the same length: {names}")


@contextmanager
def _telling() -> Iterator[Callable[[str], None]]:
    """Steps as they come: one changing line on a terminal, lines elsewhere; both on standard error."""
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    if not console.is_terminal:
        yield console.print
        return
    with console.status("") as status:
        yield lambda line: status.update(escape(line))


@app.command()
def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="directory of results")],
) -> None:
    """Write tables, figures and one self-contained page from what is stored in a directory."""
    page = write_page(directory)
    lenses = f" and {page.lenses} under the lens" if page.lenses else ""
    print(f"{page.path}: {page.stored} trainings{lenses}, {page.size / 1e6:.1f} MB; open it in a browser")


def main() -> None:
    """Run the command line; every error is one line, without a traceback.

    Exit codes: 2 for bad input, 1 for a run that could not go on, 3 for an inspection whose accuracy differs from the
    recorded one, 130 for Ctrl-C.
    """
    try:
        code = app(standalone_mode=False)
        if code == 130:  # how newer versions of typer report Ctrl-C
            raise KeyboardInterrupt
        if code:
            sys.exit(code)
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
