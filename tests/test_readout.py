"""Readouts against the sums they stand for."""

from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import shiftstate as ss
from shiftstate.readout import pooled
from tests.example_graphs import cycle, path, signal
from tests.strategies import graphs, layouts, seeds

CYCLE = cycle(3, dtype=torch.float32)
PATH = path(5, dtype=torch.float32)


def bound(readout, channels=2):
    readout.bind(channels)
    return readout


def test_flatten_is_one_weight_for_each_node_and_channel():
    readout, x = bound(ss.FlattenReadout(num_nodes=3, num_outputs=4)), torch.randn(5, 3, 2)
    weight = readout.linear.weight.reshape(4, 3, 2)
    expected = torch.einsum("cnf,bnf->bc", weight, x) + readout.linear.bias
    torch.testing.assert_close(readout(x, CYCLE), expected)
    torch.testing.assert_close(readout(x[0], CYCLE), expected[0])


def test_flatten_draws_from_the_papers_bounds():
    readout = bound(ss.FlattenReadout(num_nodes=50, num_outputs=20), 4)
    bound_of_draw = 1 / (50 * 4) ** 0.5
    assert readout.linear.weight.abs().max() <= bound_of_draw
    assert readout.linear.weight.abs().max() > 0.98 * bound_of_draw
    assert readout.linear.bias.abs().max() <= bound_of_draw


@pytest.mark.parametrize("pool", ["mean", "sum"])
def test_pool_on_one_graph(pool):
    readout, x = bound(ss.PoolReadout(4, pool)), torch.randn(6, 3, 2)
    expected = x.mean(-2) if pool == "mean" else x.sum(-2)
    torch.testing.assert_close(readout(x, CYCLE), readout.linear(expected))
    assert readout(x, CYCLE).shape == (6, 4)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("pool", ["mean", "sum"])
def test_pool_on_a_batch_is_pool_on_each_graph(pool, layout):
    readout = bound(ss.PoolReadout(4, pool))
    x, z = torch.randn(6, 3, 2), torch.randn(6, 5, 2)
    apart = torch.stack([readout(x, CYCLE), readout(z, PATH)], dim=-2)
    batch = ss.Shift.batch([CYCLE, PATH], layout=layout)
    together = readout(torch.cat([x, z], dim=-2), batch)
    assert together.shape == (6, 2, 4)
    torch.testing.assert_close(together, apart)


@given(graphs(), graphs(), layouts, st.sampled_from(["mean", "sum"]), seeds)
def test_pooling_is_by_graph(first, second, layout, how, seed):
    batch = ss.Shift.batch([first.shift(), second.shift()], layout=layout)
    x, z = signal(3, first.num_nodes, 2, seed=seed), signal(3, second.num_nodes, 2, seed=seed + 1)
    reduce = torch.mean if how == "mean" else torch.sum
    expected = torch.stack([reduce(x, dim=1), reduce(z, dim=1)], dim=1)
    torch.testing.assert_close(pooled(torch.cat([x, z], dim=1), batch, how), expected)
    torch.testing.assert_close(pooled(x, first.shift(), how), expected[:, 0])


def test_options_build_the_same_readout_again():
    for readout in (ss.FlattenReadout(3, 2), ss.PoolReadout(2, pool="sum"), ss.NodeReadout(4)):
        again = type(readout)(**readout.options())
        assert again.options() == readout.options()
    assert ss.FlattenReadout(3, 2).options() == {"num_nodes": 3, "num_outputs": 2}
    assert ss.PoolReadout(2).options() == {"num_outputs": 2, "pool": "mean"}


def test_node_is_the_same_map_at_every_node():
    readout, x = bound(ss.NodeReadout(4)), torch.randn(6, 3, 2)
    torch.testing.assert_close(readout(x, CYCLE)[2, 1], readout.linear(x[2, 1]))


def test_a_network_with_a_pooled_batch_gives_one_answer_a_graph():
    net = ss.Network("lssm", [1, 3], 2, readout=ss.PoolReadout(4)).double()
    batch = ss.Shift.batch([CYCLE.to(torch.float64), PATH.to(torch.float64)])
    x, z = torch.randn(3, 1).double(), torch.randn(5, 1).double()
    apart = torch.stack([net(x, CYCLE.to(torch.float64)), net(z, PATH.to(torch.float64))])
    torch.testing.assert_close(net(torch.cat([x, z]), batch), apart)


@pytest.mark.parametrize(("how", "expected"), [("mean", [2.0, 20.0]), ("sum", [12.0, 120.0])])
def test_pooling_over_processes_counts_the_nodes_of_all(how, expected):
    two = SimpleNamespace(count=2, total=lambda part: 2 * part)  # another process with the same nodes
    x = torch.tensor([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]).expand(4, 3, 2)
    found = pooled(x, SimpleNamespace(ranks=two), how)
    torch.testing.assert_close(found, torch.tensor(expected).expand(4, 2))
    with pytest.raises(ValueError, match="FlattenReadout was given a partitioned graph; expected a whole one"):
        bound(ss.FlattenReadout(3, 2))(x, SimpleNamespace(ranks=two))


def test_a_graph_may_have_one_node():
    one = ss.Shift.from_edges([[0], [0]])
    assert bound(ss.FlattenReadout(1, 1))(torch.ones(5, 1, 2), one).shape == (5, 1)
    with pytest.raises(ValueError, match="num_nodes is 0; expected a whole number of at least 1"):
        ss.FlattenReadout(0, 1)


def test_flatten_refuses_another_number_of_nodes():
    with pytest.raises(ValueError, match=r"FlattenReadout was given 5 nodes; expected 3; .* use PoolReadout"):
        bound(ss.FlattenReadout(3, 2))(torch.randn(5, 2), PATH)


def test_flatten_refuses_a_batch_of_graphs():
    batch = ss.Shift.batch([CYCLE, CYCLE])
    with pytest.raises(ValueError, match=r"FlattenReadout was given a batch of 2 graphs; expected one graph"):
        bound(ss.FlattenReadout(6, 2))(torch.randn(6, 2), batch)


def test_a_readout_serves_one_network():
    readout = ss.PoolReadout(2)
    ss.Network("gcnn", [1, 2], 1, readout=readout)
    with pytest.raises(ValueError, match=r"this PoolReadout belongs to a network already; make a new one"):
        ss.Network("gcnn", [1, 2], 1, readout=readout)


@pytest.mark.parametrize("use", [lambda r: r(torch.randn(3, 2), CYCLE), lambda r: r.reset_parameters()])
def test_a_readout_without_a_network_says_what_it_lacks(use):
    with pytest.raises(ValueError, match=r"this NodeReadout has no input yet; hand it to a Network, or call bind"):
        use(ss.NodeReadout(2))


def test_weights_that_do_not_fit_are_refused_before_they_are_made():
    with pytest.raises(ValueError, match=r"^the weights of this FlattenReadout need 8,.* bytes .* or PoolReadout$"):
        ss.FlattenReadout(10**9, 10**9).bind(2)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match=r"num_outputs is 0; expected a whole number of at least 1"):
        ss.NodeReadout(0)
    with pytest.raises(ValueError, match=r"num_nodes is 2.5; expected a whole number"):
        ss.FlattenReadout(2.5, 1)
    with pytest.raises(ValueError, match=r"unknown pool 'men'; expected one of 'mean', 'sum'; did you mean 'mean'"):
        ss.PoolReadout(2, pool="men")
