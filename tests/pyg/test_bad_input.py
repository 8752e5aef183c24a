"""Bad input is refused in one line that names the argument; odd but valid graphs are not refused."""

import math
from functools import partial

import pytest
import torch
from torch_geometric import EdgeIndex
from torch_geometric.data import HeteroData

import shiftstate as ss
from shiftstate.pyg import GCNNConv, LSSMConv, StateSpaceGNN
from tests.pyg.examples import CONVS, NORMALIZATIONS, graph, signal

N = 9
EDGES, WEIGHT = graph()
COUNT = EDGES.shape[1]


def sparse(n):
    return torch.sparse_coo_tensor(torch.empty(2, 0, dtype=torch.long), torch.empty(0), (n, n))


def weight_with(value):
    weight = WEIGHT.clone()
    weight[2] = value
    return weight


BAD = {
    r"x is a tuple of node features; .*does not support bipartite": ((signal(N, 4), signal(N, 4)), EDGES),
    "x is a list of node features": ([1.0], EDGES),
    "x is a NoneType; expected a tensor": (None, EDGES),
    r"x has shape \(9,\); expected \(N, in_channels\)": (signal(N), EDGES),
    r"x has 5 channels; expected 4 \(in_channels of this": (signal(N, 5), EDGES),
    "x is torch.float64 and this .* torch.float32; expected one dtype": (signal(N, 4).double(), EDGES),
    "x is torch.int64 and this": (signal(N, 4).long(), EDGES),
    "x is on meta and this .* on cpu": (signal(N, 4).to("meta"), EDGES),
    r"edge_index has shape \(24, 2\); expected \(2, E\); transpose it": (signal(N, 4), EDGES.T),
    r"edge_index has shape \(24,\); expected \(2, E\)": (signal(N, 4), EDGES[0]),
    r"edge_index holds torch.float32; expected integer node ids": (signal(N, 4), EDGES.float()),
    "edge_index holds torch.bool": (signal(N, 4), EDGES.bool()),
    "edge_index holds node id 7; expected ids from 0 to 6 for an x of 7": (signal(7, 4), EDGES),
    "edge_index holds node id -1; expected ids from 0 to 8": (signal(N, 4), EDGES - 1),
    "edge_index is a list; expected a tensor": (signal(N, 4), EDGES.tolist()),
    "edge_index is a HeteroData; .*HeteroConv": (signal(N, 4), HeteroData()),
    "edge_index is a dict; .*one edge_index per edge type": (signal(N, 4), {("a", "to", "b"): EDGES}),
    "edge_index is on meta and x on cpu; expected one device": (signal(N, 4), EDGES.to("meta")),
    r"edge_weight is on meta and x on cpu": (signal(N, 4), EDGES, WEIGHT.to("meta")),
    r"edge_weight has weights of shape \(3,\); expected \(24,\): one per edge": (signal(N, 4), EDGES, WEIGHT[:3]),
    r"edge_weight has weights of shape \(24, 2\); .*edge features are not weights": (
        signal(N, 4),
        EDGES,
        torch.ones(COUNT, 2),
    ),
    "edge_weight is a list; expected a tensor": (signal(N, 4), EDGES, WEIGHT.tolist()),
    "edge_weight is complex": (signal(N, 4), EDGES, WEIGHT + 1j),
    "edge_weight holds 1 NaN or infinite weights": (signal(N, 4), EDGES, weight_with(math.nan)),
    "edge_weight holds 1 NaN or infinite weights; expected none": (signal(N, 4), EDGES, weight_with(math.inf)),
    'edge_weight gives node 0 the degree -.*normalize="symmetric"': (signal(N, 4), EDGES, weight_with(-99.0)),
    r"adj_t \(edge_index\) has shape \(7, 7\); expected \(9, 9\)": (signal(N, 4), sparse(7)),
    r"adj_t \(edge_index\) is on meta and x on cpu": (signal(N, 4), sparse(N).to("meta")),
    r"edge_index has shape \(7, 7\); expected \(9, 9\)": (signal(N, 4), EdgeIndex(EDGES % 7, sparse_size=(7, 7))),
    r"edge_index has shape \(9, 7\); expected \(9, 9\)": (signal(N, 4), EdgeIndex(EDGES % 7, sparse_size=(9, 7))),
    r"edge_index has shape \(12, 12\); expected \(9, 9\)": (signal(N, 4), EdgeIndex(EDGES, sparse_size=(12, 12))),
    "edge_weight was given beside a sparse adj_t": (signal(N, 4), sparse(N), WEIGHT),
    "edge_weight was given beside a Shift": (signal(N, 4), ss.Shift.from_edges(EDGES, num_nodes=N), WEIGHT),
    "x has shape .* for a shift of 10 nodes": (signal(N, 4), ss.Shift.from_edges(EDGES, num_nodes=10)),
}


