"""The product with a weight matrix: its gradients are the ordinary ones, and the same on any number of threads."""

import pytest
import torch

from shiftstate.filters.linear import ROWS, linear, summed_product


def draw(*shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("R", [0, 1, ROWS - 1, ROWS, ROWS + 1, 3 * ROWS, 1000, 1009])
def test_a_summed_product_is_the_product_whatever_the_number_of_rows(R):
    left, right = draw(R, 3), draw(R, 5, seed=1)
    torch.testing.assert_close(summed_product(left, right), left.T @ right, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("R", "G", "F"), [(24000, 1, 2), (12000, 8, 3), (5000, 33, 4), (1023, 16, 16), (4000, 64, 64)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradients_do_not_depend_on_the_number_of_threads(R, G, F, dtype):
    x, weight, dy = draw(R, G, dtype=dtype), draw(G, F, seed=1, dtype=dtype), draw(R, F, seed=2, dtype=dtype)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 4):
            torch.set_num_threads(threads)
            leaves = x.clone().requires_grad_(), weight.clone().requires_grad_()
            y = linear(*leaves)
            found.append([y.detach(), *torch.autograd.grad(y, leaves, dy)])
    finally:
        torch.set_num_threads(before)
    for other in found[1:]:
        assert all(torch.equal(one, two) for one, two in zip(found[0], other, strict=True))


@pytest.mark.parametrize("shape", [(7, 3), (2, 300, 3), (0, 3)])
def test_first_and_second_gradients_are_those_of_a_product(shape):
    x, weight = draw(*shape).requires_grad_(), draw(3, 2, seed=1).requires_grad_()
    if 0 not in shape and x.numel() < 100:
        assert torch.autograd.gradcheck(linear, (x, weight))
        assert torch.autograd.gradgradcheck(linear, (x, weight))
    dy = draw(*shape[:-1], 2, seed=2)
    ours, plain = (torch.autograd.grad(y, (x, weight), dy) for y in (linear(x, weight), x @ weight))
    for one, two in zip(ours, plain, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-12, atol=1e-12)


def test_it_is_transformed_by_vmap_and_grad():
    x, weight = draw(4, 7, 3), draw(3, 2, seed=1).requires_grad_()

    def loss(weight, x):
        return linear(x, weight).square().sum()

    each = torch.func.vmap(torch.func.grad(loss), (None, 0))(weight, x)
    for one, signal in zip(each, x, strict=True):
        torch.testing.assert_close(one, torch.autograd.grad(loss(weight, signal), weight)[0])
