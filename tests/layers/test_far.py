"""``init="far"``: what a single neighbour brings keeps its size, so a mark is felt K hops away."""

import pytest
import torch

from shiftstate.graphs.lattices import ring
from shiftstate.layers import LAYERS
from shiftstate.layers.options import MIXINGS

K = 12
RING = ring(2 * K + 2).to(torch.float64)
FAR = [name for name, layer_class in LAYERS.items() if layer_class.updates]


def felt(kind, init, mixing, tied):
    """|∂w_K/∂x| between nodes K hops apart on a ring, for a signal too small for any tanh, in the mean over draws."""
    total = 0.0
    for seed in range(4):
        torch.manual_seed(seed)
        known = LAYERS[kind].option_names()
        options = {"gate_bias": True} if "gate_bias" in known else {"state_activation": "tanh"}
        layer = LAYERS[kind](4, 4, K, mixing=mixing, init=init, tied=tied, **options).double()
        x = (1e-9 * torch.randn(2 * K + 2, 4).double()).requires_grad_()
        states = []
        layer.watch(x, RING, lambda k, step, y, states=states: states.append(step.w))
        (gradient,) = torch.autograd.grad(states[-1][0].sum(), x)
        total += float(gradient[K].abs().mean()) / 4
    return total


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", FAR)
def test_it_reaches_further_than_the_alive_draw(kind, mixing, tied):
    far, alive = felt(kind, "far", mixing, tied), felt(kind, "alive", mixing, tied)
    assert far > 0.01
    assert far > 30 * alive


@pytest.mark.parametrize("kind", FAR)
def test_a_front_keeps_its_size(kind):
    """Along the front of a small signal on a ring the factor per hop is 1, whatever the gates' share in it."""
    known = LAYERS[kind].option_names()
    for options in [{"gate_bias": False}, {"gate_bias": True}] if "gate_bias" in known else [{}]:
        layer = LAYERS[kind](1, 1, K, init="far", input="first", **options).double()
        if "state_activation" in known:
            layer.state_activation = "tanh"
        x = torch.zeros(2 * K + 2, 1).double()
        x[0] = 1e-9
        states = layer.trace(x, RING).states
        front = torch.stack([states[k, k, 0] for k in range(1, K + 1)])
        assert 0.2 < float(front[-1] / front[0]) < 5.0
