"""Texts in the formats of word processors, readers and editions: .txt, .html, .docx, .epub and TEI .xml.

All of them are plain text, HTML, or XML in a zip archive, and only their paragraphs are wanted: the standard library
reads them, and nothing has to be installed.
"""

import io
import posixpath
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

from shiftstate.files import read_regular
from shiftstate.limits import MAX_TEXT_BYTES, Archive
from shiftstate.texts.gutenberg.boilerplate import WrongText, strip_boilerplate, strip_what_is_there
from shiftstate.texts.markup import Gathered, read_html, read_xml
from shiftstate.texts.reading import check_text, decode_text
from shiftstate.texts.word_lists import WORD_FILE

_ASIDE = {"teiHeader", "note", "fw", "figDesc"}
"""Of a TEI edition: what is not the author's text."""
_APART = {"p", "l", "head", "ab", "sp", "div", "speaker", "stage", "item"}


def read_document(path: str | Path) -> str:
    """The text of a file by its ending: .txt, .html, .htm, .xhtml, .docx, .epub or .xml (TEI)."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise ValueError(f"{path} ends in {path.suffix!r}; expected one of {', '.join(READERS)}")
    data = read_regular(path, "a text", MAX_TEXT_BYTES)
    try:
        text = READERS[suffix](data, path)
    except Exception as error:  # XML and zip readers raise a dozen kinds on damaged files
        cause = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
        if not cause.startswith(str(path)):
            cause = f"{path} is no {suffix} file that can be read ({cause}); expected a text; is it damaged?"
        raise ValueError(cause) from None
    return check_text(text, path)


def list_documents(root: str | Path) -> list[Path]:
    """All texts of a folder and of the folders in it, whatever their authors, sorted."""
    folder = Path(root)
    if not folder.is_dir():
        raise ValueError(f"{root} is no folder; expected a folder of texts")
    found = sorted(path for path in (*folder.glob("*"), *folder.glob("*/*")) if path.suffix.lower() in READERS)
    found = [path for path in found if path.is_file() and not path.name.startswith(".") and path.name != WORD_FILE]
    if not found:
        raise ValueError(f"{root} holds no texts; expected files in {', '.join(READERS)}")
    return found


def without_boilerplate(text: str) -> tuple[str, bool]:
    """The text without Project Gutenberg's header and licence, and whether there was one."""
    if "PROJECT GUTENBERG" not in text[:20_000].upper():
        return text, False
    try:
        return strip_boilerplate(text), True
    except WrongText:
        stripped = strip_what_is_there(text)
        return (stripped, True) if len(stripped) < len(text) - 2 else (text, False)


def boilerplate_left(text: str) -> bool:
    """Whether a text still speaks of Project Gutenberg at its beginning or end."""
    return any("PROJECT GUTENBERG" in part.upper() for part in (text[:20_000], text[-20_000:]))


def _html(data: bytes, path: Path) -> str:
    gathered = Gathered()
    read_html(decode_text(data, path), gathered)
    return _tidy(gathered.text)


def _docx(data: bytes, path: Path) -> str:
    """The runs of text of all paragraphs; of a text box in two versions, the first."""
    gathered = Gathered()
    inside: Counter[str] = Counter()

    def start(name: str, attributes: dict[str, str]) -> None:
        inside[name] += 1
        if name in ("tab", "br"):
            gathered.add(" ")

    def end(name: str) -> None:
        inside[name] -= 1
        if name == "p":
            gathered.add("\n")

    def text(content: str) -> None:
        if inside["t"] and not inside["Fallback"]:
            gathered.add(content)

    read_xml(_archive(data).read("word/document.xml"), gathered, start, end, text)
    return gathered.text


def _epub(data: bytes, path: Path) -> str:
    """The pages in the order of the spine."""
    archive, gathered = _archive(data), Gathered()
    books: list[str] = []
    places: dict[str, str] = {}
    order: list[str] = []

    def find_book(name: str, attributes: dict[str, str]) -> None:
        if name == "rootfile":
            books.append(attributes.get("full-path", ""))

    def find_page(name: str, attributes: dict[str, str]) -> None:
        if name == "item":
            places[attributes.get("id", "")] = attributes.get("href", "")
        elif name == "itemref":
            order.append(attributes.get("idref", ""))

    read_xml(archive.read("META-INF/container.xml"), gathered, find_book)
    if not books:
        raise ValueError("its container names no book")
    read_xml(archive.read(books[0]), gathered, find_page)
    folder = posixpath.dirname(books[0])
    for place in (places.get(one) for one in order):
        if place:
            page = archive.read(posixpath.normpath(posixpath.join(folder, unquote(place))))
            read_html(decode_text(page, path), gathered)
            gathered.add("\n\n")
    return _tidy(gathered.text)


def _tei(data: bytes, path: Path) -> str:
    """The first body of the text without header, notes and page furniture."""
    gathered = Gathered()
    inside = aside = bodies = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal inside, aside, bodies
        bodies += name == "body"
        if inside or (name == "body" and bodies == 1):
            inside += 1
            aside += bool(aside) or name in _ASIDE

    def end(name: str) -> None:
        nonlocal inside, aside
        if inside:
            inside -= 1
            aside -= bool(aside)
            if not aside:
                gathered.add(" " if name in ("lb", "pb", "cb") else "\n" if name in _APART else "")

    def text(content: str) -> None:
        if inside and not aside:
            gathered.add(content)

    read_xml(data, gathered, start, end, text)
    if not bodies:
        raise ValueError("it has no <body>; expected a TEI edition of a text")
    return _tidy(gathered.text)


def _archive(data: bytes) -> Archive:
    return Archive(io.BytesIO(data), MAX_TEXT_BYTES)


def _tidy(text: str) -> str:
    return re.sub(r"\n[ \t\n]*\n", "\n\n", text).strip() + "\n"


READERS: dict[str, Callable[[bytes, Path], str]] = {
    ".txt": decode_text,
    ".html": _html,
    ".htm": _html,
    ".xhtml": _html,
    ".docx": _docx,
    ".epub": _epub,
    ".xml": _tei,
}
