"""One trial: everything but the filter is shared, and the same configuration gives the same numbers."""

import json
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import pytest
import torch

from shiftstate.machine import run as module
from shiftstate.machine.run import count_parameters, run
from shiftstate.machine.settings import keys
from shiftstate.machine.trial import STREAMS
from shiftstate.studies.paper.networks import build, matched_channels
from shiftstate.studies.paper.source_localization import SourceSettings, clusters_found, draw_graph
from shiftstate.training import Fit

NODES = SimpleNamespace(shift=SimpleNamespace(num_nodes=12))
"""All that a network has to know of the data."""


@pytest.fixture
def trainings(monkeypatch):
    """What every training was given; nothing is trained."""
    seen = []

    def fake(model, shift, data, **options):
        seen.append((model, shift, data, options))
        return Fit({"accuracy": 0.5}, {"accuracy": 0.5}, 1, (1.0,), (options["learning_rate"],), "finished", 1.0)

    monkeypatch.setattr(module, "fit", fake)
    return seen


def test_all_filters_orders_and_depths_see_the_same_graph_data_and_batch_order(trainings, trial):
    for one in (trial(), trial(filter="lssm", K=7), trial("table1", "rsn", K=2, L=3)):
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


def test_draws_share_their_graph_and_nothing_else(trainings, trial):
    run(trial(draw=0))
    run(trial(draw=1))
    run(trial(graph=1))
    (_, shift, data, options), (_, shift_1, data_1, options_1), (_, shift_2, _, _) = trainings
    assert torch.equal(shift.to_dense(), shift_1.to_dense())
    assert not torch.equal(data.train.x, data_1.train.x)
    assert options["seed"] != options_1["seed"]
    assert not torch.equal(shift.to_dense(), shift_2.to_dense())


def test_the_gain_scales_the_initial_weights_of_the_filters_and_nothing_else(trial):
    options = {"filter": "lssm", "bias": True, "gate_bias": True, "init": "alive"}
    plain, doubled = (build(trial(**options, init_gain=gain), NODES) for gain in (1.0, 2.0))
    for name, weight in plain.state_dict().items():
        factor = 2 if name.startswith("layers.0.h_") else 1
        assert torch.equal(doubled.state_dict()[name], factor * weight)


def test_another_root_seed_gives_other_graphs(trial):
    one, other = trial(), trial(seed=1)
    assert not torch.equal(draw_graph(one).adjacency, draw_graph(other).adjacency)


@pytest.mark.parametrize("filter", ["gcnn", "rsn", "lssm", "gcnn:rsn"])
def test_a_trial_repeats_itself_bit_for_bit_and_leaves_the_generator_alone(filter, trial):
    before = torch.get_rng_state()
    first = run(trial(filter=filter))
    torch.manual_seed(1234)
    second = run(trial(filter=filter))
    assert replace(first, seconds=0) == replace(second, seconds=0)
    torch.set_rng_state(before)
    run(trial(filter=filter))
    assert torch.equal(torch.get_rng_state(), before)


