"""From texts to the files of a network by the command line, and the picture of it."""

import json
import os
import xml.etree.ElementTree as ET
from csv import reader

import networkx as nx
import numpy as np
import pytest
from matplotlib.patches import Ellipse

from shiftstate.pictures import render
from shiftstate.texts.gutenberg.fetch import Fetched
from shiftstate.texts.network_files import reproduce_figure2
from shiftstate.texts.network_picture import draw_wan
from shiftstate.texts.tokens import tokenize
from shiftstate.texts.word_lists import load_words
from shiftstate.texts.word_networks import wan

TEXT = "The ship of the line went to sea; and it was a storm on the sea. He went to the end of it!"


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "sea.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.list"
    path.write_text("of\nnever\nthe\nit\n")
    return path


EXPECTED = wan(tokenize(TEXT), ["of", "never", "the", "it"])


def test_an_npz_holds_the_whole_matrix_and_the_words_without_pickle(command, text, words, tmp_path):
    out = tmp_path / "wan.npz"
    code, output, _ = command("wan", text, "--words", words, "--out", out)
    assert code == 0
    assert "3 of 4 words occur" in output
    with np.load(out, allow_pickle=False) as content:
        assert set(content) == {"matrix", "words"}
        assert content["words"].tolist() == ["of", "never", "the", "it"]
        assert np.array_equal(content["matrix"], EXPECTED)
        assert content["matrix"].dtype == np.int64
    assert not EXPECTED[1].any()
    assert not EXPECTED[:, 1].any()


def test_a_csv_holds_the_same(command, text, words, tmp_path):
    assert command("wan", text, "--words", words, "--out", tmp_path / "wan.csv")[0] == 0
    with open(tmp_path / "wan.csv", newline="") as file:
        rows = list(reader(file))
    assert rows[0] == ["word", "of", "never", "the", "it"]
    assert [row[0] for row in rows[1:]] == rows[0][1:]
    assert np.array_equal(np.array([row[1:] for row in rows[1:]], dtype=int), EXPECTED)


def test_a_graphml_is_read_by_networkx_as_the_same_network(command, text, words, tmp_path):
    assert command("wan", text, "--words", words, "--out", tmp_path / "wan.graphml")[0] == 0
    graph = nx.read_graphml(tmp_path / "wan.graphml")
    assert graph.is_directed()
    matrix = nx.to_numpy_array(graph, nodelist=["of", "never", "the", "it"], dtype=int)
    assert np.array_equal(matrix, EXPECTED)


def test_several_texts_are_counted_together_but_not_across(command, words, tmp_path):
    for name, content in [("a.txt", "of the"), ("b.txt", "it of the")]:
        (tmp_path / name).write_text(content)
    out = tmp_path / "wan.npz"
    assert command("wan", tmp_path / "a.txt", tmp_path / "b.txt", "--words", words, "--out", out)[0] == 0
    matrix = np.load(out)["matrix"]
    assert matrix.tolist() == [[0, 0, 200, 0], [0] * 4, [0] * 4, [100, 0, 80, 0]]


def test_window_decay_and_the_most_frequent_words_are_options(command, text, tmp_path):
    out = tmp_path / "wan.npz"
    assert command("wan", text, "--words", "auto:3", "--window", 2, "--decay", 0.5, "--out", out)[0] == 0
    with np.load(out) as content:
        chosen = content["words"].tolist()
        assert chosen == list(load_words("auto:3", [tokenize(TEXT)]))
        assert np.array_equal(content["matrix"], wan(tokenize(TEXT), chosen, window=2, decay=0.5))


def test_excerpts_go_into_the_npz_beside_the_whole(command, text, words, tmp_path):
    out = tmp_path / "wan.npz"
    assert command("wan", text, "--words", words, "--excerpt-length", 7, "--out", out)[0] == 0
    with np.load(out) as content:
        assert np.array_equal(content["matrix"], EXPECTED)
        assert content["excerpts"].shape == (3, 4, 4)
        assert content["signals"].tolist() == [[1, 0, 2, 0], [0, 0, 0, 1], [0, 0, 2, 0]]


