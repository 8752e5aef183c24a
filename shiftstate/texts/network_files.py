"""From texts to the files of a word adjacency network, and the paper's Figure 2."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shiftstate.checks import check_whole
from shiftstate.files import make_directory, write_whole
from shiftstate.pictures import render
from shiftstate.texts.folder import check_author, find_texts
from shiftstate.texts.network_formats import check_format, wan_bytes
from shiftstate.texts.network_picture import draw_wan
from shiftstate.texts.reading import read_books
from shiftstate.texts.tokens import Sentences, excerpts, tokenize
from shiftstate.texts.word_lists import find_words, load_words
from shiftstate.texts.word_networks import check_network_size, wan, word_counts

PICTURES = (".svg", ".png")
GET_TEXTS = "give their folder as --texts DIR, or get the books by `shiftstate data fetch gutenberg --out DIR`"


@dataclass(frozen=True, eq=False)
class WordNetwork:
    """A WAN and what it was counted from."""

    texts: list[Sentences]
    words: tuple[str, ...]
    matrix: NDArray[np.int64]
    """(n, n), directed counts over all texts; nothing is counted from one text to the next."""
    counts: NDArray[np.int64]
    """(n), how often each word occurs."""


def count_network(
    paths: Sequence[Path],
    words: str | Path | None = None,
    window: int = 10,
    decay: float = 0.8,
    say: Callable[[str], None] = lambda line: None,
) -> WordNetwork:
    """The WAN of some texts together, over a list of words as ``load_words`` takes it."""
    chosen = None if str(words).startswith("auto:") else load_words(words)  # a bad list is known before the work
    texts = []
    for path, text in zip(paths, read_books(paths), strict=True):
        say(f"reading {path.name}")
        texts.append(tokenize(text))
    if chosen is None:
        chosen = load_words(words, texts)
    check_network_size(len(chosen))
    matrix = sum((wan(one, chosen, window, decay) for one in texts), np.zeros((len(chosen),) * 2, np.int64))
    counts = sum((word_counts(one, chosen) for one in texts), np.zeros(len(chosen), np.int64))
    return WordNetwork(texts, chosen, matrix, counts)


def write_wan(
    paths: Sequence[Path],
    out: Path,
    words: str | None = None,
    window: int = 10,
    decay: float = 0.8,
    excerpt_length: int | None = None,
    picture: Path | None = None,
    edges: int = 200,
    say: Callable[[str], None] = lambda line: None,
) -> WordNetwork:
    """Write the WAN of some texts to ``out``, and a picture of it.

    With ``excerpt_length`` an .npz also holds ``signals`` (excerpts, n), the words counted in each excerpt, and
    ``excerpts`` (excerpts, n, n), their WANs.
    """
    suffix = check_format(out)
    _check_place(out)
    check_whole("edges", edges, 1)
    if picture is not None:
        _check_picture(picture)
    if excerpt_length is not None and suffix != ".npz":
        raise ValueError(f"{out} has no place for excerpts; expected an .npz file with --excerpt-length")
    network = count_network(paths, words, window, decay, say)
    arrays = {} if excerpt_length is None else _excerpt_arrays(network, paths, excerpt_length, window, decay)
    contents = {out: wan_bytes(network.matrix, network.words, suffix, **arrays)}
    if picture is not None:
        say(f"drawing {picture.name}")
        names = ", ".join(path.stem for path in paths)
        title = f"Word adjacency network of {names if len(names) <= 60 else f'{names[:59]}…'}"
        figure = draw_wan(network.matrix, network.counts, network.words, title, edges)
        contents[picture] = render(figure, picture.suffix.lower()[1:])
    for path, content in contents.items():
        write_whole(path, content)
    return network


def reproduce_figure2(texts: Path | None, author: str, out: Path, edges: int = 200) -> tuple[Path, ...]:
    """The WAN of one author as in the paper's Figure 2: the picture, the network, and where both come from."""
    if texts is None:
        raise ValueError(f"figure2 needs texts; {GET_TEXTS}")
    found = find_texts(texts)
    name = check_author(author, found)
    source = find_words(texts)
    network = count_network(found[name], source)
    title = f"Word adjacency network of {name.replace('_', ' ').title()}"
    figure = draw_wan(network.matrix, network.counts, network.words, title, edges)
    story = {
        "author": name,
        "books": [path.name for path in found[name]],
        "words_from": "the package" if source is None else source.name,
        "text_words": sum(len(sentence) for text in network.texts for sentence in text),
        "edges_drawn": edges,
        "counts": dict(zip(network.words, network.counts.tolist(), strict=True)),
    }
    contents: dict[str, str | bytes] = {
        "figure2.svg": render(figure, "svg"),
        "figure2.png": render(figure, "png"),
        "figure2.npz": wan_bytes(network.matrix, network.words, ".npz"),
        "figure2.json": json.dumps(story, indent=2, ensure_ascii=False) + "\n",
    }
    make_directory(out)
    for file, content in contents.items():
        write_whole(out / file, content)
    return tuple(out / file for file in contents)


def _excerpt_arrays(
    network: WordNetwork, paths: Sequence[Path], length: int, window: int, decay: float
) -> dict[str, NDArray[np.int64]]:
    pieces: list[Sentences] = []
    for path, text in zip(paths, network.texts, strict=True):
        cut = excerpts(text, length)
        if not cut:
            total = sum(map(len, text))
            raise ValueError(f"{path} has {total} words; expected at least one excerpt of {length}")
        pieces += cut
    check_network_size(len(network.words), len(pieces))
    return {
        "signals": np.stack([word_counts(piece, network.words) for piece in pieces]),
        "excerpts": np.stack([wan(piece, network.words, window, decay) for piece in pieces]),
    }


def _check_picture(path: Path) -> None:
    if path.suffix.lower() not in PICTURES:
        raise ValueError(f"{path} ends in {path.suffix!r}; expected {' or '.join(PICTURES)}")
    _check_place(path)


def _check_place(path: Path) -> None:
    if path.is_dir() or not path.parent.is_dir():
        raise ValueError(f"{path} cannot be written; expected a file name in a folder that exists")
