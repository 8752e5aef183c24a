"""The GSN with gates that are open or shut, where its states can be written down."""

import math

import pytest
import torch

from shiftstate.layers import GCNN, GSN
from shiftstate.layers.options import MIXINGS
from tests.example_graphs import cycle, signal

CYCLE = cycle(6)
OPEN, SHUT = 50.0, -50.0  # sigmoid gives 1 and 2e-22


def gated(K, update=0.0, reset=0.0, **values):
    """One channel whose gates are set by their biases alone; every other weight zero unless given."""
    layer = GSN(1, 1, K, gate_bias=True, bias=False, output_activation="identity").double()
    values = {"b_z": update, "b_r": reset} | values
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            parameter.fill_(values.get(name, 0.0))
    return layer


@pytest.mark.parametrize("kernel", ["reference", "fused"])
@pytest.mark.parametrize("mixing", ["bank", "depthwise"])
def test_with_the_update_gate_shut_it_is_the_gcnn(mixing, kernel):
    gcnn = GCNN(2, 3, 4, mixing=mixing).double()
    layer = GSN(2, 3, 4, mixing=mixing, gate_bias=True, output_activation="identity", kernel=kernel).double()
    with torch.no_grad():
        layer.h_zw.zero_()
        layer.h_zx.zero_()
        layer.b_z.fill_(SHUT)
        layer.h_yx.zero_()
        layer.h_yw.copy_(gcnn.h)
        layer.bias.copy_(gcnn.bias)
        if mixing == "depthwise":
            layer.mix.copy_(gcnn.mix)
    x = signal(6, 2)
    torch.testing.assert_close(layer(x, CYCLE), gcnn(x, CYCLE))


def test_with_both_gates_open_it_is_a_recursive_shift_network_of_tanh():
    x = signal(6, 1)
    trace = gated(3, OPEN, OPEN, h_cw=0.8, h_cx=-0.4).trace(x, CYCLE)
    w = x
    for k in range(1, 4):
        w = torch.tanh(0.8 * (CYCLE @ w) - 0.4 * x)
        torch.testing.assert_close(trace.states[k], w)


def test_a_shut_reset_gate_hides_the_state_from_the_candidate_and_not_the_input():
    x = signal(6, 1)
    trace = gated(3, OPEN, SHUT, h_cw=1.0, h_cx=0.7, b_c=0.2).trace(x, CYCLE)
    for k in range(1, 4):
        torch.testing.assert_close(trace.states[k], torch.tanh(0.7 * x + 0.2))


def test_the_reset_gate_acts_after_the_product():
    """r ∘ (h_cw S w), not h_cw (r ∘ S w): with matrices for weights the two differ."""
    layer = GSN(2, 2, 1, mixing="dense", gate_bias=True).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
        layer.b_z.fill_(OPEN)
        layer.b_r.copy_(torch.tensor([[OPEN, SHUT]]))
        layer.h_cw.copy_(torch.tensor([[[0.0, 1.0], [1.0, 0.0]]]))
    x = signal(6, 2)
    states = layer.trace(x, CYCLE).states
    torch.testing.assert_close(states[1][:, 0], torch.tanh(CYCLE @ x)[:, 1])
    assert states[1][:, 1].abs().max() < 1e-20


@pytest.mark.parametrize("letter", ["c", "z", "r"])
def test_each_map_has_its_own_weights_on_state_and_input(letter):
    """The equations once more, one shift, with only one pair of weights that is not zero besides h_cw."""
    x = signal(6, 1)
    Sw = CYCLE @ x
    trace = gated(1, **({"h_cw": 0.5, "b_c": 0.3} | {f"h_{letter}w": 0.6, f"h_{letter}x": -0.9})).trace(x, CYCLE)
    gates = {other: torch.full_like(x, 0.5) for other in "zr"}
    state, given = 0.5 * Sw, torch.full_like(x, 0.3)
    if letter == "c":
        state, given = 0.6 * Sw, 0.3 - 0.9 * x
    else:
        gates[letter] = torch.sigmoid(0.6 * Sw - 0.9 * x)
    candidate = torch.tanh(gates["r"] * state + given)
    torch.testing.assert_close(trace.states[1], (1 - gates["z"]) * Sw + gates["z"] * candidate)
    torch.testing.assert_close(trace.gates["update"][0], gates["z"])
    torch.testing.assert_close(trace.gates["reset"][0], gates["r"])


def test_it_has_gates_and_no_memory_and_starts_with_the_input():
    x = signal(3, 6, 2)
    trace = GSN(2, 3, 2).double().trace(x, CYCLE)
    assert set(trace.gates) == {"update", "reset"}
    assert trace.memories is None
    assert torch.equal(trace.states[0].reshape(3, 6, 3, 2)[:, :, 1], x)


@pytest.mark.parametrize("gate_bias", [False, True])
@pytest.mark.parametrize("mixing", MIXINGS)
def test_parameters_are_counted_as_documented(mixing, gate_bias):
    F, G, K = 4, 3, 5
    layer = GSN(G, F, K, mixing=mixing, gate_bias=gate_bias, bias=False)
    expected = {
        "bank": (8 * K + 2) * F * G + 3 * K * F * G * gate_bias,
        "dense": (4 * K + 1) * (F * F + F * G) + G * F + 3 * K * F * gate_bias,
        "depthwise": (8 * K + 2) * F + G * F + 3 * K * F * gate_bias,
    }
    assert sum(parameter.numel() for parameter in layer.parameters()) == expected[mixing]


@pytest.mark.parametrize("gate_bias", [False, True])
def test_the_alive_draw_leaves_a_small_state_its_size_at_spectral_radius_one(gate_bias):
    layer = GSN(1, 1, 40, gate_bias=gate_bias, bias=False).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
        layer.keep_alive()
    small = layer.trace(1e-6 * torch.ones(6, 1).double(), CYCLE).states.flatten(1).norm(dim=1)
    torch.testing.assert_close(small[1:] / small[:-1], torch.full((40,), 1.05).double(), rtol=1e-6, atol=0)
    large = layer.trace(torch.ones(6, 1).double(), CYCLE).states.flatten(1).norm(dim=1) / math.sqrt(6)
    assert 0.4 < large[-1] < 0.9  # and a large one is not lost either


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("gate_bias", [False, True])
def test_the_alive_draw_keeps_the_state_at_high_order_and_the_first_input_is_felt(mixing, gate_bias):
    torch.manual_seed(0)
    layer = GSN(1, 4, 32, mixing=mixing, gate_bias=gate_bias, init="alive", input="first").double()
    norms = layer.trace(torch.rand(5, 50, 1).double(), cycle(50)).states.flatten(1).norm(dim=1)
    assert 0.05 < norms[-1] / norms[0] < 20
