"""A folder of texts: what is read, what is refused, and what is warned of."""

import pytest

from shiftstate.attribution.library import read_library
from tests.attribution.books import book, write_books


@pytest.fixture
def lines():
    return []


def test_all_formats_and_both_forms_of_a_folder_are_read(tmp_path, lines):
    write_books(tmp_path, ("ann",), books=2)
    (tmp_path / "Bob_one.txt").write_text(book(1, 0))
    (tmp_path / "Bob_two.html").write_text(f"<p>{book(1, 1)}</p>")
    library = read_library(tmp_path, lines.append)
    assert library.names == ["ann", "bob"]
    assert library.titles == ["ann0", "ann1", "Bob_one", "Bob_two"]
    assert [len(text) for text in library.texts] == [1200] * 4
    words = library.vocabulary.words
    assert [words[one] for one in library.texts[2].ids[:5]] == book(1, 0).replace(".", "").split()[:5]


def test_the_same_novel_under_two_names_is_found_though_its_edition_differs(tmp_path, lines):
    write_books(tmp_path, ("ann", "bob"), books=2)
    words = book(0, 0).split()
    changed = [word if place % 40 else "misprint" for place, word in enumerate(words)]
    (tmp_path / "bob" / "pirated.txt").write_text("Another preface. " + " ".join(changed))
    with pytest.raises(ValueError, match=r"ann0 \(ann\) and pirated \(bob\) hold the same text"):
        read_library(tmp_path, lines.append)


def test_three_copies_of_a_novel_are_found(tmp_path, lines):
    write_books(tmp_path, ("ann", "bob"), books=2)
    for name in ("one", "two"):
        (tmp_path / "bob" / f"{name}.txt").write_text(book(0, 0))
    with pytest.raises(ValueError, match="hold the same text"):
        read_library(tmp_path, lines.append)


def test_texts_that_are_left_out_and_equal_titles_are_named(tmp_path, lines):
    write_books(tmp_path, ("ann", "bob"), books=2)
    for author in ("ann", "bob"):
        (tmp_path / author / f"{author}0.txt").rename(tmp_path / author / "letters.txt")
    for place in ("loose.txt", "ann/scan.pdf", "ann/early/first.txt"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text("words")
    library = read_library(tmp_path, lines.append)
    assert "note: left out: loose.txt, ann/scan.pdf, ann/early/first.txt; expected author/title" in "\n".join(lines)
    assert [library.label(text) for text in range(4)] == ["ann1", "ann/letters", "bob1", "bob/letters"]


def test_doubts_are_said(tmp_path, lines):
    write_books(tmp_path, ("ann", "bob"), books=2)
    (tmp_path / "cid").mkdir()
    (tmp_path / "cid" / "foreign.txt").write_text("le chat et la mer du port dans une ville avec des gens " * 30)
    (tmp_path / "ann" / "ann0.txt").write_text(
        "*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\n"
        + book(0, 0)
        + "\n\n*** END OF THE PROJECT GUTENBERG EBOOK X ***\n"
    )
    library = read_library(tmp_path, lines.append)
    assert len(library.texts[0]) == 1200
    said = "\n".join(lines)
    assert "note: Project Gutenberg's header and licence were cut from ann0" in said
    assert "warning: ann has 2,400 words" in said
    assert "warning: cid has one text" in said
    assert "warning: foreign: other frequent words than in the rest" in said
    assert said.count("other frequent words") == 1


def test_one_author_is_not_enough(tmp_path, lines):
    write_books(tmp_path, ("ann",))
    with pytest.raises(ValueError, match="by 1 author; expected two or more"):
        read_library(tmp_path, lines.append)
