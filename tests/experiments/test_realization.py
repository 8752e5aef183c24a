"""One realization: everything but the filter is shared, and the same configuration gives the same numbers."""

from dataclasses import replace

import pytest
import torch

from shiftstate.experiments import realization as module
from shiftstate.experiments.data import draw_graph
from shiftstate.experiments.realization import build, count_parameters, matched_channels, run


@pytest.fixture
def trainings(monkeypatch):
    """What every training was given; nothing is trained."""
    seen = []

    def fake(model, shift, data, **options):
        seen.append((model, shift, data, options))
        return module.Fit(0.5, 0.5, 1, (1.0,), (options["learning_rate"],), "finished", 1.0)

    monkeypatch.setattr(module, "fit", fake)
    return seen


def test_all_filters_orders_and_depths_see_the_same_graph_data_and_batch_order(trainings, realization):
    for one in (realization(), realization(filter="lssm", K=7), realization("table1", "rsn", K=2, L=3)):
        run(one)
    (_, first_shift, first, first_options), *others = trainings
    for _, shift, data, options in others:
        assert torch.equal(shift.to_dense(), first_shift.to_dense())
        for mine, theirs in zip(
            (data.train, data.valid, data.test), (first.train, first.valid, first.test), strict=True
        ):
            assert torch.equal(mine.x, theirs.x)
            assert torch.equal(mine.y, theirs.y)
        assert options["seed"] == first_options["seed"]


def test_draws_share_their_graph_and_nothing_else(trainings, realization):
    run(realization(draw=0))
    run(realization(draw=1))
    run(realization(graph=1))
    (_, shift, data, options), (_, shift_1, data_1, options_1), (_, shift_2, _, _) = trainings
    assert torch.equal(shift.to_dense(), shift_1.to_dense())
    assert not torch.equal(data.train.x, data_1.train.x)
    assert options["seed"] != options_1["seed"]
    assert not torch.equal(shift.to_dense(), shift_2.to_dense())


def test_the_gain_scales_the_initial_weights_of_the_filters_and_nothing_else(realization):
    plain, doubled = (build(realization(init_gain=gain), 4, 50) for gain in (1.0, 2.0))
    for name, weight in plain.state_dict().items():
        factor = 2 if name.startswith("layers.") else 1
        assert torch.equal(doubled.state_dict()[name], factor * weight)


def test_another_root_seed_gives_other_graphs(realization):
    one, other = realization().protocol, realization(seed=1).protocol
    assert not torch.equal(draw_graph(one, 0).adjacency, draw_graph(other, 0).adjacency)


@pytest.mark.parametrize("filter", ["gcnn", "rsn", "lssm", "gcnn:rsn"])
def test_a_realization_repeats_itself_bit_for_bit_and_leaves_the_generator_alone(filter, realization):
    before = torch.get_rng_state()
    first = run(realization(filter=filter))
    torch.manual_seed(1234)
    second = run(realization(filter=filter))
    assert replace(first.fit, seconds=0) == replace(second.fit, seconds=0)
    torch.set_rng_state(before)
    run(realization(filter=filter))
    assert torch.equal(torch.get_rng_state(), before)


def test_settings_reach_data_network_and_training(trainings, realization):
    outcome = run(
        realization(
            filter="lssm",
            L=2,
            channels=3,
            bias=True,
            gate_bias=True,
            mixing="dense",
            dtype="float64",
            standardize=True,
            num_samples=(50, 20, 30),
            clip=2.0,
            schedule="cosine",
            weight_decay=0.1,
            smoothing=0.2,
        )
    )
    ((model, shift, data, options),) = trainings
    assert model.channels == [1, 3, 3]
    assert model.layers[0].mixing == "dense"
    assert model.layers[0].gate_bias
    assert model.layers[0].bias is not None
    assert next(model.parameters()).dtype == shift.dtype == data.train.x.dtype == torch.float64
    assert (len(data.train.y), len(data.valid.y), len(data.test.y)) == (50, 20, 30)
    assert data.train.x.mean().abs() < 1e-12
    assert (options["clip"], options["schedule"], options["weight_decay"]) == (2.0, "cosine", 0.1)
    assert options["smoothing"] == 0.2
    assert (outcome.channels, outcome.parameters) == (3, count_parameters(model))
    assert outcome.kernel
    assert {"torch", "numpy", "shiftstate", "python"} <= outcome.versions.keys()


def test_of_several_learning_rates_the_best_on_validation_is_kept(trainings, realization):
    outcome = run(realization(learning_rate=(0.1, 0.3, 0.2)))  # the fake's validation accuracy is its rate
    assert outcome.learning_rate == 0.3
    assert outcome.seconds == 3.0
    weights = [next(model.parameters()) for model, *_ in trainings]
    assert torch.equal(weights[0], weights[1]), "all learning rates start from the same weights"


def test_a_diverged_training_is_kept_only_if_all_diverged(monkeypatch, realization):
    def fake(model, shift, data, *, learning_rate, **options):
        outcome = "diverged" if learning_rate > 0.15 else "finished"
        return module.Fit(0.5, 0.5, 1, (1.0,), (learning_rate,), outcome, 1.0)

    monkeypatch.setattr(module, "fit", fake)
    assert run(realization(learning_rate=(0.1, 0.3))).learning_rate == 0.1
    assert run(realization(learning_rate=(0.2, 0.3))).fit.outcome == "diverged"


@pytest.mark.parametrize("match", ["filters", "network"])
@pytest.mark.parametrize("model", ["rsn", "lssm"])
@pytest.mark.parametrize(("K", "L"), [(4, 1), (32, 1), (4, 4)])
def test_a_matched_gcnn_has_the_parameter_count_that_comes_nearest(match, model, K, L, realization):
    protocol = realization(match=match).protocol

    def size(filter, channels):
        network = build(realization(filter=filter, K=K, L=L), channels, 12)
        return count_parameters(network if match == "network" else network.layers)

    goal = size(model, protocol.channels)
    chosen = matched_channels(f"gcnn:{model}", K, L, protocol, 12)
    gaps = {channels: abs(size("gcnn", channels) - goal) for channels in (chosen - 1, chosen, chosen + 1) if channels}
    assert gaps[chosen] == min(gaps.values())
    assert matched_channels(model, K, L, protocol, 12) == protocol.channels
