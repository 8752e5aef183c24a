"""Books from a server that misbehaves: every file in the folder is whole and right, and a second call goes on."""

import hashlib
import os
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from shiftstate.texts.folder import find_texts
from shiftstate.texts.gutenberg import download as downloading
from shiftstate.texts.gutenberg import fetch as fetching
from shiftstate.texts.gutenberg.boilerplate import WrongText, strip_boilerplate
from shiftstate.texts.gutenberg.catalogue import Book, check_book, digest, load_catalogue
from shiftstate.texts.gutenberg.fetch import FetchError, fetch
from shiftstate.texts.reading import read_text

HEAD = "The Project Gutenberg EBook of X\r\n\r\n*** START OF THE PROJECT GUTENBERG EBOOK X ***\r\n\r\n"
TAIL = "\r\n\r\n*** END OF THE PROJECT GUTENBERG EBOOK X ***\r\n\r\nThe licence.\r\n"
STORY = "It was the end of the road.\n\nAnd nobody knew “why”.\n"
BOOK = Book("poe", 7, "Edgar Allan Poe", "The Raven", 11, digest(STORY))


def page(story=STORY):
    return (HEAD + story.replace("\n", "\r\n") + TAIL).encode()


class Answers:
    """What a server sends, one after the other, for each path; the last for ever."""

    def __init__(self):
        self.plan = {}
        self.asked = []

    def next(self, path):
        self.asked.append(path)
        steps = self.plan.get(path, [(404, b"", {})])
        return steps.pop(0) if len(steps) > 1 else steps[0]


@contextmanager
def serving(answers):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            status, body, headers = answers.next(self.path)
            if status == "drop":
                self.connection.close()
                return
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

        def finish(self):
            if not self.wfile.closed:
                self.wfile.close()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *arguments: None
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def answers():
    return Answers()


@pytest.fixture
def run(answers, tmp_path):
    """Fetches from the server, and keeps the waits instead of waiting."""
    with serving(answers) as address:

        def call(books=(BOOK,), **options):
            call.waits, call.lines = [], []
            return fetch(
                books, tmp_path / "out", mirror=address, timeout=5, sleep=call.waits.append, say=call.lines.append,
                **options,
            )  # fmt: skip

        call.address = address
        yield call


def good(story=STORY):
    body = page(story)
    return (200, body, {"Content-Length": str(len(body))})


def at(book):
    return f"/cache/epub/{book.id}/pg{book.id}.txt"


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_book_is_stored_without_boilerplate_and_with_its_checksum(run, answers, tmp_path):
    answers.plan[at(BOOK)] = [good()]
    done = run()
    assert (done.new, done.kept, done.other_edition) == (1, 0, ())
    file = tmp_path / "out" / "poe" / "pg7_the_raven.txt"
    assert file.read_bytes().decode() == STORY
    assert find_texts(tmp_path / "out") == {"poe": [file]}
    sums = (tmp_path / "out" / "SHA256SUMS").read_text()
    assert sums == f"{hashlib.sha256(STORY.encode()).hexdigest()}  poe/pg7_the_raven.txt\n"


@pytest.mark.parametrize(
    "flaw",
    [
        pytest.param((503, b"", {}), id="server busy"),
        pytest.param((429, b"", {}), id="too many requests"),
        pytest.param(("drop", b"", {}), id="connection dropped"),
        pytest.param((200, page()[:120], {"Content-Length": str(len(page()))}), id="fewer bytes than promised"),
        pytest.param((200, page()[:120], {}), id="cut off without a promise"),
        pytest.param((200, b"<html>Sorry</html>", {}), id="an error page"),
        pytest.param((200, HEAD.encode() + b"\xff\xfe" + TAIL.encode(), {}), id="not UTF-8"),
        pytest.param((200, b"", {}), id="empty"),
        pytest.param((200, page("Quite another book.\n" * 50), {}), id="another book"),
    ],
)
def test_a_flawed_answer_is_tried_again_and_never_stored(run, answers, tmp_path, flaw):
    answers.plan[at(BOOK)] = [flaw, flaw, good()]
    assert run().new == 1
    assert run.waits == [2, 4]
    assert read_text(tmp_path / "out" / BOOK.path) == STORY
    answers.plan[at(BOOK)] = [flaw]
    other = Book("poe", 7, "Poe", "Again", 11, BOOK.sha256)
    with pytest.raises(FetchError, match=r"1 of 1 books could not be fetched: Again \(7\)"):
        run([other])
    assert files_in(tmp_path / "out") == ["SHA256SUMS", "poe/pg7_the_raven.txt"]
    assert run.waits == [2, 4, 8, 16]


