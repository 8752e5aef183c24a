"""The words of the verdict: "as good" only within the stated margin, and the data may not tell."""

import numpy as np
import pytest

from shiftstate.estimators.graph_help.verdict import MARGIN, margin_of, sentence
from shiftstate.own_data.left import verdicts
from shiftstate.tasks import CLASSIFICATION_METRICS, REGRESSION_METRICS

ACCURACY, RMSE, R2 = CLASSIFICATION_METRICS["accuracy"], REGRESSION_METRICS["rmse"], REGRESSION_METRICS["r2"]
SAME = ("no_graph", "the same network with K = 0")


@pytest.mark.parametrize(
    ("lead", "expected"),
    [
        ((0.05, 0.01, 0.09), "the graph is worth 5.0 points (1.0 … 9.0), compared with the same network with K = 0"),
        ((-0.05, -0.09, -0.01), "the same network with K = 0 is better by 5.0 points (1.0 … 9.0): prefer it"),
        (
            (0.0, -0.02, 0.02),
            "the same network with K = 0 is as good (the graph gives 0.0 points (-2.0 … 2.0)): prefer it",
        ),
        (
            (-0.031, -0.17, 0.107),
            "no difference was found; the data cannot tell (the graph gives -3.1 points (-17.0 … 10.7), compared with "
            "the same network with K = 0; as good means within 2 points)",
        ),
    ],
)
def test_a_wide_interval_around_zero_tells_nothing(lead, expected):
    assert sentence(ACCURACY, *SAME, lead, 0.8) == expected


@pytest.mark.parametrize("lead", [(0, -0.0201, 0.0), (0, 0.0, 0.0201), (0.0, np.nan, np.nan)])
def test_both_ends_lie_within_the_margin_or_nothing_is_said(lead):
    assert sentence(ACCURACY, *SAME, lead, 0.8).startswith("no difference was found; the data cannot tell")


def test_the_margin_of_an_error_is_a_share_of_the_rivals():
    assert margin_of(RMSE, 50.0) == pytest.approx(50 * MARGIN)
    assert margin_of(ACCURACY, 0.1) == margin_of(R2, -3.0) == MARGIN
    assert "is as good" in sentence(RMSE, *SAME, (0.0, -0.9, 0.9), 50.0)
    assert sentence(RMSE, *SAME, (0.0, -1.1, 0.9), 50.0).endswith("as good means within 1)")


def test_trees_are_many_and_stand_without_the_graph():
    told = sentence(ACCURACY, "trees", "gradient-boosted trees", (0.0, -0.01, 0.01), 0.8)
    assert told.startswith("gradient-boosted trees without the graph are as good (")
    assert told.endswith("prefer them")


def test_several_splits_are_judged_by_the_same_words():
    assert verdicts.sentence is sentence
