"""Every model against an independent computation, and the counting that they learn from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.svm import LinearSVC

from shiftstate.attribution.library import Library, Vocabulary
from shiftstate.attribution.models import MODELS
from shiftstate.attribution.models.base import standardize, z_scores
from shiftstate.attribution.models.entropy import PRIOR, WanEntropy
from shiftstate.attribution.models.linear import PairLogistic, SupportVectors
from shiftstate.attribution.pieces import Pieces, cut_texts
from shiftstate.attribution.word_choice import choose_words
from shiftstate.texts import excerpts, tokenize, wan, word_counts
from tests.attribution.books import WORDS, book


@pytest.fixture(scope="module")
def learned():
    """Pieces of three authors' books, their authors, and pieces of other books."""
    vocabulary = Vocabulary(WORDS, fixed=True)
    pieces, new = (
        cut_texts([vocabulary.encode(book(a, n)) for a in range(3) for n in numbers], WORDS, 200)
        for numbers in ((0, 1), (2,))
    )
    return pieces, np.repeat([0, 0, 1, 1, 2, 2], 6), new, np.repeat([0, 1, 2], 6)


@given(st.lists(st.sampled_from(["the", "of", "a", "sea"]), min_size=1, max_size=60), st.integers(3, 20))
def test_pieces_are_counted_as_the_excerpts_of_the_text(words, length):
    text = " ".join(f"{word}." if place % 7 == 6 else word for place, word in enumerate(words))
    listed = ["the", "of", "a"]
    pieces = cut_texts([Vocabulary(listed, fixed=True).encode(text)], listed, length)
    expected = excerpts(tokenize(text), min(length, len(words)))
    assert len(pieces) == len(expected)
    for number, piece in enumerate(expected):
        size = min(length, len(words))
        assert np.allclose(pieces.counts[number] * size, word_counts(piece, listed))
        network = wan(piece, listed).ravel()
        assert np.allclose(pieces.pairs[number].toarray()[0], network / max(1, network.sum()))


@pytest.mark.parametrize("name", MODELS)
def test_every_model_tells_new_books_of_its_authors_apart(name, learned):
    pieces, author, new, truth = learned
    model = MODELS[name]().fit(pieces, author, 3)
    scores = model.scores(new)
    assert scores.shape == (len(new), 3)
    assert (scores.argmax(1) == truth).mean() > 0.75
    again = MODELS[name]().restore(model.learned, 3, len(WORDS))
    assert np.array_equal(again.scores(new), scores)


def test_pairs_of_a_long_list_keep_their_places():
    words, author = 4200, np.array([0, 0, 1, 1])  # more places than float32 has whole numbers
    places = np.arange(words**2 - 9, words**2, 2)
    pairs = csr_matrix(np.random.default_rng(0).random((4, len(places)), dtype=np.float32))
    wide = csr_matrix((pairs.data, places[pairs.indices], pairs.indptr), (4, words**2))
    pieces = Pieces(np.zeros((4, words), dtype=np.float32), wide, np.arange(4))
    model = PairLogistic().fit(pieces, author, 2)
    assert model.learned["pairs"].tolist() == places.tolist()
    again = PairLogistic().restore(model.learned, 2, words)
    assert np.array_equal(again.scores(pieces).argmax(1), author)
    rounded = {**model.learned, "pairs": places.astype(np.float32)}
    with pytest.raises(ValueError, match="pairs is float32"):
        PairLogistic().restore(rounded, 2, words)


@pytest.mark.parametrize("name", MODELS)
def test_two_authors_are_enough(name, learned):
    pieces, author, new, truth = learned
    two, others = author < 2, truth < 2
    scores = MODELS[name]().fit(pieces.take(two), author[two], 2).scores(new.take(others))
    assert scores.shape == (12, 2)
    assert (scores.argmax(1) == truth[others]).mean() > 0.75


def test_relative_entropy_is_that_of_the_definition(learned):
    pieces, author, new, _ = learned
    scores = WanEntropy().fit(pieces, author, 3).scores(new)
    n = len(WORDS)
    dense = pieces.pairs.toarray().astype(float).reshape(-1, n, n)
    sums = np.stack([dense[author == one].sum(0) for one in range(3)])
    pooled = sums.sum(0)
    prior = pooled / pooled.sum(1, keepdims=True)
    chains = (sums + PRIOR * prior) / (sums.sum(2, keepdims=True) + PRIOR)
    for row, piece in enumerate(new.pairs.toarray().astype(float).reshape(-1, n, n)):
        leaving = piece.sum(1)
        P = piece / np.where(leaving > 0, leaving, 1)[:, None]
        used = piece > 0
        entropies = [(leaving[:, None] * P * np.log(np.where(used, P / chain, 1)))[used].sum() for chain in chains]
        own = (leaving[:, None] * P * np.log(np.where(used, P, 1)))[used].sum()
        assert np.allclose(scores[row], own - np.array(entropies), atol=1e-3)
        assert min(entropies) > 0


def test_the_support_vectors_are_those_of_scikit_learn(learned):
    pieces, author, new, _ = learned
    ours = SupportVectors().fit(pieces, author, 3).scores(new)
    scaling = standardize(pieces)
    # LinearSVC has no bias under the penalty that a column of ones has: intercept_scaling 1 is the same
    theirs = LinearSVC(C=SupportVectors.C, dual=False, tol=1e-8).fit(z_scores(pieces, scaling), author)
    assert np.allclose(ours, theirs.decision_function(z_scores(new, scaling)), atol=2e-3)


def small_library(*texts):
    vocabulary = Vocabulary()
    encoded = [vocabulary.encode(text) for text in texts]
    titles = [str(number) for number in range(len(texts))]
    return Library(encoded, ["x" if number % 2 else "y" for number in range(len(texts))], titles, vocabulary)


def test_the_words_are_the_most_frequent_of_all_texts_and_ties_go_by_letter():
    library = small_library("b a a c", "a c d")
    assert choose_words("auto:3", library).listed == ["a", "c", "b"]
    said = []
    assert choose_words("auto:5", library, say=said.append).listed == ["a", "c", "b", "d"]
    assert said[0].startswith("note: the texts have 4 different words")
    with pytest.raises(ValueError, match="1 different words; expected two or more"):
        choose_words("auto:5", small_library("a", "a"))


def test_a_held_out_text_has_no_say_in_the_words_nor_in_what_is_counted():
    texts = ["b a a c a b", "a c d c a b", "e e e e e e b a"]
    library, others = small_library(*texts), small_library(*texts[:2])
    choice = choose_words("auto:3", library, [(2,), (0,)])
    assert choice.listed == ["a", "e", "b"]
    expected = choose_words("auto:3", others).listed
    assert [choice.words[place] for place in choice.without([2])] == expected == ["a", "b", "c"]
    vocabulary = library.vocabulary.words
    wide = cut_texts(library.texts[:2], choice.words, 6, vocabulary).over(choice.without([2]))
    narrow = cut_texts(library.texts[:2], expected, 6, vocabulary)
    assert np.allclose(wide.counts, narrow.counts)
    assert np.allclose(wide.pairs.toarray(), narrow.pairs.toarray())
