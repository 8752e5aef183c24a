"""The GCNN's bank by our own products: both orders against the reference, and gradients of gradients."""

import pytest
import torch

from shiftstate.filters import linear
from shiftstate.filters.fused.cells.gcnn import bank
from tests.filters.fused.comparison import assert_identical, assert_same, pair, ragged, results, signal

SIZES = [(1, 4, None), (2, 5, None), (1, 4, 2), (1, 1, None), (3, 3, None), (5, 2, None), (4, 1, None)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize(("G", "F", "checkpoint"), SIZES)
def test_every_order_gives_what_the_reference_gives(G, F, checkpoint, layout, dtype):
    for K in (0, 1, 4):
        layer, reference = pair("gcnn", G, F, K, dtype, checkpoint=checkpoint)
        shift, x = ragged(9, dtype, layout), signal(5, 9, G, dtype=dtype)
        assert_same(results(layer, x, shift), results(reference, x, shift))


@pytest.mark.parametrize(("G", "F", "checkpoint"), SIZES)
def test_a_part_of_the_gradients_is_that_part(G, F, checkpoint):
    layer, _ = pair("gcnn", G, F, 4, checkpoint=checkpoint)
    shift, x, dy = ragged(9), signal(5, 9, G), signal(5, 9, F, seed=11)
    whole = results(layer, x, shift, dy)
    assert torch.equal(torch.autograd.grad(layer(x, shift), layer.h, dy)[0], whole["h"])
    alone = torch.autograd.grad(layer.requires_grad_(False)(x.requires_grad_(), shift), x, dy)[0]
    assert_same({"x": alone}, {"x": whole["x"]})


@pytest.mark.parametrize(("G", "F", "checkpoint"), SIZES)
def test_what_is_handed_in_is_left_as_it_was(G, F, checkpoint):
    layer, _ = pair("gcnn", G, F, 4, checkpoint=checkpoint)
    x, dy = signal(9, 5, G).requires_grad_(), signal(9, 5, F, seed=11)
    y = bank.run_bank(x, layer.h, ragged(9), checkpoint)  # nodes first: neither x nor dy has to be copied
    before = [tensor.detach().clone() for tensor in (x, dy, y, layer.h)]
    y.backward(dy)
    assert all(torch.equal(*pair) for pair in zip((x, dy, y, layer.h), before, strict=True))


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize(("G", "F", "checkpoint"), SIZES)
def test_gradients_of_gradients_are_the_references(G, F, checkpoint, layout):
    found = []
    for side in pair("gcnn", G, F, 3, checkpoint=checkpoint):
        x = signal(5, 9, G).requires_grad_()
        first = torch.autograd.grad(side(x, ragged(9, layout=layout)).square().sum(), (x, side.h), create_graph=True)
        second = torch.autograd.grad(sum(gradient.square().sum() for gradient in first), (x, side.h))
        found.append(dict(zip(("dx", "dh", "ddx", "ddh"), (*(one.detach() for one in first), *second), strict=True)))
    assert_same(*found)


@pytest.mark.parametrize(("G", "F", "checkpoint"), SIZES)
def test_a_second_backward_through_a_kept_graph_gives_the_same(G, F, checkpoint):
    layer, _ = pair("gcnn", G, F, 4, checkpoint=checkpoint)
    y, dy = layer(signal(5, 9, G), ragged(9)), signal(5, 9, F, seed=11)
    first = torch.autograd.grad(y, layer.h, dy, retain_graph=True)
    assert_identical({"h": torch.autograd.grad(y, layer.h, dy)[0]}, {"h": first[0]})


@pytest.mark.parametrize(("G", "F", "checkpoint"), SIZES)
def test_weights_too_many_for_our_products_give_the_same(G, F, checkpoint, monkeypatch):
    layer, _ = pair("gcnn", G, F, 4, checkpoint=checkpoint)
    shift, x = ragged(9), signal(5, 9, G)
    ours = results(layer, x, shift)
    monkeypatch.setattr(linear, "LARGEST", 0)
    monkeypatch.setattr(bank, "_BankFunction", None)  # it is not asked
    assert_same(results(layer, x, shift), ours)
