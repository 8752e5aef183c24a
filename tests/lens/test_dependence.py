"""Dependence by hops over draws of the weights, on graphs with long distances."""

import numpy as np
import pytest
import torch
from scipy.sparse.csgraph import shortest_path

import shiftstate as ss
from shiftstate.graphs.lattices import grid, ring
from shiftstate.lens import dependence
from shiftstate.lens.reach import reach
from tests.lens.subjects import signal

K = 12


def farthest(shift):
    return int(shortest_path(shift.to_scipy(), unweighted=True).max())


@pytest.mark.parametrize(
    ("shift", "distance"), [(ring(9), 4), (ring(10), 5), (ring(9, directed=True), 8), (grid(4, 6), 8), (grid(1, 7), 6)]
)
def test_lattices_have_the_distances_and_the_spectral_radius_they_promise(shift, distance):
    assert farthest(shift) == distance
    assert shift.spectral_radius() == pytest.approx(1)


def test_neighbours_in_a_grid_are_those_beside_above_and_below():
    dense = grid(3, 4).to_dense()
    assert dense[5].nonzero().flatten().tolist() == [1, 4, 6, 9]
    assert dense[3].nonzero().flatten().tolist() == [2, 7]


@pytest.mark.parametrize(("make", "message"), [(lambda: ring(2), "num_nodes"), (lambda: grid(1, 1), "at least two")])
def test_lattices_of_too_few_nodes_raise(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("kind", [ss.GCNN, ss.RSN, ss.LSSM])
@pytest.mark.parametrize("init", ["paper", "alive"])
def test_every_draw_is_the_reach_of_its_own_model(kind, init):
    x, shift = signal(30, 1).float(), ring(30)
    found = dependence(lambda: kind(1, 2, K, init=init), x, shift, draws=4, seed=3)
    torch.manual_seed(3)
    for share, half in zip(found.share, found.half, strict=True):
        alone = reach(kind(1, 2, K, init=init), x, shift)
        assert torch.equal(share, alone.share)
        assert int(half) == alone.half
    assert found.hops.tolist() == list(range(K + 1))
    np.testing.assert_allclose(found.share.sum(1), 1)
    assert not torch.equal(found.share[0], found.share[1])


def test_the_random_state_is_left_alone_and_the_seed_alone_decides():
    x, shift = signal(30, 1).float(), ring(30)
    before = torch.get_rng_state()
    one, same, other = (dependence(lambda: ss.RSN(1, 2, K), x, shift, draws=2, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(one.share, same.share)
    assert not torch.equal(one.share, other.share)


def test_quantiles_are_over_the_draws():
    found = dependence(lambda: ss.GCNN(1, 1, K), signal(30, 1).float(), ring(30, directed=True), draws=5)
    assert torch.equal(found.quantile(0.5), found.share.sort(0).values[2])
    assert torch.equal(found.quantile(0), found.share.amin(0))


def test_a_network_of_several_layers_is_taken_as_one():
    make = lambda: ss.Network("gcnn", [1, 2, 2], 3, ss.PoolReadout(num_outputs=2))  # noqa: E731
    assert dependence(make, signal(30, 1).float(), ring(30), draws=2).hops.tolist() == list(range(7))
