"""`shiftstate wan` and `shiftstate data fetch`: word networks, and the novels to make them from."""

from pathlib import Path
from typing import Annotated

import typer

from shiftstate.commands.console import telling

GUTENBERG = "Project Gutenberg's server"


def add_to(app: typer.Typer) -> None:
    """Make the commands known."""
    data_app = typer.Typer(no_args_is_help=True)
    data_app.callback()(data)
    data_app.command()(fetch)
    app.command()(wan)
    app.add_typer(data_app, name="data", help="Get data that is not part of the package.")


def wan(
    text: Annotated[list[Path], typer.Argument(help="texts in UTF-8, counted together")],
    out: Annotated[Path, typer.Option(help="file of the network: .npz, .csv or .graphml")],
    words: Annotated[
        str | None, typer.Option(help="file with one word per line, or auto:200 for the most frequent")
    ] = None,
    window: Annotated[int, typer.Option(help="the farthest word that still follows, in words")] = 10,
    decay: Annotated[float, typer.Option(help="factor of the weight for every word between")] = 0.8,
    excerpt_length: Annotated[int | None, typer.Option(help="words per excerpt; adds them to an .npz")] = None,
    picture: Annotated[Path | None, typer.Option(help="file for a picture: .svg or .png")] = None,
    edges: Annotated[int, typer.Option(help="strongest edges in the picture")] = 200,
) -> None:
    """Count the word adjacency network of texts: which words follow which, and how closely."""
    from shiftstate.files import check_output
    from shiftstate.texts.network_files import write_wan

    read = [*text, Path(words)] if words else text
    check_output(out, read)
    if picture:
        check_output(picture, [*read, out], "--picture")
    with telling() as say:
        network = write_wan(text, out, words, window, decay, excerpt_length, picture, edges, say)
    occur = int((network.counts > 0).sum())
    print(f"{out}: {occur} of {len(network.words)} words occur, {int((network.matrix > 0).sum())} edges")
    if picture:
        print(picture)


def data() -> None:
    """Get data that is not part of the package."""


def fetch(
    source: Annotated[str, typer.Argument(help="gutenberg")],
    out: Annotated[Path, typer.Option(help="folder of the texts; what it holds already is not fetched again")],
    mirror: Annotated[str | None, typer.Option(metavar="URL", help=f"server [default: {GUTENBERG}]")] = None,
    catalogue: Annotated[Path | None, typer.Option(help="CSV of other books: folder,id,author,title")] = None,
    author: Annotated[list[str] | None, typer.Option(help="only the books of this folder")] = None,
    strict: Annotated[bool, typer.Option(help="accept the catalogue's edition only")] = False,
    attempts: Annotated[int, typer.Option(min=1, help="tries for each book")] = 5,
    pause: Annotated[float, typer.Option(min=0, help="seconds between two books")] = 1.0,
    deadline: Annotated[float, typer.Option(help="seconds for each book, over all its tries")] = 40.0,
) -> None:
    """Get the novels of the paper's authors from Project Gutenberg, or go on with it."""
    from shiftstate.checks import check_name
    from shiftstate.texts.folder import check_author
    from shiftstate.texts.gutenberg import fetch as fetching
    from shiftstate.texts.gutenberg.catalogue import load_catalogue

    check_name("source", source, ["gutenberg"])
    books = load_catalogue(catalogue)
    folders = dict.fromkeys(book.folder for book in books)
    wanted = {check_author(name, folders) for name in author} if author else set(folders)
    chosen = [book for book in books if book.folder in wanted]
    server = fetching.GUTENBERG if mirror is None else mirror
    with telling() as say:
        done = fetching.fetch(
            chosen, out, mirror=server, strict=strict, attempts=attempts, pause=pause, deadline=deadline, say=say
        )
    print(f"{done.new} books fetched, {done.kept} were there: {out}")
    if done.other_edition:
        names = ", ".join(done.other_edition[:3]) + (" …" if len(done.other_edition) > 3 else "")
        print(f"{len(done.other_edition)} in another edition than the catalogue's, of nearly the same length: {names}")
