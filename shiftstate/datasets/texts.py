"""Texts: found in a folder, read, and cut into sentences of words and excerpts of equal length."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from sys import intern

from shiftstate.checks import check_name, check_whole

Sentences = list[list[str]]

WORD_FILE = "function_words.txt"
"""A list of words that comes with texts; it is no text itself."""

_APOSTROPHES = "'’‘ʼ‛′´`＇"
_SENTENCE_ENDS = ".!?;:"
_WORD = re.compile(r"[^\s']+(?:'[^\s']+)*")  # after _plain: only letters, digits, apostrophes and spaces are left


def find_texts(root: str | Path) -> dict[str, list[Path]]:
    """The texts of every author below ``root``: ``root/author/*.txt`` and ``root/Author_Title.txt``.

    Where ``root`` holds a folder ``texts``, the authors are looked for there. Authors are in lower case; authors
    and files are sorted. Hidden files, and files directly in ``root`` without an underscore, are left out.
    """
    folder = Path(root)
    try:
        if (folder / "texts").is_dir():
            folder = folder / "texts"
        entries = sorted(folder.iterdir())
        found: dict[str, list[Path]] = {}
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                texts = sorted(file for file in entry.iterdir() if _is_text(file))
                if texts:
                    found.setdefault(entry.name.lower(), []).extend(texts)
            elif _is_text(entry) and not entry.name.startswith("_") and "_" in entry.stem:
                found.setdefault(entry.stem.partition("_")[0].lower(), []).append(entry)
    except OSError as error:
        raise ValueError(f"{root} cannot be read ({error.strerror}); expected a folder of texts") from None
    if not found:
        raise ValueError(f"{root} holds no texts; expected files author/*.txt or Author_Title.txt in it")
    return dict(sorted(found.items()))


def check_author(name: str, texts: Iterable[str]) -> str:
    """The author of ``texts`` (as ``find_texts`` names them) called ``name``; otherwise suggest the nearest."""
    return check_name("author", name.lower(), texts)


def read_text(path: str | Path) -> str:
    """The text of a UTF-8 file, with or without a byte order mark; anything that is no text is refused."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}); expected a text file") from None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(f"{path} is UTF-16; expected UTF-8: save it as UTF-8 first")
    if b"\0" in data:
        raise ValueError(f"{path} is a binary file (it holds zero bytes); expected a plain text in UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = data[error.start]
        raise ValueError(
            f"{path} is not UTF-8 (byte 0x{byte:02x} at {error.start}); expected a text in UTF-8; "
            "is it a binary file, or in an older encoding such as Latin-1 or Windows-1252?"
        ) from None
    if not any(character.isalpha() for character in text):
        raise ValueError(f"{path} holds no words; expected a text; is the file empty?")
    return text


def read_books(paths: Iterable[str | Path]) -> list[str]:
    """``read_text`` of every file; two files of the same text are refused: excerpts would be counted twice."""
    texts: dict[str, str | Path] = {}
    for path in paths:
        text = read_text(path)
        if text in texts:
            raise ValueError(f"{texts[text]} and {path} hold the same text; expected every book once")
        texts[text] = path
    return list(texts)


def tokenize(text: str) -> Sentences:
    """Sentences of lower-case words; a sentence ends at any of ``. ! ? ; :``.

    A word is a run of letters, marks and digits of any script, with apostrophes inside it ("don't", "o'clock";
    straight and curly are one). Dashes, hyphens, underscores and all other signs separate words; accents stay.
    Compatibility forms become plain ones first (ﬁ is fi, … is three stops), so equal words are equal strings.

    Example:
        >>> from shiftstate.datasets.texts import tokenize
        >>> tokenize("“Don’t _go_—stay!” He stayed: for tea-time.")
        [["don't", 'go', 'stay'], ['he', 'stayed'], ['for', 'tea', 'time']]
    """
    sentences = (_WORD.findall(sentence) for sentence in _plain(text).split("."))
    # a novel has twenty times as many words as different ones: share them
    return [list(map(intern, sentence)) for sentence in sentences if sentence]


def excerpts(sentences: Sequence[Sequence[str]], length: int = 1000) -> list[Sentences]:
    """Consecutive pieces of exactly ``length`` words, cut inside a sentence where they end there.

    Sentence breaks are kept; what is left over at the end is dropped, so a shorter text gives none.
    """
    check_whole("length", length, 1)
    pieces: list[Sentences] = []
    piece: Sentences = []
    room = length
    for sentence in sentences:
        rest = list(sentence)
        while len(rest) >= room:
            pieces.append([*piece, rest[:room]])
            rest, piece, room = rest[room:], [], length
        if rest:
            piece.append(rest)
            room -= len(rest)
    return pieces


def _is_text(file: Path) -> bool:
    return file.suffix.lower() == ".txt" and file.name[0] != "." and file.name != WORD_FILE and file.is_file()


def _plain(text: str) -> str:
    """Lower case, words of letters, digits and apostrophes, spaces between them, a full stop at sentence ends."""
    # before the compatibility forms: there ´ becomes a space with an accent, and a footnote's ² a letter of its word
    text = text.translate({ord(character): _first_role(character) for character in set(text)})
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())  # İ has two forms only then
    return text.translate({ord(character): _role(character) for character in set(text)})


@lru_cache(maxsize=4096)
def _first_role(character: str) -> str:
    """A straight apostrophe for every other one, a space for numbers that are no digits, else the character."""
    if character in _APOSTROPHES:
        return "'"
    return " " if unicodedata.category(character) == "No" else character


@lru_cache(maxsize=4096)
def _role(character: str) -> str:
    """The character itself in a word, "." at the end of a sentence, nothing if it is invisible, else a space."""
    kind = unicodedata.category(character)
    if character == "'" or kind[0] in "LMN":
        return character
    if character in _SENTENCE_ENDS:
        return "."
    return "" if kind == "Cf" else " "
