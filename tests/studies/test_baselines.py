"""Baselines: separable excerpts are separated, standardisation sees the training excerpts only, C is chosen."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from shiftstate.datasets import Samples
from shiftstate.studies.paper.baselines import BASELINES, Classifiers, fit_baseline


def data(gap, count=200, words=6, seed=0, offset=0.0):
    """Author and others differ by ``gap`` standard deviations in the first word; the last word never varies."""
    generator = np.random.default_rng(seed)

    def part(size):
        y = np.arange(size) % 2
        x = 5 + generator.normal(size=(size, words)) * np.arange(1, words + 1)
        x[:, 0] += gap * y
        x[:, -1] = 3.0
        return Samples(torch.from_numpy(x + offset).unsqueeze(-1), torch.from_numpy(y))

    return SimpleNamespace(train=part(count), valid=part(60), test=part(100))


@pytest.mark.parametrize("name", BASELINES)
def test_what_can_be_told_is_told_and_what_cannot_is_not(name):
    found = fit_baseline(name, data(12.0), Classifiers())
    assert found.last["accuracy"] == found.best["accuracy"] > 0.97
    assert found.ending == "finished"
    assert found.parameters > 0
    assert "scikit-learn" in found.versions
    assert 0.3 < fit_baseline(name, data(0.0), Classifiers()).last["accuracy"] < 0.7


@pytest.mark.parametrize("name", BASELINES)
def test_the_scale_of_the_counts_does_not_matter_as_they_are_standardised(name):
    plain, moved = data(3.0), data(3.0, offset=1000.0)
    one, other = (fit_baseline(name, some, Classifiers()) for some in (plain, moved))
    assert one.last["accuracy"] == other.last["accuracy"]


@pytest.mark.parametrize("name", BASELINES)
def test_the_test_excerpts_change_nothing_that_is_learned(name):
    some = data(3.0)
    alone = SimpleNamespace(train=some.train, valid=some.valid, test=Samples(some.test.x[:1], some.test.y[:1]))
    whole, first = (fit_baseline(name, one, Classifiers()) for one in (some, alone))
    assert whole.valid_scores == first.valid_scores


def test_delta_is_the_smaller_cosine_distance_to_the_mean_z_score():
    some = data(4.0)
    x = some.train.x.squeeze(-1).numpy()
    mean, deviation = x.mean(0), np.append(x.std(0)[:-1], 1.0)
    z, test = (x - mean) / deviation, (some.test.x.squeeze(-1).numpy() - mean) / deviation
    his, theirs = z[some.train.y == 1].mean(0), z[some.train.y == 0].mean(0)

    def distance(a, b):
        return 1 - a @ b / np.sqrt((a @ a) * (b @ b))

    answers = [distance(excerpt, his) < distance(excerpt, theirs) for excerpt in test]
    expected = np.mean(np.array(answers) == some.test.y.numpy().astype(bool))
    assert fit_baseline("delta", some, Classifiers()).last["accuracy"] == expected


def test_c_is_chosen_on_validation_and_the_smallest_of_equals_is_kept():
    some = data(12.0)
    C = fit_baseline("logistic", some, Classifiers(C=(10.0, 0.1, 1.0))).chosen
    scores = [fit_baseline("logistic", some, Classifiers(C=(one,))).valid_scores[0] for one in (0.1, 1, 10)]
    assert (0.1, 1.0, 10.0)[int(np.argmax(scores))] == C


def test_without_scikit_learn_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    with pytest.raises(ValueError, match=r"pip install 'shiftstate\[baselines\]'"):
        fit_baseline("svm", data(1.0), Classifiers())
    assert fit_baseline("delta", data(12.0), Classifiers()).last["accuracy"] > 0.9
