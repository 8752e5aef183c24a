"""Tasks: losses, options, readouts, and what they say to targets that do not fit."""

import numpy as np
import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

import shiftstate as ss
from shiftstate.tasks import TASKS, NodeClassification, NodeRegression, SignalClassification, SignalRegression
from shiftstate.tasks.targets import as_classes, as_measurements

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


def test_the_weights_that_balance_classes_add_up_to_the_number_of_targets():
    classes = torch.tensor([0, 0, 0, 0, 2, 2])  # no class 1: it counts for nothing
    task = SignalClassification(class_weights="balanced").prepared(classes)
    assert task.mass(torch.zeros(6, 3), classes) == pytest.approx(6)
    assert SignalClassification(class_weights=[1, 5, 3]).mass(torch.zeros(6, 3), classes) == pytest.approx(10)
    assert SignalClassification().mass(torch.zeros(6, 3), classes) == 6


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 2)])
def test_targets_have_the_axes_of_their_task(shape):
    x = torch.zeros(shape)
    assert SignalClassification().target_axes(x) == (1,)
    assert SignalRegression().target_axes(x) == (1, 2)
    assert NodeClassification().target_axes(x) == (len(shape) - 1,)
    assert NodeRegression().target_axes(x) == (len(shape) - 1, len(shape))


@pytest.mark.parametrize("outputs", [torch.zeros(4, 3), torch.zeros(4, 3, 1)])
def test_a_single_number_may_come_with_or_without_its_axis(outputs):
    for targets in (torch.ones(4, 3), torch.ones(4, 3, 1)):
        both = NodeRegression().flat(outputs, targets)
        assert both[0].shape == both[1].shape
        assert float(NodeRegression().loss(outputs, targets)) == 1
    with pytest.raises(ValueError, match=r"outputs \(4, 3.*\) for targets \(4, 2\); expected one shape"):
        NodeRegression().flat(outputs, torch.ones(4, 2))


def test_outputs_that_fit_no_classes_are_named():
    with pytest.raises(ValueError, match=r"outputs \(4, 3, 2\) for classes \(4,\).*a FlattenReadout or a PoolReadout"):
        SignalClassification().flat(torch.zeros(4, 3, 2), torch.zeros(4).long())
    with pytest.raises(ValueError, match="a NodeReadout gives them"):
        NodeClassification().flat(torch.zeros(4, 2), torch.zeros(4, 3).long())


@pytest.mark.parametrize(
    ("outputs", "classes", "message"),
    [
        (3, [0, 3], "y holds class 3; expected classes from 0 to 2, since the model has 3 outputs;"),
        (3, [-1, 3], "y holds class -1; expected classes from 0 to 2"),
        (3, [-1, 1], "y holds class -1; expected classes from 0 to 2"),
        (1, [0, 2], "y holds class 2; expected classes from 0 to 1, since the model has 1 output;"),
    ],
)
def test_classes_that_the_outputs_do_not_have_are_named(outputs, classes, message):
    with pytest.raises(ValueError, match=message):
        SignalClassification().check_values(torch.zeros(2, outputs), torch.tensor(classes), "y")


def test_classes_that_the_outputs_have_pass_with_and_without_weights():
    for outputs, weights in [(3, None), (3, "balanced"), (3, [1, 2, 3]), (2, [1, 2]), (1, [1, 2])]:
        classes = torch.tensor([0, max(outputs, 2) - 1])
        SignalClassification(class_weights=weights).check_values(torch.zeros(2, outputs), classes, "y")
    with pytest.raises(ValueError, match="class_weights holds 2 numbers; expected 3, one per class"):
        SignalClassification(class_weights=[1, 2]).check_values(torch.zeros(2, 3), torch.tensor([0, 1]), "y")


def test_targets_that_are_not_finite_are_counted_and_the_first_is_named():
    targets = torch.tensor([1.0, 2.0, torch.nan, torch.inf])
    with pytest.raises(ValueError, match=r"y holds 2 values that are not finite \(the first is number 2\)"):
        SignalRegression().check_values(targets, targets, "y")
    SignalRegression().check_values(targets, targets[:2], "y")


def test_targets_are_taken_from_tensors_arrays_and_lists():
    given = torch.tensor([2, 0], dtype=torch.int32)
    assert as_classes(given, "y").equal(as_classes([2, 0], "y"))
    assert as_classes(np.array([2, 0], dtype=np.uint8)[::-1], "y").tolist() == [0, 2]
    assert as_measurements([2, 0], "y").dtype == as_measurements(given, "y").dtype == torch.float32
    assert as_measurements(np.array([0.5]), "y").dtype == torch.float64


@pytest.mark.parametrize(
    ("take", "y", "message"),
    [
        (as_classes, ["cat", "dog"], "y holds 'cat', a str; expected numbers; names become classes by np.unique"),
        (as_measurements, np.array(["2020-01-01"], dtype="M8[D]"), r"y holds datetime64\[D\]; expected numbers"),
        (as_classes, [0.0, 1.0], "y holds float64; expected whole numbers"),
        (as_classes, torch.ones(2, dtype=torch.complex64), "y holds complex64; expected whole numbers"),
        (as_measurements, torch.ones(2, dtype=torch.complex64), "y holds complex64; expected real numbers"),
    ],
)
def test_targets_that_cannot_be_taken_are_named(take, y, message):
    with pytest.raises(ValueError, match=message):
        take(y, "y")
