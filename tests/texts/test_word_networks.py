"""Word adjacency networks against sentences counted by hand, a slow independent count, and the published facts."""

import re
import time
from collections import Counter
from fractions import Fraction
from itertools import chain

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shiftstate.texts import word_networks
from shiftstate.texts.folder import find_texts
from shiftstate.texts.reading import read_text
from shiftstate.texts.tokens import excerpts, tokenize
from shiftstate.texts.word_lists import load_words
from shiftstate.texts.word_networks import author_graph, distance_weights, wan, word_counts

WEIGHTS = (100, 80, 64, 51, 40, 32, 26, 20, 16, 13)


def slow_wan(sentences, words, weights=WEIGHTS):
    """Every pair of places, one after the other."""
    matrix = np.zeros((len(words), len(words)), dtype=int)
    for sentence in sentences:
        for i, first in enumerate(sentence):
            for d, weight in enumerate(weights, 1):
                if i + d < len(sentence) and first in words and sentence[i + d] in words:
                    matrix[words.index(first), words.index(sentence[i + d])] += weight
    return matrix


def test_a_sentence_counted_by_hand():
    sentences = tokenize("The cat of the house. And the end of it!")
    # the1 . of3 the4 | and1 the2 . of4 it5
    expected = {
        ("the", "of"): 80 + 80,
        ("the", "the"): 64,
        ("of", "the"): 100,
        ("and", "the"): 100,
        ("and", "of"): 64,
        ("and", "it"): 51,
        ("the", "it"): 64,
        ("of", "it"): 100,
    }
    words = ["and", "it", "never", "of", "the"]
    matrix = wan(sentences, words)
    assert {(words[i], words[j]): matrix[i, j] for i, j in np.argwhere(matrix)} == expected
    assert matrix.dtype == np.int64
    assert word_counts(sentences, words).tolist() == [1, 1, 0, 2, 3]


@pytest.mark.parametrize("end", [".", "!", "?", ";", ":", "…"])
def test_nothing_is_counted_across_the_end_of_a_sentence(end):
    assert not wan(tokenize(f"the{end} of"), ["the", "of"]).any()


@pytest.mark.parametrize("distance", range(1, 13))
def test_the_weight_falls_with_the_distance_up_to_the_window(distance):
    sentences = [["the", *["ship"] * (distance - 1), "of"]]
    expected = WEIGHTS[distance - 1] if distance <= 10 else 0
    assert wan(sentences, ["the", "of"]).tolist() == [[0, expected], [0, 0]]


def test_window_and_decay_are_settings():
    sentences = [["a", "b", "c", "d"]]
    assert wan(sentences, "abcd", window=2, decay=0.5)[0].tolist() == [0, 100, 50, 0]
    assert wan(sentences, "abcd", window=3, decay=1)[0].tolist() == [0, 100, 100, 100]
    assert wan(sentences, "abcd", window=9, decay=0.05)[0].tolist() == [0, 100, 5, 0]


@given(st.decimals("0.0001", "1", places=4), st.integers(1, 60))
def test_the_weights_are_the_floors_of_exact_fractions(decay, window):
    exact = [int(100 * Fraction(str(float(decay))) ** power) for power in range(window)]
    assert distance_weights(window, float(decay), 1000).tolist() == [weight for weight in exact if weight]


@pytest.mark.parametrize(("window", "decay"), [(10**9, 1), (10**9, 0.9999999), (10**18, 1 - 1e-16), (10, 5e-324)])
def test_window_and_decay_reach_no_farther_than_the_longest_sentence(window, decay):
    sentences = [["a", "b", "a", "c", "b"], ["b", "a"]]
    expected = slow_wan(sentences, ["a", "b"], [int(100 * Fraction(str(float(decay))) ** d) for d in range(4)])
    assert np.array_equal(wan(sentences, ["a", "b"], window, decay), expected)


def test_counting_in_blocks_changes_nothing(monkeypatch):
    sentences = [list("abcabcbacba"), list("bcab")]
    whole = wan(sentences, "abc")
    monkeypatch.setattr(word_networks, "BLOCK", 1)
    assert np.array_equal(wan(sentences, "abc"), whole)


def test_a_text_without_sentence_ends_and_a_window_over_all_of_it_is_refused_before_it_is_counted():
    text = [["a", "b"] * 50_000]
    with pytest.raises(ValueError, match=r"expected at most 20,000; does the text have no sentence ends"):
        wan(text, "ab", window=10**6, decay=1)
    assert wan(text, "ab", window=5, decay=1).sum() == 100 * (5 * 100_000 - 15)


def test_a_network_that_does_not_fit_into_memory_is_refused_with_the_size_that_fits(monkeypatch):
    monkeypatch.setattr(word_networks, "memory_bytes", lambda: 4_800_000)
    words = [f"w{number}" for number in range(400)]
    with pytest.raises(ValueError, match=r"a network of 400 words needs .* GB of memory; expected at most 316 words"):
        wan([["w1"]], words)
    assert wan([["w1", "w2"]], words[:316]).sum() == 100


