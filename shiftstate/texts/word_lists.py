"""Lists of words: the package's own, a file's, or the most frequent words of texts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import files
from itertools import chain
from pathlib import Path

from shiftstate.texts.reading import read_text
from shiftstate.texts.tokens import tokenize

WORD_FILE = "function_words.txt"
"""A list of words that comes with texts; it is no text itself."""


def load_words(
    spec: str | Path | None = None, texts: Iterable[Sequence[Sequence[str]]] | None = None
) -> tuple[str, ...]:
    """The words that become nodes, in their order.

    Args:
        spec: None: the package's own list of English function words. "auto:200": the 200 most frequent words of
            ``texts``, most frequent first. Otherwise a file with one word a line; # starts a comment.
        texts: tokenized texts, for "auto".
    """
    if spec is None:
        return _parse(files("shiftstate.texts").joinpath(WORD_FILE).read_text("utf-8"), "the own list")
    if isinstance(spec, str) and spec.startswith("auto:"):
        return _most_frequent(spec, texts)
    return _parse(read_text(spec), str(spec))


def find_words(root: str | Path) -> Path | None:
    """The list of words that comes with a folder of texts, ``function_words.txt`` in it or beside its ``texts``."""
    folder = Path(root)
    places = [folder, folder.parent] if folder.name == "texts" else [folder]
    return next((place / WORD_FILE for place in places if (place / WORD_FILE).is_file()), None)


def _most_frequent(spec: str, texts: Iterable[Sequence[Sequence[str]]] | None) -> tuple[str, ...]:
    number = spec.removeprefix("auto:")
    if not (number.isascii() and number.isdigit() and int(number)):
        raise ValueError(f"words are {spec!r}; expected auto: and a whole number of at least 1, as in auto:200")
    if texts is None:
        raise ValueError(f"words are {spec!r} but no texts were given; expected texts to count the words of")
    counts = Counter(chain.from_iterable(chain.from_iterable(texts)))
    if len(counts) < int(number):
        raise ValueError(f"words are {spec!r} but the texts have {len(counts)} different words; expected no more")
    return tuple(sorted(counts, key=lambda word: (-counts[word], word))[: int(number)])


def _parse(content: str, source: str) -> tuple[str, ...]:
    """One word a line; every word as the tokenizer writes it."""
    lines: dict[str, int] = {}
    for number, line in enumerate(content.splitlines(), 1):
        entry = line.partition("#")[0].strip()
        if not entry:
            continue
        found = tokenize(entry)
        if len(found) != 1 or len(found[0]) != 1:
            raise ValueError(f"line {number} of {source} is {entry[:40]!r}; expected one word a line")
        word = found[0][0]
        if word in lines:
            raise ValueError(f"{source} holds {word!r} twice, on lines {lines[word]} and {number}; expected it once")
        lines[word] = number
    if not lines:
        raise ValueError(f"{source} holds no words; expected one word a line")
    return tuple(lines)
