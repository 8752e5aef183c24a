"""Products with weight matrices: torch's own, with torch's gradients, and the same bits on any number of threads."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import forward_ad

from shiftstate.filters import linear as module
from shiftstate.filters.fused.products import matrices
from shiftstate.filters.linear import linear, product, summed_product

DTYPES = [torch.float32, torch.float64]


def draw(*shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).to(dtype)


def assert_rounded(found, left, right):
    """left @ right, but for the rounding that any order of the sums may bring."""
    left, right = left.double(), right.double()
    bound = (left.shape[1] + 2) * torch.finfo(found.dtype).eps * (left.abs() @ right.abs())
    assert found.shape == bound.shape
    assert bool(((found.double() - left @ right).abs() <= bound).all())


@pytest.fixture
def threads():
    """Sets torch's number of threads, which is put back afterwards."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def lay_out(matrix, layout):
    """The same numbers, row by row, column by column, or with gaps."""
    if layout == "columns":
        return matrix.T.contiguous().T
    return matrix if layout == "rows" else torch.stack([matrix, matrix], -1)[..., 0]


@given(
    st.integers(0, 150),
    st.integers(0, 40),
    st.integers(0, 40),
    st.sampled_from(DTYPES),
    st.sampled_from(["rows", "columns", "gaps"]),
    st.sampled_from(["rows", "columns", "gaps"]),
)
def test_every_size_and_layout_is_the_product(R, G, F, dtype, first, second):
    x, weight, dy = draw(R, G, dtype=dtype), draw(G, F, seed=1, dtype=dtype), draw(R, F, seed=2, dtype=dtype)
    assert_rounded(product(lay_out(x, first), lay_out(weight, second)), x, weight)
    assert_rounded(summed_product(lay_out(x, first), lay_out(dy, second)), x.T, dy)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("R", "G", "F"),
    [
        (300, 65, 33),  # deeper than a run, panels and a rest
        (70, 129, 600),  # two tiles of columns, packed
        (9000, 5, 7),  # several blocks of rows, or of the sum
        (2000, 40, 50),
        (1030, 300, 3),
    ],
)
def test_products_of_several_blocks_are_the_product(R, G, F, dtype):
    x, weight, dy = draw(R, G, dtype=dtype), draw(G, F, seed=1, dtype=dtype), draw(R, F, seed=2, dtype=dtype)
    assert_rounded(product(x, weight), x, weight)
    assert_rounded(summed_product(x, dy), x.T, dy)


@pytest.mark.parametrize("limit", [None, 3])
def test_a_product_goes_where_it_is_sent(limit, monkeypatch):
    if limit:
        monkeypatch.setattr(module, "LARGEST", limit)  # by BLAS
    x, weight = draw(9, 3), draw(3, 5, seed=1)
    out = torch.full((9, 5), torch.nan, dtype=x.dtype)
    assert product(x, weight, out) is out
    torch.testing.assert_close(out, x @ weight)
    product(x, weight, out, add=True)
    torch.testing.assert_close(out, 2 * x @ weight)


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_what_is_not_finite_reaches_its_row_and_no_other(value):
    x, weight = draw(11, 5), draw(5, 19, seed=1)
    x[6, 2] = value
    y = product(x, weight)
    assert not y[6].isfinite().any()
    assert y[[*range(6), *range(7, 11)]].isfinite().all()
    total = summed_product(x, draw(11, 19, seed=2))
    assert not total[2].isfinite().any()
    assert total[[0, 1, 3, 4]].isfinite().all()


SHAPES = [
    (24000, 1, 2),
    (12000, 8, 3),
    (5000, 33, 4),
    (5000, 4, 4),
    (1023, 16, 16),
    (4000, 64, 64),
    (300, 700, 90),
    (2000, 130, 1),
]


