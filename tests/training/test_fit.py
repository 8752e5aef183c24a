"""Training: it learns, repeats itself bit for bit, and records divergence as a result."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch import nn

import shiftstate as ss
from shiftstate.training import accuracy

SHIFT = ss.Shift.from_edges([[0, 1, 2], [1, 2, 0]])


def toy(count=250, seed=0):
    """Three classes, told apart by the node with the largest value."""
    x = torch.randn(count, 3, 1, generator=torch.Generator().manual_seed(seed))
    return SimpleNamespace(x=x, y=x[..., 0].argmax(-1))


DATA = SimpleNamespace(train=toy(), valid=toy(seed=1), test=toy(seed=2))


def network(filter="gcnn", seed=0):
    torch.manual_seed(seed)
    return ss.Network(filter, [1, 8], K=2, readout=ss.FlattenReadout(num_nodes=3, num_outputs=3))


def train(model, data=DATA, **options):
    return ss.fit(model, SHIFT, data, **{"epochs": 3, "batch_size": 20, "learning_rate": 0.01, **options})


class Scripted(nn.Module):
    """Says what it is told to, call by call; notes every batch it saw in training."""

    def __init__(self, logit=0.0):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(float(logit)))
        self.seen = []

    def forward(self, x, shift):
        if self.training:
            self.seen.append(x.detach().clone())
        return torch.stack([self.scale * x[:, node, 0] for node in range(3)], -1)


@pytest.mark.parametrize("filter", ["gcnn", "rsn", "lssm"])
def test_every_filter_learns_a_separable_toy_problem(filter):
    result = train(network(filter), epochs=60, learning_rate=0.03)
    assert result.outcome == "finished"
    assert result.accuracy_last > 0.93
    assert result.losses[-1] < 0.3 * result.losses[0]


def test_the_same_seeds_give_the_same_result_bit_for_bit():
    first, second = network(), network()
    one, two = train(first, seed=5), train(second, seed=5)
    assert (one.losses, one.valid_accuracies) == (two.losses, two.valid_accuracies)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert train(network(), seed=6).losses != one.losses


def test_the_order_of_batches_depends_on_the_seed_and_not_on_the_model():
    one, two = Scripted(0.1), Scripted(0.7)
    train(one, seed=3)
    torch.manual_seed(99)
    train(two, seed=3)
    assert all(torch.equal(a, b) for a, b in zip(one.seen, two.seen, strict=True))


def test_the_last_partial_batch_is_dropped_and_no_sample_comes_twice_in_an_epoch():
    model = Scripted(0.1)
    train(model, epochs=1, batch_size=40)  # 250 = 6 · 40 + 10
    assert [len(batch) for batch in model.seen] == [40] * 6
    assert len(torch.cat(model.seen).flatten(1).unique(dim=0)) == 240


def test_last_and_best_are_the_test_accuracies_of_their_epochs():
    """Every epoch's model is judged on the test set by hand, through the progress callback."""
    model = network()
    tested = []
    result = train(
        model,
        epochs=8,
        learning_rate=0.3,
        progress=lambda epoch: tested.append(accuracy(model, SHIFT, DATA.test.x, DATA.test.y)),
    )
    assert result.accuracy_last == tested[-1]
    assert result.best_epoch == 1 + result.valid_accuracies.index(max(result.valid_accuracies))
    assert result.accuracy_best == tested[result.best_epoch - 1]
    assert result.best_epoch != 8, "the test needs a run whose best epoch is not its last"


def repeated(split, distinct=30):
    """The same classes of few signals, each many times."""
    rows = torch.randint(distinct, (len(split.y),), generator=torch.Generator().manual_seed(7))
    return SimpleNamespace(x=split.x[rows].double(), y=split.y[rows])


