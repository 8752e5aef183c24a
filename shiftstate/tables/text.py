"""Tables of text: which character parts the values, whether names stand above them, and what the columns hold."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shiftstate.files import open_regular
from shiftstate.tables.table import NOTHING, Table, arrow, checked, first_line

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "", ".edges": "", ".edgelist": ""}
"""By the ending of a file; an empty one is guessed."""
NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", " ": "blanks"}
BLOCK_BYTES = 16_000_000
"""Of a file that is read block by block."""
LOOKED_AT = 200_000
"""Bytes at the beginning of a file by which its form is guessed."""
RETRIES = 50


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


def form_of(path: Path, header: bool | None = None) -> Form:
    """Guess how a file is to be read from its first lines."""
    with open_regular(path, "a table") as file:
        lines = file.read(LOOKED_AT).decode("utf-8", errors="replace").lstrip("\ufeff").splitlines()
    skipped = 0
    while skipped < len(lines) and lines[skipped].startswith("#"):
        skipped += 1
    lines = lines[skipped:]
    usual = DELIMITERS[path.suffix.lower()]
    delimiter, said = _delimiter(lines[0] if lines else "", usual)
    try:
        rows = list(csv.reader(lines[:200], delimiter=delimiter))
    except csv.Error:
        rows = []  # pyarrow says what is wrong
    rows = [[value.strip() for value in row] for row in rows]
    named = _has_header(rows) if header is None else header
    names = rows[0] if named and rows else [f"f{place}" for place in range(len(rows[0]) if rows else 0)]
    codes = {
        place for row in rows[named:] for place, value in enumerate(row[: len(names)]) if re.fullmatch(r"0\d+", value)
    }
    return Form(delimiter, named, skipped, {names[place]: arrow().string() for place in codes}, said)


def read_text(path: Path, header: bool | None = None) -> Table:
    """The whole file."""
    pa, reader, form = arrow(), arrow("csv"), form_of(path, header)
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
    return checked(path, found, named=form.named, before=form.skipped, literal=_literal(path, form), said=form.said)


def read_text_blocks(path: Path) -> Iterator[Table]:
    """The file block by block."""
    pa, form = arrow(), form_of(path)
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


def _has_header(rows: list[list[str]]) -> bool:
    """Names stand in the first line unless all of it are numbers; different large ones above measurements are names."""
    if not rows or not all(_is_numeral(value) for value in rows[0]):
        return True
    values = rows[0]
    # Sensors are often named by whole numbers: a line of different large ones above measurements is a header.
    if not all(value.isdecimal() for value in values) or len(set(values)) < len(values):
        return False
    below = rows[1] if len(rows) > 1 else []
    counted = values in ([str(i) for i in range(len(values))], [str(i + 1) for i in range(len(values))])
    square = counted and len(rows) == len(values) + 1  # an adjacency matrix below the numbers of its nodes
    return len(values) > 2 and (square or any("." in value for value in below))


def _is_numeral(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


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


def _literal(path: Path, form: Form) -> Any:
    def read(name: str) -> Any:
        reader = arrow("csv")
        reading, parsing, _ = form.options(False)
        text = {name: arrow().string()}
        options = reader.ConvertOptions(
            include_columns=[name], column_types=text, strings_can_be_null=True, null_values=[""]
        )
        return reader.read_csv(path, reading, parsing, options).column(0).combine_chunks()

    return read