@pytest.mark.parametrize(("R", "G", "F"), SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_no_bit_depends_on_the_number_of_threads(R, G, F, dtype, threads):
    x, weight, dy = draw(R, G, dtype=dtype), draw(G, F, seed=1, dtype=dtype), draw(R, F, seed=2, dtype=dtype)
    found = []
    for count in (1, 2, 3, 4):
        threads(count)
        leaves = x.clone().requires_grad_(), weight.clone().requires_grad_()
        y = linear(*leaves)
        found.append([y.detach(), *torch.autograd.grad(y, leaves, dy)])
    for other in found[1:]:
        assert all(torch.equal(one, two) for one, two in zip(found[0], other, strict=True))


def test_large_sums_are_shared_out_and_summed_again(threads, monkeypatch):
    counts = []
    shared = matrices.for_blocks
    monkeypatch.setattr(matrices, "for_blocks", lambda count, *rest: (counts.append(count), shared(count, *rest)))
    threads(2)
    summed_product(draw(12000, 8), draw(12000, 8, seed=1))
    assert counts[0] > 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_long_sum_in_float32_keeps_its_digits(dtype):
    ones = torch.full((1_000_000, 2), 0.1, dtype=dtype)
    total = summed_product(ones, torch.ones(1_000_000, 1, dtype=dtype))
    expected = 1_000_000 * float(torch.tensor(0.1, dtype=dtype))
    assert float((total - expected).abs().max()) <= 20 * torch.finfo(dtype).eps * expected


@pytest.mark.parametrize("shape", [(7, 3), (2, 300, 3), (0, 3), (2, 0, 3), (3,)])
def test_first_and_second_gradients_are_those_of_a_product(shape):
    x, weight = draw(*shape).requires_grad_(), draw(3, 2, seed=1).requires_grad_()
    if 0 not in shape and x.numel() < 100:
        assert torch.autograd.gradcheck(linear, (x, weight))
        assert torch.autograd.gradgradcheck(linear, (x, weight))
    dy = draw(*shape[:-1], 2, seed=2)
    ours, plain = (torch.autograd.grad(y, (x, weight), dy) for y in (linear(x, weight), x @ weight))
    for one, two in zip(ours, plain, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-12, atol=1e-12)


def test_only_the_gradients_that_are_asked_for():
    x, weight, dy = draw(7, 3), draw(3, 2, seed=1), draw(7, 2, seed=2)
    assert not linear(x, weight).requires_grad
    (dx,) = torch.autograd.grad(linear(x.requires_grad_(), weight), x, dy)
    (dw,) = torch.autograd.grad(linear(x.detach(), weight.requires_grad_()), weight, dy)
    torch.testing.assert_close(dx, dy @ weight.detach().T)
    torch.testing.assert_close(dw, x.detach().T @ dy)


def test_it_is_transformed_by_vmap_and_grad():
    x, weight = draw(4, 7, 3), draw(3, 2, seed=1).requires_grad_()

    def loss(weight, x):
        return linear(x, weight).square().sum()

    each = torch.func.vmap(torch.func.grad(loss), (None, 0))(weight, x)
    for one, signal in zip(each, x, strict=True):
        torch.testing.assert_close(one, torch.autograd.grad(loss(weight, signal), weight)[0])


def test_many_gradients_at_once_are_those_one_by_one():
    x, weight, dy = draw(7, 3).requires_grad_(), draw(3, 2, seed=1).requires_grad_(), draw(5, 7, 2, seed=2)
    together = torch.autograd.grad(linear(x, weight), (x, weight), dy, is_grads_batched=True)
    for place, one in enumerate(dy):
        for found, wanted in zip(together, torch.autograd.grad(x @ weight, (x, weight), one), strict=True):
            torch.testing.assert_close(found[place], wanted)


def test_forward_mode_derivatives_are_kept():
    x, weight, tangent = draw(7, 3), draw(3, 2, seed=1).requires_grad_(), draw(7, 3, seed=2)
    with forward_ad.dual_level():
        y = forward_ad.unpack_dual(linear(forward_ad.make_dual(x, tangent), weight))
        torch.testing.assert_close(y.tangent, tangent @ weight)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.complex64, torch.int64])
def test_other_dtypes_are_torchs(dtype):
    x, weight = draw(7, 3).mul(4).to(dtype), draw(3, 2, seed=1).mul(4).to(dtype)
    assert torch.equal(linear(x, weight), x @ weight)


def test_other_devices_are_torchs():
    assert linear(torch.empty(7, 3, device="meta"), torch.empty(3, 2, device="meta")).shape == (7, 2)


def test_unlike_dtypes_are_an_error_as_they_are_to_torch():
    with pytest.raises(RuntimeError, match="dtype"):
        linear(draw(7, 3), draw(3, 2, dtype=torch.float32))


@pytest.mark.parametrize("call", [linear, product])
def test_sizes_that_do_not_fit_are_refused(call):
    with pytest.raises((RuntimeError, ValueError), match=r"shapes .* cannot be multiplied"):
        call(draw(7, 3), draw(4, 2))


def test_rows_and_targets_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="cannot be multiplied"):
        summed_product(draw(7, 3), draw(8, 3))
    with pytest.raises(ValueError, match="cannot be multiplied"):
        product(draw(7, 3), draw(3, 2), torch.empty(7, 3, dtype=torch.float64))
