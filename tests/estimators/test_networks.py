"""The network of the estimators: its encoder, its paths, what decays; and the rules that choose its settings."""

import numpy as np
import pytest
import torch

import shiftstate as ss
from shiftstate.estimators import NodeClassifier
from shiftstate.estimators import progress as lines
from shiftstate.estimators.defaults import DEEP, FEW_LABELS, SHALLOW, NetworkSettings, choose
from shiftstate.estimators.model import EstimatorNetwork, build_network, shifted
from shiftstate.training.optimizer import adam
from shiftstate.training.result import Epoch

N = 24
RING = np.arange(N)
SHIFT = ss.Shift.from_edges(np.stack([np.r_[RING, (RING + 1) % N], np.r_[(RING + 1) % N, RING]])).normalized("row")


def network(filter="rsn", *, layers=1, features=None, around=False, linear=False, channels=4, K=2):
    torch.manual_seed(0)
    built = build_network(
        filter,
        [channels] * (layers + 1),
        K,
        ss.NodeReadout(num_outputs=3),
        input="first",
        wanted=NetworkSettings(channels=channels).options(),
    )
    return EstimatorNetwork(built, 0.5, features=features, around=around, linear=linear)


def words():
    """Features of which most are 0."""
    return torch.from_numpy(np.random.default_rng(0).poisson(0.1, (N, 30)).astype(np.float32))


@pytest.mark.parametrize("around", [False, True])
def test_remembered_words_give_the_outputs_and_gradients_of_dense_ones(around):
    x, model = words(), network(features=30, around=around).eval()
    dense = model(x, SHIFT)
    dense.sin().sum().backward()
    expected = model.encoder.weight.grad.clone()
    model.zero_grad()
    model.encoder.remember(x)
    assert model.encoder.remembered is not None
    sparse = model(x, SHIFT)
    sparse.sin().sum().backward()
    torch.testing.assert_close(sparse, dense)
    torch.testing.assert_close(model.encoder.weight.grad, expected)
    assert expected.abs().max() > 1e-4
    other = x + 1
    torch.testing.assert_close(model(other, SHIFT), network(features=30, around=around).eval()(other, SHIFT))


def test_dropout_of_remembered_words_keeps_their_mean():
    x, model = words(), network(features=30).train()
    model.encoder.remember(x)
    drawn = torch.stack([model.encoder.encode(x, 0.5) for _ in range(2000)])
    exact = model.encoder.encode(x, 0.0)
    standard_error = drawn.std(0) / 2000**0.5
    assert ((drawn.mean(0) - exact).abs() <= 5 * standard_error + 1e-6).all()
    assert drawn.std(0).max() > 0


def test_features_that_are_mostly_not_zero_are_not_remembered():
    model = network(features=5)
    model.encoder.remember(torch.ones(N, 5))
    assert model.encoder.remembered is None


def test_weights_of_filters_do_not_decay_and_matrices_do():
    model = network(features=30, around=True)
    optimizer = adam(model, 0.01, (0.9, 0.999), 1.0, "cpu")
    decays = {id(one): group["weight_decay"] for group in optimizer.param_groups for one in group["params"]}
    found = {name: decays[id(one)] for name, one in model.named_parameters()}
    assert found["network.layers.0.h_ww"] == found["network.layers.0.bias"] == found["around.0.norm.weight"] == 0
    assert found["encoder.weight"] == found["network.layers.0.mix"] == found["network.readout.linear.weight"] == 1
    plain = adam(model.network, 0.01, (0.9, 0.999), 1.0, "cpu")
    assert [group["weight_decay"] for group in plain.param_groups] == [1.0]


def test_shifted_signals_stand_side_by_side():
    x = torch.randn(2, N, 3, generator=torch.Generator().manual_seed(0))
    expected = torch.cat([x, SHIFT @ x, SHIFT @ (SHIFT @ x)], -1)
    torch.testing.assert_close(shifted(x, SHIFT, 2), expected)
    torch.testing.assert_close(shifted(x, SHIFT, 0), x)


def test_a_linear_path_starts_without_a_say():
    x = torch.randn(N, 4, generator=torch.Generator().manual_seed(0))
    with_path, without = network(linear=True).eval(), network().eval()
    torch.testing.assert_close(with_path(x, SHIFT), without(x, SHIFT))
    assert with_path.linear.weight.shape == (3, 4 * 3)


def test_filters_start_as_means_over_hops():
    layer = network("gcnn", channels=200, K=3).network.layers[0]
    torch.testing.assert_close(layer.h.mean(), torch.tensor(0.25), atol=0.02, rtol=0)


@pytest.mark.parametrize(
    ("targets", "features", "expected"),
    [(140, 1433, FEW_LABELS), (5000, 7, DEEP), (300, 7, SHALLOW), (100, 7, FEW_LABELS), (1624, 1433, FEW_LABELS)],
)
def test_nodes_are_learned_by_how_many_labels_and_features_there_are(targets, features, expected):
    assert choose(per_node=True, targets=targets, features=features, samples=1, forecast=False) == expected


def test_a_deep_network_is_trained_stored_and_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr("shiftstate.estimators.defaults.MANY", 10)
    monkeypatch.setattr("shiftstate.estimators.defaults.FEW", 10)
    x = np.random.default_rng(0).normal(size=(N, 1))
    model = NodeClassifier("gcnn", epochs=12, layers=2).fit(SHIFT, x, np.where(x[:, 0] > 0, "a", "b"))
    assert model.model_.around is not None
    assert model.settings_.schedule == "onecycle"
    model.save(tmp_path / "model.safetensors")
    again = NodeClassifier.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict_proba(SHIFT, x), model.predict_proba(SHIFT, x))


def test_a_long_training_shows_how_far_it_is_and_wipes_the_line(capsys, monkeypatch):
    monkeypatch.setattr(lines, "AFTER", 0.0)
    with lines.TrainingLine(40, "log loss", shown=True) as line:
        line(Epoch(10, 1.0, 0.5))
        shown = capsys.readouterr().err
    assert shown.startswith("\repoch 10 of at most 40, log loss 0.5 on validation data, at most ")
    assert capsys.readouterr().err.strip() == ""
    with lines.TrainingLine(40, "log loss") as line:  # no terminal
        line(Epoch(10, 1.0, 0.5))
    assert capsys.readouterr().err == ""


def test_members_are_averaged_stored_and_read_again(tmp_path):
    x = np.random.default_rng(0).normal(size=(N, 3))
    model = NodeClassifier("gcnn", epochs=4).fit(SHIFT, x, np.where(x[:, 0] > 0, "a", "b"))
    assert model.settings_.members == len(model.model_.members) == 3
    scaled = torch.from_numpy(model.scaler_(x))
    each = [member.eval()(scaled, model._normalized(SHIFT)) for member in model.model_.members]
    assert not torch.allclose(each[0], each[1])
    expected = torch.stack(each).mean(0).softmax(-1).detach().numpy()
    np.testing.assert_allclose(model.predict_proba(SHIFT, x), expected, atol=1e-6)
    model.save(tmp_path / "model.safetensors")
    again = NodeClassifier.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict_proba(SHIFT, x), model.predict_proba(SHIFT, x))
