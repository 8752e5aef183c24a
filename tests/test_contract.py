"""Every layer keeps the contract, with every mixing and option, on both kernels; so does a filter a user writes."""

import pytest
import torch

import shiftstate as ss
from shiftstate.layers.base import MIXINGS
from shiftstate.testing import CONTRACT
from tests.example_filters import GRU

SUBJECTS = [
    (ss.GCNN, {}),
    (ss.GCNN, {"bias": False, "kernel": "reference"}),
    (ss.RSN, {}),
    (ss.RSN, {"state_activation": "tanh", "output_activation": "leaky_relu"}),
    (ss.RSN, {"state_activation": "identity", "output_activation": "identity", "kernel": "reference"}),
    (ss.RSN, {"state_activation": torch.nn.functional.silu, "output_activation": torch.sin}),
    (ss.LSSM, {}),
    (ss.LSSM, {"gate_bias": True, "output_activation": "tanh"}),
    (ss.LSSM, {"output_activation": "sigmoid", "bias": False, "checkpoint": 2, "kernel": "reference"}),
    (GRU, {}),
    (GRU, {"output_activation": "identity", "kernel": "reference"}),
]


def name(value):
    if isinstance(value, dict):
        return "-".join(f"{key}={getattr(item, '__name__', item)}" for key, item in value.items()) or "defaults"
    return getattr(value, "__name__", value)


@pytest.mark.parametrize("check", CONTRACT, ids=name)
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize(("layer_class", "options"), SUBJECTS, ids=name)
def test_contract(layer_class, options, mixing, check):
    check(layer_class, mixing=mixing, **options)
