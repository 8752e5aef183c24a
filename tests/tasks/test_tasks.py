"""Tasks: losses, options, readouts, and what they say to targets that do not fit."""

import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

import shiftstate as ss
from shiftstate.tasks import TASKS, NodeClassification, NodeRegression, SignalClassification, SignalRegression

LOGITS = torch.randn(30, 3, generator=torch.Generator().manual_seed(0))
CLASSES = torch.arange(30) % 3


def test_every_task_is_known_by_its_name():
    assert list(TASKS) == ["signal-classification", "signal-regression", "node-classification", "node-regression"]
    for name, task in TASKS.items():
        assert task().name == name
        assert task().metric is task().metrics[0]
        assert {metric.name for metric in task().metrics} == set(task.known_metrics)


def test_the_loss_of_classification_is_the_cross_entropy_bit_for_bit():
    assert torch.equal(SignalClassification().loss(LOGITS, CLASSES), cross_entropy(LOGITS, CLASSES))
    smoothed = cross_entropy(LOGITS, CLASSES, label_smoothing=0.2)
    assert torch.equal(SignalClassification(smoothing=0.2).loss(LOGITS, CLASSES), smoothed)


@pytest.mark.parametrize("options", [{}, {"smoothing": 0.1}, {"class_weights": [1.0, 3.0]}])
@pytest.mark.parametrize("axis", [True, False])
def test_one_logit_is_two_logits_of_which_the_first_is_zero(options, axis):
    one, classes = LOGITS[:, :1].double(), CLASSES.clamp(max=1)
    two = torch.cat([torch.zeros_like(one), one], -1)
    task = NodeClassification(**options)
    found = task.loss(one if axis else one.squeeze(-1), classes)
    torch.testing.assert_close(found, task.loss(two, classes))
    scores = task.scores(one if axis else one.squeeze(-1), classes)
    assert scores == pytest.approx(task.scores(two, classes))


def test_one_logit_without_options_is_the_binary_cross_entropy_bit_for_bit():
    one, classes = LOGITS[:, 0], CLASSES.clamp(max=1)
    expected = binary_cross_entropy_with_logits(one, classes.float())
    assert torch.equal(NodeClassification().loss(one, classes), expected)


def test_balanced_weights_give_every_class_the_same_say():
    classes = torch.tensor([0] * 8 + [1] * 2)
    task = SignalClassification(class_weights="balanced").prepared(classes)
    logits = torch.randn(10, 2, generator=torch.Generator().manual_seed(1))
    each = [cross_entropy(logits[classes == c], classes[classes == c]) for c in (0, 1)]
    torch.testing.assert_close(task.loss(logits, classes), (each[0] + each[1]) / 2)
    more = torch.cat([logits, torch.full((10, 1), -100.0)], 1)  # a class that the training data do not have
    torch.testing.assert_close(task.loss(more, classes), (each[0] + each[1]) / 2)


def test_targets_of_many_nodes_are_counted_alike_whatever_their_shape():
    outputs = torch.randn(4, 5, 3, generator=torch.Generator().manual_seed(2))
    classes = torch.arange(20).view(4, 5) % 3
    task = NodeClassification()
    assert torch.equal(task.loss(outputs, classes), task.loss(outputs.flatten(0, 1), classes.flatten()))


@pytest.mark.parametrize("criterion", ["squared", "absolute", "huber"])
def test_the_criteria_of_regression(criterion):
    missed = torch.tensor([0.5, -0.5, 3.0])
    expected = {
        "squared": missed.square().mean(),
        "absolute": missed.abs().mean(),
        "huber": torch.tensor([0.125, 0.125, 2.5]).mean(),
    }
    found = SignalRegression(criterion=criterion).loss(missed[:, None], torch.zeros(3))
    torch.testing.assert_close(found, expected[criterion])


def test_readouts_have_outputs_where_the_targets_are():
    assert isinstance(SignalClassification().readout(3, num_nodes=5), ss.FlattenReadout)
    assert isinstance(SignalRegression().readout(1), ss.PoolReadout)
    assert isinstance(NodeClassification().readout(3, num_nodes=5), ss.NodeReadout)
    assert isinstance(NodeRegression().readout(2), ss.NodeReadout)


def test_the_metric_comes_first_and_the_others_are_those_asked_for():
    task = NodeClassification("roc_auc", ["accuracy"])
    assert [metric.name for metric in task.metrics] == ["roc_auc", "accuracy"]
    assert task.metric.title == "ROC AUC"
    assert task.better(0.9, than=0.8)
    assert SignalRegression("mae").better(0.8, than=0.9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SignalClassification("acuracy"), "did you mean 'accuracy'"),
        (lambda: SignalClassification(metrics="accuracy"), r"expected a list of names: \['accuracy'\]"),
        (lambda: SignalClassification(smoothing=1.0), "smoothing is 1.0"),
        (lambda: SignalClassification(class_weights="equal"), 'expected a positive number per class, or "balanced"'),
        (lambda: SignalClassification(class_weights=[1.0, -1.0]), "expected a positive number per class"),
        (lambda: SignalClassification(class_weights=3), "class_weights is 3"),
        (lambda: SignalRegression("accuracy"), "unknown metric 'accuracy'; expected one of 'mae', 'rmse', 'r2'"),
        (lambda: SignalRegression(criterion="mse"), "unknown criterion 'mse'"),
    ],
)
def test_options_that_are_wrong_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