@pytest.mark.parametrize("message", BAD)
@pytest.mark.parametrize("conv_class", CONVS)
def test_bad_input_is_refused_and_the_argument_named(conv_class, message):
    with pytest.raises(ValueError, match=message) as caught:
        conv_class(4, 3)(*BAD[message])
    assert "\n" not in str(caught.value)


def test_nan_in_a_sparse_graph_is_refused():
    matrix = torch.sparse_coo_tensor(EDGES.flip(0), weight_with(math.nan), (N, N))
    with pytest.raises(ValueError, match=r"adj_t \(edge_index\) holds 1 NaN or infinite weights"):
        GCNNConv(4, 3)(signal(N, 4), matrix)


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (torch.zeros(N), r"batch is torch.float32 of shape \(9,\)"),
        (torch.zeros(N, 1, dtype=torch.long), r"batch is torch.int64 of shape \(9, 1\)"),
        (torch.arange(N).flip(0), "in ascending order"),
        (torch.arange(N), "edge 0 of edge_index goes from one graph of the batch to another"),
        (torch.zeros(4, dtype=torch.long), r"batch is torch.int64 of shape \(4,\)"),
    ],
)
def test_a_bad_batch_vector_is_refused(batch, message):
    with pytest.raises(ValueError, match=message):
        LSSMConv(4, 3, normalize="spectral")(signal(N, 4), EDGES, batch=batch)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((4, 3, -1), "K is -1; expected a whole number of at least 0"),
        ((0, 3), "in_channels is 0"),
        ((-1, 0), "out_channels is 0"),
        ((4, 3, 2, True, "spectrall"), "unknown normalize 'spectrall'; .*did you mean 'spectral'"),
        ((4, 3, 2, True, None), "unknown normalize None"),
    ],
)
@pytest.mark.parametrize("conv_class", CONVS)
def test_bad_arguments_of_a_layer_are_refused(conv_class, arguments, message):
    with pytest.raises(ValueError, match=message):
        conv_class(*arguments)


def test_an_edge_index_that_knows_half_of_its_size_is_taken():
    edges = EdgeIndex(EDGES, sparse_size=(None, N))
    assert GCNNConv(4, 3)(signal(N, 4), edges).shape == (N, 3)


@pytest.mark.parametrize("K", [2.7, -1, True, None, "3", 2.0])
@pytest.mark.parametrize("conv_class", CONVS)
def test_an_order_that_is_no_whole_number_is_refused(conv_class, K):
    with pytest.raises(ValueError, match=f"^K is {K!r}; expected a whole number of at least 0$"):
        conv_class(4, 3, K)


@pytest.mark.parametrize("conv_class", CONVS)
def test_unknown_arguments_are_reported_in_the_name_of_the_class_that_was_called(conv_class):
    name = conv_class.__name__
    with pytest.raises(
        TypeError, match=rf"^{name}\(\) got an unexpected keyword argument 'improved'; expected some of K, "
    ):
        conv_class(4, 3, improved=True)
    with pytest.raises(TypeError, match=r"'normalise'; expected .*; did you mean 'normalize'\?$"):
        conv_class(4, 3, normalise=True)
    with pytest.raises(TypeError, match=rf"^{name}.forward\(\) got an unexpected keyword argument 'lambda_max'"):
        conv_class(4, 3)(signal(N, 4), EDGES, lambda_max=2.0)
    with pytest.raises(TypeError, match=rf"^{name}.__init__\(\) missing 1 required positional argument"):
        conv_class(4)


def test_unknown_arguments_of_a_model_are_reported_in_its_name():
    with pytest.raises(TypeError, match=r"^StateSpaceGNN\(\) got an unexpected keyword argument 'improved'"):
        StateSpaceGNN(4, 8, 2, improved=True)


DEFAULTS = {"flow": "source_to_target", "node_dim": -2, "aggr_kwargs": None, "decomposed_layers": 1}


