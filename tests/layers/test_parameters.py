"""Parameters: names, shapes, counts and draws."""

import math

import numpy as np
import pytest
import torch

import shiftstate as ss
from shiftstate.layers import LAYERS
from shiftstate.layers.options import MIXINGS

F, G, K = 3, 2, 4

# Shapes as the mathematics page states them: (state weight, input weight), the weights beside them.
STATE = {"bank": (F, G), "dense": (F, F), "depthwise": (F, 1)}
SIGNAL = {"bank": (F, G), "dense": (F, G), "depthwise": (F, 1)}
BESIDE = {"bank": {}, "dense": {"project": (G, F)}, "depthwise": {"mix": (G, F)}}


def shapes(layer):
    return {name: tuple(parameter.shape) for name, parameter in layer.named_parameters()}


def expected_shapes(letters, mixing):
    found = {"bias": (F,)} | BESIDE[mixing]
    for letter in letters:
        found |= {f"h_{letter}w": (K, *STATE[mixing]), f"h_{letter}x": (K, *SIGNAL[mixing])}
    return found | {"h_yw": (K + 1, *STATE[mixing]), "h_yx": (K + 1, *SIGNAL[mixing])}


@pytest.mark.parametrize("mixing", MIXINGS)
def test_names_and_shapes_are_those_of_the_mathematics(mixing):
    h = (K + 1, F, 1) if mixing == "depthwise" else (K + 1, F, G)
    assert shapes(ss.GCNN(G, F, K, mixing=mixing)) == {"bias": (F,), "h": h} | (
        {"mix": (G, F)} if mixing == "depthwise" else {}
    )
    assert shapes(ss.RSN(G, F, K, mixing=mixing)) == expected_shapes("w", mixing)
    assert shapes(ss.LSSM(G, F, K, mixing=mixing)) == expected_shapes("cfuw", mixing)
    gate = (K, F) if mixing == "dense" else (K, *SIGNAL[mixing])
    assert shapes(ss.LSSM(G, F, K, mixing=mixing, gate_bias=True)) == expected_shapes("cfuw", mixing) | {
        f"b_{letter}": gate for letter in "cfuw"
    }


@pytest.mark.parametrize("name", ["rsn", "lssm"])
def test_dense_mixing_needs_no_projection_between_equal_channels(name):
    assert "project" not in shapes(LAYERS[name](3, 3, 2, mixing="dense"))


@pytest.mark.parametrize(("F", "G", "K"), [(4, 4, 5), (4, 1, 32), (1, 3, 0)])
def test_parameter_counts_of_a_bank(F, G, K):
    def count(layer):
        return sum(parameter.numel() for parameter in layer.parameters())

    assert count(ss.GCNN(G, F, K, bias=False)) == (K + 1) * F * G
    assert count(ss.RSN(G, F, K, bias=False)) == (4 * K + 2) * F * G
    assert count(ss.LSSM(G, F, K, bias=False)) == (10 * K + 2) * F * G
    assert count(ss.LSSM(G, F, K, bias=True)) == (10 * K + 2) * F * G + F
    assert count(ss.LSSM(G, F, K, bias=False, gate_bias=True)) == (14 * K + 2) * F * G


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("layer_class", LAYERS.values())
def test_the_papers_draw_fills_its_bounds_and_does_not_leave_them(layer_class, mixing):
    G, F, K = 16, 40, 8
    scalar = 1 / math.sqrt((1 if mixing == "depthwise" else G) * (K + 1))
    for name, parameter in layer_class(G, F, K, mixing=mixing).named_parameters():
        if name in ("mix", "project"):
            bound = 1 / math.sqrt(G)
        elif mixing == "dense" and layer_class is not ss.GCNN and name != "bias":
            bound = 1 / math.sqrt(parameter.shape[-1])
        else:
            bound = scalar
        largest = parameter.abs().max().item()
        assert largest <= bound, name
        assert largest > 0.9 * bound, name
        assert abs(parameter.mean().item()) < 4 * bound / math.sqrt(3 * parameter.numel()), name


