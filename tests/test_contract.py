"""Every layer keeps the contract, with every mixing and option, on both kernels; so does a filter a user writes."""

import pytest
import torch

from shiftstate.layers import LAYERS
from shiftstate.layers.options import MIXINGS
from shiftstate.testing import CONTRACT
from tests.example_filters import GRU

# Options to build a layer with; a layer takes those that it has.
VARIANTS = [
    {},
    {"bias": False, "kernel": "reference"},
    {"output_activation": "sigmoid", "bias": False, "checkpoint": 2, "input": "first", "kernel": "reference"},
    {"gate_bias": True, "output_activation": "tanh"},
    {"tied": True, "gate_bias": True, "output_activation": "identity"},
    {"basis": "chebyshev"},
    {"basis": "chebyshev", "gate_bias": True, "output_activation": "tanh"},
    {"state_activation": "tanh", "output_activation": "leaky_relu"},
    {"state_activation": "identity", "output_activation": "identity", "kernel": "reference"},
    {"state_activation": torch.nn.functional.silu, "output_activation": torch.sin},
]


def variants(layer_class):
    """Those that the layer can take, without those that another one holds."""
    taken = [options for options in VARIANTS if options.keys() <= set(layer_class.option_names())]
    return [one for one in taken if not one or not any(one.items() < other.items() for other in taken)]


SUBJECTS = [(layer_class, options) for layer_class in (*LAYERS.values(), GRU) for options in variants(layer_class)]


def name(value):
    if isinstance(value, dict):
        return "-".join(f"{key}={getattr(item, '__name__', item)}" for key, item in value.items()) or "defaults"
    return getattr(value, "__name__", value)


@pytest.mark.parametrize("check", CONTRACT, ids=name)
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize(("layer_class", "options"), SUBJECTS, ids=name)
def test_contract(layer_class, options, mixing, check):
    check(layer_class, mixing=mixing, **options)


def test_every_option_of_every_layer_is_part_of_a_variant():
    used = {option for _, options in SUBJECTS for option in options} | {"mixing"}
    every = {option for layer_class in LAYERS.values() for option in layer_class.option_names()}
    assert every - used == {"init"}  # which the contract itself changes