@pytest.mark.parametrize("aggr", ["add", "sum"])
@pytest.mark.parametrize("conv_class", CONVS)
def test_arguments_of_message_passing_are_taken_with_their_defaults(conv_class, aggr):
    conv = conv_class(4, 3, aggr=aggr, **DEFAULTS)
    assert conv.flow == "source_to_target"
    assert conv(signal(N, 4), EDGES).shape == (N, 3)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"flow": "target_to_source"}, r"flow='target_to_source'; expected 'source_to_target', .*edge_index.flip\(0\)"),
        ({"aggr": "mean"}, "aggr='mean'; expected 'add', .*normalize=\"row\""),
        ({"aggr": ["add", "max"]}, ".*; expected 'add'"),
        ({"node_dim": 0}, "node_dim=0; expected -2"),
        ({"decomposed_layers": 2}, "decomposed_layers=2; expected 1"),
        ({"aggr_kwargs": {"p": 1}}, ".*; expected None"),
    ],
)
def test_other_values_of_message_passing_are_refused_in_the_name_of_the_class(argument, message):
    for build in (partial(LSSMConv, 4, 3), partial(GCNNConv, 4, 3), partial(StateSpaceGNN, 4, 8, 2)):
        with pytest.raises(ValueError, match=f"^{build.func.__name__} was given {message}"):
            build(**argument)


@pytest.mark.parametrize("normalize", NORMALIZATIONS)
@pytest.mark.parametrize("conv_class", CONVS)
def test_isolated_nodes_get_finite_outputs_and_gradients_of_their_own_features_alone(conv_class, normalize):
    x, weight = signal(N, 4).requires_grad_(), WEIGHT.clone().requires_grad_()
    conv = conv_class(4, 3, normalize=normalize)
    y = conv(x, EDGES, weight)
    assert torch.isfinite(y).all()
    (alone,) = torch.autograd.grad(y[-1].sum(), x, retain_graph=True)
    assert torch.count_nonzero(alone[:-1]) == 0
    (of_weight,) = torch.autograd.grad(y.square().sum(), weight)
    assert torch.isfinite(of_weight).all()


@pytest.mark.parametrize("normalize", NORMALIZATIONS)
@pytest.mark.parametrize("conv_class", CONVS)
def test_zero_weights_give_no_nan_gradients(conv_class, normalize):
    weight = torch.zeros(COUNT)
    weight[:3] = 1  # the cycle, without which there is no spectral radius; the degree of other nodes is 0
    y = conv_class(4, 3, normalize=normalize)(signal(N, 4), EDGES, weight.requires_grad_())
    y.square().sum().backward()
    assert torch.isfinite(weight.grad).all()


@pytest.mark.parametrize("normalize", [kind for kind in NORMALIZATIONS if kind != "spectral"])
@pytest.mark.parametrize("conv_class", CONVS)
def test_a_graph_without_edges_filters_every_node_by_itself(conv_class, normalize):
    none, conv, x = torch.empty(2, 0, dtype=torch.long), conv_class(4, 3, normalize=normalize), signal(N, 4)
    y = conv(x, none)
    one = torch.cat([conv(x[i : i + 1], none) for i in range(N)])
    torch.testing.assert_close(y, one)
    for form in (EdgeIndex(none, sparse_size=(N, N)), sparse(N), torch.empty(2, 0)[:, :0].long()):
        torch.testing.assert_close(conv(x, form), y)


@pytest.mark.parametrize("edges", [torch.empty(2, 0, dtype=torch.long), torch.tensor([[0, 1], [1, 2]])])
def test_a_graph_without_cycles_has_no_spectral_normalisation(edges):
    with pytest.raises(ValueError, match=r"^normalize='spectral': the shift has spectral radius 0"):
        GCNNConv(4, 3, normalize="spectral")(signal(N, 4), edges)
    batch = torch.tensor([0] * 4 + [1] * 5)
    loop = torch.tensor([[0, 1], [1, 0]])
    with pytest.raises(ValueError, match=r"^normalize='spectral': graph 1 of the batch has spectral radius 0"):
        GCNNConv(4, 3, normalize="spectral")(signal(N, 4), loop, batch=batch)


@pytest.mark.parametrize("conv_class", CONVS)
def test_a_graph_without_nodes_gives_no_rows_and_can_be_trained_on(conv_class):
    conv = conv_class(4, 3)
    for shape in ((0, 4), (2, 0, 4)):
        y = conv(torch.empty(*shape), torch.empty(2, 0, dtype=torch.long))
        assert y.shape == (*shape[:-1], 3)
        y.sum().backward()
    assert all(torch.count_nonzero(parameter.grad) == 0 for parameter in conv.parameters())


@pytest.mark.parametrize("normalize", [False, "symmetric", "spectral", "row", "column"])
def test_negative_weights_are_in_order_where_no_root_is_taken_of_their_sum(normalize):
    y = LSSMConv(4, 3, normalize=normalize)(signal(N, 4), EDGES, weight_with(-99.0))
    assert torch.isfinite(y).all()
