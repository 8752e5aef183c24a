"""The basic model: PyG's call, one conversion a call, and honest refusals where sampling would cut filters."""

import pytest
import torch
from torch_geometric.data import Batch, Data

import shiftstate as ss
from shiftstate.pyg import LSSMConv, StateSpaceGNN
from tests.pyg.examples import graph, signal

N = 9


@pytest.mark.parametrize("conv", ["gcnn", "rsn", "lssm"])
@pytest.mark.parametrize("jk", [None, "last", "cat", "max", "lstm"])
@pytest.mark.parametrize("out_channels", [None, 5])
def test_every_shape_of_a_basic_model_runs(conv, jk, out_channels):
    (edges, weight), x = graph(), signal(N, 4)
    model = StateSpaceGNN(4, 8, 3, out_channels, dropout=0.1, norm="BatchNorm", jk=jk, conv=conv, K=2)
    assert str(model) == f"StateSpaceGNN(4, {out_channels or 8}, num_layers=3)"
    y = model(x, edges, weight)
    assert y.shape == (N, out_channels or 8)
    y.sum().backward()
    assert all(parameter.grad is not None for parameter in model.convs.parameters())
    model.reset_parameters()
    assert {layer.K for layer in model.convs} == {2}


def test_the_layers_are_lssm_unless_another_is_named():
    assert isinstance(StateSpaceGNN(4, 8, 2).convs[0], LSSMConv)
    with pytest.raises(ValueError, match=r"unknown conv 'lstm'; .*did you mean 'lssm'"):
        StateSpaceGNN(4, 8, 2, conv="lstm")


@pytest.mark.parametrize("cached", [False, True])
def test_the_graph_is_converted_once_a_call(monkeypatch, cached):
    (edges, weight), x = graph(), signal(N, 4)
    model = StateSpaceGNN(-1, 8, 3, conv="rsn", cached=cached).eval()
    expected = x
    model(x, edges, weight)
    for conv in model.convs:
        expected = conv(expected, edges, weight)
        expected = expected if conv is model.convs[-1] else expected.relu()
    model.convs[0]._cached_shift = None
    calls, build = [], ss.Shift.from_edges
    monkeypatch.setattr(ss.Shift, "from_edges", lambda *args: calls.append(1) or build(*args))
    torch.testing.assert_close(model(x, edges, weight), expected)
    torch.testing.assert_close(model(x, edges, weight), expected)
    assert len(calls) == (1 if cached else 2)


def test_a_mini_batch_is_normalised_graph_by_graph():
    several = [Data(x=signal(n, 4, seed=n), edge_index=graph(n, n)[0]) for n in (5, 9)]
    batch = Batch.from_data_list(several)
    model = StateSpaceGNN(4, 8, 2, conv="lssm", normalize="spectral").eval()
    found = model(batch.x, batch.edge_index, batch=batch.batch)
    torch.testing.assert_close(found, torch.cat([model(one.x, one.edge_index) for one in several]))


def test_what_would_cut_filters_is_refused():
    (edges, _), x = graph(), signal(N, 4)
    model = StateSpaceGNN(4, 8, 2)
    with pytest.raises(ValueError, match="num_sampled_nodes_per_hop was given; expected None"):
        model(x, edges, num_sampled_nodes_per_hop=[1, 2, 6], num_sampled_edges_per_hop=[2, 10])
    with pytest.raises(ValueError, match="loads one hop per layer; expected a call on the whole graph"):
        model.inference(None)