def test_settings_reach_data_network_and_training(trainings, trial):
    outcome = run(
        trial(
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


CHANGES = {
    "standardize": True,
    "dtype": "float64",
    "channels": 3,
    "mixing": "dense",
    "bias": True,
    "gate_bias": True,
    "init": "alive",
    "init_gain": 2.0,
    "bias_init": "zero",
    "activation": "tanh",
    "state_activation": "tanh",
    "output_activation": "tanh",
    "kernel": "reference",
    "epochs": 3,
    "batch_size": 30,
    "learning_rate": (0.5,),
    "schedule": "cosine",
    "weight_decay": 0.1,
    "clip": 2.0,
    "smoothing": 0.2,
    "device": "cpu:0",
    "seed": 1,
    "block_sizes": (3, 4, 5),
    "p": 0.7,
    "q": 0.5,
    "source": "any",
    "max_time": 9,
    "num_samples": (110, 40, 40),
}


def test_every_setting_but_match_is_tried_below():
    assert keys(SourceSettings).keys() - {"match"} == CHANGES.keys()


@pytest.mark.parametrize("name", CHANGES)
def test_every_setting_reaches_the_training(name, trainings, trial):
    """Whatever a training is given differs from the default's as soon as one setting does."""
    filter = "rsn" if name == "state_activation" else "lssm"
    given = {"bias": True} if name == "bias_init" else {}
    run(trial(filter=filter, **given))
    run(trial(filter=filter, **given, **{name: CHANGES[name]}))
    given = [
        {
            "network": (
                str(model.config()),
                model.layers[0].kernel,
                [weight.tolist() for weight in model.parameters()],
            ),
            "data": (data.train.x.dtype, data.train.x.tolist(), shift.to_dense().tolist()),
            "options": options,
        }
        for model, shift, data, options in trainings
    ]
    assert given[0] != given[1]


def test_without_a_clip_the_gradient_is_left_as_it_is_and_equal_signals_are_filtered_once(trainings, trial):
    run(trial())
    run(trial(device="cpu:0"))
    assert [options["clip"] for *_, options in trainings] == [None, None]
    assert [options["share_equal"] for *_, options in trainings] == [True, True], "a CPU by another name"


def test_a_trial_learns(trial):
    losses = run(trial(epochs=8, learning_rate=(0.03,), num_samples=(400, 40, 40))).losses
    assert losses[-1] < 0.9 * losses[0]


def test_graph_data_weights_and_batches_have_streams_of_their_own(trial):
    seeds = [
        trial(seed=seed).seed(purpose, graph, draw)
        for seed in range(2)
        for purpose in STREAMS
        for graph in range(3)
        for draw in range(3)
    ]
    assert len(set(seeds)) == len(seeds)


def test_graph_draw_and_seed_decide_the_initial_weights(trial):
    different = [{}, {"graph": 1}, {"draw": 1}, {"seed": 1}]
    weights = [next(build(trial(**change), NODES).parameters()) for change in different]
    assert all(not torch.equal(one, other) for one, other in combinations(weights, 2))


def test_the_learning_rate_is_chosen_by_the_last_epoch_not_by_a_lucky_one(monkeypatch, trial):
    valid = {0.1: (0.9, 0.5), 0.2: (0.6, 0.6)}

    def fake(model, shift, data, *, learning_rate, **options):
        return Fit({"accuracy": 0.5}, {"accuracy": 0.5}, 1, (1.0, 1.0), valid[learning_rate], "finished", 1.0)

    monkeypatch.setattr(module, "fit", fake)
    assert run(trial(learning_rate=(0.1, 0.2))).chosen == 0.2


def test_of_several_learning_rates_the_best_on_validation_is_kept(trainings, trial):
    outcome = run(trial(learning_rate=(0.1, 0.3, 0.2)))  # the fake's validation accuracy is its rate
    assert outcome.chosen == 0.3
    assert outcome.seconds == 3.0
    weights = [next(model.parameters()) for model, *_ in trainings]
    assert torch.equal(weights[0], weights[1]), "all learning rates start from the same weights"


def test_a_diverged_training_is_kept_only_if_all_diverged(monkeypatch, trial):
    def fake(model, shift, data, *, learning_rate, **options):
        outcome = "diverged" if learning_rate > 0.15 else "finished"
        return Fit({"accuracy": 0.5}, {"accuracy": 0.5}, 1, (1.0,), (learning_rate,), outcome, 1.0)

    monkeypatch.setattr(module, "fit", fake)
    assert run(trial(learning_rate=(0.1, 0.3))).chosen == 0.1
    assert run(trial(learning_rate=(0.2, 0.3))).ending == "diverged"


@pytest.mark.parametrize("match", ["filters", "network"])
@pytest.mark.parametrize("model", ["rsn", "lssm"])
@pytest.mark.parametrize(("K", "L"), [(4, 1), (32, 1), (4, 4)])
def test_a_matched_gcnn_has_the_parameter_count_that_comes_nearest(match, model, K, L, trial):
    own = trial().settings.architecture.channels

    def size(filter, channels):
        network = build(trial(filter=filter, K=K, L=L), NODES, channels)
        return count_parameters(network if match == "network" else network.layers)

    goal = size(model, own)
    chosen = matched_channels(trial(filter=f"gcnn:{model}", K=K, L=L, match=match), 12)
    gaps = {channels: abs(size("gcnn", channels) - goal) for channels in (chosen - 1, chosen, chosen + 1) if channels}
    assert gaps[chosen] == min(gaps.values())
    assert matched_channels(trial(filter=model, K=K, L=L, match=match), 12) == own


def test_a_record_of_clusters_counts_the_graphs_on_which_they_are_the_blocks(trial):
    easy = {"block_sizes": (6, 6), "p": 1.0, "q": 0.06}
    trials = [trial(graph=graph, source="clusters", **easy) for graph in (0, 0, 1)]
    files = clusters_found([SimpleNamespace(trial=one) for one in [*trials, trial(graph=2, source="hub")]])
    assert json.loads(files["clusters.json"]) == {
        "graphs": 2,
        "clusters_are_the_blocks": 2,
        "sources_are_those_of_hub": 2,
    }
    assert clusters_found([SimpleNamespace(trial=trial())]) == {}
