"""The corpus: counts and networks of excerpts, book by book; its file; its fingerprint; what is refused."""

import numpy as np
import pytest

from shiftstate.datasets import Corpus
from shiftstate.texts.corpus import fingerprint
from shiftstate.texts.tokens import excerpts, tokenize
from shiftstate.texts.word_networks import wan, word_counts

BOOKS = {
    ("ann", "first"): "the cat and the dog of the house. " * 8,
    ("ann", "second"): "a dog; and a cat! and the end? " * 5,
    ("bob", "only"): "of a house and of a dog, " * 7,
    ("cid", "short"): "the end.",
}


@pytest.fixture
def root(tmp_path):
    for (author, title), text in BOOKS.items():
        (tmp_path / author).mkdir(exist_ok=True)
        (tmp_path / author / f"{title}.txt").write_text(text)
    (tmp_path / "function_words.txt").write_text("the\nand\nof\na\n")
    return tmp_path


def test_every_book_is_cut_for_itself_and_counted_by_the_list_beside_the_texts(root):
    corpus = Corpus.read(root, authors=["ann"], length=10)
    assert corpus.words == ("the", "and", "of", "a")
    assert list(corpus.excerpts) == ["ann", "bob"], "who has no whole excerpt has none at all"
    own = corpus.excerpts["ann"]
    assert own.titles == ("first", "second")
    pieces = [piece for title in own.titles for piece in excerpts(tokenize(BOOKS["ann", title]), 10)]
    assert own.books.tolist() == [0] * 6 + [1] * 4
    assert np.array_equal(own.counts, np.stack([word_counts(piece, corpus.words) for piece in pieces]))
    networks = corpus.wans["ann"].toarray().reshape(len(own), 4, 4)
    assert np.array_equal(networks, np.stack([wan(piece, corpus.words) for piece in pieces]))
    assert networks.any(axis=(1, 2)).all()


def test_window_decay_and_words_are_settings(root):
    corpus = Corpus.read(root, authors=["bob"], length=10, window=2, decay=0.5, words="auto:3")
    assert corpus.words == ("the", "and", "a")
    first = excerpts(tokenize(BOOKS["bob", "only"]), 10)[0]
    assert np.array_equal(corpus.wans["bob"][0].toarray().reshape(3, 3), wan(first, corpus.words, 2, 0.5))
    assert len(Corpus.read(root, authors=["bob"], length=10, words="package").words) > 100


def test_the_list_may_lie_beside_the_folder_of_the_texts(root):
    (root / "texts").mkdir()
    for author in ("ann", "bob", "cid"):
        (root / author).rename(root / "texts" / author)
    assert Corpus.read(root, authors=["ann"], length=10).words == ("the", "and", "of", "a")
    assert Corpus.read(root / "texts", authors=["ann"], length=10).words == ("the", "and", "of", "a")


def test_a_file_gives_the_same_corpus_back(root, tmp_path):
    corpus = Corpus.read(root, authors=["ann", "bob"], length=10)
    file = tmp_path / "corpus.npz"
    file.write_bytes(corpus.to_bytes())
    again = Corpus.load(file)
    assert again.words == corpus.words
    assert again.to_bytes() == corpus.to_bytes()
    for author, own in corpus.excerpts.items():
        assert again.excerpts[author].titles == own.titles
        assert np.array_equal(again.excerpts[author].counts, own.counts)
        assert np.array_equal(again.wans[author].toarray(), corpus.wans[author].toarray())


@pytest.mark.parametrize("damage", [lambda data: data[:100], lambda data: b"no zip", lambda data: b""])
def test_a_damaged_file_is_refused_in_one_line(root, tmp_path, damage):
    file = tmp_path / "corpus.npz"
    file.write_bytes(damage(Corpus.read(root, authors=["ann"], length=10).to_bytes()))
    with pytest.raises(ValueError, match=r"corpus\.npz is no prepared corpus") as error:
        Corpus.load(file)
    assert "\n" not in str(error.value)


def test_the_fingerprint_knows_texts_names_and_words_and_not_the_path(root, tmp_path_factory):
    before = fingerprint(root)
    moved = tmp_path_factory.mktemp("elsewhere") / "corpus"
    root.rename(moved)
    assert fingerprint(moved) == before
    seen = {before}
    for file, text in (("ann/first.txt", "other words."), ("function_words.txt", "the\n"), ("bob/new.txt", "more.")):
        (moved / file).write_text(text)
        seen.add(fingerprint(moved))
    (moved / "bob").rename(moved / "rob")
    assert len({*seen, fingerprint(moved)}) == 5


@pytest.mark.parametrize(
    ("authors", "change", "message"),
    [
        (["anne"], {}, "unknown author 'anne'.*did you mean 'ann'"),
        (["ann"], {"ann/copy.txt": BOOKS["ann", "first"]}, "hold the same text"),
        (["ann"], {"bob/empty.txt": ""}, "holds no words"),
        (["ann"], {"function_words.txt": "the\nthe\n"}, "'the' twice"),
    ],
)
def test_bad_texts_are_refused_in_one_line(root, authors, change, message):
    for file, text in change.items():
        (root / file).write_text(text)
    with pytest.raises(ValueError, match=message) as error:
        Corpus.read(root, authors=authors, length=10)
    assert "\n" not in str(error.value)
