"""The layers as PyG's own are tested: every form of the graph, batches, static graphs, caches, lazy sizes."""

import copy
import io
import subprocess
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric import EdgeIndex
from torch_geometric.data import Batch, Data
from torch_geometric.nn import ChebConv, TAGConv
from torch_geometric.typing import WITH_TORCH_SPARSE, SparseTensor

import shiftstate as ss
from shiftstate.pyg import GCNNConv, LSSMConv, RSNConv
from shiftstate.testing import assert_alive
from tests.pyg.examples import CONVS, NORMALIZATIONS, alive, graph, signal
from tests.strategies import graphs, seeds

N = 9


def adj_t(edges, weight, n=N):
    return torch.sparse_coo_tensor(edges.flip(0), weight, (n, n))


def smooth(conv):
    """Without relu: finite differences do not agree with its corner, and a zero hides what it was made of."""
    if not isinstance(conv, GCNNConv):
        conv.layer.output_activation = conv.layer.state_activation = "tanh"
    return conv


def close(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("conv_class", CONVS)
def test_defaults_are_those_of_tagconv(conv_class):
    conv, tag = conv_class(16, 32), TAGConv(16, 32)
    assert str(conv) == f"{conv_class.__name__}(16, 32, K=3)"
    for name in ("in_channels", "out_channels", "K", "normalize"):
        assert getattr(conv, name) == getattr(tag, name)
    assert conv.layer.bias.shape == tag.bias.shape
    assert conv.layer.mixing == ("bank" if conv_class is GCNNConv else "depthwise")
    assert (conv.cached, conv.add_self_loops) == (False, False)
    assert conv_class(16, 32, 4, False, False).layer.bias is None


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("normalize", NORMALIZATIONS)
@pytest.mark.parametrize("conv_class", CONVS)
def test_all_forms_of_the_graph_agree(conv_class, normalize, weighted):
    (edges, weight), x = graph(), signal(N, 4, dtype=torch.float64)
    weight = weight.double() if weighted else None
    ones = torch.ones(edges.shape[1], dtype=torch.float64) if weight is None else weight
    conv = alive(conv_class, 4, 3, K=4, normalize=normalize)
    expected = conv(x, edges, weight)
    assert expected.shape == (N, 3)
    close(conv(x, EdgeIndex(edges, sparse_size=(N, N)), weight), expected)
    order = edges[1].argsort(stable=True)
    by_target = EdgeIndex(edges[:, order], sparse_size=(N, N), sort_order="col")
    close(conv(x, by_target, None if weight is None else weight[order]), expected)
    matrix = adj_t(edges, ones)
    close(conv(x, matrix), expected)
    close(conv(x, matrix.coalesce().to_sparse_csr()), expected)
    close(conv(x, matrix.coalesce().to_sparse_csc()), expected)
    close(conv(x, conv.to_shift(x, edges, weight)), expected)
    close(conv(x, edges.int(), weight), expected)


@pytest.mark.parametrize("conv_class", [TAGConv, *CONVS])
def test_weights_of_shape_e_1_are_one_per_edge(conv_class):
    (edges, weight), x = graph(), signal(N, 4)
    conv = conv_class(4, 3)
    column = weight[:, None].clone().requires_grad_()
    y = conv(x, edges, column)
    assert torch.equal(y, conv(x, edges, weight.requires_grad_()))
    (gradient,) = torch.autograd.grad(y.sum(), column)
    assert gradient.shape == column.shape


@pytest.mark.skipif(not WITH_TORCH_SPARSE, reason="torch_sparse is not installed: SparseTensor cannot be made")
@pytest.mark.parametrize("conv_class", CONVS)
def test_a_sparse_tensor_is_one_of_the_forms(conv_class):
    (edges, weight), x = graph(), signal(N, 4, dtype=torch.float64)
    conv = alive(conv_class, 4, 3)
    matrix = SparseTensor.from_edge_index(edges, weight.double(), (N, N)).t()
    close(conv(x, matrix), conv(x, edges, weight.double()))


class StandIn:
    """The two methods of SparseTensor that are called, for those who do not have it."""

    def __init__(self, edges, weight):
        self.edges, self.weight = edges, weight

    def sizes(self):
        return [N, N]

    def coo(self):
        return self.edges[1], self.edges[0], self.weight


@pytest.mark.parametrize("conv_class", CONVS)
def test_what_looks_like_a_sparse_tensor_is_read_as_one(conv_class, monkeypatch):
    monkeypatch.setattr("shiftstate.pyg.graph.SparseTensor", StandIn)
    (edges, weight), x = graph(), signal(N, 4, dtype=torch.float64)
    conv = alive(conv_class, 4, 3)
    for values in (None, weight.double()):
        close(conv(x, StandIn(edges, values)), conv(x, edges, values))


@pytest.mark.parametrize("conv_class", CONVS)
def test_edges_point_the_way_they_do_in_pyg(conv_class):
    conv, x = smooth(alive(conv_class, 1, 2, K=1, normalize=False)), torch.tensor([[1.0], [0.0]]).double()
    forward, backward = conv(x, torch.tensor([[0], [1]])), conv(x, torch.tensor([[1], [0]]))
    nothing = conv(x, torch.empty(2, 0, dtype=torch.long))
    assert not torch.allclose(forward[1], nothing[1])
    assert torch.equal(forward[0], nothing[0])
    assert torch.equal(backward[1], nothing[1])


@given(graph=graphs(weights=st.integers(1, 48).map(lambda sixteenths: sixteenths / 16)), seed=seeds)
def test_a_filter_from_tagconv_gives_its_output(graph, seed):
    torch.manual_seed(seed)
    edges, weight = torch.from_numpy(graph.edge_index), torch.from_numpy(graph.weight)
    x = torch.randn(graph.num_nodes, 3, dtype=torch.float64)
    for normalize in (True, False):
        tag = TAGConv(3, 2, K=4, normalize=normalize).double()
        torch.nn.init.normal_(tag.bias)
        conv = GCNNConv.from_tagconv(tag)
        for weights in (None, weight):
            torch.testing.assert_close(conv(x, edges, weights), tag(x, edges, weights), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("K", [0, 1, 2, 5])
def test_a_gcnn_in_chebyshevs_basis_is_chebconv(K):
    (edges, weight), x = graph(), signal(N, 3, dtype=torch.float64)
    edges, weight = torch.cat([edges, edges.flip(0)], 1), torch.cat([weight, weight]).abs().double()
    inside = edges[0] != edges[1]  # ChebConv drops self-loops
    theirs = ChebConv(3, 2, K=K + 1).double()
    ours = GCNNConv(3, 2, K=K, basis="chebyshev").double()
    with torch.no_grad():
        for k, lin in enumerate(theirs.lins):
            ours.layer.h[k] = (-1) ** k * lin.weight  # of L̂ = −S
        ours.layer.bias.copy_(theirs.bias)
    close(ours(x, edges[:, inside], weight[inside]), theirs(x, edges, weight))


@pytest.mark.parametrize("conv_class", CONVS)
def test_every_layer_takes_a_basis(conv_class):
    (edges, weight), x = graph(), signal(N, 4, dtype=torch.float64)
    conv = alive(conv_class, 4, 3, K=4, basis="chebyshev")
    y = conv(x, edges, weight.double())
    close(y, conv.layer(x, conv.to_shift(x, edges, weight.double())))
    plain = alive(conv_class, 4, 3, K=4)
    plain.load_state_dict(conv.state_dict())
    assert not torch.allclose(y, plain(x, edges, weight.double()))


@pytest.mark.parametrize("options", [{}, {"K": 0}, {"bias": False}, {"normalize": False}, {"K": 8}])
def test_a_filter_from_tagconv_is_the_same_to_1e_6_in_float32_with_all_its_gradients(options):
    (edges, weight), x = graph(), signal(N, 5)
    tag = TAGConv(5, 4, **options).eval()
    conv = GCNNConv.from_tagconv(tag)
    assert not conv.training
    leaves = [x.clone().requires_grad_(), weight.clone().requires_grad_()]
    expected, found = tag(leaves[0], edges, leaves[1]), conv(leaves[0], edges, leaves[1])
    scale = max(1.0, expected.abs().max().item())
    assert (found - expected).abs().max() <= 1e-6 * scale
    used = leaves if tag.K else leaves[:1]
    for a, b in zip(
        torch.autograd.grad(found.square().sum(), used),
        torch.autograd.grad(expected.square().sum(), used),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)


def test_a_filter_from_tagconv_keeps_a_copy_and_refuses_what_it_cannot_copy():
    (edges, _), x = graph(), signal(N, 5)
    with pytest.raises(ValueError, match="in_channels=-1 and has not been called"):
        GCNNConv.from_tagconv(TAGConv(-1, 4))
    tag = TAGConv(5, 4)
    conv = GCNNConv.from_tagconv(tag, cached=True)
    before = conv(x, edges)
    torch.nn.init.zeros_(tag.lins[0].weight)
    assert torch.equal(conv(x, edges), before)
    with pytest.raises(ValueError, match="conv is a Linear; expected a TAGConv"):
        GCNNConv.from_tagconv(torch.nn.Linear(2, 2))
    with pytest.raises(ValueError, match="aggr='mean'"):
        GCNNConv.from_tagconv(TAGConv(2, 2, aggr="mean"))


@pytest.mark.parametrize("mixing", ["bank", "dense", "depthwise"])
@pytest.mark.parametrize("conv_class", CONVS)
def test_signals_on_a_static_graph_are_filtered_one_by_one(conv_class, mixing):
    (edges, weight), x = graph(), signal(5, N, 4, dtype=torch.float64)
    conv = alive(conv_class, 4, 3, mixing=mixing)
    y = conv(x, edges, weight)
    assert y.shape == (5, N, 3)
    close(y, torch.stack([conv(one, edges, weight) for one in x]))


@pytest.mark.parametrize("normalize", NORMALIZATIONS)
@pytest.mark.parametrize("conv_class", CONVS)
def test_a_mini_batch_of_graphs_is_filtered_graph_by_graph(conv_class, normalize):
    several = []
    for seed, n in enumerate((5, 9, 7)):
        edges, weight = graph(seed, n)
        several.append(
            Data(x=signal(n, 4, seed=seed, dtype=torch.float64), edge_index=edges, edge_weight=weight.double())
        )
    batch = Batch.from_data_list(several)
    conv = alive(conv_class, 4, 3, normalize=normalize)
    found = conv(batch.x, batch.edge_index, batch.edge_weight, batch.batch)
    close(found, torch.cat([conv(one.x, one.edge_index, one.edge_weight) for one in several]))


def test_without_a_batch_vector_a_spectral_normalisation_takes_the_mini_batch_for_one_graph():
    (a, wa), (b, wb) = graph(0), graph(1)
    edges, weight = torch.cat([a, b + N], 1), torch.cat([wa, 5 * wb])
    conv = LSSMConv(2, 2, normalize="spectral")
    batch = torch.arange(2).repeat_interleave(N)
    together = conv.to_shift(signal(2 * N, 2), edges, weight)
    apart = conv.to_shift(signal(2 * N, 2), edges, weight, batch)
    assert together.spectral_radius() == pytest.approx(1)
    for part in (slice(0, N), slice(N, 2 * N)):
        assert ss.Shift.from_matrix(apart.to_dense()[part, part]).spectral_radius() == pytest.approx(1)
    assert ss.Shift.from_matrix(together.to_dense()[:N, :N]).spectral_radius() < 0.9


@pytest.mark.parametrize("normalize", [True, "symmetric", "row"])
@pytest.mark.parametrize("conv_class", CONVS)
def test_filters_are_permutation_equivariant(conv_class, normalize):
    (edges, weight), x = graph(), signal(N, 4, dtype=torch.float64)
    conv = alive(conv_class, 4, 3, K=5, normalize=normalize)
    order = torch.randperm(N, generator=torch.Generator().manual_seed(3))
    place = order.argsort()
    close(conv(x[order], place[edges], weight.double()), conv(x, edges, weight.double())[order])


@pytest.mark.parametrize("conv_class", CONVS)
def test_the_state_is_alive_in_these_tests(conv_class):
    (edges, weight), x = graph(), signal(N, 4, dtype=torch.float64)
    conv = alive(conv_class, 4, 3, K=4)
    assert_alive(conv.layer.trace(x, conv.to_shift(x, edges, weight)))


@pytest.mark.parametrize("normalize", [True, False, "symmetric", "row", "column"])
@pytest.mark.parametrize("conv_class", CONVS)
def test_gradients_reach_edge_weights_on_every_form(conv_class, normalize):
    edges, weight = graph()
    edges, weight = edges[:, :10], weight[:10].double()
    x, conv = signal(N, 2, dtype=torch.float64), smooth(alive(conv_class, 2, 2, K=2, normalize=normalize))
    weight.requires_grad_()
    assert torch.autograd.gradcheck(lambda w: conv(x, edges, w), weight)
    (expected,) = torch.autograd.grad(conv(x, edges, weight).sum(), weight)
    (found,) = torch.autograd.grad(conv(x, adj_t(edges, weight)).sum(), weight)
    close(found, expected)


def test_gradients_of_a_spectral_normalisation_hold_the_radius_constant():
    edges, weight = graph()
    weight.requires_grad_()
    x, conv = signal(N, 2), GCNNConv(2, 2, K=1, normalize="spectral")
    radius = ss.Shift.from_edges(edges, weight.detach(), N).spectral_radius()
    plain = GCNNConv.from_layer(conv.layer, normalize=False)
    (found,) = torch.autograd.grad(conv(x, edges, weight).sum(), weight)
    (expected,) = torch.autograd.grad(plain(x, edges, weight / radius).sum(), weight)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("conv_class", CONVS)
def test_self_loops_are_added_where_there_are_none(conv_class):
    from torch_geometric.utils import add_remaining_self_loops

    (edges, weight), x = graph(), signal(N, 4, dtype=torch.float64)
    keep = ~((edges[0] == edges[1]) & (torch.arange(edges.shape[1]) > 3))  # one loop, at node 3, and no second there
    edges, weight = edges[:, keep], weight[keep].double()
    for normalize in (True, False, "row"):
        conv = alive(conv_class, 4, 3, normalize=normalize, add_self_loops=True)
        bare = conv_class.from_layer(conv.layer, normalize=normalize)
        close(conv(x, edges, weight), bare(x, *add_remaining_self_loops(edges, weight, 1.0, N)))


@pytest.mark.parametrize("conv_class", CONVS)
def test_a_cached_graph_is_converted_once_and_forgotten_on_reset(conv_class, monkeypatch):
    (edges, weight), x = graph(), signal(N, 4)
    conv = conv_class(4, 3, cached=True)
    expected = conv(x, edges, weight)
    monkeypatch.setattr("shiftstate.pyg.base.to_shift", None)  # would fail if it were called
    assert torch.equal(conv(x, edges, weight), expected)
    assert torch.equal(conv(x, edges[:, :3]), expected)
    assert torch.equal(copy.deepcopy(conv)(x, edges), expected)
    torch.testing.assert_close(conv.double()(x.double(), edges).float(), expected, rtol=1e-4, atol=1e-5)
    conv.reset_parameters()
    assert conv._cached_shift is None


def test_a_cached_graph_refuses_another_graph_and_trained_edge_weights():
    edges, weight = graph()
    conv = RSNConv(4, 3, cached=True)
    with pytest.raises(ValueError, match=r"edge_weight requires gradients and the layer is cached=True"):
        conv(signal(N, 4), edges, weight.clone().requires_grad_())
    conv(signal(N, 4), edges, weight)
    with pytest.raises(ValueError, match=r"x has 7 nodes and the cached graph 9; .*cached=True is for a single graph"):
        conv(signal(7, 4), edges, weight)


@pytest.mark.parametrize("mixing", ["bank", "dense", "depthwise"])
@pytest.mark.parametrize("conv_class", CONVS)
@pytest.mark.parametrize("in_channels", [3, 5])
def test_lazy_layers_take_their_size_from_the_first_call(conv_class, mixing, in_channels):
    (edges, _), x = graph(), signal(N, in_channels, dtype=torch.float64)
    lazy = conv_class(-1, 3, mixing=mixing, init="alive").double()
    assert str(lazy) == f"{conv_class.__name__}(-1, 3, K=3)"
    held = list(lazy.parameters())
    torch.manual_seed(5)
    y = lazy(x, edges)
    assert str(lazy) == f"{conv_class.__name__}({in_channels}, 3, K=3)"
    assert {id(parameter) for parameter in lazy.parameters()} <= {id(parameter) for parameter in held}
    expected = conv_class(in_channels, 3, mixing=mixing, init="alive").double()
    shapes = {name: value.shape for name, value in expected.state_dict().items()}
    assert {name: value.shape for name, value in lazy.state_dict().items()} == shapes
    expected.load_state_dict(lazy.state_dict())
    assert torch.equal(expected(x, edges), y)
    y.sum().backward()
    assert all(parameter.grad is not None for parameter in lazy.parameters())


WITH_INPUT = [conv_class for conv_class in CONVS if "input" in conv_class.layer_class.option_names()]


@pytest.mark.parametrize("in_channels", [3, 4])
@pytest.mark.parametrize("mixing", ["bank", "dense", "depthwise"])
@pytest.mark.parametrize(
    ("conv_class", "options"),
    [*((one, {}) for one in CONVS), *((one, {"input": "first"}) for one in WITH_INPUT)],
)
def test_lazy_layers_take_their_size_from_a_state_dict(conv_class, options, mixing, in_channels):
    trained = conv_class(in_channels, 3, mixing=mixing, **options)
    file = io.BytesIO()
    torch.save(trained.state_dict(), file)
    file.seek(0)
    lazy = copy.deepcopy(conv_class(-1, 3, mixing=mixing, **options))
    lazy.reset_parameters()
    lazy.load_state_dict(torch.load(file, weights_only=True))
    x, edges = signal(N, in_channels), graph()[0]
    assert torch.equal(lazy(x, edges), trained(x, edges))


@pytest.mark.parametrize("conv_class", CONVS)
def test_layers_go_to_the_core_and_back(conv_class):
    (edges, weight), x = graph(), signal(N, 4)
    conv = conv_class(4, 3, K=5, normalize="symmetric")
    core = conv_class.layer_class(4, 3, 5, mixing=conv.layer.mixing)
    core.load_state_dict(conv.layer.state_dict())
    shift = ss.Shift.from_edges(edges, weight, N).normalized("symmetric")
    torch.testing.assert_close(core(x, shift), conv(x, edges, weight))
    core.reset_parameters()
    back = conv_class(4, 3, K=5, normalize="symmetric")
    back.layer.load_state_dict(core.state_dict())
    torch.testing.assert_close(back(x, edges, weight), core(x, shift))
    shared = conv_class.from_layer(core, normalize="symmetric")
    assert shared.layer is core
    torch.testing.assert_close(shared(x, edges, weight), core(x, shift))
    with pytest.raises(ValueError, match="layer is a Linear; expected a"):
        conv_class.from_layer(torch.nn.Linear(1, 1))


@pytest.mark.parametrize("conv_class", CONVS)
def test_a_ready_shift_is_taken_as_it_is(conv_class):
    x, conv = signal(N, 4), conv_class(4, 3, normalize=True, add_self_loops=True)
    shift = ss.Shift.from_edges(graph()[0], num_nodes=N)
    assert conv.to_shift(x, shift) is shift
    assert torch.equal(conv(x, shift), conv.layer(x, shift))


@pytest.mark.parametrize("conv_class", CONVS)
def test_reset_parameters_draws_anew(conv_class):
    conv = conv_class(4, 3)
    before = {name: value.clone() for name, value in conv.state_dict().items()}
    conv.reset_parameters()
    assert all(not torch.equal(value, before[name]) for name, value in conv.state_dict().items())


@pytest.mark.parametrize("conv_class", CONVS)
def test_half_precision_and_autocast_run(conv_class):
    (edges, weight), x = graph(), signal(N, 4)
    conv = conv_class(4, 3)
    expected = conv(x, edges, weight)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(conv(x.bfloat16().float(), edges, weight), expected, rtol=0.1, atol=0.1)
        assert conv(x.bfloat16(), edges, weight).dtype == torch.float32
    half = conv.bfloat16()(x.bfloat16(), edges, weight)
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half.float(), expected, rtol=0.1, atol=0.1)


def test_degrees_are_not_summed_in_half_precision():
    hub = torch.stack([torch.arange(1, 601), torch.zeros(600, dtype=torch.long)])
    edges = torch.cat([hub, hub.flip(0)], 1)
    shift = GCNNConv(1, 1).bfloat16().to_shift(torch.ones(601, 1, dtype=torch.bfloat16), edges)
    assert shift.edges()[1][0].item() == pytest.approx(600**-0.5, rel=1e-2)  # bfloat16 counts up to 256


@pytest.mark.parametrize("conv_class", CONVS)
def test_a_layer_learns(conv_class):
    (edges, _), x = graph(), signal(N, 4)
    target = alive(conv_class, 4, 2).float()(x, edges).detach()
    torch.manual_seed(7)
    conv = conv_class(4, 2, cached=True, init="alive")
    optimizer = torch.optim.Adam(conv.parameters(), lr=0.02)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = (conv(x, edges) - target).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]