@pytest.mark.parametrize("filter", ["gcnn", "rsn", "lssm"])
def test_equal_signals_filtered_once_give_the_same_training_but_for_rounding(filter):
    data = SimpleNamespace(train=repeated(DATA.train), valid=repeated(DATA.valid), test=repeated(DATA.test))
    data.train.y[:40] = (data.train.y[:40] + 1) % 3  # equal signals may have different classes
    shift, results, models = SHIFT.to(torch.float64), [], [network(filter).double(), network(filter).double()]
    for model, once in zip(models, (False, True), strict=True):
        results.append(ss.fit(model, shift, data, epochs=5, batch_size=40, learning_rate=0.01, share_equal=once))
    each, shared = results
    assert shared.losses == pytest.approx(each.losses, rel=1e-12)
    assert replace(shared, losses=(), seconds=0) == replace(each, losses=(), seconds=0)
    for one, two in zip(*(model.parameters() for model in models), strict=True):
        torch.testing.assert_close(one, two, rtol=1e-9, atol=1e-9)


def test_equal_signals_of_a_batch_reach_the_model_once_and_batches_are_filled_up_to_few_sizes():
    model, plain = Scripted(0.1), Scripted(0.1)
    few = SimpleNamespace(x=toy().x[torch.arange(250) % 30], y=toy().y)
    data = SimpleNamespace(train=few, valid=toy(seed=1), test=toy(seed=2))
    train(model, data, batch_size=50, share_equal=True)
    assert {len(batch) for batch in model.seen} <= {24, 32}
    assert all(len(batch) - len(batch.unique(dim=0)) < 8 for batch in model.seen)
    model.seen.clear()
    train(model, data, batch_size=10, share_equal=True)
    assert max(len(batch) for batch in model.seen) <= 10, "filled up, but never beyond the batch itself"
    train(plain, data, batch_size=50)
    assert all(len(batch) == 50 for batch in plain.seen)


def test_progress_hears_of_every_epoch():
    heard = []
    result = train(network(), progress=heard.append)
    assert [epoch.number for epoch in heard] == [1, 2, 3]
    assert tuple(epoch.loss for epoch in heard) == result.losses
    assert tuple(epoch.valid_accuracy for epoch in heard) == result.valid_accuracies


@pytest.mark.parametrize(("model", "rate"), [(Scripted(float("nan")), 0.01), (network(), 1e5)], ids=["nan", "explodes"])
def test_a_loss_that_is_nan_or_explodes_ends_the_run_as_diverged(model, rate):
    result = train(model, epochs=5, learning_rate=rate)
    assert result.outcome == "diverged"
    assert len(result.losses) == 1
    assert 0 <= result.accuracy_last <= 1


def test_a_loss_that_begins_high_and_falls_has_not_exploded():
    """Signals of any scale can be learned: raw counts, say."""
    data = SimpleNamespace(**{name: SimpleNamespace(x=1e5 * part.x, y=part.y) for name, part in vars(DATA).items()})
    result = train(network("rsn"), data, epochs=12)
    assert result.losses[0] > 1e3
    assert result.outcome == "finished"
    assert result.losses[-1] < 0.5 * result.losses[0]


def test_weights_that_are_not_finite_after_the_last_step_are_a_divergence():
    model = network()
    last = model.readout.linear.weight
    last.register_hook(lambda gradient: gradient * float("nan"))
    result = train(model, epochs=1, batch_size=len(DATA.train.y))  # one step: its loss is still finite
    assert math.isfinite(result.losses[0])
    assert result.outcome == "diverged"


@pytest.mark.parametrize(("option", "value"), [("weight_decay", 10.0), ("betas", (0.0, 0.5))])
def test_options_of_adam_reach_it(option, value):
    plain, other = network(), network()
    train(plain)
    train(other, **{option: value})
    assert not torch.equal(plain.readout.linear.weight, other.readout.linear.weight)


def test_a_decayed_network_has_smaller_weights():
    plain, decayed = network(), network()
    train(plain)
    train(decayed, weight_decay=10.0)
    assert decayed.readout.linear.weight.norm() < 0.9 * plain.readout.linear.weight.norm()


