"""Named nonlinearities against plain arithmetic."""

import numpy as np
import pytest
import torch

from shiftstate.filters.activations import ACTIVATIONS, activation
from tests import oracle


def test_the_names_are_those_of_the_public_face():
    assert list(ACTIVATIONS) == ["identity", "relu", "leaky_relu", "tanh", "sigmoid"]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_named_nonlinearity_is_what_its_name_says(name):
    x = torch.linspace(-30, 30, 121, dtype=torch.float64)
    expected = np.array([oracle.ACTIVATIONS[name](float(v)) for v in x])
    np.testing.assert_allclose(activation(name)(x).numpy(), expected, rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_gradients_are_exact(name):
    x = torch.tensor([-2.0, -0.3, 0.4, 1.7], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(activation(name), (x,))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_nan_stays_nan(name):
    assert activation(name)(torch.tensor([float("nan")])).isnan().all()


def test_a_callable_is_taken_as_it_is():
    assert activation(torch.sin) is torch.sin


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rellu", r"^unknown activation 'rellu'; expected one of 'identity', .*; did you mean 'relu'\?$"),
        ("Tanh", r"did you mean 'tanh'\?$"),
        (None, r"^unknown activation None; expected one of"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(name, message):
    with pytest.raises(ValueError, match=message):
        activation(name)
