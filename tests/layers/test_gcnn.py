"""The GCNN in closed form: polynomials of S, on graphs whose powers and spectra are known."""

import numpy as np
import pytest
import torch

import shiftstate as ss
from tests.example_graphs import cycle, path, signal


def filled(layer, *taps):
    """One input and one output channel with these taps and no bias."""
    with torch.no_grad():
        layer.h.copy_(torch.tensor(taps, dtype=torch.float64).reshape(-1, 1, 1))
    return layer


def scalar(*taps):
    return filled(ss.GCNN(1, 1, len(taps) - 1, bias=False).double(), *taps)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_on_a_directed_cycle_it_is_a_circular_convolution(layout):
    taps, x = (0.5, -1.0, 2.0, 0.25), signal(7, 1)
    expected = sum(tap * x.roll(k, 0) for k, tap in enumerate(taps))
    torch.testing.assert_close(scalar(*taps)(x, cycle(7, layout=layout)), expected, rtol=1e-14, atol=1e-14)


def test_a_whole_turn_of_the_cycle_gives_the_signal_back():
    x = signal(5, 1)
    assert torch.equal(scalar(0, 0, 0, 0, 0, 1)(x, cycle(5)), x)


def test_on_a_directed_path_it_is_a_causal_convolution():
    impulse = torch.zeros(5, 1, dtype=torch.float64)
    impulse[1] = 1
    response = scalar(0.5, -1.0, 2.0, 0.25)(impulse, path(5))
    assert response.flatten().tolist() == [0, 0.5, -1.0, 2.0, 0.25]


def test_an_eigenvector_is_scaled_by_the_polynomial_of_its_eigenvalue():
    n, j = 6, 2
    nodes = torch.arange(1, n + 1, dtype=torch.float64)
    adjacency = torch.diag(torch.ones(n - 1), 1) + torch.diag(torch.ones(n - 1), -1)
    v = torch.sin(torch.pi * j * nodes / (n + 1)).unsqueeze(-1)  # of the undirected path
    eigenvalue = 2 * np.cos(np.pi * j / (n + 1))
    taps = (0.3, -0.8, 0.5, 0.1)
    gain = sum(tap * eigenvalue**k for k, tap in enumerate(taps))
    torch.testing.assert_close(scalar(*taps)(v, ss.Shift.from_matrix(adjacency.double())), gain * v)


def test_the_state_of_an_eigenvector_grows_with_its_eigenvalue():
    v = torch.tensor([[1.0], [1.0], [1.0]]).double()
    shift = ss.Shift.from_matrix(np.full((3, 3), 0.5))  # λ = 1.5
    states = ss.GCNN(1, 1, 10).double().trace(v, shift).states
    torch.testing.assert_close(states[:, :, 0], 1.5 ** torch.arange(11).double()[:, None].expand(11, 3))


def test_channels_add_up_and_the_bias_comes_last():
    layer, x = ss.GCNN(3, 2, 2).double(), signal(4, 5, 3, seed=1)
    shift = cycle(5)
    expected = sum(torch.einsum("fg,bng->bnf", layer.h[k], x.roll(k, 1)) for k in range(3)) + layer.bias
    torch.testing.assert_close(layer(x, shift), expected)


def test_dense_mixing_is_the_bank():
    bank, dense, x = ss.GCNN(2, 3, 4).double(), ss.GCNN(2, 3, 4, mixing="dense").double(), signal(5, 2, seed=1)
    dense.load_state_dict(bank.state_dict())
    assert torch.equal(dense(x, cycle(5)), bank(x, cycle(5)))


def test_depthwise_mixing_is_a_bank_of_rank_one():
    layer, x = ss.GCNN(2, 3, 4, mixing="depthwise").double(), signal(5, 2, seed=1)
    bank = ss.GCNN(2, 3, 4).double()
    with torch.no_grad():
        bank.h.copy_(layer.h * layer.mix.T)
        bank.bias.copy_(layer.bias)
    torch.testing.assert_close(layer(x, cycle(5)), bank(x, cycle(5)), rtol=1e-12, atol=1e-14)


def test_it_is_linear():
    layer, shift = ss.GCNN(2, 3, 4, bias=False).double(), cycle(5)
    x, z = signal(5, 2, seed=1), signal(5, 2, seed=2)
    torch.testing.assert_close(layer(2 * x - 3 * z, shift), 2 * layer(x, shift) - 3 * layer(z, shift))


def test_shifts_commute_with_the_filter():
    layer, shift, x = ss.GCNN(2, 3, 4, bias=False).double(), cycle(5), signal(5, 2, seed=1)
    torch.testing.assert_close(layer(shift @ x, shift), shift @ layer(x, shift))


def test_the_trace_holds_the_powers_and_no_memory():
    layer, x = ss.GCNN(1, 2, 3).double(), signal(5, 1)
    trace = layer.trace(x, cycle(5))
    for k in range(4):
        assert torch.equal(trace.states[k], x.roll(k, 0).expand(5, 2))
        torch.testing.assert_close(trace.outputs[k], x.roll(k, 0) * layer.h[k].flatten())
    assert trace.memories is None
    assert trace.gates == {}


@pytest.mark.parametrize("kernel", ["reference", "fused"])
@pytest.mark.parametrize(("mixing", "channels"), [("bank", (2, 3)), ("bank", (3, 2)), ("depthwise", (2, 3))])
def test_in_chebyshevs_basis_it_is_a_sum_of_chebyshevs_polynomials(mixing, channels, kernel):
    rng = np.random.default_rng(0)
    S = rng.standard_normal((7, 7))
    S = (S + S.T) / np.linalg.norm(S + S.T, 2)
    values, vectors = np.linalg.eigh(S)
    layer = ss.GCNN(*channels, 40, mixing=mixing, basis="chebyshev", kernel=kernel, bias=False).double()
    h = layer.h.detach().numpy()
    x = rng.standard_normal((7, channels[0]))
    mixed = x @ layer.mix.detach().numpy() if mixing == "depthwise" else x
    T = [vectors @ np.diag(np.cos(k * np.arccos(values.clip(-1, 1)))) @ vectors.T for k in range(41)]
    expected = sum(T[k] @ mixed * h[k, :, 0] if mixing == "depthwise" else T[k] @ mixed @ h[k].T for k in range(41))
    found = layer(torch.from_numpy(x), ss.Shift.from_matrix(S)).detach().numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11)


def test_in_chebyshevs_basis_forty_shifts_in_float32_are_as_good_as_the_first():
    """Powers of S with coefficients up to 2³⁹ would leave no digit of it."""
    torch.manual_seed(0)
    ring = (cycle(30).to_dense() + cycle(30).to_dense().T) / 2
    layer, x = ss.GCNN(1, 2, 40, basis="chebyshev").double(), signal(30, 1)
    expected = layer(x, ss.Shift.from_matrix(ring))
    found = layer.float()(x.float(), ss.Shift.from_matrix(ring).to(torch.float32))
    assert float((found - expected).detach().abs().max()) < 2e-6 * float(expected.detach().abs().max())


def test_an_output_activation_is_refused_since_a_linear_filter_has_none():
    with pytest.raises(TypeError, match=r"output_activation"):
        ss.GCNN(1, 1, 1, output_activation="relu")