def test_gate_biases_start_at_zero_in_the_papers_draw_and_open_when_alive():
    layer = ss.LSSM(G, F, K, gate_bias=True)
    assert all((getattr(layer, f"b_{letter}") == 0).all() for letter in "cfuw")
    layer.reset_parameters("alive")
    assert all((getattr(layer, f"b_{letter}") == 2).all() for letter in "fw")
    assert all((getattr(layer, f"b_{letter}") == 0).all() for letter in "cu")


def block_model(seed=0, blocks=5, size=10):
    rng = np.random.default_rng(seed)
    block = np.arange(blocks * size) // size
    upper = np.triu(rng.random((blocks * size,) * 2) < np.where(block[:, None] == block, 0.8, 0.2), 1)
    return ss.Shift.from_matrix((upper + upper.T).astype(np.float64)).normalized("spectral")


def survival(layer_class, init, in_channels=4, **options):
    """‖w_K‖/‖w_0‖ at K = 32 for five draws."""
    ratios = []
    for seed in range(5):
        torch.manual_seed(seed)
        layer = layer_class(in_channels, 4, 32, init=init, **options).double()
        norms = layer.trace(torch.randn(10, 50, in_channels).double(), block_model()).states.flatten(1).norm(dim=1)
        ratios.append((norms[-1] / norms[0]).item())
    return ratios


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize(
    ("layer_class", "options"),
    [
        (ss.RSN, {}),
        (ss.RSN, {"state_activation": "tanh"}),
        (ss.RSN, {"state_activation": "identity"}),
        (ss.LSSM, {}),
        (ss.LSSM, {"gate_bias": True}),
    ],
)
def test_the_alive_draw_keeps_the_state_at_high_order(layer_class, options, mixing):
    for in_channels in (1, 4):
        ratios = survival(layer_class, "alive", in_channels, mixing=mixing, **options)
        assert min(ratios) > 0.05, ratios
        assert max(ratios) < 20, ratios


@pytest.mark.parametrize("layer_class", [ss.RSN, ss.LSSM])
def test_the_papers_draw_lets_the_state_of_a_bank_die(layer_class):
    assert max(survival(layer_class, "paper")) < 0.05


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("layer_class", [ss.RSN, ss.LSSM])
def test_alive_means_that_the_input_of_the_first_shift_is_still_felt_at_the_last(layer_class, mixing):
    """Not only the direct input at every shift: what travelled K shifts is in w_K, and was lost in the paper's draw."""
    shift = block_model()

    def reach(init):
        torch.manual_seed(0)
        layer = layer_class(1, 4, 32, init=init, mixing=mixing, bias=False, input="first").double()
        norms = layer.trace(torch.rand(5, 50, 1).double(), shift).states.flatten(1).norm(dim=1)
        return (norms[-1] / norms[0]).item()

    assert reach("alive") > 0.05
    assert reach("paper") < 1e-3


@pytest.mark.parametrize("K", [2.7, -1, True, None, "3"])
@pytest.mark.parametrize("tied", [True, False])
def test_an_order_that_is_no_whole_number_is_refused_also_later(tied, K):
    layer = ss.RSN(1, 1, 2, tied=tied)
    with pytest.raises(ValueError, match=f"^K is {K!r}; expected a whole number of at least 0$"):
        layer.K = K
    with pytest.raises(ValueError, match=f"^K is {K!r}; expected a whole number of at least 0$"):
        ss.LSSM(1, 1, K, tied=tied)
    assert layer.K == 2


def test_the_order_of_a_layer_with_weights_for_each_shift_cannot_be_changed():
    layer = ss.RSN(1, 1, 2)
    layer.K = 2
    with pytest.raises(
        ValueError, match=r"^K is 5 for a layer made with K = 2; expected 2, or a layer with tied=True$"
    ):
        layer.K = 5
