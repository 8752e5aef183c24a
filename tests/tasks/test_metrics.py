"""Metrics against their definitions, written out; where they are not defined they are NaN and no warning."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shiftstate.tasks import CLASSIFICATION_METRICS, REGRESSION_METRICS

COUNTS = st.integers(2, 40)


def draw(seed, count, classes):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(count, classes, generator=generator).round(decimals=1)  # ties
    return logits, torch.randint(max(2, classes), (count,), generator=generator)


@given(seed=st.integers(0, 10_000), count=COUNTS, classes=st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_classification_metrics_are_their_definitions(seed, count, classes):
    outputs, targets = draw(seed, count, classes)
    logits = outputs if classes > 1 else torch.cat([torch.zeros_like(outputs), outputs], -1)
    chances, predicted = logits.double().softmax(-1), logits.argmax(-1)
    value = {name: metric(outputs, targets) for name, metric in CLASSIFICATION_METRICS.items()}
    assert value["accuracy"] == (predicted == targets).double().mean().item()
    recalls = [(predicted[targets == c] == c).double().mean().item() for c in targets.unique()]
    assert value["balanced_accuracy"] == pytest.approx(np.mean(recalls))
    assert value["log_loss"] == pytest.approx(-chances[torch.arange(count), targets].log().mean().item())
    missed = (chances - torch.nn.functional.one_hot(targets, logits.shape[1])).square()
    half = 2 if logits.shape[1] == 2 else 1
    assert value["brier"] == pytest.approx(missed.sum(-1).mean().item() / half)
    f1 = []
    for c in {*targets.tolist(), *predicted.tolist()}:
        both = int(((predicted == c) & (targets == c)).sum())
        f1.append(2 * both / (int((predicted == c).sum()) + int((targets == c).sum())))
    assert value["macro_f1"] == pytest.approx(np.mean(f1))


@given(seed=st.integers(0, 10_000), count=COUNTS, classes=st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_roc_auc_is_the_share_of_pairs_in_the_right_order(seed, count, classes):
    outputs, targets = draw(seed, count, classes)
    found = CLASSIFICATION_METRICS["roc_auc"](outputs, targets)
    present = targets.unique().tolist()
    if len(present) < 2:
        assert math.isnan(found)
        return
    logits = (outputs if classes > 1 else torch.cat([torch.zeros_like(outputs), outputs], -1)).double()
    ranks = {1: logits[:, 1] - logits[:, 0]} if logits.shape[1] == 2 else dict(enumerate(logits.softmax(-1).T))
    each = []
    for c, score in ranks.items():
        if c in present:
            one, rest = score[targets == c][:, None], score[targets != c][None]
            each.append(((one > rest).double() + (one == rest).double() / 2).mean().item())
    assert found == pytest.approx(np.mean(each))


def test_roc_auc_does_not_saturate_with_the_sigmoid():
    outputs, targets = torch.tensor([[40.0], [50.0], [60.0]]), torch.tensor([0, 1, 1])
    assert CLASSIFICATION_METRICS["roc_auc"](outputs, targets) == 1.0


@given(seed=st.integers(0, 10_000), count=COUNTS)
@settings(max_examples=30, deadline=None)
def test_regression_metrics_are_their_definitions(seed, count):
    generator = torch.Generator().manual_seed(seed)
    outputs, targets = torch.randn(2, count, 3, dtype=torch.float64, generator=generator)
    missed = outputs - targets
    value = {name: metric(outputs, targets) for name, metric in REGRESSION_METRICS.items()}
    assert value["mae"] == pytest.approx(missed.abs().mean().item())
    assert value["rmse"] == pytest.approx(missed.square().mean().sqrt().item())
    spread = (targets - targets.mean(0)).square().sum(0)
    assert value["r2"] == pytest.approx((1 - missed.square().sum(0) / spread).mean().item())


@pytest.mark.parametrize("name", ["roc_auc", "log_loss", "brier"])
def test_outputs_that_are_not_finite_have_no_probabilities(name):
    metric = CLASSIFICATION_METRICS[name]
    assert math.isnan(metric(torch.tensor([[float("nan"), 0.0], [1.0, 0.0]]), torch.tensor([0, 1])))


@pytest.mark.parametrize("metric", REGRESSION_METRICS.values(), ids=lambda metric: metric.name)
def test_numbers_that_are_not_finite_have_no_score(metric):
    assert math.isnan(metric(torch.tensor([float("inf"), 0.0]), torch.tensor([0.0, 1.0])))


@pytest.mark.parametrize(
    "metric", [*CLASSIFICATION_METRICS.values(), *REGRESSION_METRICS.values()], ids=lambda m: m.name
)
def test_better_follows_the_direction_and_nan_is_never_better(metric):
    low, high = (0.2, 0.4) if metric.direction == "higher" else (0.4, 0.2)
    assert metric.better(high, than=low)
    assert not metric.better(low, than=high)
    assert not metric.better(low, than=low)
    assert metric.better(low, than=math.nan)
    assert not metric.better(math.nan, than=low)
    assert not metric.better(math.nan, than=math.nan)


def test_perfect_outputs_have_the_best_score_of_every_metric():
    outputs, targets = 200 * torch.eye(3), torch.arange(3)
    best = {"higher": 1.0, "lower": 0.0}
    for metric in CLASSIFICATION_METRICS.values():
        assert metric(outputs, targets) == pytest.approx(best[metric.direction], abs=1e-12)
    for metric in REGRESSION_METRICS.values():
        assert metric(targets.double(), targets.double()) == best[metric.direction]
