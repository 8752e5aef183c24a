"""What float32 costs: the rational tanh and sigmoid against float64, and whole filters at high order."""

import copy

import numpy as np
import pytest
import torch
from numba import njit

from shiftstate.filters.activations import activation
from shiftstate.filters.fused.compiling.elementary import PIECEWISE, SMOOTH, activate, encode, sigmoid, tanh, through
from shiftstate.testing import assert_alive
from tests.filters.fused.comparison import RECURRENT, cycle, deviation, pair, ragged, results, signal

GRID = np.concatenate([np.linspace(-30, 30, 300_001), np.geomspace(1e-30, 30, 50_000), [0.0]]).astype(np.float32)
EXTREME = np.array([30, 1e3, 1e30, np.inf], np.float32)


@njit
def tanh_of(x, y):
    for i in range(x.shape[0]):
        y[i] = tanh(x[i])


@njit
def sigmoid_of(x, y):
    for i in range(x.shape[0]):
        y[i] = sigmoid(x[i])


@njit
def activated(z, code, y, d):
    for i in range(z.shape[0]):
        y[i] = activate(z[i], code)
        d[i] = through(d[i], y[i], code)


def of(function, x):
    y = np.empty_like(x)
    function(x, y)
    return y


def test_tanh_in_float32_is_right_to_a_millionth():
    exact = np.tanh(GRID.astype(np.float64))
    error = np.abs(of(tanh_of, GRID) - exact)
    assert (error <= 1e-6 * np.abs(exact)).all()


def test_sigmoid_in_float32_is_right_to_three_ten_millionths():
    exact = 1 / (1 + np.exp(-GRID.astype(np.float64)))
    assert np.abs(of(sigmoid_of, GRID) - exact).max() < 3e-7


def test_tanh_is_odd_to_the_last_bit_and_sigmoid_symmetric_to_one_rounding():
    np.testing.assert_array_equal(of(tanh_of, -GRID), -of(tanh_of, GRID))
    np.testing.assert_allclose(of(sigmoid_of, -GRID), 1 - of(sigmoid_of, GRID), rtol=0, atol=2**-24)


def test_neither_leaves_its_range():
    assert np.abs(of(tanh_of, GRID)).max() <= 1
    assert of(sigmoid_of, GRID).min() >= 0
    assert of(sigmoid_of, GRID).max() <= 1


@pytest.mark.parametrize(("function", "low"), [(tanh_of, -1.0), (sigmoid_of, 0.0)])
def test_far_out_they_stay_where_they_are(function, low):
    np.testing.assert_allclose(of(function, EXTREME), 1.0, rtol=0, atol=1e-6)
    np.testing.assert_allclose(of(function, -EXTREME), low, rtol=0, atol=1e-6)
    assert len(set(of(function, EXTREME))) == 1


@pytest.mark.parametrize("function", [tanh_of, sigmoid_of])
def test_nan_stays_nan(function):
    for dtype in (np.float32, np.float64):
        assert np.isnan(of(function, np.array([np.nan], dtype))).all()


def test_in_float64_they_are_the_exact_functions():
    x = GRID.astype(np.float64)
    np.testing.assert_allclose(of(tanh_of, x), np.tanh(x), rtol=1e-14, atol=0)
    np.testing.assert_allclose(of(sigmoid_of, x), 1 / (1 + np.exp(-x)), rtol=1e-14, atol=0)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-14), (np.float32, 1e-6)])
@pytest.mark.parametrize("name", [*PIECEWISE, *SMOOTH])
def test_a_named_activation_and_its_slope_are_torchs(name, dtype, tolerance):
    z = torch.linspace(-6, 6, 2401, dtype=torch.float64).to(torch.from_numpy(np.empty(0, dtype)).dtype).requires_grad_()
    expected = activation(name)(z)
    slopes = torch.autograd.grad(expected.sum(), z)[0].numpy()
    y, d = np.ones((2, len(z)), dtype)
    activated(z.detach().numpy(), encode(name, dtype), y, d)
    np.testing.assert_allclose(y, expected.detach().numpy(), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(d, slopes, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("mixing", ["bank", "dense"])
@pytest.mark.parametrize("kind", RECURRENT)
def test_float32_is_within_a_ten_thousandth_of_float64_at_order_32(kind, mixing):
    layer, reference = pair(kind, 1, 4, 32, torch.float32, mixing=mixing)
    shift, x = cycle(50), signal(20, 50, 1)
    exact = copy.deepcopy(reference).double()
    assert_alive(exact.trace(x, shift))
    expected = results(exact, x.float().double(), shift)
    found = results(layer, x.float(), shift.to(torch.float32), signal(20, 50, 4, dtype=torch.float32, seed=11))
    for name, wanted in expected.items():
        assert deviation(found[name].double(), wanted) <= 1e-4, name


def test_gradients_of_many_signals_lose_no_digits_to_the_sum_over_them():
    layer, reference = pair("rsn", 1, 2, 3, torch.float64, output_activation="tanh")
    x, shift = signal(10_000, 10, 1), ragged(10, layout="dense")
    expected = results(reference, x, shift)
    found = results(layer.float(), x.float(), shift.to(torch.float32))
    for name, parameter in layer.named_parameters():
        if parameter.dim() == 3:
            assert deviation(found[name].double(), expected[name]) < 1e-6
