"""The product with S: every size comes out as torch's own product, for matrices and for compressed rows."""

import pytest
import torch

from shiftstate.filters.fused.compiling.blocks import TILE
from shiftstate.filters.fused.products import shifts
from shiftstate.filters.fused.products.shifts import Product
from shiftstate.layers.options import MIXINGS
from tests.filters.fused.comparison import KINDS, assert_same, pair, ragged, results, signal


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("M", [1, 31, TILE, TILE + 1, 2 * TILE + 33])
@pytest.mark.parametrize("N", [1, 2, 3, 4, 5, 7, 8, 50, 61])
def test_a_small_dense_product_is_torchs(N, M, dtype):
    S, w = signal(N, N, dtype=dtype), signal(N, M, dtype=dtype)
    ours = Product.of((S,))
    assert ours.small is not None
    for transpose, matrix in ((False, S), (True, S.T)):
        target = torch.full((N, M), torch.nan, dtype=dtype)
        ours.apply(w, target, transpose)
        expected = matrix.double() @ w.double()
        bound = (N + 1) * torch.finfo(dtype).eps * (matrix.double().abs() @ w.double().abs())  # of any order of the sum
        assert bool(((target.double() - expected).abs() <= bound).all())


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("N", [1, 5, 40])
def test_both_layouts_multiply_by_s_and_by_its_transpose(N, layout):
    shift, w = ragged(N, layout=layout), signal(N, 9)
    ours, S = Product.of(tuple(shift.operator)), shift.to_dense()
    for transpose, matrix in ((False, S), (True, S.T)):
        target = torch.full_like(w, torch.nan)
        ours.apply(w, target, transpose)
        torch.testing.assert_close(target, matrix @ w)


def test_a_dense_s_that_is_a_view_is_multiplied_as_it_looks():
    S, w = signal(12, 12)[::2, 1::2], signal(6, 5)
    target = torch.empty(6, 5, dtype=S.dtype)
    Product.of((S,)).apply(w, target)
    torch.testing.assert_close(target, S @ w)


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_dense_graph_too_large_for_our_product_goes_through_blas(kind, mixing, monkeypatch):
    monkeypatch.setattr(shifts, "SMALL", 5)
    shift = ragged(9, layout="dense")
    assert Product.of(tuple(shift.operator)).small is None
    layer, reference = pair(kind, 2, 3, 3, mixing=mixing)
    assert_same(results(layer, signal(2, 9, 2), shift), results(reference, signal(2, 9, 2), shift))