def test_without_pyg_the_import_says_what_to_install():
    code = (
        "import sys; sys.modules['torch_geometric'] = None\n"
        "import shiftstate\n"
        "try:\n    import shiftstate.pyg\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "shiftstate.pyg needs PyTorch Geometric: pip install 'shiftstate[pyg]'"


def test_the_core_does_not_import_pyg():
    code = "import sys, shiftstate, shiftstate.cli; print('torch_geometric' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("mixing", ["bank", "dense", "depthwise"])
@pytest.mark.parametrize("conv_class", CONVS)
def test_signals_on_a_static_graph_come_back_contiguous(conv_class, mixing, bias):
    y = conv_class(4, 3, mixing=mixing, bias=bias)(signal(5, N, 4), graph()[0])
    assert y.is_contiguous()
    assert y.view(5 * N, 3).shape == (45, 3)


@pytest.mark.parametrize("in_channels", [4, -1])
@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("conv_class", CONVS)
def test_a_layer_first_called_under_inference_mode_is_trained_later(conv_class, cached, in_channels):
    (edges, weight), x, conv = graph(), signal(N, 4), conv_class(in_channels, 3, cached=cached)
    with torch.inference_mode():
        first = conv(x, edges, weight)
    with torch.no_grad():
        second = conv(x, edges, weight)
    y = conv(x.clone().requires_grad_(), edges, weight)
    y.sum().backward()
    torch.optim.SGD(conv.parameters(), 0.1).step()
    assert torch.equal(first, second)
    assert torch.equal(second, y)


@pytest.mark.parametrize("without_gradients", [torch.no_grad, torch.inference_mode])
def test_a_cache_filled_without_gradients_does_not_swallow_those_of_edge_weights(without_gradients):
    (edges, weight), x, conv = graph(), signal(N, 4), RSNConv(4, 3, cached=True)
    learned = weight.clone().requires_grad_()
    with without_gradients(), pytest.raises(ValueError, match=r"edge_weight requires gradients .* cached=True"):
        conv(x, edges, learned)
    conv(x, edges, weight)
    with pytest.raises(ValueError, match=r"edge_weight requires gradients .* cached=True"):
        conv(x, edges, learned)