def test_a_server_may_ask_for_a_longer_wait_but_not_for_any(run, answers):
    answers.plan[at(BOOK)] = [(503, b"", {"Retry-After": "9"}), (503, b"", {"Retry-After": "99999"}), good()]
    run()
    assert run.waits == [9, fetching.MAX_WAIT]


def test_the_second_location_is_asked_where_the_first_is_unknown(run, answers):
    answers.plan["/files/7/7-0.txt"] = [good()]
    assert run().new == 1
    assert answers.asked == [at(BOOK), "/files/7/7-0.txt"]
    assert run.waits == []


def test_a_book_that_is_not_there_leaves_the_others_and_a_later_call_fetches_only_what_is_missing(
    run, answers, tmp_path
):
    second = Book("austen", 8, "Jane Austen", "Emma", None, None)
    third = Book("austen", 9, "Jane Austen", "Persuasion", None, None)
    answers.plan |= {at(BOOK): [good()], at(third): [good("Anne.\n")]}
    with pytest.raises(FetchError, match=r"1 of 3 books could not be fetched: Emma \(8\): the server answers 404"):
        run([BOOK, second, third])
    assert run.waits == [1, 1]  # between the books: a 404 is final
    assert sorted(find_texts(tmp_path / "out")) == ["austen", "poe"]
    answers.asked.clear()
    answers.plan[at(second)] = [good("Emma.\n")]
    done = run([BOOK, second, third])
    assert (done.new, done.kept) == (1, 2)
    assert answers.asked == [at(second)]


def test_a_finished_file_that_was_damaged_is_fetched_again(run, answers, tmp_path):
    answers.plan[at(BOOK)] = [good()]
    run()
    file = tmp_path / "out" / BOOK.path
    file.write_text(STORY[:10])
    assert run().new == 1
    assert file.read_text() == STORY
    assert run().kept == 1
    (tmp_path / "out" / "SHA256SUMS").write_bytes(b"\xff nonsense\n")
    assert run().new == 1


def test_a_fetch_that_is_stopped_while_writing_leaves_no_half_file_and_goes_on(run, answers, tmp_path, monkeypatch):
    answers.plan[at(BOOK)] = [good()]

    def stopped(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", stopped)
        with pytest.raises(KeyboardInterrupt):
            run()
    assert files_in(tmp_path / "out") == []
    (tmp_path / "out" / "poe" / ".pg7_the_raven.txt.part").write_text("half")  # as a power cut would leave it
    assert run().new == 1
    assert files_in(tmp_path / "out") == ["SHA256SUMS", "poe/pg7_the_raven.txt"]


def test_another_edition_is_named_and_refused_when_strict(run, answers, tmp_path):
    answers.plan[at(BOOK)] = [good(STORY.replace("road", "street"))]
    with pytest.raises(FetchError, match="its checksum is not the catalogue's"):
        run(strict=True)
    assert files_in(tmp_path / "out") == []
    assert run().other_edition == ("poe/pg7_the_raven.txt",)


def test_an_answer_without_end_is_not_read_to_its_end(run, answers, monkeypatch):
    monkeypatch.setattr(downloading, "MAX_BYTES", 100)
    answers.plan[at(BOOK)] = [good()]
    with pytest.raises(FetchError, match="larger than 100 bytes"):
        run(attempts=1)


def test_a_server_that_cannot_be_reached_ends_the_call(tmp_path, answers):
    with serving(answers) as address:
        pass
    waits = []
    with pytest.raises(FetchError, match=r"cannot be reached \(.*refused"):
        fetch([BOOK, Book("a", 1, "A", "B")], tmp_path, mirror=address, attempts=3, sleep=waits.append)
    assert waits == [2, 4]


@pytest.mark.parametrize("mirror", ["file:///etc", "ftp://x.org", "www.gutenberg.org", "", "http://"])
def test_a_mirror_is_a_web_address(tmp_path, mirror):
    with pytest.raises(ValueError, match="expected an address that starts with https://"):
        fetch([BOOK], tmp_path / "out", mirror=mirror)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(ValueError, match="expected a directory for the texts"):
        fetch([BOOK], tmp_path / "out")


@pytest.mark.parametrize(
    "folder", ["../up", "/etc", "a/b", "..", ".", ".hidden", "a\\b", "", "C:", "x" * 65, "a\u202eb"]
)
def test_a_catalogue_cannot_name_a_folder_outside(tmp_path, folder):
    (tmp_path / "c.csv").write_text(f"folder,id,author,title\n{folder},1,A,B\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 2 of .*c.csv has the folder .*expected a plain name"):
        load_catalogue(tmp_path / "c.csv")


@pytest.mark.parametrize("title", ["../../x", "/etc/passwd", "a\\..\\b", "..", "nul\tchar", "", "É" * 300])
def test_a_title_becomes_a_plain_file_name(title):
    folder, _, name = Book("poe", 7, "Poe", title).path.partition("/")
    assert folder == "poe"
    assert name.startswith("pg7_")
    assert name.endswith(".txt")
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_.")
    assert ".." not in name
    assert len(name) < 80


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("folder,id,title\na,1,B\n", "has no column 'author'"),
        ("folder,id,author,title\n", "holds no books"),
        ("folder,id,author,title\na,x,A,B\n", "the id 'x'; expected the number"),
        ("folder,id,author,title\na,1/../2,A,B\n", "expected the number of a Gutenberg book"),
        ("folder,id,author,title\na,1,A,B\nb,1,C,D\n", "line 3 of .* is book 1 again"),
        ("folder,id,author,title,words\na,1,A,B,many\n", "'many' words"),
        ("folder,id,author,title,sha256\na,1,A,B,123\n", "the sha256 '123'; expected 64 hexadecimal digits"),
        ("folder,id,author,title\na\n", "the id ''"),
    ],
)
def test_a_bad_catalogue_is_refused(tmp_path, content, complaint):
    (tmp_path / "c.csv").write_text(content)
    with pytest.raises(ValueError, match=complaint):
        load_catalogue(tmp_path / "c.csv")


