"""What makes an answer doubtful: two hands, strangers, other languages; and which model is trusted."""

import os
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.metrics import roc_auc_score

from shiftstate.attribution.certainty.calibration import Calibration, Judged
from shiftstate.attribution.certainty.hands import SHORTEST_PART, change_of_hand
from shiftstate.attribution.certainty.strangers import SIZES, Known, fit_of, learn_strangers
from shiftstate.attribution.certainty.trust import gap, most_trusted, why
from shiftstate.attribution.evaluation.tables import _cell
from shiftstate.attribution.evaluation.two_hands import measure_hands
from shiftstate.attribution.labels import plain, render_names
from shiftstate.attribution.library import read_library
from shiftstate.attribution.models.linear import log_softmax
from shiftstate.files import printable
from tests.attribution.books import book, write_books

ROOT = Path(__file__).parents[2]
HALF = Calibration((1.0,), 0.5)


def judged_pieces(author, strength=4.0, seed=0):
    """log p of pieces whose authors are these, of four."""
    draw = np.random.default_rng(seed)
    author = np.asarray(author)
    return log_softmax(draw.normal(size=(len(author), 4)) + strength * np.eye(4)[author])


def test_a_change_of_hand_is_found_at_its_place_and_not_where_there_is_none():
    change = change_of_hand(judged_pieces([2] * 12 + [1] * 20), HALF)
    assert (change.first, change.second) == (2, 1)
    assert abs(change.piece - 12) <= 1
    assert change_of_hand(judged_pieces([2] * 32), HALF) is None
    assert change_of_hand(judged_pieces([2] * 32, strength=0), HALF) is None
    assert change_of_hand(judged_pieces([2] * (2 * SHORTEST_PART - 1)), HALF) is None


def test_changes_of_hand_are_counted_in_whole_and_in_joined_texts():
    author = np.array([0, 1, 2, 3])
    text = np.repeat(np.arange(4), 24)
    judged = Judged(judged_pieces(author[text]), dict.fromkeys(range(4), HALF))
    found = measure_hands(judged, author, text)
    assert (found["texts"], found["changes_named"]) == (4, 0)
    assert found["changes_found"] == found["joined"] == 200


def test_strangers_fit_less_well_than_authors_fit_their_own_texts():
    author = np.repeat(np.arange(4), 5)
    text = np.repeat(np.arange(20), 16)
    logarithms = judged_pieces(author[text])
    known = learn_strangers(logarithms, author[text], text)
    assert np.nanmin(known.present[2]) > np.nanmax(known.absent[2])
    (*_, long) = known.power()
    assert long["auc"] == 1
    assert long["strangers_found"] == pytest.approx(0.95)
    assert known.strange(fit_of(judged_pieces([0] * 16, strength=0)), 16)
    assert not known.strange(fit_of(judged_pieces([0] * 16, seed=5)), 16) or long["own_refused"] > 0
    assert known.as_high(0.0, 16) == 1
    assert known.threshold(16) <= np.nanquantile(known.absent[2], 0.95) < np.nanmin(known.present[2])
    assert fit_of(np.log([[0.5, 0.5], [0.9, 0.1]])) == pytest.approx(np.sqrt(0.45))


def test_the_auc_of_the_strangers_test_is_that_of_all_pairs_and_ties_count_half():
    present, absent = (np.full((len(SIZES), 3), np.nan) for _ in range(2))
    present[1], absent[1] = [0.9, 0.5, 0.3], [0.5, 0.2, np.nan]
    (found,) = Known(present, absent).power()
    assert found["pieces"] == SIZES[1]
    assert found["auc"] == (2 + 0.5 + 1 + 1) / 6  # 0.9 wins twice, 0.5 once and half, 0.3 once
    draw = np.random.default_rng(0)
    present, absent = draw.integers(5, size=(2, len(SIZES), 40)) / 5 + np.array([0.2, 0])[:, None, None]
    for found, own, strange in zip(Known(present, absent).power(), present, absent, strict=True):
        truth = np.repeat([True, False], 40)
        assert found["auc"] == pytest.approx(roc_auc_score(truth, [*own, *strange]))
        threshold = min(np.quantile(own, 0.05), np.quantile(strange, 0.95))
        assert found["strangers_found"] == sum(strange < threshold) / 40
        assert found["own_refused"] == sum(own < threshold) / 40


