"""Servers that would hold a download for ever: it ends at the deadline of the book, and nothing is stored."""

import socket
import threading
from contextlib import contextmanager, suppress

import pytest

from shiftstate.texts.gutenberg.boilerplate import WrongText, strip_boilerplate
from shiftstate.texts.gutenberg.catalogue import Book
from shiftstate.texts.gutenberg.download import Deadline, Late, download
from shiftstate.texts.gutenberg.fetch import FetchError, fetch

BOOK = Book("poe", 7, "Poe", "The Raven")
OTHER = Book("poe", 8, "Poe", "Lenore")
BODY = b"*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\nOnce.\n\n*** END OF THE PROJECT GUTENBERG EBOOK X ***\n"


@contextmanager
def serving(*behaviours):
    """A server whose n-th connection behaves as told, the last way from then on; address, and an event for its end."""
    over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    threads = []

    def accept():
        number = 0
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            behave = behaviours[min(number, len(behaviours) - 1)]
            number += 1
            thread = threading.Thread(target=serve, args=(behave, connection))
            thread.start()
            threads.append(thread)

    def serve(behave, connection):
        with connection, suppress(OSError):
            behave(connection, over)

    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        accepting.join()
        for thread in threads:
            thread.join()


def silent(connection, over):
    over.wait()


def half_a_body(connection, over):
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n" + BODY[:40])
    over.wait()


def endless_headers(connection, over):
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    while not over.wait(0.02):
        connection.sendall(b"a")


def a_byte_now_and_then(connection, over):
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while not over.wait(0.02):
        connection.sendall(b"a")


def round_in_circles(connection, over):
    connection.recv(4096)
    over.wait(0.2)
    connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def endless_chunks(connection, over):
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not over.wait(0.02):
        connection.sendall(b"1\r\na\r\n")


def good(connection, over):
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + BODY)


HOSTILE = [silent, half_a_body, endless_headers, a_byte_now_and_then, round_in_circles, endless_chunks]


@pytest.mark.parametrize("behave", HOSTILE)
def test_a_server_that_holds_the_line_is_left_at_the_deadline(behave, tmp_path):
    with serving(behave) as address, pytest.raises(FetchError, match=r"The Raven \(7\): it did not come within 0.5 s"):
        fetch([BOOK], tmp_path / "out", mirror=address, deadline=0.5, pause=0, sleep=lambda seconds: None)
    assert list((tmp_path / "out").iterdir()) == []


def test_the_deadline_is_one_for_all_tries_of_a_book(tmp_path):
    lines = []
    with serving(silent) as address, pytest.raises(FetchError, match=r"it did not come within 0\.6 s"):
        fetch(
            [BOOK], tmp_path, mirror=address, deadline=0.6, timeout=0.2, attempts=99, sleep=lambda seconds: None,
            say=lines.append,
        )  # fmt: skip
    assert sum(line.startswith("try ") for line in lines) <= 3


def test_the_next_book_has_a_deadline_of_its_own(tmp_path):
    with serving(silent, good) as address, pytest.raises(FetchError, match="1 of 2 books"):
        fetch([BOOK, OTHER], tmp_path, mirror=address, deadline=0.5, sleep=lambda seconds: None)
    assert (tmp_path / OTHER.path).read_text() == "Once.\n"


def test_a_deadline_that_has_passed_asks_nobody():
    deadline = Deadline(0.3)
    with serving(silent) as address:
        for _ in range(2):
            with pytest.raises(Late):
                download(f"{address}/x", 30, deadline)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e9])
@pytest.mark.parametrize("name", ["deadline", "timeout"])
def test_a_time_that_is_none_is_refused(tmp_path, name, seconds):
    with pytest.raises(ValueError, match=f"{name} is .*; expected a number of seconds above 0"):
        fetch([BOOK], tmp_path / "out", **{name: seconds})


LINE = "*** START OF THE PROJECT GUTENBERG EBOOK"


@pytest.mark.parametrize(
    "text",
    [
        f"{LINE}\n" * 200_000,
        f"{LINE} {'x' * 401} ***\n" * 20_000,
        f"{LINE} ***\n" + "*** END OF THE PROJECT GUTENBERG EBOOK\n" * 200_000,
        f"{LINE} ***\n" + "*** \t " * 300_000,
        f"{LINE} ***\n" + "\n" + " " * 3_000_000,
    ],
    ids=["heads", "titles too long", "ends", "stars", "spaces"],
)
def test_texts_full_of_lines_that_resemble_the_marks_are_read_in_linear_time(text):
    with pytest.raises(WrongText):
        strip_boilerplate(text)


def test_a_hundred_thousand_credits_are_taken_away_in_linear_time():
    text = f"{LINE} X ***\n" + "Produced by A.\n\n" * 300_000 + "Once.\n*** END OF THE PROJECT GUTENBERG EBOOK X ***\n"
    assert strip_boilerplate(text) == "Once.\n"


def test_a_mark_may_go_over_lines_and_ends_at_the_first_stars_at_a_line_s_end():
    text = f"{LINE} A TITLE\nOF TWO *** LINES ***  \nOnce ***\nmore.\n*** END OF THIS PROJECT GUTENBERG ETEXT X\n ***\n"
    assert strip_boilerplate(text) == "Once ***\nmore.\n"
