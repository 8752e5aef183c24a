"""Explainers of PyG that mask edges or follow gradients."""

import pytest
import torch
from torch_geometric.explain import Explainer, GNNExplainer, GraphMaskExplainer
from torch_geometric.explain.algorithm.utils import clear_masks, set_masks
from torch_geometric.nn import TAGConv

import shiftstate as ss
from shiftstate.pyg import GCNNConv, LSSMConv, StateSpaceGNN
from tests.pyg.examples import CONVS, graph, signal

N = 9


@pytest.mark.parametrize("sigmoid", [True, False])
@pytest.mark.parametrize("normalize", [True, False])
def test_an_edge_mask_does_what_it_does_to_tagconv(normalize, sigmoid):
    (edges, weight), x = graph(), signal(N, 4)
    tag = TAGConv(4, 3, normalize=normalize)
    conv = GCNNConv.from_tagconv(tag)
    mask = signal(edges.shape[1], seed=4).abs()
    for layer in (tag, conv):
        set_masks(layer, mask, edges, apply_sigmoid=sigmoid)
    torch.testing.assert_close(conv(x, edges, weight), tag(x, edges, weight))
    for layer in (tag, conv):
        clear_masks(layer)
    torch.testing.assert_close(conv(x, edges, weight), tag(x, edges, weight))


@pytest.mark.parametrize("normalize", ["symmetric", "spectral", "row", "column"])
@pytest.mark.parametrize("conv_class", CONVS)
def test_a_mask_of_ones_changes_nothing_and_one_of_zeros_leaves_no_edge(conv_class, normalize):
    (edges, weight), x = graph(), signal(N, 4)
    conv = conv_class(4, 3, normalize=normalize, cached=True)
    expected = conv(x, edges, weight)
    ones = torch.ones(edges.shape[1])
    set_masks(conv, ones, edges, apply_sigmoid=False)
    torch.testing.assert_close(conv(x, edges, weight), expected)
    set_masks(conv, 0 * ones, edges, apply_sigmoid=False)
    alone = conv_class.from_layer(conv.layer, normalize=False)(x, torch.empty(2, 0, dtype=torch.long))
    torch.testing.assert_close(conv(x, edges, weight), alone)
    clear_masks(conv)
    assert torch.equal(conv(x, edges, weight), expected)


def test_added_self_loops_are_not_masked():
    (edges, weight), x = graph(), signal(N, 4)
    conv = GCNNConv(4, 3, normalize=False, add_self_loops=True)
    set_masks(conv, torch.zeros(edges.shape[1]), edges, apply_sigmoid=False)
    no_edges = ~torch.eye(N, dtype=torch.bool)
    masked = conv.to_shift(x, edges, weight).to_dense()
    assert torch.count_nonzero(masked[no_edges]) == 0
    assert masked.diag()[-1] == 1


@pytest.mark.parametrize("conv", ["gcnn", "rsn", "lssm"])
def test_gnn_explainer_finds_the_edges_that_carry_the_signal(conv):
    # A path 0 → 1 → 2 brings the only nonzero feature to node 2; 3 → 2 brings nothing.
    edges = torch.tensor([[0, 1, 3], [1, 2, 2]])
    x = torch.zeros(4, 1)
    x[0] = 1
    torch.manual_seed(0)
    model = StateSpaceGNN(1, 4, 2, 1, conv=conv, K=2, normalize=False, act="tanh", init="alive", bias=False).eval()
    explainer = Explainer(
        model,
        algorithm=GNNExplainer(epochs=20),
        explanation_type="model",
        node_mask_type="attributes",
        edge_mask_type="object",
        model_config={"mode": "regression", "task_level": "node", "return_type": "raw"},
    )
    explanation = explainer(x, edges, index=2)
    assert explanation.edge_mask.shape == (3,)
    assert (explanation.edge_mask[:2] > 0).all()
    assert explanation.edge_mask[2] == 0
    assert not any(layer.explain for layer in model.convs)


@pytest.mark.parametrize("conv", ["gcnn", "rsn", "lssm"])
def test_the_gradient_of_edge_weights_is_a_saliency(conv):
    edges = torch.tensor([[0, 1, 3], [1, 2, 2]])
    x = torch.zeros(4, 1)
    x[0] = 1
    torch.manual_seed(0)
    model = StateSpaceGNN(1, 4, 2, 1, conv=conv, K=2, normalize=False, act="tanh", init="alive", bias=False)
    weight = torch.ones(3, requires_grad=True)
    (saliency,) = torch.autograd.grad(model(x, edges, weight)[2].sum(), weight)
    assert (saliency[:2] != 0).all()
    assert saliency[2] == 0


def test_captum_attributes_edges():
    pytest.importorskip("captum", reason="captum is not installed: CaptumExplainer cannot be tried")
    from torch_geometric.explain import CaptumExplainer

    (edges, _), x = graph(), signal(N, 4)
    explainer = Explainer(
        StateSpaceGNN(4, 8, 2, 1, conv="rsn"),
        algorithm=CaptumExplainer("IntegratedGradients"),
        explanation_type="model",
        edge_mask_type="object",
        model_config={"mode": "regression", "task_level": "node", "return_type": "raw"},
    )
    assert explainer(x, edges, index=2).edge_mask.shape == (edges.shape[1],)


def test_what_cannot_be_masked_says_so():
    (edges, _), x = graph(), signal(N, 4)
    conv = LSSMConv(4, 3)
    conv.explain = True
    with pytest.raises(ValueError, match="LSSMConv is to be explained without an edge mask"):
        conv(x, edges)
    with pytest.raises(ValueError, match="edge_index is a Shift while an explainer masks edges"):
        conv(x, ss.Shift.from_edges(edges, num_nodes=N))
    model = StateSpaceGNN(4, 8, 2, normalize="spectral")
    set_masks(model, torch.ones(edges.shape[1]), edges)
    with pytest.raises(ValueError, match="a batch was given while an explainer masks edges"):
        model(x, edges, batch=torch.zeros(N, dtype=torch.long))


def test_an_explainer_that_rewrites_messages_is_told_which_ones_work():
    explainer = Explainer(
        StateSpaceGNN(4, 8, 2, 3, conv="rsn"),
        GraphMaskExplainer(2, epochs=1, log=False),
        explanation_type="model",
        node_mask_type="attributes",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"},
    )
    with pytest.raises(ValueError, match=r"^RSNConv is to be explained without an edge mask; expected .*GNNExplainer"):
        explainer(signal(N, 4), graph()[0])
