"""The authorship data: disjoint parts, nobody's own excerpts among the others, a graph of the training excerpts."""

import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix

from shiftstate.datasets import Authorship, Corpus
from shiftstate.texts.corpus import Excerpts
from shiftstate.texts.word_networks import author_graph

WORDS = ("the", "and", "of", "a", "in", "upon")


@pytest.fixture(scope="module")
def small():
    """Five authors with books of different sizes; every excerpt has counts and a network of its own."""
    generator = np.random.default_rng(0)
    sizes = {"ann": (30, 20, 14), "bob": (60, 40), "cid": (50,), "dan": (9, 31), "eve": (25, 25)}
    found, networks = {}, {}
    for author, books in sizes.items():
        count = sum(books)
        numbers = np.repeat(np.arange(len(books)), books)
        titles = tuple(f"book{number}" for number in range(len(books)))
        found[author] = Excerpts(generator.integers(1, 1000, (count, len(WORDS))), numbers, titles)
        dense = generator.integers(0, 1000, (count, len(WORDS) ** 2))
        networks[author] = csr_matrix(dense)
    return Corpus(WORDS, found, networks)


def authors_of(part):
    return Counter(excerpt.author for excerpt in part)


@pytest.mark.parametrize("split", ["excerpts", "books"])
def test_parts_are_disjoint_balanced_and_hold_no_excerpt_of_the_author_among_the_others(small, split):
    for seed in range(5):
        data = Authorship.generate(small, "ann", split=split, number=seed, seed=seed)
        everything = [excerpt for part in data.parts for excerpt in part]
        assert len(set(everything)) == len(everything), "no excerpt twice, in one part or in two"
        for part, samples in zip(data.parts, (data.train, data.valid, data.test), strict=True):
            assert samples.y.tolist() == [1] * (len(part) // 2) + [0] * (len(part) // 2)
            for excerpt, label, x in zip(part, samples.y, samples.x, strict=True):
                assert (excerpt.author == "ann") == bool(label)
                assert x.squeeze(-1).tolist() == small.excerpts[excerpt.author].counts[excerpt.number].tolist()


def test_sizes_are_the_papers_shares(small):
    data = Authorship.generate(small, "ann", seed=0)
    assert [len(part) // 2 for part in data.parts] == [56, 5, 3], "64: 5 % for the test, 8.7 % of 61 for validation"
    data = Authorship.generate(small, "ann", test=0.25, valid=0.5, seed=0)
    assert [len(part) // 2 for part in data.parts] == [24, 24, 16]


@pytest.mark.parametrize("split", ["excerpts", "books"])
def test_the_graph_sees_the_authors_training_excerpts_and_nothing_else(small, split):
    data = Authorship.generate(small, "ann", split=split, seed=3, dtype=torch.float64)
    training = [excerpt.number for excerpt in data.parts.train if excerpt.author == "ann"]
    summed = small.wans["ann"].toarray()[training].sum(0).reshape(6, 6)
    expected = author_graph(summed)
    assert data.words == tuple(WORDS[word] for word in expected.kept)
    assert torch.equal(data.shift.to_dense(), torch.from_numpy(expected.adjacency))
    others = np.setdiff1d(np.arange(64), training)
    blind = small.wans["ann"].tolil()
    blind[others] = 7
    again = Authorship.generate(
        replace(small, wans={**small.wans, "ann": blind.tocsr()}), "ann", split=split, seed=3, dtype=torch.float64
    )
    assert torch.equal(again.shift.to_dense(), data.shift.to_dense())


def test_the_pool_leaves_out_whom_it_is_told_to(small):
    def pool(author, **rules):
        data = Authorship.generate(small, author, seed=0, **rules)
        return {excerpt.author for part in data.parts for excerpt in part} - {author}

    assert pool("dan") == {"ann", "bob", "cid", "eve"}
    assert pool("dan", outside=["cid"]) == {"ann", "bob", "eve"}
    assert pool("dan", kin=["dan", "bob"]) == {"ann", "cid", "eve"}
    assert pool("dan", kin=["ann", "bob"]) == {"ann", "bob", "cid", "eve"}, "dan is kin to neither"


def test_whole_books_are_held_out_in_turn(small):
    held = []
    for number in range(4):
        data = Authorship.generate(small, "ann", split="books", number=number, seed=number)
        books = small.excerpts["ann"].books
        own = [excerpt.number for excerpt in data.parts.test if excerpt.author == "ann"]
        assert set(own) == set(np.flatnonzero(books == data.book)), "the whole book"
        trained = {(e.author, small.excerpts[e.author].books[e.number]) for e in data.parts.train + data.parts.valid}
        tested = {(e.author, small.excerpts[e.author].books[e.number]) for e in data.parts.test}
        assert not trained & tested, "no book is in both"
        assert "cid" not in authors_of(data.parts.test), "who has one book is trained on only"
        held.append(data.book)
    assert held == [0, 1, 2, 0]


def test_standardised_signals_have_mean_0_and_deviation_1_on_the_training_set_alone(small):
    data = Authorship.generate(small, "bob", standardize=True, seed=0, dtype=torch.float64)
    assert data.train.x.mean(0).abs().max() < 1e-12
    assert (data.train.x.std(0, correction=0) - 1).abs().max() < 1e-12
    assert data.test.x.mean(0).abs().max() > 1e-3


@pytest.mark.parametrize(("transform", "function"), [("sqrt", torch.sqrt), ("log", torch.log1p)])
def test_counts_are_transformed_before_they_are_standardised_and_nothing_else_changes(small, transform, function):
    plain = Authorship.generate(small, "bob", seed=0, dtype=torch.float64)
    moved = Authorship.generate(small, "bob", transform=transform, seed=0, dtype=torch.float64)
    both = Authorship.generate(small, "bob", transform=transform, standardize=True, seed=0, dtype=torch.float64)
    assert plain.parts == moved.parts == both.parts
    torch.testing.assert_close(moved.test.x, function(plain.test.x))
    seen = moved.train.x
    torch.testing.assert_close(both.test.x, (moved.test.x - seen.mean(0)) / seen.std(0, correction=0))


@pytest.mark.parametrize("transform", ["none", "sqrt", "log"])
@pytest.mark.parametrize("standardize", [False, True])
def test_new_texts_become_signals_exactly_as_the_training_data_did(small, transform, standardize):
    data = Authorship.generate(small, "ann", transform=transform, standardize=standardize, seed=0)
    assert (data.scaling is not None) is standardize
    again = []
    for author, number in data.parts.train[:5]:
        counts = small.excerpts[author].counts[number]
        again.append([[word for word, count in zip(small.words, counts, strict=True) for _ in range(count)]])
    assert torch.equal(data.signals(again), data.train.x[:5])


def test_names_outside_the_corpus_change_nothing(small):
    plain = Authorship.generate(small, "ann", seed=0)
    named = Authorship.generate(small, "ann", outside=["nobody"], kin=["ann", "noone"], seed=0)
    assert plain.parts == named.parts


def test_the_same_seed_gives_the_same_split_and_another_another(small):
    first, again, other = (Authorship.generate(small, "ann", seed=seed) for seed in (1, 1, 2))
    assert first.parts == again.parts
    assert first.parts != other.parts


@pytest.mark.parametrize(
    ("author", "options", "message"),
    [
        ("anna", {}, "unknown author 'anna'.*did you mean 'ann'"),
        ("ann", {"split": "book"}, "did you mean 'books'"),
        ("cid", {"split": "books"}, "'cid' has 1 book; expected two or more"),
        ("ann", {"outside": ["bob", "cid", "dan", "eve"]}, "nobody to tell 'ann' from"),
        ("bob", {"outside": ["ann", "cid"]}, "the other authors have 90 excerpts; expected 100"),
    ],
)
def test_bad_input_is_refused_in_one_line(small, author, options, message):
    with pytest.raises(ValueError, match=message) as error:
        Authorship.generate(small, author, seed=0, **options)
    assert "\n" not in str(error.value)


def test_an_author_without_networks_or_with_too_few_excerpts_is_refused(small):
    with pytest.raises(ValueError, match="no networks of 'bob'"):
        Authorship.generate(replace(small, wans={"ann": small.wans["ann"]}), "bob", seed=0)
    few = Excerpts(small.excerpts["ann"].counts[:2], np.zeros(2, dtype=np.int64), ("one",))
    short = replace(small, excerpts={**small.excerpts, "ann": few})
    with pytest.raises(ValueError, match="'ann' has 1 excerpts to learn from"):
        Authorship.generate(short, "ann", seed=0)


def test_the_real_corpus_has_the_papers_sizes_and_pool(corpus):
    some = _read_some(corpus, {"poe", "dickens", "bronte", "bronte_charlotte", "allen_james_lane"})
    data = Authorship.generate(
        some, "poe", outside=("bronte", "allen_james_lane"), kin=("bronte", "bronte_charlotte"), seed=0
    )
    assert len(some.excerpts["poe"]) == 450
    assert len(some.words) == 211
    assert 185 <= data.shift.num_nodes <= 211
    assert abs(float(torch.linalg.eigvalsh(data.shift.to_dense().double())[-1]) - 1) < 1e-6
    assert {e.author for part in data.parts for e in part} == {"poe", "dickens", "bronte_charlotte"}
    emily = Authorship.generate(some, "bronte", kin=("bronte", "bronte_charlotte"), seed=0)
    assert "bronte_charlotte" not in {e.author for part in emily.parts for e in part}


def _read_some(root, authors):
    """A few authors of the corpus, so that the test takes seconds."""
    with tempfile.TemporaryDirectory() as folder:
        for author in authors:
            (Path(folder) / author).symlink_to(root / "texts" / author)
        (Path(folder) / "function_words.txt").symlink_to(root / "function_words.txt")
        return Corpus.read(folder, authors=["poe", "bronte"])
