"""Many gradients at once through a fused backward are those that come one after the other, to the last bit."""

import pytest
import torch
from torch.autograd.functional import hessian, jacobian

import shiftstate as ss
from shiftstate.layers import GCNN, LAYERS
from shiftstate.layers.options import MIXINGS
from shiftstate.testing.inputs import graph
from tests.filters.fused.comparison import signal


def one_by_one(y, sources, vectors):
    found = [torch.autograd.grad(y, sources, vector, retain_graph=True) for vector in vectors]
    return [torch.stack(gradients) for gradients in zip(*found, strict=True)]


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", LAYERS)
def test_many_gradients_at_once_are_those_of_one_after_the_other(kind, mixing, layout):
    layer, x = LAYERS[kind](2, 3, 3, mixing=mixing).double(), signal(2, 8, 2).requires_grad_()
    y, sources = layer(x, graph(layout=layout)), [x, *layer.parameters()]
    vectors = signal(3, 2, 8, 3, seed=5)
    expected = one_by_one(y, sources, vectors)
    batched = torch.autograd.grad(y, sources, vectors, retain_graph=True, is_grads_batched=True)
    mapped = torch.vmap(lambda vector: torch.autograd.grad(y, sources, vector, retain_graph=True))(vectors)
    for found in (batched, mapped):
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kind", LAYERS)
def test_a_vectorized_jacobian_is_the_plain_one(kind):
    layer, x, shift = LAYERS[kind](2, 3, 3).double(), signal(8, 2), graph()
    found = jacobian(lambda x: layer(x, shift), x, vectorize=True)
    torch.testing.assert_close(found, jacobian(lambda x: layer(x, shift), x), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("sizes", [(1, 3), (3, 1)])
def test_a_vectorized_hessian_goes_through_the_products_of_a_bank(sizes):
    layer, x, shift = GCNN(*sizes, 2).double(), signal(8, sizes[0]), graph(layout="sparse")

    def loss(x):
        return layer(x, shift).pow(3).sum()

    torch.testing.assert_close(hessian(loss, x, vectorize=True), hessian(loss, x), rtol=1e-10, atol=1e-12)


def test_gradients_of_edge_weights_come_many_at_once():
    layer, x, weight = LAYERS["lssm"](2, 3, 3).double(), signal(8, 2), torch.ones(4, dtype=torch.float64)

    def call(weight):
        return layer(x, ss.Shift.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]], weight, 8))

    torch.testing.assert_close(jacobian(call, weight, vectorize=True), jacobian(call, weight))
