"""`fit` with tasks: nodes, masks, regression, the full batch, early stopping, the best weights, and bad data."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

import shiftstate as ss
from shiftstate.graphs.lattices import ring as lattice
from shiftstate.tasks import NodeClassification, NodeRegression, SignalClassification, SignalRegression
from shiftstate.training import fit

N = 12
SHIFT = ss.Shift.from_edges(torch.stack([torch.arange(N), torch.arange(N).roll(1)])).normalized("spectral")


def signals(count, seed=0):
    return torch.randn(count, N, 2, generator=torch.Generator().manual_seed(seed))


def masks(share=3):
    place = torch.arange(N) % share
    return {"train": place == 0, "valid": place == 1, "test": place == 2}


def node_data(x=None, y=None):
    x = signals(1)[0] if x is None else x
    y = (x[..., 0] > 0).long() if y is None else y
    return SimpleNamespace(x=x, y=y, **masks())


def network(outputs=2, seed=0, readout=ss.NodeReadout):
    torch.manual_seed(seed)
    return ss.Network("gcnn", [2, 8], K=1, readout=readout(num_outputs=outputs))


def train(model, data, task, **options):
    return fit(model, SHIFT, data, task=task, **{"epochs": 5, "learning_rate": 0.02, **options})


class Noted(nn.Module):
    """A linear map of every node that notes what it was given, and in which mode."""

    def __init__(self, outputs=2):
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(2, outputs)
        self.seen = []

    def forward(self, x, shift):
        self.seen.append((tuple(x.shape), self.training))
        return self.linear(x).squeeze(-1)


def test_nodes_of_one_signal_are_learned_and_judged_under_their_masks():
    data = node_data(x=signals(1, seed=3)[0].repeat(1, 1))
    result = train(network(), data, NodeClassification(), epochs=150)
    assert result.outcome == "finished"
    assert result.last["accuracy"] >= 0.75
    assert set(result.last) == {"accuracy", "balanced_accuracy", "macro_f1", "roc_auc", "log_loss", "brier"}


def test_only_the_masked_nodes_enter_loss_and_scores():
    """The other labels may be anything, out of range too; nothing changes."""
    one, two = node_data(), node_data()
    hidden = ~(one.train | one.valid | one.test)
    one.train[0] = two.train[0] = False
    two.y = two.y.clone()
    two.y[0] = -1
    assert not hidden.any()
    results = [train(network(), data, NodeClassification()) for data in (one, two)]
    assert results[0].losses == results[1].losses
    assert results[0].best == results[1].best


def test_a_single_signal_reaches_the_model_whole_without_a_batch_axis():
    model = Noted()
    train(model, node_data(), NodeClassification(), epochs=2, batch_size=5)
    assert {shape for shape, _ in model.seen} == {(N, 2)}


def test_valid_and_test_share_one_forward():
    model = Noted()
    train(model, node_data(), NodeClassification(), epochs=1)
    assert [training for _, training in model.seen] == [True, False, False]  # step, look, last


def test_the_full_batch_takes_all_signals_in_one_step():
    model = Noted(outputs=1)
    x = signals(10)
    part = SimpleNamespace(x=x, y=x.sum(-1))
    result = train(model, SimpleNamespace(train=part, valid=part, test=part), NodeRegression(), epochs=3)
    assert {shape for shape, training in model.seen if training} == {(10, N, 2)}
    assert sum(training for _, training in model.seen) == 3
    assert len(result.losses) == 3


@pytest.mark.parametrize("batch_size", [None, 16])
@pytest.mark.parametrize("y", [lambda x: x.sum((1, 2)), lambda x: x.sum(1)], ids=["(n)", "(n, 2)"])
def test_signal_regression_learns(batch_size, y):
    parts = [SimpleNamespace(x=signals(64, seed), y=y(signals(64, seed))) for seed in range(3)]
    data = SimpleNamespace(train=parts[0], valid=parts[1], test=parts[2])
    outputs = 1 if parts[0].y.dim() == 1 else 2
    torch.manual_seed(0)
    readout = SignalRegression().readout(outputs, num_nodes=N)
    model = ss.Network("gcnn", [2, 4], K=1, readout=readout, activation="identity")
    result = train(model, data, SignalRegression(), batch_size=batch_size, epochs=300 if batch_size is None else 80)
    assert result.last["r2"] > 0.8
    assert set(result.last) == {"mae", "rmse", "r2"}
    assert result.metric == "rmse"
    assert result.best_epoch == 1 + result.valid_scores.index(min(result.valid_scores)), "lower is better"


def test_targets_that_are_missing_are_left_out_entry_by_entry():
    """Two numbers per node, some unknown (NaN): the same training as with any other number in their place."""
    x = signals(20)
    y = torch.stack([x.sum(-1), x[..., 0]], -1)
    known = torch.rand(y.shape, generator=torch.Generator().manual_seed(0)) > 0.3
    results = []
    for filling in (math.nan, 7.0):
        part = SimpleNamespace(x=x, y=torch.where(known, y, filling), mask=known)
        data = SimpleNamespace(train=part, valid=part, test=part)
        results.append(train(network(), data, NodeRegression("mae"), batch_size=5, epochs=3))
    assert results[0].losses == results[1].losses
    assert results[0].last == results[1].last
    assert math.isfinite(results[0].last["mae"])


def test_signals_without_any_target_are_never_in_a_batch():
    model, x = Noted(outputs=1), signals(20)
    known = torch.zeros(20, N, dtype=torch.bool)
    known[:8] = True
    part = SimpleNamespace(x=x, y=x.sum(-1), mask=known)
    data = SimpleNamespace(train=part, valid=part, test=part)
    result = train(model, data, NodeRegression(), batch_size=4, epochs=2)
    assert sum(training for _, training in model.seen) == 2 * 2
    assert all(math.isfinite(loss) for loss in result.losses)


def overfitting():
    """Few noisy labels and many epochs: the best epoch is not the last."""
    generator = torch.Generator().manual_seed(1)
    parts = []
    for seed in range(3):
        x = signals(30, seed)
        y = (x[:, 0, 0] + 1.5 * torch.randn(30, generator=generator) > 0).long()
        parts.append(SimpleNamespace(x=x, y=y))
    return SimpleNamespace(train=parts[0], valid=parts[1], test=parts[2])


def flat_network():
    torch.manual_seed(0)
    return ss.Network("gcnn", [2, 8], K=1, readout=ss.FlattenReadout(num_nodes=N, num_outputs=2))


def test_the_best_weights_are_kept_on_request():
    task = SignalClassification("log_loss")
    last, best = flat_network(), flat_network()
    without = train(last, overfitting(), task, epochs=40)
    result = train(best, overfitting(), task, epochs=40, keep_best=True)
    assert result.best_epoch == without.best_epoch < 40
    assert (result.last, result.best) == (without.last, without.best)
    test = overfitting().test
    for model, scores in ((last, result.last), (best, result.best)):
        with torch.no_grad():
            assert task.scores(model(test.x, SHIFT), test.y) == pytest.approx(scores)


def test_patience_stops_so_many_epochs_after_the_best():
    task = SignalClassification("log_loss")
    whole = train(flat_network(), overfitting(), task, epochs=60)
    early = train(flat_network(), overfitting(), task, epochs=60, patience=5)
    assert len(early.losses) == early.best_epoch + 5 < 60
    assert early.losses == whole.losses[: len(early.losses)]
    assert early.outcome == "finished"
    assert early.best == whole.best


def test_looks_come_every_so_many_epochs_and_after_the_last():
    heard = []
    options = {"epochs": 25, "look_every": 10, "progress": heard.append}
    result = train(flat_network(), overfitting(), SignalClassification(), **options)
    assert result.look_epochs == (10, 20, 25)
    assert len(result.valid_scores) == 3
    assert result.best_epoch in result.look_epochs
    assert [epoch.number for epoch in heard if epoch.valid_score is not None] == [10, 20, 25]
    every = train(flat_network(), overfitting(), SignalClassification(), epochs=25)
    assert result.losses == every.losses
    assert result.valid_scores == tuple(every.valid_scores[number - 1] for number in result.look_epochs)


def test_onecycle_is_torchs_schedule_of_the_rate_and_the_momentum():
    """A loop written out, as in the minesweeper study: one logit, clipping, OneCycleLR, ROC AUC."""
    x = signals(1, seed=5)[0]
    y = (x.sum(-1) > 0).long()
    data = node_data(x, y)
    ours, plain = Noted(outputs=1), Noted(outputs=1)
    task = NodeClassification("roc_auc")
    options = {"schedule": "onecycle", "clip": 1.0, "look_every": 10, "epochs": 30, "learning_rate": 0.1}
    result = train(ours, data, task, **options)
    optimizer = torch.optim.Adam(plain.parameters(), 0.1, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=30, pct_start=0.1)
    losses = []
    for _ in range(30):
        logits = plain(x, SHIFT)[data.train]
        loss = nn.functional.binary_cross_entropy_with_logits(logits, y[data.train].float())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(plain.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    assert result.losses == pytest.approx(losses, rel=1e-6)
    torch.testing.assert_close(ours.linear.weight, plain.linear.weight)
    assert result.metric == "roc_auc"


def test_without_test_data_there_are_no_test_scores():
    data = overfitting()
    data.test = None
    result = train(flat_network(), data, SignalClassification())
    assert result.last == result.best == {}
    assert len(result.valid_scores) == 5


def test_arrays_and_lists_of_whole_numbers_are_taken_as_labels():
    tensors, arrays = overfitting(), overfitting()
    arrays.train = SimpleNamespace(x=arrays.train.x.numpy(), y=arrays.train.y.numpy().astype(np.int32))
    arrays.valid = SimpleNamespace(x=arrays.valid.x, y=arrays.valid.y.tolist())
    one, two = (train(flat_network(), data, None, batch_size=10) for data in (tensors, arrays))
    assert (one.losses, one.valid_scores) == (two.losses, two.valid_scores)


def changed(part="train", **values):
    data = overfitting()
    for name, change in values.items():
        setattr(getattr(data, part), name, change(getattr(getattr(data, part), name)))
    return data


def with_nan(x):
    x = x.clone()
    x[3, 2, 1] = math.nan
    x[5, 2, 1] = math.inf
    return x


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            changed(y=lambda y: ["no", "yes"] * 15),
            r"train.y holds 'no', a str; expected numbers; names become",
        ),
        (changed(y=lambda y: np.array(["no", "yes"] * 15)), r"train.y holds 'no', a str"),
        (changed(y=lambda y: y.double()), r"train.y holds float64; expected whole numbers, .*y.long\(\)"),
        (changed("test", y=lambda y: y.float().numpy()), "test.y holds float32"),
        (changed(y=lambda y: y[:, None]), r"train.y has the shape \(30, 1\); expected \(30,\): y.squeeze\(1\)"),
        (changed(y=lambda y: y[:, None].expand(-1, 3)), r"train.y has the shape \(30, 3\); expected \(30,\)"),
        (changed(y=lambda y: y + 1), "train.y holds class 2; expected classes from 0 to 1, .* counted from 1"),
        (changed("valid", y=lambda y: y - 1), "valid.y holds class -1; expected classes from 0 to 1"),
        (changed("test", y=lambda y: y + 5), "test.y holds class 6"),
        (changed(x=with_nan), r"train.x holds nan at index \(3, 2, 1\), the first of 2 values that are not finite"),
        (changed("valid", x=with_nan), r"valid.x holds nan at index \(3, 2, 1\)"),
        (changed(x=lambda x: x.double()), r"x is float64 and the model float32; expected one dtype: x.float\(\)"),
        (changed(x=lambda x: x.to_sparse()), r"train.x is a sparse tensor; expected a dense one: x.to_dense\(\)"),
        (changed(x=lambda x: np.array(["a"])), "train.x holds 'a', a str; expected numbers"),
        (SimpleNamespace(train=None, valid=None, test=None), "data.train is a NoneType; expected signals and targets"),
    ],
)
def test_data_that_cannot_be_learned_are_named_before_the_first_step(data, message):
    model = flat_network()
    before = [parameter.clone() for parameter in model.parameters()]
    with pytest.raises(ValueError, match=message) as error:
        train(model, data, None, batch_size=10)
    assert "\n" not in str(error.value)
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": torch.zeros(N + 1, dtype=torch.long)}, rf"train holds classes \({N + 1},\) for signals"),
        ({"train": torch.zeros(N, dtype=torch.bool)}, "the mask of train is False everywhere"),
        ({"valid": torch.ones(N)}, "the mask of valid holds float32; expected True and False"),
        ({"test": torch.ones(3, dtype=torch.bool)}, r"the mask of test has the shape \(3,\); expected \(12,\)"),
        ({"x": signals(2)[None]}, r"x has the shape \(1, 2, 12, 2\); expected \(N, channels\)"),
    ],
)
def test_masks_and_targets_of_nodes_that_do_not_fit_are_named(change, message):
    data = SimpleNamespace(**{**vars(node_data()), **change})
    with pytest.raises(ValueError, match=message):
        train(network(), data, NodeClassification())


def test_a_readout_that_does_not_fit_the_task_is_named():
    with pytest.raises(ValueError, match="a NodeReadout gives them"):
        train(flat_network(), node_data(), NodeClassification())
    with pytest.raises(ValueError, match="a FlattenReadout or a PoolReadout gives them"):
        train(network(), overfitting(), SignalClassification(), batch_size=10)


def test_targets_of_regression_that_are_not_finite_are_named():
    data = changed("valid", y=lambda y: y.float().index_fill(0, torch.tensor([4]), math.nan))
    model = ss.Network("gcnn", [2, 2], K=1, readout=ss.FlattenReadout(num_nodes=N, num_outputs=1))
    with pytest.raises(ValueError, match=r"valid.y holds 1 values that are not finite \(the first is number 4\)"):
        train(model, data, SignalRegression())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": SignalClassification}, "did you forget the parentheses"),
        ({"task": "classification"}, "task is 'classification'; expected a task"),
        ({"task": SignalClassification(), "smoothing": 0.1}, "smoothing is 0.1 beside a task"),
        ({"patience": 0}, "patience is 0"),
        ({"look_every": 0}, "look_every is 0"),
        ({"task": SignalClassification(class_weights=[1, 2, 3])}, "class_weights holds 3 numbers; expected 2"),
    ],
)
def test_options_that_do_not_fit_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        fit(flat_network(), SHIFT, overfitting(), **{"epochs": 2, "learning_rate": 0.01, **options})


def test_scores_by_accuracy_belong_to_classification():
    result = train(network(1), node_data(y=signals(1)[0, :, 0]), NodeRegression())
    with pytest.raises(AttributeError, match="rmse, mae, r2, and no accuracy"):
        _ = result.accuracy_last
    with pytest.raises(AttributeError, match="judged by rmse"):
        _ = result.valid_accuracies


def test_a_part_on_a_graph_of_its_own_is_judged_there():
    """Learn on rings of 6 nodes that a node equals its neighbours' mean; the same weights are tested on rings of 20."""

    def part(nodes, count, own=True):
        x = torch.randn(count, nodes, 1, generator=torch.Generator().manual_seed(nodes))
        return SimpleNamespace(x=x, y=(lattice(nodes) @ x)[..., 0], **({"shift": lattice(nodes)} if own else {}))

    train, test = part(6, 200, own=False), part(20, 50)
    net = ss.Network("gcnn", [1, 1], 1, readout=ss.NodeReadout(1), activation="identity")
    data = SimpleNamespace(train=train, valid=test, test=test)
    result = ss.fit(net, lattice(6), data, task=NodeRegression("r2"), epochs=20, batch_size=10, learning_rate=0.05)
    assert result.last["r2"] > 0.99
    test.shift = "a ring"
    with pytest.raises(ValueError, match=r"valid\.shift is a str; expected a Shift"):
        ss.fit(net, lattice(6), data, task=NodeRegression("r2"), epochs=1, learning_rate=0.05)