def test_the_weight_is_the_floor_of_the_exact_decimal():
    assert 100 * 0.7**2 < 49  # what binary numbers would make of it
    assert wan([["a", "x", "x", "b"]], "ab", decay=0.7)[0, 1] == 49


@pytest.mark.parametrize("window", [0, -1, 1.5, True])
def test_a_window_has_at_least_one_word(window):
    with pytest.raises(ValueError, match=r"window is .*whole number of at least 1"):
        wan([["a"]], ["a"], window=window)


@pytest.mark.parametrize("decay", [0, -0.5, 1.1, float("nan"), float("inf")])
def test_a_decay_is_above_zero_and_at_most_one(decay):
    with pytest.raises(ValueError, match=r"decay is .*expected a number above 0 and at most 1"):
        wan([["a"]], ["a"], decay=decay)


def test_a_word_listed_twice_is_refused():
    with pytest.raises(ValueError, match="words holds 'the' twice"):
        wan([["the"]], ["the", "of", "the"])


@pytest.mark.parametrize("sentences", [[], [["the"]], [["ship"] * 20], [["the"], ["the"]]])
def test_a_text_without_pairs_has_an_empty_network(sentences):
    assert wan(sentences, ["the", "of"]).tolist() == [[0, 0], [0, 0]]


@given(st.lists(st.lists(st.sampled_from(["the", "of", "and", "ship", "sea"]), max_size=25), max_size=6))
def test_counts_agree_with_a_slow_independent_count(sentences):
    words = ["and", "the", "absent", "of"]
    assert np.array_equal(wan(sentences, words), slow_wan(sentences, words))
    flat = list(chain.from_iterable(sentences))
    assert word_counts(sentences, words).tolist() == [flat.count(word) for word in words]


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=9), min_size=1, max_size=6), st.randoms())
def test_permuting_the_words_permutes_the_network(sentences, random):
    order = list(range(4))
    random.shuffle(order)
    permuted = wan(sentences, ["abcd"[i] for i in order])
    assert np.array_equal(permuted, wan(sentences, "abcd")[np.ix_(order, order)])


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=9), max_size=6))
def test_the_network_of_a_text_is_the_sum_over_its_sentences(sentences):
    assert np.array_equal(wan(sentences, "abc"), sum((wan([one], "abc") for one in sentences), np.zeros((3, 3), int)))


def test_an_author_graph_made_by_hand():
    # 0 <-> 1 with a loop at 0; 3 -> 1, but nothing comes to 3: dropped; 2 loops, apart; 4 never occurs
    matrix = np.array([[1, 3, 0, 0, 0], [5, 0, 0, 0, 0], [0, 0, 7, 0, 0], [0, 9, 0, 0, 0], [0, 0, 0, 0, 0]])
    graph = author_graph(matrix)
    A = np.array([[0.25, 0.875], [0.875, 0.0]])  # rows (¼, ¾) and (1, 0), made symmetric
    largest = 0.125 + np.sqrt(0.125**2 + 0.875**2)
    assert graph.kept.tolist() == [0, 1]
    np.testing.assert_allclose(graph.adjacency, A / largest, rtol=1e-14)


def test_rows_are_divided_before_words_are_dropped():
    # row 0 sums to 4 with the edge to 1; column 2 is zero, so word 2 goes, but row 2 was counted nowhere else
    matrix = np.array([[2, 2, 0], [1, 1, 0], [4, 0, 0]])
    graph = author_graph(matrix)
    assert graph.kept.tolist() == [0, 1]
    np.testing.assert_allclose(graph.adjacency, np.full((2, 2), 0.5), rtol=1e-14)


@given(arrays(int, (7, 7), elements=st.sampled_from([0, 0, 0, 0, 100, 64, 13])))
def test_the_author_graph_agrees_with_an_independent_computation(matrix):
    network = nx.DiGraph()
    for i, row in enumerate(matrix.tolist()):
        for j, value in enumerate(row):
            if value:
                network.add_edge(i, j, weight=value / sum(row))
    network.remove_nodes_from([node for node in list(network) if network.in_degree(node) == 0])
    assume(network.number_of_edges())
    both = nx.Graph()
    both.add_nodes_from(sorted(network))
    for i, j, weight in network.edges(data="weight"):
        previous = both.get_edge_data(i, j, {"weight": 0})["weight"]
        both.add_edge(i, j, weight=previous + (weight if i == j else weight / 2))
    components = sorted(map(sorted, nx.connected_components(both)), key=lambda nodes: (-len(nodes), nodes[0]))
    kept = components[0]
    A = nx.to_numpy_array(both, nodelist=kept)
    assume(A.any())
    graph = author_graph(matrix)
    assert graph.kept.tolist() == kept
    assert nx.is_connected(nx.from_numpy_array(graph.adjacency))
    assert np.array_equal(graph.adjacency, graph.adjacency.T)
    values = np.linalg.eigvals(graph.adjacency)  # the general solver, not the symmetric one
    assert values.real.max() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(graph.adjacency, A / np.linalg.eigvals(A).real.max(), rtol=1e-10, atol=1e-14)


