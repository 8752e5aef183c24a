"""What Project Gutenberg puts around a book, and the book without it."""

import re
from itertools import dropwhile

_HEAD = r"^[ \t]*\*{3}[ \t]*%s OF (?:THE|THIS) PROJECT GUTENBERG E-?(?:BOOK|TEXT)\b"
_START = re.compile(_HEAD % "START", re.MULTILINE | re.IGNORECASE)
_END = re.compile(_HEAD % "END", re.MULTILINE | re.IGNORECASE)
_STARS = re.compile(r"\*{3}[ \t]*$", re.MULTILINE)
_LONGEST = 400
"""Characters of a title between the two parts of a mark; it may go over several lines."""
_CREDIT = re.compile(
    r"(?:produced|prepared|transcribed|scanned|e-?text (?:prepared|produced|scanned)) (?:by|from)\b", re.I
)
_SMALL_PRINT = re.compile(r"^\*END\*? ?THE SMALL PRINT.*$", re.MULTILINE | re.IGNORECASE)
"""The last line of the header of books before 2002."""
_LAST_LINE = re.compile(r"^[ \t*]*End of (?:the |this )?Project Gutenberg", re.MULTILINE | re.IGNORECASE)
_FAREWELL = re.compile(r"\n[ \t]*End of (?:the |this )?Project Gutenberg.{0,400}\Z", re.DOTALL | re.IGNORECASE)


class WrongText(Exception):
    """What a server sent is not the book."""


def strip_boilerplate(text: str) -> str:
    """The book alone: what stands between the lines *** START OF … *** and *** END OF … ***, without credits.

    Where one of them is missing the text is incomplete, or none of Gutenberg's, and refused as ``WrongText``.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    stars = [(match.start(), match.end()) for match in _STARS.finditer(text)]
    start = _find_mark(text, _START, stars, 0)
    if start is None:
        raise WrongText("no line *** START OF THE PROJECT GUTENBERG EBOOK … ***")
    end = _find_mark(text, _END, stars, start[1])
    if end is None:
        raise WrongText("no line *** END OF THE PROJECT GUTENBERG EBOOK … ***: the text is cut off")
    body = text[start[1] : end[0]].strip("\n").rstrip()
    farewell = _FAREWELL.search(body, max(0, len(body) - 2 * _LONGEST))
    body = body[: farewell.start()] if farewell else body
    paragraphs = re.split(r"\n(?:[ \t]*\n)+", body)
    story = dropwhile(lambda paragraph: _CREDIT.match(paragraph.lstrip(" \t_*[(")), paragraphs)
    body = "\n\n".join(story).strip("\n")
    if not body.strip():
        raise WrongText("nothing between its first and its last line")
    return f"{body}\n"


def strip_what_is_there(text: str) -> str:
    """The text without those parts of Gutenberg's header and licence that are found, old forms too; or as it is."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    stars = [(match.start(), match.end()) for match in _STARS.finditer(text)]
    start = _find_mark(text, _START, stars, 0)
    old = _SMALL_PRINT.search(text)
    begin = start[1] if start else old.end() if old else 0
    last = _END.search(text, begin) or _LAST_LINE.search(text, begin)
    body = text[begin : last.start()] if last else text[begin:]
    return f"{body.strip()}\n" if body.strip() else text


def _find_mark(text: str, head: re.Pattern[str], stars: list[tuple[int, int]], begin: int) -> tuple[int, int] | None:
    """Where the first whole mark from ``begin`` on starts and ends: its head, a title, and three stars.

    One pass over heads and stars: texts full of heads without an end take no longer than others.
    """
    following = 0
    for found in head.finditer(text, begin):
        while following < len(stars) and stars[following][0] < found.end():
            following += 1
        if following == len(stars):
            return None
        if stars[following][0] - found.end() <= _LONGEST:
            return found.start(), stars[following][1]
    return None
