"""The contract catches what it is there to catch, and says so by name."""

import pytest
import torch

import shiftstate as ss
from shiftstate.testing import CONTRACT, assert_alive, check_layer
from shiftstate.testing.inputs import graph, signal
from tests import example_filters

CHECKS = {check.__name__: check for check in CONTRACT}

CAUGHT = [
    (example_filters.SeesNodeOrder, "permutation_equivariance"),
    (example_filters.MixesTheBatch, "batch_equals_loop"),
    (example_filters.AveragesTheGraph, "weights_carry_over"),
    (example_filters.ForgetsItsOption, "save_and_load"),
    (example_filters.Explodes, "state_is_alive"),
    (example_filters.Remembers, "nothing_is_kept_without_gradients"),
    (example_filters.BranchesOnData, "compiles_whole"),
    (example_filters.BranchesOnData, "exports"),
    (example_filters.LeavesWeightsUndrawn, "draws_follow_the_seed"),
]


@pytest.mark.parametrize(("wrong", "check"), CAUGHT, ids=lambda value: getattr(value, "__name__", value))
def test_a_wrong_filter_is_caught_and_the_check_the_layer_and_the_mixing_are_named(wrong, check):
    options = {"gain": 0.5} if wrong is example_filters.ForgetsItsOption else {}
    with pytest.raises(AssertionError, match=rf"^{check} fails for {wrong.__name__}\(mixing='dense'"):
        CHECKS[check](wrong, mixing="dense", **options)


def test_a_gradient_that_stops_at_the_state_is_caught():
    with pytest.raises(AssertionError, match=r"gradients_are_exact fails for DropsTheGradient"):
        CHECKS["gradients_are_exact"](example_filters.DropsTheGradient)


def test_a_layout_that_computes_something_else_is_caught(monkeypatch):
    from shiftstate.graphs.operators import Sparse

    monkeypatch.setattr(Sparse, "product", lambda self, x: self.transposed().dense() @ x)
    with pytest.raises(AssertionError, match=r"dense_equals_sparse fails for GCNN"):
        CHECKS["dense_equals_sparse"](ss.GCNN, kernel="reference")


def test_a_trace_that_disagrees_is_caught():
    class Evades(ss.GCNN):
        def output(self, h, w, x):
            return super().output(h, w, x) * (1 if torch.is_grad_enabled() else 2)

    with pytest.raises(AssertionError, match=r"trace_agrees_with_forward"):
        CHECKS["trace_agrees_with_forward"](Evades)


def test_a_checkpoint_that_changes_the_result_is_caught():
    class Sloppy(ss.GCNN):
        def finish(self, total):
            return total if self.checkpoint is None else total + 1

    with pytest.raises(AssertionError, match=r"checkpoints_change_nothing"):
        CHECKS["checkpoints_change_nothing"](Sloppy)


def test_the_whole_contract_runs_for_each_mixing(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "shiftstate.testing.contract.CONTRACT", (lambda layer, mixing, **options: seen.append((mixing, options)),)
    )
    check_layer(ss.RSN, state_activation="tanh")
    assert seen == [(mixing, {"state_activation": "tanh"}) for mixing in ("bank", "dense", "depthwise")]


def test_check_layer_passes_the_example_of_the_documentation():
    check_layer(example_filters.GRU, mixing="depthwise")


def test_the_contract_leaves_the_random_state_alone():
    before = torch.get_rng_state()
    for check in CONTRACT[:13]:
        check(ss.LSSM)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(("factor", "fate"), [(0.0, "died"), (1e6, "died or exploded"), (float("nan"), "not finite")])
def test_a_dead_exploded_or_nan_state_is_not_alive(factor, fate):
    trace = ss.GCNN(2, 3, 3).double().trace(signal(), graph())
    trace.states[-1] *= factor
    with pytest.raises(AssertionError, match=fate):
        assert_alive(trace)


def test_the_module_needs_no_test_runner():
    import ast
    from pathlib import Path

    import shiftstate.testing

    for file in Path(shiftstate.testing.__file__).parent.glob("*.py"):
        imported = {
            alias.name
            for node in ast.walk(ast.parse(file.read_text()))
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        assert "pytest" not in imported
        assert "hypothesis" not in imported
