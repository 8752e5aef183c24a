"""Books of Project Gutenberg by their ids: a catalogue, and whether a text is the book."""

import csv
import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain
from pathlib import Path

from shiftstate.texts.gutenberg.boilerplate import WrongText
from shiftstate.texts.reading import read_text
from shiftstate.texts.tokens import tokenize

COLUMNS = ("folder", "id", "author", "title")
"""What a catalogue must have; ``words`` and ``sha256`` may be there."""
TOLERANCE = 0.05
"""By how much of its words a text may differ from the catalogue's edition and still be the same book."""


@dataclass(frozen=True)
class Book:
    """A line of a catalogue."""

    folder: str
    id: int
    author: str
    title: str
    words: int | None = None
    """Of the edition that the project's results were made with."""
    sha256: str | None = None
    """Of that edition's words, see ``digest``."""

    @property
    def path(self) -> str:
        """Where the book is kept, below the folder of the texts: made of plain letters and digits only."""
        letters = unicodedata.normalize("NFKD", self.title).encode("ascii", "ignore").decode().lower()
        slug = re.sub(r"[^a-z0-9]+", "_", letters).strip("_")[:60]
        return f"{self.folder}/pg{self.id}_{slug}.txt"


def load_catalogue(path: str | Path | None = None) -> list[Book]:
    """The books of a catalogue: a CSV with the columns folder, id, author, title and perhaps words and sha256.

    Without a path: the 80 books of the paper's authors that come with the package, by their names only.
    """
    if path is None:
        content, source = files("shiftstate.texts.gutenberg").joinpath("books.csv").read_text("utf-8"), "the catalogue"
    else:
        content, source = read_text(path), str(path)
    reader = csv.DictReader(content.splitlines())
    missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
    if missing:
        raise ValueError(f"{source} has no column {missing[0]!r}; expected {', '.join(COLUMNS)}, words, sha256")
    books: dict[int, Book] = {}
    for row in reader:
        book = _book(row, f"line {reader.line_num} of {source}")
        if book.id in books:
            raise ValueError(f"line {reader.line_num} of {source} is book {book.id} again; expected every book once")
        books[book.id] = book
    if not books:
        raise ValueError(f"{source} holds no books; expected one a line")
    return list(books.values())


def digest(text: str) -> str:
    """SHA-256 of the words in lower case with a space between: line ends, wrapping and quotes make no difference."""
    return hashlib.sha256(" ".join(_words(text)).encode()).hexdigest()


def check_book(book: Book, text: str, strict: bool) -> bool:
    """Whether ``text`` is word for word the catalogue's edition of ``book``; ``WrongText`` if it is not that book.

    Gutenberg corrects its texts, so another edition of nearly the same length passes unless ``strict``.
    """
    if book.sha256 is None or digest(text) == book.sha256:
        return True
    if strict:
        raise WrongText("its checksum is not the catalogue's")
    if book.words is not None:
        count = sum(1 for _ in _words(text))
        if abs(count - book.words) > TOLERANCE * book.words:
            raise WrongText(f"its checksum is not the catalogue's, and it has {count} words instead of {book.words}")
    return False


def _words(text: str) -> Iterable[str]:
    return chain.from_iterable(tokenize(text))


def _book(row: dict[str, str], place: str) -> Book:
    """A line of a catalogue, checked: a folder is a plain name, so no file is written outside the given folder."""
    values = {key: (value or "").strip() for key, value in row.items() if isinstance(value, str | None)}
    folder, number, words, sha256 = (values.get(key, "") for key in ("folder", "id", "words", "sha256"))
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", folder):
        raise ValueError(f"{place} has the folder {folder[:80]!r}; expected a plain name of letters, digits, _ and -")
    if not re.fullmatch(r"[1-9][0-9]{0,8}", number):
        raise ValueError(f"{place} has the id {number[:80]!r}; expected the number of a Gutenberg book")
    if not re.fullmatch(r"[0-9]{0,9}", words):
        raise ValueError(f"{place} has {words[:80]!r} words; expected a whole number or nothing")
    if not re.fullmatch(r"(?:[0-9a-f]{64})?", sha256):
        raise ValueError(f"{place} has the sha256 {sha256[:80]!r}; expected 64 hexadecimal digits or nothing")
    title = values["title"] or f"book {number}"
    return Book(folder, int(number), values["author"], title, int(words) if words else None, sha256 or None)