def test_with_two_authors_nothing_is_known_of_strangers():
    known = learn_strangers(np.log([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]), np.array([0, 1]))
    assert known.threshold(1) is None
    assert known.as_high(0.1, 1) is None
    assert not known.strange(0.0, 1)
    assert known.power() == []


def test_the_trusted_model_is_no_worse_than_a_baseline_and_has_the_least_log_loss():
    measures = {
        name: {"accuracy": accuracy, "log_loss": loss}
        for name, accuracy, loss in [
            ("delta", 0.6, 1.0), ("logistic", 0.7, 0.9), ("svm", 0.65, 0.8), ("filter", 0.72, 0.7), ("odd", 0.69, 0.1),
            ("combined", 0.71, 0.5),
        ]
    }  # fmt: skip
    assert most_trusted(measures) == "combined"


def test_why_names_the_best_baseline_and_the_interval_is_over_texts():
    author, text = np.zeros(40, dtype=int), np.repeat(np.arange(4), 10)
    right, wrong = np.tile([0.9, 0.1], (40, 1)), np.tile([0.1, 0.9], (40, 1))
    half = np.where(text[:, None] < 2, right, wrong)
    said = why("filter", {"filter": right, "delta": wrong, "logistic": half, "svm": wrong}, author, text)
    assert said.startswith("filter tells 100.0 % of the held-out excerpts right, logistic 50.0 %: +50.0 points")
    assert gap(np.array([True, False]), np.array([False, False]), np.array([0, 1])) == (50.0, 0.0, 100.0)


def test_half_of_the_texts_in_another_language_and_words_without_spaces_are_named(tmp_path):
    write_books(tmp_path, ("ann",), books=3)
    (tmp_path / "bob").mkdir()
    for number in range(2):
        foreign = "le chat et la mer du port dans une ville avec des gens que " * (30 + number)
        (tmp_path / "bob" / f"f{number}.txt").write_text(f"{foreign} {number}")
    (tmp_path / "bob" / "long.txt").write_text(book(1, 0).replace(" ", "") + " " + "supercalifragilistic " * 200)
    lines = []
    read_library(tmp_path, lines.append)
    said = "\n".join(lines)
    assert "warning: f0, f1, long: other frequent words" in said
    assert "warning: long: words of more than 12 letters" in said


@pytest.mark.parametrize("name", ["a $x$ b", "_hidden", "名前", "<b> & 'q' 100%"])
def test_names_are_drawn_as_they_are(name):
    figure = Figure()
    axis = figure.add_subplot()
    axis.plot([0, 1], [0, 1], label=plain(name))
    axis.legend()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = render_names(figure).decode()
    shown = name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert shown in drawn


def test_the_page_says_what_the_records_say():
    updated = runpy.run_path(str(ROOT / "docs/attribution_record.py"))["updated"]
    assert updated() == (ROOT / "docs/attribution.md").read_text(encoding="utf-8")


def test_hostile_names_are_written_out_and_break_neither_tables_nor_pages(tmp_path):
    names = ["a|b <i>", "c\x1b[2J\nd", os.fsdecode(b"e\xff")]
    write_books(tmp_path, names, books=2, words=300)
    (tmp_path / names[1] / "title\u202e\x07.txt").write_text(book(9, 9, 300))
    lines = []
    library = read_library(tmp_path, lines.append)
    assert library.names == ["a|b <i>", "c\\x1b[2j\\nd", "e\\udcff"]
    assert "title\\u202e\\x07" in library.titles
    for line in (*lines, *library.titles, *library.names):
        assert line.isprintable()
        line.encode()
    assert _cell("a|b <i>") == "a\\|b &lt;i&gt;"
    assert printable("می\u200cخواهم") == "می\u200cخواهم"


def test_more_different_words_than_memory_holds_raise(tmp_path, monkeypatch):
    write_books(tmp_path, ("ann", "bob"), books=2, words=300)
    monkeypatch.setattr("shiftstate.attribution.library.memory_bytes", lambda: 1000)
    with pytest.raises(ValueError, match=r"4 texts with .* different words need 0 GB of memory; expected fewer"):
        read_library(tmp_path, lambda line: None)
