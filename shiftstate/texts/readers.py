"""Texts in the formats of word processors, readers and editions: .txt, .html, .docx, .epub and TEI .xml.

All of them are plain text, HTML, or XML in a zip archive, and only their paragraphs are wanted: the standard library
reads them, and nothing has to be installed.
"""

import io
import posixpath
import re
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Callable, Iterable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from shiftstate.files import read_regular
from shiftstate.texts.gutenberg.boilerplate import WrongText, strip_boilerplate, strip_what_is_there
from shiftstate.texts.reading import decode_text
from shiftstate.texts.word_lists import WORD_FILE

MAX_BYTES = 200_000_000
"""Of one part of an archive, unpacked."""
_BLOCKS = {"p", "div", "br", "li", "tr", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "hr"}
_SKIPPED = {"script", "style", "head", "nav", "noscript", "template"}
_VOID = {"br", "hr", "img", "meta", "link", "input", "area", "base", "col", "embed", "source", "track", "wbr"}
_ASIDE = {"teiHeader", "note", "fw", "figDesc"}
"""Of a TEI edition: what is not the author's text."""
_APART = {"p", "l", "head", "ab", "sp", "div", "speaker", "stage", "item"}


def read_document(path: str | Path) -> str:
    """The text of a file by its ending: .txt, .html, .htm, .xhtml, .docx, .epub or .xml (TEI)."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise ValueError(f"{path} ends in {path.suffix!r}; expected one of {', '.join(READERS)}")
    data = read_regular(path, "a text")
    try:
        text = READERS[suffix](data, path)
    except ValueError:
        raise
    except Exception as error:  # XML and zip readers raise a dozen kinds on damaged files
        raise ValueError(f"{path} is no {suffix} file ({error}); expected a text; is it damaged?") from None
    if not any(character.isalpha() for character in text):
        raise ValueError(f"{path} holds no words; expected a text; is the file empty?")
    return text


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


class _Paragraphs(HTMLParser):
    """The visible text of a page, blocks apart."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SKIPPED:
            self.hidden += 1
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SKIPPED:
            self.hidden = max(0, self.hidden - 1)
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.parts.append(data)


def _html(data: bytes, path: Path) -> str:
    page = _Paragraphs()
    page.feed(decode_text(data, path))
    page.close()
    return _tidy("".join(page.parts))


def _docx(data: bytes, path: Path) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        root = ET.fromstring(_member(archive, "word/document.xml"))
    paragraphs = (element for element in root.iter() if _name(element) == "p")
    return "\n".join("".join(_word_parts(paragraph)) for paragraph in paragraphs)


def _word_parts(paragraph: ET.Element) -> Iterable[str]:
    for element in paragraph.iter():
        if _name(element) == "t":
            yield element.text or ""
        elif _name(element) in ("tab", "br"):
            yield " "


def _epub(data: bytes, path: Path) -> str:
    """The pages in the order of the spine."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        container = ET.fromstring(_member(archive, "META-INF/container.xml"))
        book = next((one.get("full-path", "") for one in container.iter() if _name(one) == "rootfile"), "")
        package = ET.fromstring(_member(archive, book))
        places = {one.get("id"): one.get("href", "") for one in package.iter() if _name(one) == "item"}
        order = [places.get(one.get("idref"), "") for one in package.iter() if _name(one) == "itemref"]
        folder = posixpath.dirname(book)
        pages = [posixpath.normpath(posixpath.join(folder, unquote(place))) for place in order if place]
        return "\n".join(_html(_member(archive, page), path) for page in pages)


def _tei(data: bytes, path: Path) -> str:
    """The body of the text without header, notes and page furniture."""
    root = ET.fromstring(data)
    body = next((element for element in root.iter() if _name(element) == "body"), None)
    if body is None:
        raise ValueError(f"{path} has no <body>; expected a TEI edition of a text")
    parts: list[str] = []
    _collect(body, parts)
    return _tidy("".join(parts))


def _collect(element: ET.Element, parts: list[str]) -> None:
    """The text inside an element, without recursion: editions may be deep."""
    stack: list[tuple[ET.Element, bool]] = [(element, False)]
    while stack:
        current, left = stack.pop()
        name = _name(current)
        if left:
            parts.append(" " if name in ("lb", "pb", "cb") else "\n" if name in _APART else "")
            if current is not element:
                parts.append(current.tail or "")
            continue
        stack.append((current, True))
        if name not in _ASIDE:
            parts.append(current.text or "")
            stack.extend((child, False) for child in reversed(current))


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    entry = archive.getinfo(name)
    if entry.file_size > MAX_BYTES:
        raise ValueError(f"{name} unpacks to {entry.file_size / 1e6:,.0f} MB; expected at most {MAX_BYTES / 1e6:,.0f}")
    with archive.open(entry) as file:
        return file.read(MAX_BYTES)


def _name(element: ET.Element) -> str:
    """The tag without its name space."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


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
