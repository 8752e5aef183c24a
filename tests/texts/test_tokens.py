"""Files become sentences of words, whatever signs the text uses; what is no text is refused in one line."""

import re
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shiftstate.texts.folder import check_author, find_authors, find_texts
from shiftstate.texts.reading import read_books, read_text
from shiftstate.texts.tokens import excerpts, tokenize


def words_of(sentences):
    return list(chain.from_iterable(sentences))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He came. She saw! Who? They; we: you", [["he", "came"], ["she", "saw"], ["who"], ["they"], ["we"], ["you"]]),
        ("don't o'clock", [["don't", "o'clock"]]),
        ("don’t", [["don't"]]),
        ("don‘t donʼt don´t don`t don′t", [["don't"] * 5]),
        ("‘Tis the boys’ rock 'n' roll'", [["tis", "the", "boys", "rock", "n", "roll"]]),
        ("'''", []),
        ("“My dear,” she said", [["my", "dear", "she", "said"]]),
        ("«oui» „ja“ ‚so‘", [["oui", "ja", "so"]]),
        ("stay—go–on--now―or-never‐ever‑yet", [["stay", "go", "on", "now", "or", "never", "ever", "yet"]]),
        ("_very_ __much__ so_so", [["very", "much", "so", "so"]]),
        ("Brontë café naïve Ærø ŒUVRE", [["brontë", "café", "naïve", "ærø", "œuvre"]]),
        ("cafe\u0301 caf\u00e9", [["café", "café"]]),
        ("wait…go ... on", [["wait"], ["go"], ["on"]]),
        ("\ufeffThe of\ufb01ce", [["the", "office"]]),
        ("so\u00adft", [["soft"]]),
        ("and² the¹\u2074", [["and", "the"]]),
        ("in 1817, 3 men", [["in", "1817", "3", "men"]]),
        ("one\r\ntwo\n\nthree\tfour\u00a0five", [["one", "two", "three", "four", "five"]]),
        ("[Illustration] *the* (end) a/b & c@d", [["illustration", "the", "end", "a", "b", "c", "d"]]),
        ("हिन्दी Ελλάδα москва", [["हिन्दी", "ελλάδα", "москва"]]),
        ("Straße groß ſo", [["straße", "groß", "so"]]),
        ("¿Qué? ¡No! l'été", [["qué"], ["no"], ["l'été"]]),
        ("Τί;\u037e Ναί· όχι", [["τί"], ["ναί", "όχι"]]),
        ("Ёлка; подъезд", [["ёлка"], ["подъезд"]]),
        ("我來。你不來！テスト する", [["我", "來"], ["你", "不", "來"], ["テスト", "す", "る"]]),
        ("वह आया। कौन؟", [["वह", "आया"], ["कौन"]]),
        ("Col·legi coŀlegi IL‧LUSIÓ", [["col·legi", "col·legi", "il·lusió"]]),
        ("a · b ·c d· 3·5 e··f 卡·马", [["a", "b", "c", "d", "3", "5", "e", "f", "卡", "马"]]),
        ("Mr. Bennet", [["mr"], ["bennet"]]),
        ("", []),
        (" . ! -- ", []),
    ],
)
def test_words_and_sentences(text, expected):
    assert tokenize(text) == expected


@given(st.text())
def test_words_are_lower_case_without_signs_and_tokenizing_them_changes_nothing(text):
    sentences = tokenize(text)
    assert all(sentences)
    assert not any(set(word) & set(" _-—’‘.!?;:\n") or word.strip("'") != word for word in words_of(sentences))
    again = ". ".join(" ".join(sentence) for sentence in sentences)
    assert tokenize(again) == sentences


@given(st.lists(st.lists(st.sampled_from(["a", "of", "ship"]), max_size=9), max_size=9), st.integers(1, 7))
def test_excerpts_have_exactly_the_length_and_are_the_text_in_its_order(sentences, length):
    pieces = excerpts(sentences, length)
    words = words_of(sentences)
    assert [words_of(piece) for piece in pieces] == [
        words[start : start + length] for start in range(0, len(words) - length + 1, length)
    ]
    assert all(all(piece) for piece in pieces)
    # a break stands exactly where the text has one, or where an excerpt begins
    ends = set()
    for sentence in sentences:
        ends.add(max(ends, default=0) + len(sentence))
    for number, piece in enumerate(pieces):
        at = number * length
        for sentence in piece[:-1]:
            at += len(sentence)
            assert at in ends
        inside = {end for end in ends if number * length < end < (number + 1) * length}
        assert len(inside) == len(piece) - 1


def test_an_excerpt_cuts_the_sentence_at_its_border_and_drops_the_rest():
    sentences = tokenize("One two three. Four five six seven. Eight nine.")
    assert excerpts(sentences, 4) == [
        [["one", "two", "three"], ["four"]],
        [["five", "six", "seven"], ["eight"]],
    ]
    assert excerpts(sentences, 10) == []
    assert excerpts([["w"] * 7], 3) == [[["w"] * 3], [["w"] * 3]]


@pytest.mark.parametrize("length", [0, -1, 2.5, True])
def test_an_excerpt_has_at_least_one_word(length):
    with pytest.raises(ValueError, match=r"length is .*expected a whole number of at least 1"):
        excerpts([["a"]], length)


