"""What Project Gutenberg puts around a book, and the book without it."""

import re

_MARK = r"^[ \t]*\*{3}[ \t]*%s OF (?:THE|THIS) PROJECT GUTENBERG E-?(?:BOOK|TEXT)\b.{0,400}?\*{3}[ \t]*$"
_START = re.compile(_MARK % "START", re.MULTILINE | re.DOTALL | re.IGNORECASE)
_END = re.compile(_MARK % "END", re.MULTILINE | re.DOTALL | re.IGNORECASE)
_CREDIT = re.compile(
    r"(?:produced|prepared|transcribed|scanned|e-?text (?:prepared|produced|scanned)) (?:by|from)\b", re.I
)
_FAREWELL = re.compile(r"\n[ \t]*End of (?:the |this )?Project Gutenberg.{0,400}\Z", re.DOTALL | re.IGNORECASE)


class WrongText(Exception):
    """What a server sent is not the book."""


def strip_boilerplate(text: str) -> str:
    """The book alone: what stands between the lines *** START OF … *** and *** END OF … ***, without credits.

    Where one of them is missing the text is incomplete, or none of Gutenberg's, and refused as ``WrongText``.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    start = _START.search(text)
    if start is None:
        raise WrongText("no line *** START OF THE PROJECT GUTENBERG EBOOK … ***")
    end = _END.search(text, start.end())
    if end is None:
        raise WrongText("no line *** END OF THE PROJECT GUTENBERG EBOOK … ***: the text is cut off")
    body = _FAREWELL.sub("", text[start.end() : end.start()].strip("\n").rstrip())
    paragraphs = re.split(r"\n(?:[ \t]*\n)+", body)
    while paragraphs and _CREDIT.match(paragraphs[0].lstrip(" \t_*[(")):
        del paragraphs[0]
    body = "\n\n".join(paragraphs).strip("\n")
    if not body.strip():
        raise WrongText("nothing between its first and its last line")
    return f"{body}\n"
