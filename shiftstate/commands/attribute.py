"""`shiftstate attribute`: who wrote a text, learned from texts of known authors."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from shiftstate.commands.console import telling

Texts = Annotated[Path, typer.Option("--texts", help="folder of texts: author/*.txt or Author_Title.txt")]
Words = Annotated[str, typer.Option(help="auto:300 for the most frequent words, or a file with one word per line")]
Length = Annotated[int, typer.Option(help="words per excerpt")]

RELIABLE = 4000
"""Words of each text below which `verify` is often wrong."""


def add_to(app: typer.Typer) -> None:
    """Make the commands known."""
    group = typer.Typer(no_args_is_help=True)
    for command in (train, predict, evaluate, verify):
        group.command()(command)
    app.add_typer(group, name="attribute", help="Say who wrote a text, and how sure that is.")


@contextmanager
def _speaking() -> Iterator[Callable[[str], None]]:
    """Steps as `telling` shows them; warnings and notes stay on the screen."""
    with telling() as say:
        yield lambda line: typer.echo(line, err=True) if line.startswith(("warning:", "note:")) else say(line)


def train(
    texts: Texts,
    out: Annotated[Path, typer.Option(help="file of the model")],
    words: Words = "auto:300",
    length: Length = 1000,
    model: Annotated[str, typer.Option(help="auto, or the name of one")] = "auto",
) -> None:
    """Learn the authors of a folder, and find the model to trust on held-out texts."""
    from shiftstate.attribution.attributor import Attributor
    from shiftstate.attribution.library import read_library
    from shiftstate.attribution.model_file import check_place
    from shiftstate.texts.folder import find_texts
    from shiftstate.texts.readers import READERS

    check_place(out, (path for paths in find_texts(texts, tuple(READERS)).values() for path in paths))
    with _speaking() as say:
        _warn(length, say)
        attributor = Attributor(words, length, model).fit_library(read_library(texts, say), say)
        attributor.save(out)
    held = attributor.held_out_
    print(
        f"{out}: {len(attributor.classes_)} authors, {len(attributor.titles_)} texts, {len(attributor.listed_)} words"
    )
    print("share of held-out excerpts told right, and calibration error:")
    for name, measures in held.items():
        mark = "  <- trusted" if name == attributor.recommended_ else ""
        print(f"  {name:13} {100 * measures['accuracy']:5.1f} %  {measures['calibration_error']:.3f}{mark}")
    print(attributor.why_)


def predict(
    model: Annotated[Path, typer.Argument(help="file of `attribute train`")],
    text: Annotated[list[Path], typer.Argument(help="texts: .txt, .html, .docx, .epub or TEI .xml")],
    reference: Annotated[
        Path | None, typer.Option(help="folder of texts by other authors, for the test whether it may be none of them")
    ] = None,
    sure: Annotated[float, typer.Option(help="probability below which the answer is undecided")] = 0.7,
    page: Annotated[Path | None, typer.Option(help="file for a page to read in a browser")] = None,
    json: Annotated[Path | None, typer.Option(help="file for all numbers")] = None,
) -> None:
    """Say who wrote texts: authors in order, how sure, and which words say so."""
    import json as notation

    from shiftstate.attribution.answers.page import excerpts_of, in_digits, stranger_sentence, verdict_page
    from shiftstate.attribution.answers.verdict import give_verdict
    from shiftstate.attribution.attributor import Attributor
    from shiftstate.attribution.model_file import check_place
    from shiftstate.files import write_whole
    from shiftstate.texts.folder import title_of
    from shiftstate.texts.readers import boilerplate_left, list_documents, read_document, without_boilerplate

    if not 0 <= sure <= 1:
        raise ValueError(f"sure is {sure}; expected a probability, 0 to 1")
    others = [] if reference is None else list_documents(reference)
    for path in (page, json):
        if path is not None:
            check_place(path, [model, *text, *others])
    if page is not None and json is not None and page.absolute() == json.absolute():
        raise ValueError(f"{page} is given for the page and for the numbers; expected two files")
    attributor = Attributor.load(model)
    if reference is not None:
        attributor.add_reference([read_document(path) for path in others])
    verdicts = []
    for path in text:
        title = title_of(path)
        content, cut = without_boilerplate(read_document(path))
        if cut:
            typer.echo(f"note: Project Gutenberg's header and licence were cut from {title}", err=True)
        if boilerplate_left(content):
            typer.echo(f"warning: {title} still speaks of Project Gutenberg; is a part of it left?", err=True)
        verdicts.append(give_verdict(attributor, content, title, sure))
    if page is not None:
        write_whole(page, verdict_page(attributor, verdicts))
    if json is not None:
        content = notation.dumps([verdict.as_json() for verdict in verdicts], indent=2, ensure_ascii=False)
        write_whole(json, content + "\n")
    for verdict in verdicts:
        print(f"{verdict.title}: {verdict.headline}")
        for note in verdict.notes:
            print(f"  warning: {note}")
        for author, p in list(verdict.probabilities.items())[:5]:
            print(f"  {author:24} {in_digits(p):7}   {100 * verdict.votes[author]:3.0f} % of {excerpts_of(verdict)}")
        print(f"  {stranger_sentence(verdict)}")
        first, second = list(verdict.probabilities)[:2]
        for kind, reasons in (("words", verdict.words_for), ("pairs", verdict.pairs_for)):
            print(f"  {kind} for {first} beside {second}: {', '.join(name for name, _ in reasons)}")
        for kind, reasons in (("words", verdict.words_against), ("pairs", verdict.pairs_against)):
            print(f"  {kind} against: {', '.join(name for name, _ in reasons)}")


def evaluate(
    texts: Texts,
    out: Annotated[Path, typer.Option(help="directory of the results; an earlier run in it is continued")],
    words: Words = "auto:300",
    length: Length = 1000,
    folds: Annotated[
        int | None, typer.Option(help="hold out several texts at a time, in so many folds; one by one by default")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="processes; as many as cores by default")] = None,
) -> None:
    """Hold out every text of a folder in turn, and say how good each model is."""
    from shiftstate.attribution.evaluation.report import evaluate_library
    from shiftstate.attribution.library import read_library
    from shiftstate.files import printable

    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file; expected a directory for the results")
    with _speaking() as say:
        _warn(length, say)
        library = read_library(texts, say)
        workers = len(_cores()) if workers is None else workers
        files, evaluation = evaluate_library(library, out, words, length, folds, workers, say)
    print(f"recommended: {evaluation['recommended']}; {evaluation['why']}")
    add = evaluation["networks_add"]
    print(f"networks add {add['points']:+.1f} points to frequencies: {add['verdict']}")
    print(printable(", ".join(map(str, files))))


def verify(
    model: Annotated[Path, typer.Argument(help="file of `attribute train`")],
    first: Annotated[Path, typer.Argument(help="a text")],
    second: Annotated[Path, typer.Argument(help="another text")],
) -> None:
    """Say whether one author wrote both texts, whoever it was."""
    from shiftstate.attribution.attributor import Attributor
    from shiftstate.texts.folder import title_of
    from shiftstate.texts.readers import read_document, without_boilerplate

    attributor = Attributor.load(model)
    titles = [title_of(path) for path in (first, second)]
    contents = [without_boilerplate(read_document(path))[0] for path in (first, second)]
    encoded = [attributor.encode(content, title) for content, title in zip(contents, titles, strict=True)]
    p = attributor.same_author(*encoded)
    shortest = min(map(len, encoded))
    unsure = abs(p - 0.5) < 0.1 or shortest < attributor.length
    answer = "undecided" if unsure else "the same author" if p > 0.5 else "different authors"
    if shortest < attributor.length:
        typer.echo(
            f"warning: a text of {shortest:,} words is too short: an excerpt has {attributor.length:,}", err=True
        )
    elif shortest < RELIABLE:
        typer.echo(f"warning: a text of {shortest:,} words; with less than {RELIABLE:,} it is often wrong", err=True)
    print(f"{titles[0]} and {titles[1]}: {answer} (probability of the same author {p:.3f})")


def _warn(length: int, say: Callable[[str], None]) -> None:
    if length < 500:
        say(f"warning: excerpts of {length} words are short; 500 or more are needed for reliable answers")


def _cores() -> set[int]:
    """The cores that this process may use."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
