"""Every filter that goes under the lens: the paper's three with every mixing and option, and filters of a user."""

from functools import partial

import torch

import shiftstate as ss
from shiftstate.layers.options import MIXINGS
from tests import example_graphs
from tests.example_filters import GRU
from tests.example_graphs import cycle, path

__all__ = ["KINDS", "SUBJECTS", "cycle", "make", "path", "signal"]


class MemoryGRU(ss.Layer):
    """Of docs/own_filter.md: w_k = c_k = (1 − z_k) ∘ c_{k−1} + z_k ∘ tanh(h_kcw (r_k ∘ S w_{k−1}) + h_kcx x)."""

    updates = ("c", "r", "z")

    def update(self, h, Sw, x, c):
        reset, update = torch.sigmoid(h("r", Sw, x)), torch.sigmoid(h("z", Sw, x))
        w = (1 - update) * c + update * torch.tanh(h("c", reset * Sw, x))
        return ss.Step(w, w, {"reset": reset, "update": update})


KINDS = {
    "gcnn": (ss.GCNN, {}),
    "rsn": (ss.RSN, {}),
    "rsn-tanh": (ss.RSN, {"state_activation": "tanh", "output_activation": "leaky_relu"}),
    "rsn-callables": (ss.RSN, {"state_activation": torch.nn.functional.silu, "output_activation": torch.sin}),
    "lssm": (ss.LSSM, {}),
    "lssm-biases": (ss.LSSM, {"gate_bias": True, "init": "alive", "output_activation": "identity"}),
    "gru": (GRU, {}),
    "gru-memory": (MemoryGRU, {"output_activation": "tanh"}),
}
SUBJECTS = [(kind, mixing) for kind in KINDS for mixing in MIXINGS]


def make(kind, mixing="bank", channels=(2, 3), K=4, seed=0, **changes):
    """A layer in float64, drawn from the seed."""
    layer_class, options = KINDS[kind]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return layer_class(*channels, K, **{"mixing": mixing, **options, **changes}).double()


signal = partial(example_graphs.signal, seed=1)