def test_the_own_catalogue_names_80_books_of_23_folders():
    books = load_catalogue()
    assert len(books) == len({book.path for book in books}) == 80
    assert len({book.folder for book in books}) == 23
    assert {"austen", "bronte_charlotte", "poe", "stevenson"} <= {book.folder for book in books}
    assert all(book.words and book.sha256 for book in books)
    assert round(sum(book.words for book in books), -5) == 8_200_000  # as the guide says


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (HEAD + STORY + TAIL, STORY),
        (HEAD.replace("THE PROJECT", "THIS PROJECT") + STORY + TAIL.replace("THE PROJECT", "THIS PROJECT"), STORY),
        (HEAD.replace("*** START", "***START") + STORY + TAIL.replace(" X ***", " X***"), STORY),
        (HEAD.replace("EBOOK X", "EBOOK A LONG TITLE\r\nVOLUME 1") + STORY + TAIL, STORY),
        (HEAD + "Produced by A. Reader and\r\nothers\r\n\r\n" + STORY + TAIL, STORY),
        (HEAD + "[Transcribed from the 1850 edition]\n\n\n" + STORY + TAIL, STORY),
        (HEAD + STORY + "\n\nEnd of the Project Gutenberg EBook of X, by Y\n" + TAIL, STORY),
        (HEAD + "Part one\n\n*****\n\n*** She said ***\n\nPart two\n" + TAIL,
         "Part one\n\n*****\n\n*** She said ***\n\nPart two\n"),
        (HEAD + "    A verse\n    in a block\n" + TAIL, "    A verse\n    in a block\n"),
    ],
)  # fmt: skip
def test_boilerplate_is_stripped_and_nothing_else(raw, expected):
    assert strip_boilerplate(raw) == expected
    assert strip_boilerplate(raw.replace("\r\n", "\n")) == expected


@pytest.mark.parametrize("raw", ["", STORY, HEAD + STORY, STORY + TAIL, TAIL + HEAD, HEAD + TAIL])
def test_a_text_without_its_first_and_last_line_is_refused(raw):
    with pytest.raises(WrongText):
        strip_boilerplate(raw)


def test_the_checksum_sees_words_only():
    assert digest("“Don’t go,” he\nsaid.") == digest("'Don't  go' he said\r\n")
    assert digest("he said no") != digest("he said")
    with pytest.raises(WrongText, match="has 2 words instead of 11"):
        check_book(BOOK, "another book", strict=False)


def test_the_catalogue_is_of_the_novels(corpus):
    books = {book.id: book for book in load_catalogue() if book.folder in ("bronte", "poe")}
    for path in [*find_texts(corpus)["bronte"], *find_texts(corpus)["poe"]]:
        book = books.pop(int(path.name.partition("_")[0].removeprefix("pg")))
        assert check_book(book, read_text(path), strict=True)
    assert not books


def test_novels_served_as_gutenberg_serves_them_come_back_word_for_word(run, answers, corpus):
    books = [book for book in load_catalogue() if book.folder == "bronte"]
    (path,) = find_texts(corpus)["bronte"]
    answers.plan[at(books[0])] = [good(read_text(path))]
    assert run(books, strict=True).new == 1
