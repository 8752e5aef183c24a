"""Sensitivity by hops: against torch's Jacobian, exact zeros beyond K, and probes within their stated error."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

import shiftstate as ss
from shiftstate.lens import examine
from shiftstate.lens.reach import hop_distances, reach
from shiftstate.testing.inputs import graph
from tests.lens.subjects import SUBJECTS, cycle, make, path, signal
from tests.strategies import graphs, layouts


def slow_hops(S):
    """Distances j → i by powers of the pattern of S."""
    N = len(S)
    distance = np.full((N, N), np.inf)
    reached = np.eye(N, dtype=bool)
    for d in range(N):
        distance[reached & np.isinf(distance)] = d
        reached = (S != 0).astype(int) @ reached.astype(int) > 0
    return distance


@given(graphs(), layouts)
def test_hops_are_counted_along_the_edges(graph, layout):
    shift = graph.shift(layout)
    assert np.array_equal(hop_distances(shift, np.arange(graph.num_nodes)), slow_hops(graph.matrix))


@pytest.mark.parametrize(("kind", "mixing"), SUBJECTS)
def test_the_sensitivity_of_every_filter_is_that_of_the_whole_jacobian(kind, mixing):
    layer, x, shift = make(kind, mixing, K=3), signal(8, 2), graph()
    jacobian = torch.autograd.functional.jacobian(lambda x: layer(x, shift), x)  # (N, F, N, G)
    energy, hops = jacobian.square().sum((1, 3)).numpy(), slow_hops(shift.to_dense().numpy())
    seen = reach(layer, x, shift)
    assert seen.method == "exact"
    for d, rms, share, pairs in zip(seen.hops, seen.rms, seen.share, seen.pairs, strict=True):
        chosen = energy[hops == int(d)]
        assert len(chosen) == pairs
        assert float(rms) == pytest.approx(np.sqrt(chosen.mean()), rel=1e-9)
        assert float(share) == pytest.approx(chosen.sum() / energy.sum(), rel=1e-9)
    assert seen.beyond == 0
    assert energy[hops > 3].max(initial=0) == 0


def test_a_gcnn_on_a_path_sees_each_hop_by_its_weight_and_nothing_beyond_K():
    layer = make("gcnn", channels=(1, 1), K=3)
    seen = reach(layer, signal(9, 1), path(9))
    assert_close(seen.rms, layer.h.detach().abs().flatten())
    assert seen.hops.tolist() == [0, 1, 2, 3]
    assert seen.pairs.tolist() == [9, 8, 7, 6]
    assert seen.beyond == 0


def test_only_hops_that_exist_are_listed():
    assert reach(make("lssm", channels=(1, 2), K=20), signal(5, 1), path(5)).hops.tolist() == [0, 1, 2, 3, 4]


def test_a_filter_that_looks_at_the_whole_graph_at_once_is_found_out():
    class Averages(ss.RSN):
        def update(self, h, Sw, x, c):
            return super().update(h, Sw + Sw.mean(0, keepdim=True), x, c)

    layer = Averages(1, 2, 2, state_activation="tanh").double()
    assert reach(layer, signal(9, 1), path(9)).beyond > 0


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("kind", ["gcnn", "rsn-tanh", "lssm-biases", "gru"])
def test_probes_agree_with_the_exact_sensitivity_within_their_error(kind, layout):
    edges = torch.from_numpy(np.random.default_rng(3).integers(0, 120, (2, 480)))
    shift = ss.Shift.from_edges(edges, torch.ones(480).double(), num_nodes=120, layout=layout).normalized("spectral")
    layer, x = make(kind, channels=(2, 4), K=3), signal(120, 2)
    exact, probed = reach(layer, x, shift), reach(layer, x, shift, probes=60, seed=1)
    assert probed.method == "probes"
    assert probed.probes == 60
    assert bool((probed.error > 0).all())
    assert bool((probed.error < 0.3 * probed.rms).all())
    assert_close(probed.rms, exact.rms, rtol=0, atol=float("inf"))
    assert bool(((probed.rms - exact.rms).abs() <= 4 * probed.error).all())
    assert probed.beyond == 0


def test_every_node_probed_on_one_channel_is_exact():
    layer, x, shift = make("rsn-tanh", channels=(2, 1), K=3), signal(8, 2), graph()
    assert_close(reach(layer, x, shift, probes=8).rms, reach(layer, x, shift).rms)


def test_probes_depend_on_the_seed_alone():
    layer, x, shift = make("lssm"), signal(8, 2), graph()
    one, same, other = (reach(layer, x, shift, probes=4, seed=seed) for seed in (5, 5, 6))
    assert_close(one.rms, same.rms, rtol=0, atol=0)
    assert not torch.equal(one.rms, other.rms)


def test_large_graphs_are_probed_some_at_a_time(monkeypatch):
    from shiftstate.lens import reach as module

    layer, x, shift = make("rsn-tanh"), signal(8, 2), graph()
    whole = reach(layer, x, shift)
    monkeypatch.setattr(module, "ENTRIES", 1)
    assert_close(reach(layer, x, shift).rms, whole.rms)
    monkeypatch.setattr(module, "EXACT_NODES", 4)
    assert reach(layer, x, shift).method == "probes"


@given(st.integers(0, 6))
def test_how_far_it_sees(only):
    layer = make("gcnn", channels=(1, 1), K=6)
    with torch.no_grad():
        layer.h.zero_()
        layer.h[only] = 1.0
    seen = reach(layer, signal(20, 1), cycle(20))
    assert seen.sees() == seen.half == only


@given(st.lists(st.integers(0, 9), min_size=7, max_size=7).filter(any))
def test_half_of_the_dependence_lies_within_the_reach_and_less_than_half_within_one_hop_less(weights):
    layer = make("gcnn", channels=(1, 1), K=6)
    energy = np.square(weights)
    with torch.no_grad():
        layer.h[:] = torch.tensor(weights)[:, None, None]
    seen = reach(layer, signal(20, 1), cycle(20))
    assert 2 * energy[: seen.half + 1].sum() >= energy.sum() > 2 * energy[: seen.half].sum()
    assert seen.offered == 6


def test_an_output_that_depends_on_nothing_sees_nothing():
    layer = make("gcnn", channels=(1, 1), K=2)
    with torch.no_grad():
        layer.h.zero_()
    lens = examine(layer, signal(8, 1), cycle(8))
    assert lens.layers[0].reach.sees() == -1
    assert "does not depend on the input" in str(lens)


def test_a_single_pair_of_nodes_is_its_own_mean():
    layer = ss.GCNN(1, 1, 2)
    with torch.no_grad():
        layer.h.copy_(torch.tensor([1.0, 2.0, -3.0]).view(3, 1, 1))
    found = reach(layer, torch.ones(3, 1), ss.Shift.from_edges([[0, 1], [1, 2]], torch.tensor([5.0, 7.0])))
    assert found.pairs.tolist() == [3, 2, 1]
    expected = [1.0, 2 * ((25 + 49) / 2) ** 0.5, 3 * 35.0]
    assert found.rms.tolist() == pytest.approx(expected, rel=1e-6)
    energy = [3 * 1.0, 4.0 * (25 + 49), 9 * 35.0**2]
    assert found.share.tolist() == pytest.approx([one / sum(energy) for one in energy], rel=1e-6)
    assert (found.beyond, found.half, found.offered) == (0, 2, 2)
