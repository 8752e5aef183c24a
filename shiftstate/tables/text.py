"""Tables of text: which character parts the values, whether names stand above them, and what the columns hold."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shiftstate.files import open_regular
from shiftstate.tables.first_row import FirstRow
from shiftstate.tables.table import NOTHING, Table, arrow, checked, first_line, plain_name

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "", ".edges": "", ".edgelist": ""}
"""By the ending of a file; an empty one is guessed."""
NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", " ": "blanks"}
BLOCK_BYTES = 16_000_000
"""Of a file that is read block by block."""
LOOKED_AT = 200_000
"""Bytes at the beginning of a file by which its form is guessed."""
SEEN = 200
"""Rows at the beginning of a file by which its form is guessed."""
RETRIES = 50
CODE = re.compile(r"\s*0\d+\s*")
"""A number that is a name: 007."""


@dataclass(frozen=True)
class Form:
    """How a file of text is to be read."""

    delimiter: str
    named: bool
    skipped: int
    """Lines of comments before anything else."""
    words: dict[str, Any] = field(default_factory=dict)
    """Columns that look like numbers and are names: codes such as 007."""
    said: tuple[str, ...] = ()

    def options(self, threads: bool, **more: Any) -> tuple[Any, Any, Any]:
        """Of pyarrow's readers."""
        reader = arrow("csv")
        return (
            reader.ReadOptions(
                autogenerate_column_names=not self.named, use_threads=threads, skip_rows=self.skipped, **more
            ),
            reader.ParseOptions(delimiter=self.delimiter),
            reader.ConvertOptions(strings_can_be_null=True, null_values=list(NOTHING), column_types=self.words),
        )


def form_of(path: Path, header: bool | None = None, ends: Sequence[str] | None = None) -> Form:
    """Guess how a file is to be read from its first lines.

    Args:
        path: the file.
        header: whether names stand in the first line; guessed by default.
        ends: for an edge list, names that its columns of nodes may have, in lower case; they are read as text.
    """
    with open_regular(path, "a table") as file:
        lines = file.read(LOOKED_AT).decode("utf-8", errors="replace").lstrip("\ufeff").splitlines()
    skipped = 0
    while skipped < len(lines) and lines[skipped].startswith("#"):
        skipped += 1
    lines = lines[skipped:]
    delimiter, said = _delimiter(lines[0] if lines else "", DELIMITERS[path.suffix.lower()])
    try:
        rows = list(csv.reader(lines[:SEEN], delimiter=delimiter))
    except csv.Error:
        rows = []  # pyarrow says what is wrong
    if header is not None or not rows:
        named = header is not False
    else:
        first = FirstRow([[value.strip() for value in row] for row in rows], lambda: _count_lines(path) - skipped)
        named, more = first.of_edges(ends) if ends is not None else first.of_table()
        said += more
    names = rows[0] if named and rows else [f"f{place}" for place in range(len(rows[0]) if rows else 0)]
    codes = {name for row in rows[named:] for name, value in zip(names, row, strict=False) if CODE.fullmatch(value)}
    if ends is not None:
        codes |= {name for name in names if name.strip().lower() in ends} if named else {*names[:2]}
    return Form(delimiter, named, skipped, {name: arrow().string() for name in codes}, said)


def _count_lines(path: Path) -> int:
    with open_regular(path, "a table") as file:
        return sum(1 for line in file if line.strip())


def read_text(path: Path, header: bool | None = None, ends: Sequence[str] | None = None) -> Table:
    """The whole file; see `form_of`."""
    pa, reader, form = arrow(), arrow("csv"), form_of(path, header, ends)
    threads = True
    for _ in range(RETRIES):
        try:
            found = reader.read_csv(path, *form.options(threads))
            break
        except pa.ArrowInvalid as error:
            if threads and "#" not in first_line(error).partition("column #")[0]:
                threads = False  # slower, and its complaint names the row
                continue
            form = _with_words(path, form, error)
        except (pa.ArrowException, OSError) as error:
            raise _complaint(path, error, form) from None
    else:
        raise ValueError(f"{path} has words among the numbers of {RETRIES} columns; expected numbers or words")
    literal = _literal(path, form, found.schema)
    return checked(path, found, named=form.named, before=form.skipped, literal=literal, said=form.said)


