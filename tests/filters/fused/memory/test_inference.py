"""What a call under inference mode leaves behind serves calls of every other kind."""

import pytest
import torch

import shiftstate as ss
from shiftstate.filters.fused.memory import pool
from shiftstate.layers import LAYERS
from shiftstate.layers.options import MIXINGS
from shiftstate.testing.inputs import graph
from tests.filters.fused.comparison import signal


@pytest.mark.parametrize("basis", ["powers", "chebyshev"])
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", LAYERS)
def test_inference_comes_before_no_grad_and_before_training(kind, mixing, basis):
    pool._idle.clear()
    layer, x, shift = (
        LAYERS[kind](2, 3, 3, mixing=mixing, basis=basis),
        signal(2, 8, 2).float(),
        graph().to(torch.float32),
    )
    with torch.inference_mode():
        first = layer(x, shift)
    with torch.no_grad():
        second = layer(x, shift)
    third = layer(x, shift)
    third.sum().backward()
    assert torch.equal(first, second)
    assert torch.equal(second, third)
    assert all(parameter.grad is not None for parameter in layer.parameters())


def test_a_backward_under_inference_mode_leaves_ordinary_arrays():
    pool._idle.clear()
    layer, x, shift = ss.RSN(2, 3, 3), signal(8, 2).float(), graph().to(torch.float32)
    loss = layer(x, shift).sum()
    with torch.inference_mode():
        torch.autograd.grad(loss, layer.h_ww)
    layer(x, shift).sum().backward()