def test_texts_are_found_in_folders_and_by_name(tmp_path):
    for name in ["poe/b.txt", "poe/a.TXT", "poe/notes.md", "poe/.c.txt", "Austen_Emma.txt", "Austen_Lady_Susan.txt"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("the")
    (tmp_path / "readme.txt").write_text("the")
    (tmp_path / "empty").mkdir()
    found = find_texts(tmp_path)
    assert list(found) == ["austen", "poe"]
    assert [path.name for path in found["poe"]] == ["a.TXT", "b.txt"]
    assert [path.name for path in found["austen"]] == ["Austen_Emma.txt", "Austen_Lady_Susan.txt"]


def test_a_folder_named_texts_is_where_the_authors_are(tmp_path):
    (tmp_path / "texts" / "poe").mkdir(parents=True)
    (tmp_path / "texts" / "poe" / "raven.txt").write_text("the")
    (tmp_path / "function_words.txt").write_text("the")
    assert find_texts(tmp_path) == {"poe": [tmp_path / "texts" / "poe" / "raven.txt"]}


def test_a_root_without_texts_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"holds no texts; expected files author/\*.txt or Author_Title.txt"):
        find_texts(tmp_path)
    with pytest.raises(ValueError, match=r"absent cannot be read \(No such file"):
        find_texts(tmp_path / "absent")
    (tmp_path / "file").write_text("the")
    with pytest.raises(ValueError, match="expected a folder of texts"):
        find_texts(tmp_path / "file")


def test_an_unknown_author_gets_the_nearest_one_suggested():
    assert check_author("Poe", ["austen", "poe"]) == "poe"
    with pytest.raises(ValueError, match=r"unknown author 'austin'.*did you mean 'austen'"):
        check_author("austin", ["austen", "poe"])


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "holds no words; expected a text; is the file empty"),
        (b" \n\n", "holds no words"),
        (b"\xef\xbb\xbf", "holds no words"),
        (b"\x7fELF\0\0", "is a binary file"),
        (b"\x89PNG\r\n", r"is not UTF-8 \(byte 0x89 at 0\)"),
        ("Brontë".encode("latin-1"), r"is not UTF-8 \(byte 0xeb at 5\).*Latin-1"),
        ("the end".encode("utf-16"), "is UTF-16; expected UTF-8"),
    ],
)
def test_what_is_no_text_is_refused_in_one_line(tmp_path, content, complaint):
    (tmp_path / "book.txt").write_bytes(content)
    with pytest.raises(ValueError, match=f"book.txt {complaint}") as caught:
        read_text(tmp_path / "book.txt")
    assert "\n" not in str(caught.value)


def test_unreadable_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"cannot be read \(Is a directory\); expected a text file"):
        read_text(tmp_path)
    with pytest.raises(ValueError, match=r"cannot be read \(No such file or directory\)"):
        read_text(tmp_path / "absent.txt")


def test_a_byte_order_mark_changes_nothing(tmp_path):
    (tmp_path / "a.txt").write_text("Brontë’s", encoding="utf-8")
    (tmp_path / "b.txt").write_text("Brontë’s", encoding="utf-8-sig")
    assert read_text(tmp_path / "a.txt") == read_text(str(tmp_path / "b.txt")) == "Brontë’s"


def test_the_same_book_twice_is_refused(tmp_path):
    for name, content in [("a.txt", "the end"), ("b.txt", "an end"), ("c.txt", "the end")]:
        (tmp_path / name).write_text(content)
    assert read_books([tmp_path / "a.txt", tmp_path / "b.txt"]) == ["the end", "an end"]
    with pytest.raises(ValueError, match=r"a.txt and .*c.txt hold the same text; expected every book once"):
        read_books(sorted(tmp_path.iterdir()))


def test_a_novel_has_the_words_that_an_independent_pattern_finds(corpus):
    for path in [*find_texts(corpus)["bronte"], *find_texts(corpus)["poe"]]:
        text = read_text(path)
        assert words_of(tokenize(text)) == re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.replace("’", "'").lower())


def test_emily_bronte_wrote_117_excerpts(corpus):
    """As the description of the corpus says."""
    (path,) = find_texts(corpus)["bronte"]
    assert len(excerpts(tokenize(read_text(path)))) == 117


def test_every_novel_is_a_text_and_none_is_there_twice(corpus):
    paths = list(chain.from_iterable(find_texts(corpus).values()))
    assert len(read_books(paths)) == len(paths)


def test_the_authors_of_a_folder_by_the_number_of_their_books(tmp_path):
    for name in ("Poe_Raven", "Poe_Lenore", "Austen_Emma"):
        (tmp_path / f"{name}.txt").write_text(name)
    assert find_authors(tmp_path) == ("austen", "poe")
    assert find_authors(tmp_path, least_books=2) == ("poe",)


def test_a_letter_with_a_million_accents_does_not_take_for_ever():
    ((word,),) = tokenize("a" + "\u0300" * 300_000 + "\u0316" * 300_000)
    assert word.startswith("à") or word.startswith("a")
    assert tokenize("e\u0301te\u0301") == [["été"]]
