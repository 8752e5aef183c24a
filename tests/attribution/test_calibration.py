"""Weights, calibration and measures against closed forms and independent computations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from shiftstate.attribution.certainty.calibration import Calibration, calibrate
from shiftstate.attribution.certainty.strangers import SIZES
from shiftstate.attribution.folds import check_held_out, deal, leave_one_out
from shiftstate.attribution.metrics import (
    answer_metrics,
    bootstrap,
    c_at_1,
    calibration_error,
    f05u,
)
from shiftstate.attribution.models.linear import log_softmax
from shiftstate.attribution.verification import Verifier, evaluate_verifier, learn_verifier, pan_measures


def drawn(n=4000, authors=4, scale=2.0, seed=0):
    """Scores whose softmax at weight 1 is the truth."""
    draw = np.random.default_rng(seed)
    scores = scale * draw.normal(size=(n, authors))
    p = np.exp(log_softmax(scores))
    author = np.array([draw.choice(authors, p=row) for row in p])
    return scores, author


@pytest.mark.parametrize("factor", [0.1, 1.0, 30.0])
def test_a_model_whose_scores_are_too_large_or_small_is_brought_to_its_true_weight(factor):
    scores, author = drawn()
    found = calibrate([factor * scores], author, np.arange(len(author)))
    assert found.weights[0] * factor == pytest.approx(1, abs=0.08)
    p = np.exp(found.logarithms([factor * scores]))
    assert calibration_error(p.max(1), p.argmax(1) == author) < 0.03


def test_a_model_of_noise_gets_no_weight():
    scores, author = drawn()
    noise = np.random.default_rng(1).normal(size=scores.shape)
    useful, useless = calibrate([scores, noise], author, np.arange(len(author))).weights
    assert useful == pytest.approx(1, abs=0.1)
    assert useless < 0.05


def test_copies_of_one_piece_do_not_make_a_text_surer_and_independent_pieces_do():
    scores, author = drawn(n=800, scale=1.0)
    text = np.repeat(np.arange(800), 8)
    copies = calibrate([np.repeat(scores, 8, axis=0)], np.repeat(author, 8), text)
    assert copies.power < 0.1
    draw = np.random.default_rng(0)
    truth = draw.integers(4, size=800)
    own = np.repeat(truth, 8)
    log_ratio = 0.8 * (draw.normal(size=(6400, 4)) + 0.8 * np.eye(4)[own])  # log density up to a constant
    assert calibrate([log_ratio], own, text).power > 0.85


def test_one_piece_is_judged_by_its_own_probabilities():
    logarithms = log_softmax(np.array([[1.0, 2.0, 0.5]]))
    assert np.allclose(Calibration((1.0,), 0.4).together(logarithms), np.exp(logarithms[0]))


@given(st.lists(st.sampled_from("abcde"), min_size=2, max_size=30), st.integers(2, 12))
def test_folds_hold_every_text_of_authors_with_two_out_once_and_never_all_of_an_author(authors, number):
    several = [text for text, author in enumerate(authors) if authors.count(author) > 1]
    for folds in (leave_one_out(authors), deal(authors, number)):
        assert sorted(text for fold in folds for text in fold) == several
        for fold in folds:
            left = {author for text, author in enumerate(authors) if text not in fold}
            assert left == set(authors)
    for fold in deal(authors, 30):
        assert len({authors[text] for text in fold}) == len(fold)


def test_nothing_can_be_held_out_of_single_texts():
    with pytest.raises(ValueError, match="1 of the authors have two texts"):
        check_held_out(["a", "a", "b"])


def test_measures_of_answers_counted_by_hand():
    p = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.45, 0.55]])
    author = np.array([0, 1, 1, 0])
    found = answer_metrics(p, author, sure=0.7)
    assert found["accuracy"] == 0.5
    assert found["undecided"] == 0.5
    assert found["accuracy_decided"] == 1.0
    assert found["c_at_1"] == (2 + 2 * 2 / 4) / 4
    assert found["f05u"] == pytest.approx(2.5 / (2.5 + 0.5))
    assert found["brier"] == pytest.approx((0.02 + 0.72 + 0.08 + 0.605) / 4)
    assert found["log_loss"] == pytest.approx(-np.log([0.9, 0.4, 0.8, 0.45]).mean())
    ratio = p / (1 - p)
    expected = (
        np.log2(1 + 1 / ratio[[0, 1, 2, 3], author]).mean() + np.log2(1 + ratio[[0, 1, 2, 3], 1 - author]).mean()
    ) / 2
    assert found["cllr"] == pytest.approx(expected)


def test_all_decided_or_none():
    right = np.array([True, True, False])
    assert c_at_1(right, np.ones(3, bool)) == pytest.approx(2 / 3)
    assert c_at_1(right, np.zeros(3, bool)) == 0
    assert f05u(right, np.zeros(3, bool)) == 0


def test_the_interval_draws_whole_texts():
    values, text = np.repeat([0.0, 1.0], 500), np.repeat([0, 1], 500)
    assert bootstrap(values, text) == (0.0, 1.0)  # two texts, however many pieces
    low, high = bootstrap(values, np.arange(1000))
    assert 0.45 < low < 0.5 < high < 0.55


def test_the_verifier_is_a_logistic_regression_on_the_cosine_for_every_size():
    draw = np.random.default_rng(0)
    author = np.repeat(np.arange(10), 3)
    noise = draw.normal(size=(len(SIZES), 30, 40)) * np.array([3.0, 1.5, 1.0, 0.8])[:, None, None]
    spans = (draw.normal(size=(10, 40))[author] + noise).astype(np.float32)
    verifier = learn_verifier(spans, author)
    assert min(verifier.slopes) > 0
    for size, profiles in zip(SIZES, spans, strict=True):
        same, other = (verifier.probability(profiles[0], profiles[one], size) for one in (1, 29))
        assert same > 0.5 > other
    measures = evaluate_verifier(spans, author)
    assert measures[64]["auc"] > 0.95
    assert measures[64]["overall"] > 0.85
    assert measures[1]["auc"] < measures[64]["auc"]
    unit = spans[3] / np.linalg.norm(spans[3], axis=1, keepdims=True)
    first, second = np.triu_indices(30, 1)
    same = author[first] == author[second]
    model = LogisticRegression(C=1e4, class_weight="balanced").fit((unit @ unit.T)[first, second][:, None], same)
    assert verifier.slopes[3] == pytest.approx(model.coef_[0, 0], rel=1e-2)


def test_pan_measures_counted_by_hand():
    found = pan_measures(np.array([0.9, 0.55, 0.2, 0.8]), np.array([True, True, False, False]))
    assert found["c_at_1"] == (2 + 1 * 2 / 4) / 4
    assert found["f05u"] == pytest.approx(1.25 / (1.25 + 0.25 + 1))
    assert found["f1"] == pytest.approx(2 / 3)
    assert found["brier"] == pytest.approx(1 - (0.01 + 0.2025 + 0.04 + 0.64) / 4)
    nothing = Verifier((0.0,) * len(SIZES), (0.0,) * len(SIZES))
    assert nothing.probability(np.ones(3, np.float32), np.ones(3, np.float32), 7) == 0.5