def test_of_equally_good_epochs_the_earliest_counts():
    model = Scripted(0.1)
    assert train(model, epochs=4).best_epoch == 1


def test_accuracy_counts_every_sample_once_whatever_the_batch_size():
    model = network()
    whole = accuracy(model, SHIFT, DATA.test.x, DATA.test.y, batch_size=250)
    assert accuracy(model, SHIFT, DATA.test.x, DATA.test.y, batch_size=7) == whole
    right = (model(DATA.test.x, SHIFT).argmax(-1) == DATA.test.y).double().mean().item()
    assert whole == right


def test_a_cosine_schedule_ends_at_rest():
    """The last steps of a cosine are so small that the last epoch moves less than a constant rate's."""

    def moved(schedule):
        model, at = network(), []
        train(model, epochs=20, schedule=schedule, progress=lambda _: at.append(model.readout.linear.weight.clone()))
        return (at[-1] - at[-2]).norm().item()

    assert moved("cosine") < 0.2 * moved("constant")


def test_smoothed_labels_leave_the_network_less_certain():
    def certainty(smoothing):
        model = network()
        train(model, epochs=20, smoothing=smoothing)
        return model(DATA.test.x, SHIFT).softmax(-1).max(-1).values.mean().item()

    assert certainty(0.5) < certainty(0.0) - 0.02


def test_clipping_bounds_the_gradient_a_step_is_made_with():
    model = network()
    train(model, epochs=1, clip=1e-3)
    norm = torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm().item()
    assert 0 < norm <= 1e-3 * (1 + 1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 251}, "batch_size is 251; expected at most 250"),
        ({"epochs": 0}, "epochs is 0"),
        ({"schedule": "cosin"}, "did you mean 'cosine'"),
        ({"smoothing": 1.0}, "smoothing is 1.0; expected a share of the label"),
        ({"clip": 0.0}, "clip is 0.0; expected the largest norm of the gradient, more than 0"),
        ({"clip": -1.0}, "clip is -1.0"),
    ],
)
def test_bad_input_is_refused_in_one_line(options, message):
    with pytest.raises(ValueError, match=message) as error:
        train(network(), **options)
    assert "\n" not in str(error.value)


def test_a_split_with_more_signals_than_classes_is_refused():
    data = SimpleNamespace(train=SimpleNamespace(x=DATA.train.x, y=DATA.train.y[:-1]), valid=toy(), test=toy())
    with pytest.raises(ValueError, match="250 signals and 249 classes"):
        train(network(), data)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "lssm"}, "^model is a str; expected a module, such as a Network$"),
        ({"shift": None}, "^shift is a NoneType; expected a Shift: Shift.from_edges"),
        ({"data": {"train": 1}}, "^data is a dict without .train; expected parts by name: types.SimpleNamespace"),
        ({"learning_rate": -1}, "^learning_rate is -1; expected a number of at least 0$"),
        ({"learning_rate": "0.1"}, "^learning_rate is '0.1'; expected a number of at least 0$"),
        ({"device": "gpu"}, "^device is 'gpu'; expected a device that torch has here"),
    ],
)
def test_arguments_of_another_kind_are_named(change, message):
    split = SimpleNamespace(x=torch.ones(4, 3, 1), y=torch.zeros(4, dtype=torch.long))
    given = {
        "model": ss.Network("gcnn", [1, 1], 1, ss.FlattenReadout(num_nodes=3, num_outputs=2)),
        "shift": ss.Shift.from_edges([[0, 1, 2], [1, 2, 0]]),
        "data": SimpleNamespace(train=split, valid=split, test=None),
        "learning_rate": 0.1,
        "device": "cpu",
    } | change
    with pytest.raises(ValueError, match=message):
        ss.fit(**given, epochs=1)