def test_without_a_list_the_package_s_own_is_taken(command, text, tmp_path):
    assert command("wan", text, "--out", tmp_path / "wan.npz")[0] == 0
    assert tuple(np.load(tmp_path / "wan.npz")["words"].tolist()) == load_words()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["absent.txt", "--out", "o.npz"], "absent.txt cannot be read (No such file or directory)"),
        (["sea.txt", "--out", "o.txt"], "o.txt ends in '.txt'; expected .npz, .csv or .graphml"),
        (["sea.txt", "--out", "absent/o.npz"], "expected a file name in a folder that exists"),
        (["sea.txt", "sea.txt", "--out", "o.npz"], "hold the same text; expected every book once"),
        (["empty.txt", "--out", "o.npz"], "holds no words"),
        (["latin.txt", "--out", "o.npz"], "is not UTF-8"),
        (["binary.txt", "--out", "o.npz"], "is a binary file"),
        (["sea.txt", "--words", "twice.list", "--out", "o.npz"], "holds 'the' twice, on lines 1 and 2"),
        (["sea.txt", "--words", "auto:99", "--out", "o.npz"], "different words"),
        (["sea.txt", "--window", "0", "--out", "o.npz"], "window is 0"),
        (["sea.txt", "--decay", "2", "--out", "o.npz"], "decay is 2.0"),
        (["sea.txt", "--excerpt-length", "99", "--out", "o.npz"], "has 23 words; expected at least one excerpt of 99"),
        (["sea.txt", "--excerpt-length", "5", "--out", "o.csv"], "expected an .npz file with --excerpt-length"),
        (["sea.txt", "--picture", "p.gif", "--out", "o.npz"], "p.gif ends in '.gif'; expected .svg or .png"),
        (["one.txt", "--picture", "p.svg", "--out", "o.npz"], "no edges to draw"),
        (["pipe.txt", "--out", "o.npz"], "pipe.txt cannot be read (a named pipe); expected a text file"),
        (["/dev/zero", "--out", "o.npz"], "/dev/zero cannot be read (a device); expected a text file"),
        (["sea.txt", "--words", "pipe.txt", "--out", "o.npz"], "pipe.txt cannot be read (a named pipe)"),
        (["--out", "o.npz"], "Missing argument"),
    ],
)
def test_bad_input_is_one_line_exit_code_2_and_no_file(command, text, tmp_path, monkeypatch, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "latin.txt").write_bytes("the Brontë".encode("latin-1"))
    (tmp_path / "binary.txt").write_bytes(b"the\0")
    (tmp_path / "one.txt").write_text("the")
    (tmp_path / "twice.list").write_text("the\nthe\n")
    os.mkfifo(tmp_path / "pipe.txt")
    before = sorted(tmp_path.iterdir())
    code, _, errors = command("wan", *arguments)
    assert code == 2
    last = errors.strip().splitlines()[-1]
    assert last.startswith("shiftstate: ")
    assert complaint in last
    assert sorted(tmp_path.iterdir()) == before


def test_a_picture_is_drawn_beside_the_file(command, text, tmp_path):
    code, _, _ = command("wan", text, "--out", tmp_path / "o.npz", "--picture", tmp_path / "p.svg", "--edges", 12)
    assert code == 0
    labels = {
        "".join(node.itertext()).strip() for node in ET.parse(tmp_path / "p.svg").iter() if node.tag[-4:] == "text"
    }
    assert {"the", "of", "it"} <= labels
    assert "Word adjacency network of sea: the 12 strongest edges" in labels


def random_network(n, seed=0):
    generator = np.random.default_rng(seed)
    matrix = generator.integers(1, 5000, (n, n)) // generator.integers(1, 400, (n, n))
    return matrix, matrix.sum(1), [f"word{i}" * (1 + i % 3) for i in range(n)]


@pytest.mark.parametrize(("n", "least"), [(1, 1), (2, 2), (3, 3), (30, 25), (120, 100)])
def test_no_two_words_of_a_picture_overlap(n, least):
    figure = draw_wan(*random_network(n), "random", edges=4 * n)
    ellipses = [patch for patch in figure.axes[0].patches if isinstance(patch, Ellipse) and patch.get_zorder() == 3]
    n = len(figure.axes[0].texts)
    assert len(ellipses) == n >= least
    centres = np.array([patch.center for patch in ellipses])
    sizes = np.array([(patch.width, patch.height) for patch in ellipses])
    need = (sizes[:, None] + sizes[None]) / 2
    apart = (np.abs(centres[:, None] - centres[None]) >= need).any(2)
    assert (apart | np.eye(n, dtype=bool)).all()


def test_a_picture_holds_the_strongest_edges_and_words_by_frequency():
    matrix = np.zeros((4, 4), dtype=int)
    matrix[0, 1], matrix[1, 2], matrix[2, 2], matrix[3, 0] = 90, 80, 70, 1
    axis = draw_wan(matrix, np.array([100, 10, 1, 50]), list("abcd"), "small", edges=3).axes[0]
    sizes = {text.get_text(): text.get_fontsize() for text in axis.texts}
    assert set(sizes) == {"a", "b", "c"}
    assert sizes["a"] > sizes["b"] > sizes["c"]
    assert sum(type(patch).__name__ == "FancyArrowPatch" for patch in axis.patches) == 2
    assert sum(type(patch).__name__ == "Circle" for patch in axis.patches) == 1


