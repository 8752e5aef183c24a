"""A text file as a string; anything that is no text raises."""

import unicodedata
from collections.abc import Iterable
from pathlib import Path

from shiftstate.files import read_regular
from shiftstate.limits import MAX_CHARACTERS, MAX_TEXT_BYTES


def read_text(path: str | Path) -> str:
    """The text of a UTF-8 file, with or without a byte order mark; anything that is no text is refused."""
    return check_text(decode_text(read_regular(path, "a text file", MAX_TEXT_BYTES), path), path)


def check_text(text: str, path: str | Path) -> str:
    """Return the text of ``path``; one without words raises, and one that is too long."""
    if not any(character.isalpha() for character in text):
        raise ValueError(f"{path} holds no words; expected a text; is the file empty?")
    # a few dozen signs stand for whole words; one of them for a sentence of eighteen characters
    longer = {sign: len(unicodedata.normalize("NFKC", sign)) - 1 for sign in set(text) if not sign.isascii()}
    size = len(text) + sum(text.count(sign) * more for sign, more in longer.items() if more > 3)
    if size > MAX_CHARACTERS:
        raise ValueError(f"{path} has {size:,} characters; expected at most {MAX_CHARACTERS:,}: give it in parts")
    return text


def decode_text(data: bytes | bytearray, path: str | Path) -> str:
    """The bytes of ``path`` as text in UTF-8; zero bytes and other encodings raise."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(f"{path} is UTF-16; expected UTF-8: save it as UTF-8 first")
    if b"\0" in data:
        raise ValueError(f"{path} is a binary file (it holds zero bytes); expected a plain text in UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = data[error.start]
        raise ValueError(
            f"{path} is not UTF-8 (byte 0x{byte:02x} at {error.start}); expected a text in UTF-8; "
            "is it a binary file, or in an older encoding such as Latin-1 or Windows-1252?"
        ) from None


def read_books(paths: Iterable[str | Path]) -> list[str]:
    """``read_text`` of every file; two files of the same text are refused: excerpts would be counted twice."""
    texts: dict[str, str | Path] = {}
    for path in paths:
        text = read_text(path)
        if text in texts:
            raise ValueError(f"{texts[text]} and {path} hold the same text; expected every book once")
        texts[text] = path
    return list(texts)
