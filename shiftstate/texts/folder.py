"""The texts of a folder, by author."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from shiftstate.checks import check_name
from shiftstate.files import printable
from shiftstate.texts.word_lists import WORD_FILE

UNREAD = (".pdf", ".doc", ".odt", ".rtf", ".mobi", ".azw3", ".djvu")
"""Endings of texts for which there is no reader."""


def find_texts(root: str | Path, suffixes: Sequence[str] = (".txt",)) -> dict[str, list[Path]]:
    """The texts of every author below ``root``: ``root/author/*.txt`` and ``root/Author_Title.txt``.

    Where ``root`` holds a folder ``texts``, the authors are looked for there. Authors are in lower case; authors
    and files are sorted. Hidden files, and files directly in ``root`` without an underscore, are left out.
    ``suffixes`` are the endings of files that count, in lower case.
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
                texts = sorted(file for file in entry.iterdir() if _is_text(file, suffixes))
                if texts:
                    found.setdefault(printable(entry.name.lower()), []).extend(texts)
            elif _is_text(entry, suffixes) and not entry.name.startswith("_") and "_" in entry.stem:
                found.setdefault(printable(entry.stem.partition("_")[0].lower()), []).append(entry)
    except OSError as error:
        raise ValueError(f"{root} cannot be read ({error.strerror}); expected a folder of texts") from None
    if not found:
        raise ValueError(f"{root} holds no texts; expected files author/*.txt or Author_Title.txt in it")
    return dict(sorted(found.items()))


def title_of(path: Path) -> str:
    """A text's title: the file's name without its ending, as far as it can be shown."""
    return printable(path.stem)


def find_left_out(root: str | Path, suffixes: Sequence[str]) -> list[Path]:
    """Files below ``root`` that look like texts and that `find_texts` leaves out: for their place or their ending."""
    folder = Path(root) / "texts" if (Path(root) / "texts").is_dir() else Path(root)
    taken = {file for files in find_texts(root, suffixes).values() for file in files}
    endings = (*suffixes, *UNREAD)
    files = (file for depth in ("*", "*/*", "*/*/*") for file in sorted(folder.glob(depth)))
    return [file for file in files if file not in taken and _is_text(file, endings)]


def find_authors(root: str | Path, least_books: int = 1) -> tuple[str, ...]:
    """The authors of a folder who have at least so many books, as `find_texts` names and sorts them."""
    return tuple(author for author, paths in find_texts(root).items() if len(paths) >= least_books)


def check_author(name: str, texts: Iterable[str]) -> str:
    """The author of ``texts`` (as ``find_texts`` names them) called ``name``; otherwise suggest the nearest."""
    return check_name("author", name.lower(), texts)


def _is_text(file: Path, suffixes: Sequence[str]) -> bool:
    return file.suffix.lower() in suffixes and file.name[0] != "." and file.name != WORD_FILE and file.is_file()
