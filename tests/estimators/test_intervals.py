"""Intervals: against closed forms, and how often they hold the truth."""

import numpy as np
import pytest
from scipy.stats import norm, t

from shiftstate.estimators.graph_help import intervals
from shiftstate.estimators.graph_help.contest import block_length
from shiftstate.estimators.graph_help.intervals import lead_of, over_seeds
from shiftstate.tasks import CLASSIFICATION_METRICS, REGRESSION_METRICS

MAE, RMSE, ACCURACY = REGRESSION_METRICS["mae"], REGRESSION_METRICS["rmse"], CLASSIFICATION_METRICS["accuracy"]
RANDOM = np.random.default_rng(0)
TARGETS = RANDOM.normal(size=400)
UNITS = np.arange(400)


def test_the_interval_over_seeds_is_students():
    scores = [0.8, 0.82, 0.81, 0.84]
    low, high = over_seeds(scores)
    half = t.ppf(0.975, 3) * np.std(scores, ddof=1) / 2
    np.testing.assert_allclose([low, high], [np.mean(scores) - half, np.mean(scores) + half])
    assert over_seeds([0.8]) is None


def test_one_seed_leaves_the_interval_over_test_data():
    ours, theirs = TARGETS + 0.1 * RANDOM.normal(size=400), TARGETS + RANDOM.normal(size=400)
    lead = lead_of(MAE, [ours], [theirs], TARGETS, UNITS)
    differences = np.abs(theirs - TARGETS) - np.abs(ours - TARGETS)
    assert lead.value == pytest.approx(differences.mean())
    half = norm.ppf(0.975) * differences.std() / 20
    assert lead.high - lead.value == pytest.approx(half, rel=0.1)
    assert lead.low > 0


def test_errors_in_common_do_not_widen_the_interval():
    shared = 10 * RANDOM.normal(size=400)
    lead = lead_of(MAE, [TARGETS + shared], [TARGETS + shared * 1.01], TARGETS, UNITS)
    assert 0 < lead.low < lead.high < 0.2


def test_seeds_and_data_are_taken_together():
    seeds = [TARGETS + shift for shift in (0.1, 0.3, 0.5)]
    other = [TARGETS + 1.0 + 0.1 * RANDOM.normal(size=400)]
    lead = lead_of(MAE, seeds, other, TARGETS, UNITS)
    of_seeds = t.ppf(0.975, 2) * 0.2 / np.sqrt(3)
    assert lead.value == pytest.approx(0.7, abs=0.02)
    assert lead.high - lead.value == pytest.approx(of_seeds, rel=0.01)
    paired = lead_of(MAE, seeds, [one + 1 for one in seeds], TARGETS, UNITS)
    assert paired.high - paired.low < 1e-6, "seed by seed the difference is always 1"


def test_rows_of_a_block_are_drawn_together():
    """Twenty rows that are all alike are one observation."""
    errors = np.repeat(RANDOM.normal(size=20), 20)
    by_row = lead_of(RMSE, [TARGETS], [TARGETS + errors], TARGETS, UNITS)
    by_block = lead_of(RMSE, [TARGETS], [TARGETS + errors], TARGETS, UNITS // 20)
    assert by_block.high - by_block.low > 3 * (by_row.high - by_row.low)


def test_sums_and_the_metric_itself_agree(monkeypatch):
    labels = RANDOM.integers(3, size=400)
    ours, theirs = np.eye(3)[labels] + RANDOM.normal(size=(400, 3)), RANDOM.normal(size=(400, 3))
    fast = lead_of(ACCURACY, [ours], [theirs], labels, UNITS)
    monkeypatch.setattr(intervals, "SUMS", {})
    slow = lead_of(ACCURACY, [ours], [theirs], labels, UNITS)
    assert fast.value == slow.value
    assert fast.high - fast.low == pytest.approx(slow.high - slow.low, rel=0.2)


def test_ninety_five_of_a_hundred_intervals_hold_the_truth():
    held = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        y = random.normal(size=80)
        ours, theirs = y + random.normal(size=80), y + 1.5 * random.normal(size=80)
        lead = lead_of(MAE, [ours], [theirs], y, np.arange(80))
        held += lead.low <= 0.5 * np.sqrt(2 / np.pi) <= lead.high
    assert 180 <= held <= 199


def test_blocks_of_times_are_long_and_not_too_few():
    assert block_length(400, 12, 12) == 20
    assert block_length(400, 30, 1) == 30
    assert block_length(64, 30, 1) == 8
    assert block_length(3, 12, 1) == 1
