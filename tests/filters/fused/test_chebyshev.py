"""Chebyshev's basis on the fused kernels: compared with the reference wherever w_{k−2} has to be at hand."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import shiftstate as ss
from shiftstate.filters.fused.products import shifts
from shiftstate.filters.fused.products.shifts import Product, both
from shiftstate.filters.fused.products.terms import Term
from shiftstate.layers import LAYERS
from shiftstate.layers.options import MIXINGS
from shiftstate.testing import assert_alive
from shiftstate.testing.inputs import graph
from tests.filters.fused.comparison import (
    KINDS,
    RECURRENT,
    assert_identical,
    assert_same,
    cell_of,
    filter_arguments,
    label,
    pair,
    ragged,
    results,
    signal,
)

EVERY = list(itertools.product(KINDS, MIXINGS))


def both_sides(kind, G, F, K, dtype=torch.float64, **options):
    return pair(kind, G, F, K, dtype, basis="chebyshev", **options)


def ring(N, dtype=torch.float64, layout="sparse"):
    """An undirected ring, S = Sᵀ with eigenvalues cos(2π j / N): T_k keeps all of them within ±1."""
    nodes = torch.arange(N)
    edges = torch.stack([torch.cat([nodes, nodes.roll(1)]), torch.cat([nodes.roll(1), nodes])])
    return ss.Shift.from_edges(edges, torch.full((2 * N,), 0.5, dtype=dtype), num_nodes=N, layout=layout)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=label)
@pytest.mark.parametrize(("kind", "mixing"), EVERY)
def test_after_many_shifts_at_the_edge_of_stability(kind, mixing, dtype):
    shift, x = ring(9, dtype), signal(3, 9, 2, dtype=dtype)
    layer, reference = both_sides(kind, 2, 2, 32, dtype, mixing=mixing)
    assert_alive(reference.trace(x, shift))
    assert layer.kernel_in_use(x, shift)[0] == "fused"
    assert_same(results(layer, x, shift), results(reference, x, shift))


@pytest.mark.parametrize(("kind", "mixing"), EVERY)
def test_a_checkpoint_changes_no_bit_for_any_number_of_shifts(kind, mixing):
    shift, x = ragged(8), signal(2, 8, 3)
    for K in (0, 1, 2, 3, 6):
        layer, reference = both_sides(kind, 3, 2, K, mixing=mixing)
        without = results(layer, x, shift)
        assert_same(without, results(reference, x, shift))
        for checkpoint in (1, 2, "sqrt", 4, 100):
            layer.checkpoint = checkpoint
            assert_identical(results(layer, x, shift), without)


@settings(max_examples=40)
@given(
    kind=st.sampled_from(RECURRENT),
    mixing=st.sampled_from(MIXINGS),
    K=st.integers(0, 9),
    tied=st.booleans(),
    gates=st.booleans(),
    first=st.booleans(),
    checkpoint=st.sampled_from([None, 1, 2, 3]),
    seed=st.integers(0, 2**16),
)
def test_any_options_give_what_the_reference_gives(kind, mixing, K, tied, gates, first, checkpoint, seed):
    smooth = {name: "tanh" for name in ("state_activation", "output_activation") if name in LAYERS[kind].option_names()}
    gate_bias = {"gate_bias": True} if "gate_bias" in LAYERS[kind].option_names() else {}
    options = {"input": "first"} if first else smooth | gate_bias if gates else {}  # as compiled for the other tests
    layer, reference = both_sides(kind, 2, 3, K, mixing=mixing, tied=tied, checkpoint=checkpoint, **options)
    shift, x = ragged(8, layout="dense", seed=seed), signal(2, 8, 2, seed=seed)
    assert_same(results(layer, x, shift), results(reference, x, shift), 1e-9)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize(("kind", "mixing"), EVERY)
def test_blocks_tiles_and_threads_change_no_bit(kind, mixing, layout):
    """60 nodes of 600 columns: two tiles, two blocks of rows."""
    layer, reference = both_sides(kind, 2, 3, 3, mixing=mixing)
    shift, x, before = ragged(60, layout=layout), signal(200, 60, 2), torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = results(layer, x, shift)
        torch.set_num_threads(2)
        assert_identical(results(layer, x, shift), alone)
    finally:
        torch.set_num_threads(before)
    assert_same(alone, results(reference, x, shift))


@pytest.mark.parametrize(("kind", "mixing"), EVERY)
def test_a_dense_graph_too_large_for_our_product_goes_through_blas(kind, mixing, monkeypatch):
    monkeypatch.setattr(shifts, "SMALL", 5)
    layer, reference = both_sides(kind, 2, 3, 3, mixing=mixing)
    shift, x = ragged(9, layout="dense"), signal(2, 9, 2)
    assert_same(results(layer, x, shift), results(reference, x, shift))


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize(("kind", "mixing"), [(kind, mixing) for kind, mixing in EVERY if kind in RECURRENT])
def test_the_states_of_every_shift(kind, mixing, layout):
    layer, _ = both_sides(kind, 2, 3, 5, mixing=mixing)
    shift, x = graph(layout=layout), signal(4, 8, 2)
    trace = layer.trace(x, shift)
    assert_alive(trace)
    w = trace.states
    seen = torch.stack([shift @ w[0], *(2 * (shift @ w[k - 1]) - w[k - 2] for k in range(2, 6))])
    along = {"Sw": seen, "c": trace.memories}
    _, *kept = torch.ops.shiftstate.filter(**filter_arguments(layer, x.movedim(-2, 0), shift))
    expected = {
        name: along[name].transpose(1, 2).reshape(len(along[name]), *kept[0].shape[1:]) for name in cell_of(layer).keeps
    }
    assert_same(dict(zip(expected, kept, strict=True)), expected)


def test_a_packed_call_names_its_basis_and_an_unknown_basis_raises():
    given = filter_arguments(both_sides("rsn", 2, 3, 2)[0], signal(8, 2, 2), graph())
    assert given["spec"].startswith("rsn:chebyshev ")
    with pytest.raises(ValueError, match="there is no fused recurrence 'rsn:legendre"):
        torch.ops.shiftstate.filter(**given | {"spec": given["spec"].replace("chebyshev", "legendre")})


@pytest.mark.parametrize(("kind", "mixing"), [(kind, mixing) for kind, mixing in EVERY if kind in RECURRENT])
def test_a_second_derivative_raises(kind, mixing):
    layer, x = both_sides(kind, 2, 3, 2, mixing=mixing)[0], signal(2, 8, 2).requires_grad_()
    (gradient,) = torch.autograd.grad(layer(x, graph()).square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="no second derivative"):
        gradient.square().sum().backward()


@pytest.mark.parametrize(("G", "F"), [(1, 4), (4, 2)])  # states kept, and Clenshaw's order
def test_a_bank_has_gradients_of_gradients_and_of_edge_weights(G, F):
    found = []
    for side in both_sides("gcnn", G, F, 4):
        weight = signal(9, seed=2).requires_grad_()
        nodes = torch.arange(9)
        shift = ss.Shift.from_edges(torch.stack([nodes, nodes.roll(1)]), weight, layout="sparse")
        x = signal(5, 9, G).requires_grad_()
        first = torch.autograd.grad(side(x, shift).square().sum(), (x, side.h, weight), retain_graph=True)
        plain = side(x, ragged(9))
        dx, dh = torch.autograd.grad(plain.square().sum(), (x, side.h), create_graph=True)
        second = torch.autograd.grad(dx.square().sum() + dh.square().sum(), (x, side.h))
        found.append(dict(enumerate((*first, dx.detach(), dh.detach(), *second))))
    assert_same(*found)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("factor", [1, 2])
def test_a_term_takes_part_in_the_product(layout, factor):
    shift, w, before = ragged(40, layout=layout), signal(40, 9), signal(40, 9, seed=3)
    ours, S = Product.of(tuple(shift.operator), doubled=True), shift.to_dense()
    for transpose, matrix in ((False, S), (True, S.T)):
        target = torch.full_like(w, torch.nan)
        ours.shift(both(w), both(target), transpose, Term.of(factor, both(before)))
        torch.testing.assert_close(target, factor * matrix @ w - before)
