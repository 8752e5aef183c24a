"""What `fit` accepts just inside its bounds, and refuses just outside of them."""

from types import SimpleNamespace

import pytest
import torch

import shiftstate as ss
from shiftstate.tasks import NodeClassification, SignalClassification
from shiftstate.training.parts import _check_targets, _checked_mask

SHIFT = ss.Shift.from_edges([[0], [1]])


def part(count=5):
    x = torch.randn(count, 2, 1, generator=torch.Generator().manual_seed(0))
    return SimpleNamespace(x=x, y=(x[:, 0, 0] > 0).long())


def train(data=None, task=None, readout=None, **options):
    torch.manual_seed(0)
    model = ss.Network("gcnn", [1, 2], K=1, readout=readout or ss.FlattenReadout(num_nodes=2, num_outputs=2))
    data = data or SimpleNamespace(train=part(), valid=part(), test=None)
    given = {"epochs": 1, "batch_size": 5, "learning_rate": 0.1, "patience": 1, "look_every": 1}
    return ss.fit(model, SHIFT, data, task=task, **{**given, **options})


@pytest.mark.parametrize(
    "options",
    [
        {"learning_rate": 0},
        {"learning_rate": 3},
        {"batch_size": 1},
        {"batch_size": None},
        {"clip": 1e-9},
        {"patience": None, "epochs": 2, "look_every": 2},
    ],
)
def test_the_smallest_numbers_are_accepted(options):
    assert train(**options).outcome == "finished"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *(({"learning_rate": rate}, "learning_rate is .*; expected a number of at least 0") for rate in (-1e-9, "0.1")),
        *(({"learning_rate": rate}, "learning_rate is ") for rate in (float("inf"), float("nan"), True, None)),
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
        train(**change)


def test_a_batch_has_at_most_the_signals_that_have_targets():
    one = SimpleNamespace(x=part().x, y=torch.zeros(5, 2).long(), mask=torch.arange(5)[:, None].expand(5, 2) < 2)
    data, readout = SimpleNamespace(train=one, valid=one, test=None), ss.NodeReadout
    assert train(data, NodeClassification(), readout(2), batch_size=2).outcome == "finished"
    with pytest.raises(ValueError, match="batch_size is 3; expected at most 2"):
        train(data, NodeClassification(), readout(2), batch_size=3)


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
