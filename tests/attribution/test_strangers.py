"""Thresholds, shares and the AUC of the test for strangers, on scores that can be counted by hand."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from shiftstate.attribution.certainty.strangers import SIZES, Known, middle, nearest_size

OWN = np.array([0.9, 0.8, 0.8, 0.5, 0.3])
STRANGE = np.array([0.8, 0.5, 0.2, 0.1])


def known(own=OWN, strange=STRANGE):
    """The same scores for every size, and one text of which nothing is known."""
    return Known(*(np.tile([*one, np.nan], (len(SIZES), 1)) for one in (own, strange)))


def test_the_auc_counts_ties_by_half():
    labels, scores = [1] * len(OWN) + [0] * len(STRANGE), np.concatenate([OWN, STRANGE])
    for one in known().power():
        assert one["auc"] == pytest.approx(roc_auc_score(labels, scores)) == pytest.approx((4 + 2 * 3.5 + 2.5 + 2) / 20)
    assert [one["pieces"] for one in known().power()] == list(SIZES)


def test_one_in_twenty_of_the_authors_texts_falls_below_the_threshold():
    own, strange = np.arange(101) / 100, np.arange(101) / 100 + 0.1
    found = known(own, strange)
    assert found.threshold(1) == pytest.approx(0.05)
    assert found.power()[0]["own_refused"] == pytest.approx(5 / 101)
    assert found.power()[0]["strangers_found"] == 0
    assert found.strange(0.04, 1)
    assert not found.strange(0.05, 1)


def test_the_threshold_is_not_above_what_one_in_twenty_strangers_reaches():
    found = known(np.array([0.99, 0.999]), np.arange(101) / 1000)
    assert found.threshold(4) == pytest.approx(0.095)
    assert found.power()[1]["strangers_found"] == pytest.approx(95 / 101)
    assert found.power()[1]["own_refused"] == 0


def test_the_share_of_strangers_that_score_as_high():
    assert known().as_high(0.5, 16) == 0.5
    assert known().as_high(0.81, 16) == 0
    nobody = known(strange=np.array([np.nan]))
    assert (nobody.as_high(0.5, 16), nobody.threshold(16), nobody.strange(0.0, 16), nobody.power()) == (
        None,
        None,
        False,
        [],
    )


@pytest.mark.parametrize(
    ("pieces", "place"), [(0, 0), (1, 0), (1.9, 0), (2.1, 1), (7, 1), (9, 2), (31, 2), (33, 3), (999, 3)]
)
def test_the_nearest_size_is_so_by_ratio(pieces, place):
    assert nearest_size(pieces) == place


@pytest.mark.parametrize(
    ("size", "kept"), [(1, [2]), (2, [1, 2]), (3, [1, 2, 3]), (5, [0, 1, 2, 3, 4]), (9, [0, 1, 2, 3, 4])]
)
def test_pieces_are_taken_from_the_middle(size, kept):
    assert middle(np.arange(5), size).tolist() == kept
