"""A text as sentences of words, and cut into excerpts of equal length."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from sys import intern

from shiftstate.checks import check_whole

Sentences = list[list[str]]

_APOSTROPHES = "'’‘ʼ‛′´`＇"
_SENTENCE_ENDS = ".!?;:" + "。।॥؟؛۔።"
"""The last ones of Chinese and Japanese, Hindi, Arabic and Persian, Urdu, and Amharic."""
_ONE_WORD_EACH = (
    ("\u3041", "\u309f"),  # Hiragana
    ("\u3400", "\u4dbf"),
    ("\u4e00", "\u9fff"),  # Chinese characters
    ("\uf900", "\ufaff"),
    ("\U00020000", "\U0003ffff"),
)
"""First and last characters of scripts without spaces in which a character is nearly a word (Unicode's rule, too)."""
_MIDDLE_DOTS = "·‧"
_LONE_DOT = re.compile(r"(?<![^\W\d_])·|·(?![^\W\d_])")
"""A middle dot that is not between two letters; between them it belongs to the word (Unicode's rule, too)."""
_WORD = re.compile(
    r"[^\s']+(?:'[^\s']+)*"
)  # after _plain: only letters, digits, apostrophes, middle dots and spaces are left


def tokenize(text: str) -> Sentences:
    """Sentences of lower-case words; a sentence ends at any of ``. ! ? ; :``, or at its sign in other scripts.

    A word is a run of letters, marks and digits of any script, with apostrophes inside it ("don't", "o'clock";
    straight and curly are one), and middle dots between letters (Catalan "col·legi"). Dashes, hyphens,
    underscores and all other signs separate words; accents stay.
    Chinese characters and Hiragana are words of one character each; Thai, Lao, Khmer and Burmese, which have no spaces
    either, stay runs: put spaces between their words first.
    Compatibility forms become plain ones first (ﬁ is fi, … is three stops), so equal words are equal strings.

    Example:
        >>> from shiftstate.texts import tokenize
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


def _plain(text: str) -> str:
    """Lower case, words of letters, digits and apostrophes, spaces between them, a full stop at sentence ends."""
    text = _limited_marks(text)
    # before the compatibility forms: there ´ becomes a space with an accent, and a footnote's ² a letter of its word
    text = text.translate({ord(character): _first_role(character) for character in set(text)})
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())  # İ has two forms only then
    text = text.translate({ord(character): _role(character) for character in set(text)})
    return _LONE_DOT.sub(" ", text) if "·" in text else text


def _limited_marks(text: str) -> str:
    """At most thirty combining marks in a row (Unicode's stream-safe form): ordering them takes quadratic time."""
    marks = "".join(character for character in set(text) if unicodedata.combining(character))
    return re.sub(f"([{re.escape(marks)}]{{30}})", "\\1\u034f", text) if marks else text


@lru_cache(maxsize=4096)
def _first_role(character: str) -> str:
    """One kind of apostrophe and of middle dot, a space for numbers that are no digits, else the character."""
    if character in _APOSTROPHES:
        return "'"
    if character in _MIDDLE_DOTS:
        return "·"
    return " " if unicodedata.category(character) == "No" else character


@lru_cache(maxsize=4096)
def _role(character: str) -> str:
    """The character itself in a word, "." at the end of a sentence, nothing if it is invisible, else a space."""
    kind = unicodedata.category(character)
    if any(first <= character <= last for first, last in _ONE_WORD_EACH):
        return f" {character} "
    if "\ufe00" <= character <= "\ufe0f":  # how the character before it is drawn
        return ""
    if character in "'·" or kind[0] in "LMN":
        return character
    if character in _SENTENCE_ENDS:
        return "."
    return "" if kind == "Cf" else " "