def read_text_blocks(path: Path, words: Sequence[str] = ()) -> Iterator[Table]:
    """The file block by block; the columns ``words`` are read as text."""
    pa, form = arrow(), form_of(path)
    form = replace(form, words={**form.words, **{name: pa.string() for name in words}})
    before = 0
    try:
        for batch in arrow("csv").open_csv(path, *form.options(False, block_size=BLOCK_BYTES)):
            if batch.num_rows:
                block = checked(path, pa.Table.from_batches([batch]), named=form.named, said=form.said)
                yield replace(block, before=form.skipped + before)
                before += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        raise _complaint(path, error, form) from None
    if not before:
        raise ValueError(f"{path} has no rows; expected at least one")


def _delimiter(line: str, usual: str) -> tuple[str, tuple[str, ...]]:
    if usual and usual in line:
        return usual, ()
    found = next((one for one in ("\t", ";", ",", " ") if one in line), None)
    if found is None or found == usual:
        return usual or ",", ()
    return found, (f"values are parted by {NAMES[found]}",)


def _with_words(path: Path, form: Form, error: Exception) -> Form:
    """The form with one more column of words: pyarrow took it for numbers by its first values."""
    found = re.match(r"In CSV column #(\d+): .*conversion error to (?!string)", first_line(error))
    if found is None:
        raise _complaint(path, error, form) from None
    place = int(found[1])
    with open_regular(path, "a table") as file:
        for _ in range(form.skipped):
            file.readline()
        head = file.readline().decode("utf-8", errors="replace").lstrip("\ufeff").rstrip("\r\n")
    names = next(csv.reader([head], delimiter=form.delimiter)) if form.named else []
    name = names[place] if form.named and place < len(names) else f"f{place}"
    if name in form.words:
        raise _complaint(path, error, form) from None
    return replace(form, words={**form.words, name: arrow().string()})


def _complaint(path: Path, error: BaseException, form: Form) -> ValueError:
    """pyarrow's complaint in the words of the others, with row and column where it names them."""
    text = first_line(error)
    row = re.search(r"Row #(\d+)", text)
    wide = re.search(r"Expected (\d+) columns, got (\d+)", text)
    where = f"{path}: row {row[1]}" if row else f"{path}"
    if wide:
        few = "; is a comma or a quotation mark missing?" if int(wide[2]) < int(wide[1]) else ""
        return ValueError(f"{where} has {wide[2]} values; expected {wide[1]}, as in the first row{few}")
    if "mpty CSV" in text:
        return ValueError(f"{path} is empty; expected a table")
    column = re.search(r"column #(\d+)", text)
    at = f", column {int(column[1]) + 1}" if column else ""
    if "invalid UTF8" in text:
        return ValueError(f"{where}{at} holds text that is not UTF-8; expected a text file in UTF-8")
    value = re.search(r"invalid value '(.*)'", text)
    if value:
        return ValueError(f"{where}{at} holds {value[1]!r}; expected a number, as above it")
    return ValueError(f"{where} cannot be read as a table ({text})")


def _literal(path: Path, form: Form, schema: Any) -> Callable[[str], Any]:
    """Reads a column again as text, by its name without blanks around it."""

    def read(name: str) -> Any:
        reader = arrow("csv")
        reading, parsing, _ = form.options(True)
        own = next(one for one in schema.names if plain_name(one) == name)
        options = reader.ConvertOptions(
            include_columns=[own], column_types={own: arrow().string()}, strings_can_be_null=True, null_values=[""]
        )
        return reader.read_csv(path, reading, parsing, options).column(0).combine_chunks()

    return read
