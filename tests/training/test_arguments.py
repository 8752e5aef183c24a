"""What `fit` accepts just inside its bounds, and refuses just outside of them."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from shiftstate.graphs import Shift
from shiftstate.tasks import SignalClassification
from shiftstate.training.arguments import check_call, check_numbers
from shiftstate.training.parts import _check_targets, _checked_mask

SHIFT = Shift.from_edges([[0], [1]])
DATA = SimpleNamespace(train=None, valid=None)
TRAIN = SimpleNamespace(single=False, samples=lambda: None, y=torch.zeros(5))
NUMBERS = {"epochs": 1, "batch_size": 5, "schedule": "constant", "clip": None, "patience": 1, "look_every": 1}


@pytest.mark.parametrize("rate", [0, 1e-9, 0.5, 3])
def test_a_rate_of_zero_or_more_is_accepted(rate):
    check_call(nn.Linear(1, 1), SHIFT, DATA, rate, "cpu")


@pytest.mark.parametrize("rate", [-1e-9, float("inf"), float("nan"), True, "0.1", None])
def test_a_rate_that_is_no_number_of_zero_or_more_is_refused(rate):
    with pytest.raises(ValueError, match=r"learning_rate is .*; expected a number of at least 0"):
        check_call(nn.Linear(1, 1), SHIFT, DATA, rate, "cpu")


def test_the_smallest_numbers_are_accepted():
    assert check_numbers(TRAIN, **NUMBERS) == 5
    assert check_numbers(TRAIN, **{**NUMBERS, "batch_size": 1, "clip": 1e-9}) == 1
    assert check_numbers(TRAIN, **{**NUMBERS, "batch_size": None}) is None
    assert check_numbers(SimpleNamespace(single=True), **NUMBERS) is None
    told = SimpleNamespace(single=False, samples=lambda: [0, 3], y=torch.zeros(5))  # two signals have targets
    assert check_numbers(told, **{**NUMBERS, "batch_size": 2}) == 2
    with pytest.raises(ValueError, match="batch_size is 3; expected at most 2"):
        check_numbers(told, **{**NUMBERS, "batch_size": 3})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": 0}, "epochs is 0"),
        ({"look_every": 0}, "look_every is 0"),
        ({"patience": 0}, "patience is 0"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"batch_size": 6}, "batch_size is 6; expected at most 5"),
        ({"clip": 0}, "clip is 0; expected the largest norm of the gradient, more than 0"),
        ({"clip": float("nan")}, "clip is nan"),
    ],
)
def test_numbers_beyond_the_bounds_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        check_numbers(TRAIN, **{**NUMBERS, **change})


@pytest.mark.parametrize(("signals", "targets"), [(0, 0), (3, 2), (2, 3)])
def test_signals_and_targets_are_as_many_and_some(signals, targets):
    message = f"train holds {signals} signals and {targets} classes; expected as many, and some"
    with pytest.raises(ValueError, match=message):
        _check_targets("train", torch.zeros(signals, 2, 1), torch.zeros(targets).long(), SignalClassification())


def test_a_mask_has_the_shape_of_the_nodes_or_of_the_targets():
    y = torch.zeros(4, 3, 2)
    nodes = torch.tensor([True, False, True])
    assert torch.equal(_checked_mask("train", nodes, y, 2), nodes.expand(4, 3))
    for shape in [(4, 3), (4, 3, 2)]:
        assert _checked_mask("train", torch.ones(shape, dtype=torch.bool), y, 2).shape == shape
    with pytest.raises(ValueError, match=r"the mask of train has the shape \(4,\); expected \(4, 3\), one per node"):
        _checked_mask("train", torch.ones(4, dtype=torch.bool), y, 2)
