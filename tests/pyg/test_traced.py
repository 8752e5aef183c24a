"""torch.compile and torch.export take the layers as they are, conversion included."""

import pytest
import torch

from shiftstate.pyg import StateSpaceGNN
from tests.pyg.material import CONVS, graph, signal

N = 9


@pytest.fixture(autouse=True)
def _fresh():
    torch.compiler.reset()


def outputs(conv, x, *graph_and_weight):
    x = x.clone().requires_grad_()
    y = conv(x, *graph_and_weight)
    return [y, *torch.autograd.grad(y.square().sum(), [x, *conv.parameters()])]


@pytest.mark.parametrize("normalize", [True, False, "row"])
@pytest.mark.parametrize("conv_class", CONVS)
def test_compiled_layers_give_the_same_outputs_and_gradients(conv_class, normalize):
    (edges, weight), x = graph(), signal(N, 4)
    conv = conv_class(4, 3, normalize=normalize, add_self_loops=True)
    compiled = torch.compile(conv, backend="aot_eager", fullgraph=True)
    for found, expected in zip(outputs(compiled, x, edges, weight), outputs(conv, x, edges, weight), strict=True):
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("conv_class", CONVS)
def test_compiled_layers_pass_gradients_to_edge_weights(conv_class):
    (edges, weight), x = graph(), signal(N, 4)
    conv = conv_class(4, 3)
    compiled = torch.compile(conv, backend="aot_eager", fullgraph=True)
    weight.requires_grad_()
    (found,) = torch.autograd.grad(compiled(x, edges, weight).square().sum(), weight)
    (expected,) = torch.autograd.grad(conv(x, edges, weight).square().sum(), weight)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("conv_class", CONVS)
def test_compiled_layers_take_graphs_of_other_sizes(conv_class):
    conv = conv_class(4, 3)
    compiled = torch.compile(conv, backend="aot_eager", dynamic=True)
    for n, count in ((9, 24), (7, 11), (80, 150)):
        edges, weight = graph(0, n, count)
        torch.testing.assert_close(compiled(signal(n, 4), edges, weight), conv(signal(n, 4), edges, weight))


@pytest.mark.parametrize("conv_class", CONVS)
def test_a_compiled_layer_on_a_ready_shift(conv_class):
    conv, x = conv_class(4, 3, cached=True), signal(N, 4)
    shift = conv.to_shift(x, *graph())
    compiled = torch.compile(conv, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x, shift), conv(x, shift))
    torch.testing.assert_close(compiled(x, graph()[0]), conv(x, shift))  # the cached one


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("conv_class", CONVS)
def test_exported_layers_give_the_same_output(conv_class, weighted):
    (edges, weight), x = graph(), signal(N, 4)
    conv = conv_class(4, 3).eval()
    arguments = (x, edges, weight) if weighted else (x, edges)
    program = torch.export.export(conv, arguments)
    other, others = graph(5)
    torch.testing.assert_close(program.module()(*arguments), conv(*arguments))
    arguments = (x, other, others) if weighted else (x, other)
    torch.testing.assert_close(program.module()(*arguments), conv(*arguments))


def test_a_model_compiles_and_exports():
    (edges, weight), x = graph(), signal(N, 4)
    model = StateSpaceGNN(4, 8, 2, 3, conv="rsn").eval()
    expected = model(x, edges, weight)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x, edges, weight), expected)
    torch.testing.assert_close(torch.export.export(model, (x, edges, weight)).module()(x, edges, weight), expected)
