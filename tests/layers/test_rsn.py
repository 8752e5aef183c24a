"""The RSN where it is known: as a GCNN, as a geometric series, and by hand."""

import pytest
import torch

import shiftstate as ss
from tests.example_graphs import cycle, signal

CYCLE = cycle(6)


def fill(layer, **values):
    with torch.no_grad():
        for name, value in values.items():
            getattr(layer, name).copy_(torch.as_tensor(value, dtype=torch.float64).expand_as(getattr(layer, name)))
    return layer


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("mixing", ["bank", "depthwise"])
@pytest.mark.parametrize("K", [0, 1, 7])
def test_with_identities_it_is_the_gcnn(mixing, layout, K):
    shift = ss.Shift.from_edges(*CYCLE.edges(), layout=layout)
    gcnn = ss.GCNN(3, 2, K, mixing=mixing).double()
    options = {"state_activation": "identity", "output_activation": "identity", "mixing": mixing}
    rsn = fill(ss.RSN(3, 2, K, **options).double(), h_ww=1, h_wx=0, h_yx=0, h_yw=gcnn.h, bias=gcnn.bias)
    if mixing == "depthwise":
        fill(rsn, mix=gcnn.mix)
    x = signal(4, 6, 3)
    torch.testing.assert_close(rsn(x, shift), gcnn(x, shift), rtol=1e-12, atol=1e-12)


def test_with_identities_dense_mixing_is_the_gcnn_of_equal_channels():
    gcnn = ss.GCNN(3, 3, 5).double()
    rsn = ss.RSN(3, 3, 5, mixing="dense", state_activation="identity", output_activation="identity").double()
    fill(rsn, h_ww=torch.eye(3), h_wx=0, h_yx=0, h_yw=gcnn.h, bias=gcnn.bias)
    x = signal(4, 6, 3)
    torch.testing.assert_close(rsn(x, CYCLE), gcnn(x, CYCLE), rtol=1e-12, atol=1e-12)


def test_a_constant_on_a_cycle_makes_a_geometric_series():
    """w_k = a w_{k−1} + b x for x = 1: w_k = a^k + b (1 − a^k)/(1 − a)."""
    a, b, K = 0.8, 0.3, 12
    rsn = fill(ss.RSN(1, 1, K, state_activation="identity").double(), h_ww=a, h_wx=b)
    states = rsn.trace(torch.ones(6, 1).double(), CYCLE).states[:, :, 0]
    power = a ** torch.arange(K + 1).double()
    torch.testing.assert_close(states, (power + b * (1 - power) / (1 - a))[:, None].expand(-1, 6))


def test_relu_keeps_positive_states_and_stops_negative_ones():
    rsn = fill(ss.RSN(1, 1, 1).double(), h_ww=[[[1.0]]], h_wx=0, h_yw=1, h_yx=0, bias=0)
    x = torch.tensor([[1.0], [-2.0], [3.0], [-4.0], [5.0], [-6.0]]).double()
    # y_0 = relu(x), w_1 = relu(S x), y_1 = relu(w_1), y = relu(y_0 + y_1)
    assert rsn(x, CYCLE).flatten().tolist() == [1, 1, 3, 3, 5, 5]


def test_the_last_nonlinearity_is_applied_to_the_sum():
    rsn = fill(ss.RSN(1, 1, 2, output_activation="tanh").double(), h_ww=0, h_wx=0, h_yw=0, h_yx=0.4, bias=0)
    x = signal(6, 1)
    torch.testing.assert_close(rsn(x, CYCLE), torch.tanh(3 * torch.tanh(0.4 * x)))


def test_the_order_of_weights_along_k():
    """Only the last update reads the input: w_2 = x, w_1 = 0."""
    rsn = fill(ss.RSN(1, 1, 2, state_activation="identity").double(), h_ww=0)
    fill(rsn, h_wx=torch.tensor([0.0, 1.0]).reshape(2, 1, 1))
    x = signal(6, 1)
    states = rsn.trace(x, CYCLE).states
    assert torch.equal(states[0], x)
    assert not states[1].any()
    assert torch.equal(states[2], x)


def test_any_callable_serves_as_a_nonlinearity():
    x = signal(6, 2)
    named = ss.RSN(2, 3, 3, state_activation="tanh", output_activation="sigmoid", kernel="reference").double()
    called = ss.RSN(2, 3, 3, state_activation=torch.tanh, output_activation=torch.sigmoid).double()
    called.load_state_dict(named.state_dict())
    assert torch.equal(called(x, CYCLE), named(x, CYCLE))


def test_the_trace_has_states_but_no_memory_and_no_gates():
    trace = ss.RSN(2, 3, 4).double().trace(signal(6, 2), CYCLE)
    assert trace.states.shape == trace.outputs.shape == (5, 6, 6)
    assert trace.memories is None
    assert trace.gates == {}


def test_the_channels_of_a_bank_are_in_the_order_f_then_g():
    layer, x = ss.RSN(2, 3, 2).double(), signal(6, 2)
    states = layer.trace(x, CYCLE).states[1].reshape(6, 3, 2)
    expected = torch.relu(layer.h_ww[0] * (CYCLE @ x).unsqueeze(1) + layer.h_wx[0] * x.unsqueeze(1))
    torch.testing.assert_close(states, expected)
