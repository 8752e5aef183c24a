"""Gather the words of XML and HTML in one pass: time and memory grow with the size of the file and no faster.

Trees of elements and the standard library's HTML parser are not used here: a tree takes twenty times the memory of its
file, and that parser takes quadratic time for pages of unfinished tags.
"""

import re
from collections.abc import Callable
from html import unescape
from xml.parsers import expat

from shiftstate.limits import MAX_CHARACTERS, MAX_DEPTH, MAX_ELEMENTS, MAX_ENTITY

_BLOCKS = {"p", "div", "br", "li", "tr", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "hr"}
_SKIPPED = {"script", "style", "head", "nav", "noscript", "template"}
_RAW = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in ("script", "style")}
"""Where elements end whose content is no markup."""
_TAG = re.compile(r"</?([a-zA-Z][^\s/>]*)")
_TAG_END = re.compile(r">|=\s*([\"'])")
"""The end of a tag, or a quoted value, in which a > is no end."""
_COMMENT_END = re.compile(r"--!?>")
_NO_CHARACTER = re.compile(r"&#(?:0*[1-9][0-9]{7,}|[xX]0*[1-9a-fA-F][0-9a-fA-F]{6,});?")
"""References beyond the last character; Python reads no number of more than 4,300 digits."""


class Gathered:
    """The text of one document, piece by piece; too much of it, or of markup, raises."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._characters = self._elements = 0

    def add(self, text: str) -> None:
        """Append to the text."""
        self._parts.append(text)
        self._characters += len(text)
        check_characters(self._characters)

    def count_element(self) -> None:
        """One more tag was read."""
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise ValueError(f"it has more than {MAX_ELEMENTS:,} elements; expected fewer in a text")

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._parts)


def check_characters(count: int) -> None:
    """Raise for more characters than a text may have."""
    if count > MAX_CHARACTERS:
        raise ValueError(f"its text has more than {MAX_CHARACTERS:,} characters; expected fewer: give it in parts")


def read_xml(
    data: bytes | bytearray,
    gathered: Gathered,
    start: Callable[[str, dict[str, str]], None] = lambda name, attributes: None,
    end: Callable[[str], None] = lambda name: None,
    text: Callable[[str], None] = lambda content: None,
) -> None:
    """Call these for every start of an element, its end, and text; names are without their name space.

    Entities that are declared in the document may stand for a little plain text; others raise, and so does a reference
    to one that is not declared: nothing is fetched, and nothing is left out silently.
    """
    parser = expat.ParserCreate(namespace_separator="}")
    depth = 0

    def enter(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        gathered.count_element()
        if depth > MAX_DEPTH:
            raise ValueError(f"its elements are nested more than {MAX_DEPTH:,} deep; expected fewer levels")
        start(name.rpartition("}")[2], attributes)

    def leave(name: str) -> None:
        nonlocal depth
        depth -= 1
        end(name.rpartition("}")[2])

    parser.StartElementHandler = enter
    parser.EndElementHandler = leave
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = _check_entity
    parser.SkippedEntityHandler = _no_entity
    parser.ExternalEntityRefHandler = _no_entity
    parser.buffer_text = True
    parser.Parse(bytes(data), True)


def _check_entity(name: str, parameter: int, value: str | None, *_: object) -> None:
    if not parameter and value is not None and (len(value) > MAX_ENTITY or "&" in value or "<" in value):
        raise ValueError(f"its entity {name[:40]!r} is no plain text of at most {MAX_ENTITY} characters")


def _no_entity(name: str, parameter: object, *_: object) -> int:
    if parameter != 1:
        raise ValueError(f"its entity {str(name)[:40]!r} is not declared in it; expected characters")
    return 1


def read_html(page: str, gathered: Gathered) -> None:
    """Gather the visible text of a page, blocks apart, from left to right; no place is looked at again and again."""
    hidden = place = 0
    seeker = _Seeker(page)
    while place < len(page):
        opening = page.find("<", place)
        opening = len(page) if opening < 0 else opening
        if not hidden and opening > place:
            gathered.add(_characters(page[place:opening]))
        tag = _TAG.match(page, opening)
        after = seeker.tag_end(tag.end()) if tag else seeker.no_tag_end(opening)
        if after is None:  # an unfinished tag, or a < that is none: text
            gathered.add("" if hidden else page[opening : opening + 1])
            place = opening + 1
            continue
        place = after
        gathered.count_element()
        name = tag[1].lower() if tag else ""
        if name in _SKIPPED:
            closed, alone = page[opening + 1] == "/", page[after - 2] == "/"
            hidden = max(0, hidden - 1) if closed else hidden if alone else hidden + 1
            if name in _RAW and not closed and not alone:
                found = _RAW[name].search(page, after)
                place = found.start() if found else len(page)
        elif name in _BLOCKS:
            gathered.add("\n")


class _Seeker:
    """Ends of tags and comments; that there is none after a place is remembered, not looked for again."""

    def __init__(self, page: str) -> None:
        self.page = page
        self._last = {end: page.rfind(end) for end in (">", '"', "'", "]]>", "--")}

    def tag_end(self, place: int) -> int | None:
        """The place after the tag whose name ends at ``place``; None if it is not finished."""
        start = place
        while place <= self._last[">"]:
            found = _TAG_END.search(self.page, place)
            assert found is not None, "there is a >"
            if not found[1]:
                return found.end()
            place = found.end()
            if place <= self._last[found[1]]:
                place = self.page.index(found[1], place) + 1
        if start > self._last[">"]:
            return None
        self._last['"'] = self._last["'"] = -1  # a value without an end: from here on quotes are signs like others
        return self.page.index(">", start) + 1

    def no_tag_end(self, place: int) -> int | None:
        """The place after a comment, declaration or instruction that begins at ``place``; None if none does."""
        if self.page.startswith("<!--", place) and place <= self._last["--"]:
            found = _COMMENT_END.search(self.page, place + 2)
            if found:
                return found.end()
            self._last["--"] = -1
        if self.page.startswith("<![CDATA[", place) and place <= self._last["]]>"]:
            return self.page.index("]]>", place) + 3
        if self.page.startswith(("<!", "<?", "</"), place) and place <= self._last[">"]:
            return self.page.index(">", place) + 1
        return None


def _characters(text: str) -> str:
    return unescape(_NO_CHARACTER.sub("\ufffd", text)) if "&" in text else text
