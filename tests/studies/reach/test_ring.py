"""Ring transfer: the data are what the specification says, every model is of one size, and the study runs."""

import json

import pytest
import torch

import shiftstate as ss
from shiftstate.graphs.lattices import ring
from shiftstate.machine import count_parameters
from shiftstate.machine.conduct import conduct
from shiftstate.machine.presets import load_preset
from shiftstate.machine.run import run
from shiftstate.studies.reach.cores import CORES, PEERS
from shiftstate.studies.reach.network import Reacher, equal_size
from shiftstate.studies.reach.shared import OURS, VARIANTS
from shiftstate.studies.ring import STUDY, data, draw

TINY = ["train=80", "valid=40", "test=40", "batch_size=20", "epochs=1", "draws=1", "learning_rate=0.01"]


def trials(*overrides, preset="record"):
    return load_preset(STUDY, preset, None, [*TINY, *overrides]).trials("ring")


def drawn(task, d=5, count=400):
    return draw(task, d, count, torch.Generator().manual_seed(0))


@pytest.mark.parametrize("task", ["up to d", "exactly d"])
def test_the_value_stands_at_the_source_and_is_asked_for_at_the_target(task):
    rings, d = drawn(task), 5
    rows = torch.arange(400)
    source, target = rings.x[..., 1].argmax(1), rings.x[..., 2].argmax(1)
    assert torch.equal(rings.x[..., 1:].sum(1), torch.ones(400, 2))
    assert torch.equal(rings.y[rings.mask], rings.x[rows, source, 0])
    assert torch.equal(rings.mask.nonzero()[:, 1], target)
    apart = (source - target).abs()
    hops = torch.minimum(apart, 2 * d + 4 - apart)
    assert torch.equal(hops, 1 + rows % d if task == "up to d" else torch.full((400,), d))
    assert abs(float(rings.x[..., 0].var()) - 1) < 0.05


def test_the_old_task_swaps_two_marked_values_and_a_rule_without_a_graph_is_perfect():
    rings = drawn("swap")
    rows, source, target = torch.arange(400), rings.x[..., 1].argmax(1), rings.x[..., 2].argmax(1)
    assert rings.mask.all()
    assert (rings.x[rows, source, 0] == 1).all()
    assert (rings.x[rows, target, 0] == 0).all()
    assert int((rings.y != rings.x[..., 0]).sum()) == 2 * 400  # the identity is wrong at 2 of N nodes
    scores = {
        trial.model: run(trial).last["r2"]
        for trial in trials("filters=swap", "distance=swap", "hop_limit=5", preset="old")
    }
    assert scores["swap"] > 0.999


def test_parts_are_drawn_apart_and_alike_for_every_model():
    first, second = (data(trial, None) for trial in trials('filters=["gsn","gcn"]', "hop_limit=5"))
    assert torch.equal(first.train.x, second.train.x)
    assert not torch.equal(first.valid.x, first.test.x)
    assert first.shift.num_nodes == 14


@pytest.mark.parametrize("d", [5, 25])
@pytest.mark.parametrize("name", list(CORES))
def test_every_model_has_the_same_size_within_a_twentieth(name, d):
    if name in PEERS:
        pytest.importorskip("torch_geometric")
    (trial,) = trials(f"filters={name}", f"hop_limit={d}")
    network = trial.experiment.models[name](trial, data(trial, None))
    assert abs(count_parameters(network) - 4000) < 200
    assert network(torch.randn(2, 2 * d + 4, 3), ring(2 * d + 4)).shape == (2, 2 * d + 4, 1)


@pytest.mark.parametrize("name", [name for name in CORES if name != "mlp"])
def test_every_model_sees_d_hops_and_no_further_and_treats_signals_one_by_one(name):
    if name in PEERS:
        pytest.importorskip("torch_geometric")
    (trial,) = trials(f"filters={name}", "hop_limit=3")
    torch.manual_seed(0)
    network, x = Reacher(trial, 3, 8, 8).double(), torch.randn(2, 12, 3).double()
    shift = ring(12).to(torch.float64)
    y = network(x, shift)
    torch.testing.assert_close(y[1:], network(x[1:], shift))
    moved = x.clone()
    moved[:, 0] += 1.0
    seen = (network(moved, shift) - y).abs().amax((0, 2)) > 1e-12
    hops = torch.minimum(torch.arange(12), 12 - torch.arange(12))
    assert seen[hops == 3].all()
    assert not seen[hops > 3].any()


def test_a_goal_that_is_too_small_says_so():
    (trial,) = trials("filters=gcn", "hop_limit=5", "parameters=30")
    with pytest.raises(ValueError, match="parameters is 30; expected at least"):
        equal_size(lambda width, hidden: Reacher(trial, 3, width, hidden), 30)


def test_variants_change_what_they_name_and_frozen_gates_stay_open():
    for trial in trials("filters=gsn", f"variant={json.dumps(list(VARIANTS))}", "hop_limit=4"):
        layer = trial.experiment.models["gsn"](trial, data(trial, None)).core
        order = 2 if trial["variant"] == "half K" else 4
        assert layer.K - order == 0
        assert layer.tied == (trial["variant"] not in ("untied", "paper"))
        if trial["variant"] == "gates open":
            gates = layer.trace(torch.randn(12, layer.in_channels), ring(12)).gates
            assert all(float(gate.min()) == 1.0 for gate in gates.values())
            assert {n[2] for n, p in layer.named_parameters() if not p.requires_grad} == {"z", "r"}


def test_the_study_runs_and_judges_its_claims(here, tmp_path):
    pytest.importorskip("torch_geometric")
    preset = load_preset(STUDY, "quick", None, [*TINY, "hop_limit=3", 'filters=["average","gsn","gcn"]'])
    assert conduct(["ring"], preset, tmp_path, here).stored == 3
    rows = json.loads((tmp_path / "summary.json").read_text())
    assert {row["filter"] for row in rows} == {"average", "gsn", "gcn"}
    (claim,) = json.loads((tmp_path / "claims.json").read_text())
    assert claim["claim"] == "GSN is ahead of every peer, up to d, d = 3"


def test_ours_learn_to_carry_a_number_five_hops():
    (trial,) = [
        t
        for t in trials(
            "filters=rsn", "hop_limit=5", "train=4000", "valid=100", "test=400", "epochs=3", "batch_size=40"
        )
    ]
    assert trial.model in OURS
    assert run(trial).last["r2"] > 0.8


def test_tied_weights_go_on_to_distances_that_they_were_not_trained_for():
    (trial,) = trials("filters=gsn", "hop_limit=5")
    network = trial.experiment.models["gsn"](trial, data(trial, None))
    network.core.K = 9
    assert isinstance(network.core, ss.Layer)
    x = torch.randn(1, 24, 3).requires_grad_()
    network(x, ring(24))[0, 0].sum().backward()
    assert float(x.grad[0, 9].abs().max()) > 0
    assert float(x.grad[0, 10].abs().max()) == 0
