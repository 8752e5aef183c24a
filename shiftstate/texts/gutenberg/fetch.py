"""Fetching books: with retries, checksums, and a folder that a later call goes on filling."""

import hashlib
import http.client
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from shiftstate.checks import check_whole
from shiftstate.files import make_directory, remove_leftovers, write_whole
from shiftstate.texts.gutenberg.boilerplate import WrongText, strip_boilerplate
from shiftstate.texts.gutenberg.catalogue import Book, check_book

GUTENBERG = "https://www.gutenberg.org"
LOCATIONS = ("cache/epub/{id}/pg{id}.txt", "files/{id}/{id}-0.txt")
"""Where a server may keep a book as plain text in UTF-8; archives are never asked for."""
SUMS = "SHA256SUMS"
"""Checksums of the finished files, as ``sha256sum --check`` reads them."""
MAX_BYTES = 30_000_000
MAX_WAIT = 60.0
"""Seconds before a retry, whatever a server asks for."""


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
        say: is told every step.
        sleep: waits.
    """
    check_whole("attempts", attempts, 1)
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
            text, same = _get(book, mirror, strict, attempts, pause, timeout, say, sleep)
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
    say: Callable[[str], None],
    sleep: Callable[[float], None],
) -> tuple[str, bool]:
    """The text, and whether it is the catalogue's edition."""
    problem = "nothing was tried"
    for attempt in range(1, attempts + 1):
        wait = pause * 2**attempt
        try:
            text = strip_boilerplate(_download(book, mirror, timeout))
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


def _download(book: Book, mirror: str, timeout: float) -> str:
    """The text from the first location, or from the second where the server does not know the first."""
    first, second = (f"{mirror.rstrip('/')}/{location.format(id=book.id)}" for location in LOCATIONS)
    try:
        data = _read(first, timeout)
    except urllib.error.HTTPError as error:
        if error.code != 404:
            raise
        error.close()
        data = _read(second, timeout)
    return data.decode("utf-8-sig")


def _read(address: str, timeout: float) -> bytes:
    request = urllib.request.Request(address, headers={"User-Agent": "shiftstate (one book at a time)"})
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        data: bytes = answer.read(MAX_BYTES + 1)
        expected = answer.headers.get("Content-Length", "")
    if len(data) > MAX_BYTES:
        raise WrongText(f"it is larger than {MAX_BYTES} bytes")
    if expected.isdigit() and len(data) < int(expected):  # reading with a limit does not notice it
        raise WrongText(f"{len(data)} of {expected} bytes came")
    return data


def _is_whole(path: Path, expected: str | None) -> bool:
    try:
        return expected is not None and hashlib.sha256(path.read_bytes()).hexdigest() == expected
    except OSError:
        return False


def _read_sums(out: Path) -> dict[str, str]:
    """Checksums of an earlier call; lines that are none are left out, and their books fetched again."""
    try:
        lines = (out / SUMS).read_text("utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    found = [re.fullmatch(r"([0-9a-f]{64})  ([A-Za-z0-9_./-]+)", line) for line in lines]
    return {match[2]: match[1] for match in found if match}


def _store(path: Path, data: bytes) -> str:
    """Write a file, whole or not at all, and remove what a killed call left of it; return its checksum."""
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path.parent, [path.name])
    write_whole(path, data)
    return hashlib.sha256(data).hexdigest()