def test_the_same_network_gives_the_same_picture():
    first, second = (render(draw_wan(*random_network(9), "again"), "svg") for _ in range(2))
    assert first == second


@pytest.fixture
def library(tmp_path):
    root = tmp_path / "library"
    for author in ("stevenson", "poe"):
        (root / author).mkdir(parents=True)
        (root / author / "book.txt").write_text(f"{author} of the sea and the land. " * 20)
    return root


def test_figure2_is_drawn_from_all_books_of_the_author(command, library, tmp_path):
    (library / "stevenson" / "other.txt").write_text("and then of it")
    code, output, _ = command(
        "reproduce", "figure2", "--author", "Stevenson", "--texts", library, "--out", tmp_path / "out"
    )
    assert code == 0
    names = {"figure2.svg", "figure2.png", "figure2.npz", "figure2.json"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    assert all(name in output for name in names)
    story = json.loads((tmp_path / "out" / "figure2.json").read_text())
    assert story["author"] == "stevenson"
    assert story["books"] == ["book.txt", "other.txt"]
    assert story["text_words"] == 20 * 7 + 4
    with np.load(tmp_path / "out" / "figure2.npz") as content:
        words = content["words"].tolist()
        assert tuple(words) == load_words()
        assert content["matrix"][words.index("of"), words.index("the")] == 20 * (100 + 51)
        assert content["matrix"][words.index("of"), words.index("it")] == 100


def test_figure2_takes_the_list_that_comes_with_the_texts(library, tmp_path):
    (library / "function_words.txt").write_text("the\nof\n")
    reproduce_figure2(library, "poe", tmp_path / "out")
    assert np.load(tmp_path / "out" / "figure2.npz")["words"].tolist() == ["the", "of"]


def test_figure2_without_texts_says_how_to_get_them(command, tmp_path):
    code, _, errors = command("reproduce", "figure2", "--out", tmp_path / "out")
    assert code == 2
    assert errors.count("\n") == 1
    assert "--texts DIR" in errors
    assert "shiftstate data fetch gutenberg" in errors
    assert not (tmp_path / "out").exists()


def test_an_author_who_is_not_there_gets_the_nearest_suggested(command, library, tmp_path):
    code, _, errors = command(
        "reproduce", "figure2", "--author", "stevensn", "--texts", library, "--out", tmp_path / "out"
    )
    assert code == 2
    assert "unknown author 'stevensn'" in errors
    assert "did you mean 'stevenson'?" in errors
    assert not (tmp_path / "out").exists()


def test_books_are_fetched_by_command(command, tmp_path, monkeypatch):
    asked = []

    def fetch(books, out, **options):
        asked.append((len(books), options["mirror"], options["strict"]))
        options["say"]("1 of 5")
        return Fetched(4, 1, ("poe/a.txt",))

    monkeypatch.setattr("shiftstate.texts.gutenberg.fetch.fetch", fetch)
    code, output, errors = command(
        "data", "fetch", "gutenberg", "--out", tmp_path, "--author", "poe", "--mirror", "http://localhost", "--strict"
    )
    assert (code, asked) == (0, [(5, "http://localhost", True)])
    assert "4 books fetched, 1 were there" in output
    assert "another edition" in output
    assert errors == "1 of 5\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["gutenbreg"], "did you mean 'gutenberg'?"),
        (["gutenberg", "--author", "po"], "did you mean 'poe'?"),
        (["gutenberg", "--mirror", "file:///etc"], "expected an address that starts with https://"),
        (["gutenberg", "--catalogue", "absent.csv"], "absent.csv cannot be read"),
    ],
)
def test_a_bad_fetch_is_one_line_and_exit_code_2(command, tmp_path, arguments, complaint):
    code, _, errors = command("data", "fetch", *arguments, "--out", tmp_path / "out")
    assert code == 2
    assert errors.count("\n") == 1
    assert complaint in errors
    assert not (tmp_path / "out").exists()


def test_the_real_stevenson_is_drawn(command, corpus, tmp_path):
    code, _, _ = command("reproduce", "figure2", "--author", "stevenson", "--texts", corpus, "--out", tmp_path)
    assert code == 0
    story = json.loads((tmp_path / "figure2.json").read_text())
    assert story["words_from"] == "function_words.txt"
    assert max(story["counts"], key=story["counts"].get) == "the"
