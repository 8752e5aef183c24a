"""The LSSM with gates that are open, shut or half open, where its states can be written down."""

import pytest
import torch

import shiftstate as ss
from tests.example_graphs import cycle, signal

CYCLE = cycle(6)
OPEN, SHUT = 50.0, -50.0  # sigmoid gives 1 and 2e-22


def gated(K, forget=0.0, update=0.0, state=0.0, **values):
    """One channel whose gates are set by their biases alone; every other weight zero unless given."""
    layer = ss.LSSM(1, 1, K, gate_bias=True, bias=False, output_activation="identity").double()
    values = {"b_f": forget, "b_u": update, "b_w": state} | values
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            parameter.fill_(values.get(name, 0.0))
    return layer


def test_open_gates_add_up_the_candidates():
    x = signal(6, 1)
    trace = gated(4, OPEN, OPEN, OPEN, h_cx=0.7).trace(x, CYCLE)
    for k in range(5):
        torch.testing.assert_close(trace.memories[k], k * torch.tanh(0.7 * x))
    for k in range(1, 5):
        torch.testing.assert_close(trace.states[k], torch.tanh(k * torch.tanh(0.7 * x)))


def test_a_shut_update_gate_leaves_the_memory_empty():
    trace = gated(3, OPEN, SHUT, OPEN, h_cx=1.0, h_cw=1.0).trace(signal(6, 1), CYCLE)
    assert trace.memories.abs().max() < 1e-20
    assert trace.states[1:].abs().max() < 1e-20


def test_a_shut_forget_gate_makes_the_memory_the_candidate():
    x = signal(6, 1)
    trace = gated(3, SHUT, OPEN, OPEN, h_cw=1.0).trace(x, CYCLE)
    w = x
    for k in range(1, 4):
        candidate = torch.tanh(CYCLE @ w)
        torch.testing.assert_close(trace.memories[k], candidate)
        w = torch.tanh(candidate)
        torch.testing.assert_close(trace.states[k], w)


def test_a_shut_state_gate_hides_the_memory_from_the_neighbours():
    trace = gated(3, OPEN, OPEN, SHUT, h_cx=1.0).trace(signal(6, 1), CYCLE)
    assert trace.states[1:].abs().max() < 1e-20
    assert trace.memories[3].abs().max() > 1


def test_without_weights_every_gate_is_half_open():
    trace = gated(3).trace(signal(6, 1), CYCLE)
    assert set(trace.gates) == {"forget", "update", "state"}
    for gate in trace.gates.values():
        assert gate.shape == (3, 6, 1)
        assert (gate == 0.5).all()


def test_a_half_open_forget_gate_halves_the_memory_with_each_shift():
    x = signal(6, 1)
    layer = gated(5, 0.0, OPEN, OPEN)
    with torch.no_grad():
        layer.h_cx[0] = 1.0  # the input is written once, at the first shift
    memories = layer.trace(x, CYCLE).memories
    for k in range(1, 6):
        torch.testing.assert_close(memories[k], torch.tanh(x) * 0.5 ** (k - 1))


@pytest.mark.parametrize("letter", ["c", "f", "u", "w"])
def test_each_gate_has_its_own_weights_on_state_and_input(letter):
    """The equations once more, one shift, with only one pair of weights that is not zero."""
    x = signal(6, 1)
    values = {f"h_{letter}w": 0.6, f"h_{letter}x": -0.9} | ({} if letter == "c" else {"b_c": 0.3})
    trace = gated(1, **values).trace(x, CYCLE)
    inner = {other: torch.zeros_like(x) for other in "cfuw"} | {"c": torch.full_like(x, 0.0 if letter == "c" else 0.3)}
    inner[letter] = 0.6 * (CYCLE @ x) - 0.9 * x
    memory = torch.sigmoid(inner["u"]) * torch.tanh(inner["c"])
    torch.testing.assert_close(trace.memories[1], memory)
    torch.testing.assert_close(trace.states[1], torch.sigmoid(inner["w"]) * torch.tanh(memory))
    for gate, name in (("f", "forget"), ("u", "update"), ("w", "state")):
        torch.testing.assert_close(trace.gates[name][0], torch.sigmoid(inner[gate]))


def test_a_gate_bias_of_zero_is_the_papers_form():
    plain, biased = ss.LSSM(2, 3, 4).double(), ss.LSSM(2, 3, 4, gate_bias=True).double()
    biased.load_state_dict(plain.state_dict(), strict=False)
    with torch.no_grad():
        for letter in "cfuw":
            getattr(biased, f"b_{letter}").zero_()
    x = signal(6, 2)
    assert torch.equal(biased(x, CYCLE), plain(x, CYCLE))


def test_outputs_read_every_state_and_the_input():
    x = signal(6, 1)
    layer = gated(2, SHUT, OPEN, OPEN, h_cw=1.0, h_yw=2.0, h_yx=-1.0)
    trace = layer.trace(x, CYCLE)
    torch.testing.assert_close(trace.outputs, 2 * trace.states - x)
    torch.testing.assert_close(layer(x, CYCLE), trace.outputs.sum(0))


def test_the_memory_starts_empty_and_the_state_with_the_input():
    x = signal(3, 6, 2)
    trace = ss.LSSM(2, 3, 2).double().trace(x, CYCLE)
    assert not trace.memories[0].any()
    assert torch.equal(trace.states[0].reshape(3, 6, 3, 2)[:, :, 1], x)


def test_a_trace_with_dense_mixing_has_f_channels():
    trace = ss.LSSM(2, 3, 4, mixing="dense").double().trace(signal(6, 2), CYCLE)
    assert trace.states.shape == trace.memories.shape == (5, 6, 3)
    assert trace.gates["forget"].shape == (4, 6, 3)


def test_the_gradient_survives_a_long_rotation():
    """Open gates on a cycle carry the first node's signal once round, and its gradient back."""
    layer = gated(6, SHUT, OPEN, OPEN, h_cw=1.0)
    x = (0.01 * signal(6, 1)).requires_grad_()
    with torch.no_grad():
        layer.h_yw[-1] = 1.0
    y = layer(x, CYCLE)  # tanh is nearly the identity on so small a signal
    torch.testing.assert_close(y, x, rtol=0.02, atol=0)
    (gradient,) = torch.autograd.grad(y[0], x)
    assert gradient[0] > 0.98
    assert gradient[1:].abs().max() < 1e-12