@given(arrays(int, (5, 5), elements=st.integers(1, 1000)), st.integers(2, 9))
def test_the_author_graph_does_not_depend_on_how_much_was_counted(matrix, factor):
    once, often = author_graph(matrix), author_graph(factor * matrix)
    np.testing.assert_allclose(once.adjacency, often.adjacency, rtol=1e-12)


@pytest.mark.parametrize(
    ("matrix", "complaint"),
    [
        (np.zeros((3, 3)), "has no edges"),
        ([[0, 1], [0, 0]], "has no edges between kept words"),  # word 0 is dropped, word 1 left alone
        (np.zeros((2, 3)), r"shape \(2, 3\); expected \(n, n\)"),
        ([[0, -1], [1, 0]], "negative or non-finite"),
        ([[0, np.nan], [1, 0]], "negative or non-finite"),
    ],
)
def test_what_is_no_network_is_refused(matrix, complaint):
    with pytest.raises(ValueError, match=complaint):
        author_graph(matrix)


def test_the_own_list_holds_function_words_once_and_no_others():
    words = load_words()
    assert len(words) == len(set(words)) > 300
    assert {"the", "of", "and", "i", "would", "between", "whom", "not"} <= set(words)
    assert not {"man", "house", "said", "good", "time", "go"} & set(words)
    assert all(re.fullmatch(r"[a-z]+('[a-z]+)?", word) for word in words)


def test_a_list_of_words_is_read_in_its_order_and_lower_case(tmp_path):
    (tmp_path / "words.txt").write_text("# mine\nThe\n\n of \nDon’t\nété # summer\n", encoding="utf-8-sig")
    assert load_words(tmp_path / "words.txt") == load_words(str(tmp_path / "words.txt"))
    assert load_words(tmp_path / "words.txt") == ("the", "of", "don't", "été")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("the\nof\nThe\n", "holds 'the' twice, on lines 1 and 3"),
        ("the\nin spite of\n", "line 2 of .*is 'in spite of'; expected one word a line"),
        ("the\nvis-à-vis\n", "line 2 of"),
        ("# nothing\n", "holds no words; expected one word a line"),
        ("", "holds no words"),
    ],
)
def test_a_bad_list_of_words_is_refused(tmp_path, content, complaint):
    (tmp_path / "words.txt").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=complaint):
        load_words(tmp_path / "words.txt")


def test_the_most_frequent_words_are_counted_over_all_texts_and_ties_go_by_letter():
    texts = [tokenize("la mer, la mer! et le vent"), tokenize("la nuit et le jour")]
    assert load_words("auto:4", texts) == ("la", "et", "le", "mer")
    assert load_words("auto:1", texts) == ("la",)


@pytest.mark.parametrize(
    ("spec", "texts", "complaint"),
    [
        ("auto:0", [[["a"]]], "as in auto:200"),
        ("auto:", [[["a"]]], "as in auto:200"),
        ("auto:-3", [[["a"]]], "as in auto:200"),
        ("auto:two", [[["a"]]], "as in auto:200"),
        ("auto:2", None, "no texts were given"),
        ("auto:2", [[["a"]]], "the texts have 1 different words"),
    ],
)
def test_a_bad_wish_for_frequent_words_is_refused(spec, texts, complaint):
    with pytest.raises(ValueError, match=complaint):
        load_words(spec, texts)


@pytest.fixture(scope="module")
def novel(corpus):
    """Wuthering Heights."""
    return tokenize(read_text(find_texts(corpus)["bronte"][0]))


def test_a_novel_takes_a_few_times_as_long_as_finding_its_words(corpus):
    text = read_text(max(find_texts(corpus)["austen"], key=lambda path: path.stat().st_size))
    words = load_words()

    def best(work):
        times = []
        for _ in range(3):
            begin = time.process_time()
            work()
            times.append(time.process_time() - begin)
        return min(times)

    assert best(lambda: wan(tokenize(text), words)) < 40 * best(lambda: Counter(re.findall(r"\w+", text)))


def test_a_novel_agrees_with_the_slow_count(novel, corpus):
    words = load_words(corpus / "function_words.txt")
    part = novel[:1500]
    known = {word: i for i, word in enumerate(words)}
    slow = np.zeros((len(words), len(words)), dtype=int)
    for sentence in part:
        places = [(at, known[word]) for at, word in enumerate(sentence) if word in known]
        for at, i in places:
            for later, j in places:
                if 1 <= later - at <= 10:
                    slow[i, j] += WEIGHTS[later - at - 1]
    assert np.array_equal(wan(part, words), slow)
    assert slow.sum() > 100_000


def test_an_author_has_as_many_nodes_as_the_paper_says(corpus):
    """N = 190 to 210 in the paper; the rebuilt texts of Emily Brontë are fewer."""
    words = load_words(corpus / "function_words.txt")
    for author, least in [("bronte_charlotte", 190), ("poe", 190)]:
        pieces = chain.from_iterable(excerpts(tokenize(read_text(file))) for file in find_texts(corpus)[author])
        graph = author_graph(sum(wan(piece, words) for piece in pieces))
        assert least <= len(graph.kept) <= 210
        assert np.linalg.eigvalsh(graph.adjacency)[-1] == pytest.approx(1, abs=1e-12)
