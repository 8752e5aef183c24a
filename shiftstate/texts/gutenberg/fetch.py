"""Fetching books: with retries, checksums, and a folder that a later call goes on filling."""

import hashlib
import http.client
import re
import time
import urllib.error
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from shiftstate.checks import check_whole
from shiftstate.files import make_directory, read_regular, remove_leftovers, write_whole
from shiftstate.texts.gutenberg.boilerplate import WrongText, strip_boilerplate
from shiftstate.texts.gutenberg.catalogue import Book, check_book
from shiftstate.texts.gutenberg.download import Deadline, Late, TooLarge, download

GUTENBERG = "https://www.gutenberg.org"
LOCATIONS = ("cache/epub/{id}/pg{id}.txt", "files/{id}/{id}-0.txt")
"""Where a server may keep a book as plain text in UTF-8; archives are never asked for."""
SUMS = "SHA256SUMS"
"""Checksums of the finished files, as ``sha256sum --check`` reads them."""
MAX_WAIT = 60.0
"""Seconds before a retry, whatever a server asks for."""
LONGEST_WAIT = 86_400.0


class FetchError(OSError):
    """Some books could not be had; the others are stored."""


@dataclass(frozen=True)
class Fetched:
    """What a call found and did."""

    new: int
    kept: int
    """Files of an earlier call."""
    other_edition: tuple[str, ...]
    """New files whose words are not exactly the catalogue's."""


def fetch(
    books: Sequence[Book],
    out: Path,
    *,
    mirror: str = GUTENBERG,
    strict: bool = False,
    attempts: int = 5,
    pause: float = 1.0,
    timeout: float = 30.0,
    deadline: float = 40.0,
    say: Callable[[str], None] = lambda line: None,
    sleep: Callable[[float], None] = time.sleep,
) -> Fetched:
    """Fetch what ``out`` does not hold yet of ``books``, one file each, stripped of Gutenberg's boilerplate.

    A file appears under its name only when it is whole. Books that cannot be had are left out, the rest is
    fetched, and a ``FetchError`` names them at the end; a server that cannot be reached ends the call at once.

    Args:
        books: from ``load_catalogue``.
        out: the folder; files go to ``out/author/``, their checksums to ``out/SHA256SUMS``.
        mirror: address of the server.
        strict: refuse every text that is not word for word the catalogue's edition.
        attempts: tries for each book.
        pause: seconds between two books, as Gutenberg asks of programs; doubled with every retry of a book.
        timeout: seconds that a server may stay silent.
        deadline: seconds for each book, over all tries, without the waits between them.
        say: is told every step.
        sleep: waits.
    """
    check_whole("attempts", attempts, 1)
    for name, seconds in (("timeout", timeout), ("deadline", deadline)):
        if not 0 < seconds < LONGEST_WAIT:
            raise ValueError(f"{name} is {seconds!r}; expected a number of seconds above 0, up to {LONGEST_WAIT:g}")
    if urlsplit(mirror).scheme not in ("http", "https") or not urlsplit(mirror).netloc:
        raise ValueError(f"mirror is {mirror!r}; expected an address that starts with https:// or http://")
    make_directory(out, "the texts")
    sums = _read_sums(out)
    kept = {book.path for book in books if _is_whole(out / book.path, sums.get(book.path))}
    missing = [book for book in books if book.path not in kept]
    failures: list[str] = []
    others: list[str] = []
    for number, book in enumerate(missing, 1):
        say(f"{number} of {len(missing)}: {book.author}, {book.title}")
        if number > 1:
            sleep(pause)
        try:
            text, same = _get(book, mirror, strict, attempts, pause, timeout, Deadline(deadline), say, sleep)
        except _Unavailable as error:
            failures.append(f"{book.title} ({book.id}): {error}")
            say(f"not fetched: {failures[-1]}")
            continue
        if not same:
            others.append(book.path)
        sums[book.path] = _store(out / book.path, text.encode())
        _store(out / SUMS, "".join(f"{value}  {name}\n" for name, value in sorted(sums.items())).encode())
    if failures:
        raise FetchError(f"{len(failures)} of {len(books)} books could not be fetched: {'; '.join(failures[:5])}")
    return Fetched(len(missing), len(kept), tuple(others))


class _Unavailable(Exception):
    """A book that no try brought."""


def _get(
    book: Book,
    mirror: str,
    strict: bool,
    attempts: int,
    pause: float,
    timeout: float,
    deadline: Deadline,
    say: Callable[[str], None],
    sleep: Callable[[float], None],
) -> tuple[str, bool]:
    """The text, and whether it is the catalogue's edition."""
    problem = "nothing was tried"
    for attempt in range(1, attempts + 1):
        wait = pause * 2**attempt
        try:
            text = strip_boilerplate(_download(book, mirror, timeout, deadline))
            return text, check_book(book, text, strict)
        except urllib.error.HTTPError as error:
            error.close()
            problem = f"the server answers {error.code}"
            if error.code != 429 and error.code < 500:
                break  # it will not change its mind
            asked = error.headers.get("Retry-After", "")
            wait = max(wait, float(asked)) if re.fullmatch(r"[0-9]{1,6}", asked) else wait
        except urllib.error.URLError as error:
            problem = f"{mirror} cannot be reached ({error.reason})"
            if attempt == attempts:
                raise FetchError(problem) from None
        except Late as error:
            raise _Unavailable(f"{error}; a slow server needs a longer deadline") from None
        except (OSError, http.client.HTTPException) as error:
            problem = f"the connection broke ({error or type(error).__name__})"
        except UnicodeDecodeError:
            problem = "the text is not UTF-8"
        except WrongText as error:
            problem = str(error)
        if attempt < attempts:
            wait = min(wait, MAX_WAIT)
            say(f"try {attempt} of {attempts}: {problem}; again in {wait:g} s")
            sleep(wait)
    raise _Unavailable(problem)


def _download(book: Book, mirror: str, timeout: float, deadline: Deadline) -> str:
    """The text from the first location, or from the second where the server does not know the first."""
    first, second = (f"{mirror.rstrip('/')}/{location.format(id=book.id)}" for location in LOCATIONS)
    try:
        data = _read(first, timeout, deadline)
    except urllib.error.HTTPError as error:
        if error.code != 404:
            raise
        error.close()
        data = _read(second, timeout, deadline)
    return data.decode("utf-8-sig")


def _read(address: str, timeout: float, deadline: Deadline) -> bytes:
    try:
        data, promised = download(address, timeout, deadline)
    except TooLarge as error:
        raise WrongText(str(error)) from None
    if promised.isdigit() and len(data) < int(promised):
        raise WrongText(f"{len(data)} of {promised} bytes came")
    return data


def _is_whole(path: Path, expected: str | None) -> bool:
    try:
        return expected is not None and hashlib.sha256(read_regular(path, "a text")).hexdigest() == expected
    except ValueError:
        return False


def _read_sums(out: Path) -> dict[str, str]:
    """Checksums of an earlier call; lines that are none are left out, and their books fetched again."""
    if not (out / SUMS).exists():
        return {}
    lines = read_regular(out / SUMS, "the checksums of an earlier call").decode("utf-8", "replace").splitlines()
    found = [re.fullmatch(r"([0-9a-f]{64})  ([A-Za-z0-9_./-]+)", line) for line in lines]
    return {match[2]: match[1] for match in found if match}


def _store(path: Path, data: bytes) -> str:
    """Write a file, whole or not at all, and remove what a killed call left of it; return its checksum."""
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path.parent, [path.name])
    write_whole(path, data)
    return hashlib.sha256(data).hexdigest()
