"""What all layers share: parameters, draws, checks, dtypes, options."""

import math

import numpy as np
import pytest
import torch

import shiftstate as ss
from shiftstate.layers import LAYERS
from shiftstate.layers.base import MIXINGS
from tests.example_filters import GRU, ForgetsItsOption
from tests.example_graphs import cycle

CYCLE = cycle(5, dtype=torch.float32)
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
        layer = layer_class(1, 4, 32, init=init, mixing=mixing, bias=False).double()
        for name, parameter in layer.named_parameters():
            if name.endswith("x") and name.startswith("h_"):
                torch.nn.init.zeros_(parameter)  # no direct input: only w_0 is left
        norms = layer.trace(torch.rand(5, 50, 1).double(), shift).states.flatten(1).norm(dim=1)
        return (norms[-1] / norms[0]).item()

    assert reach("alive") > 0.05
    assert reach("paper") < 1e-3


@pytest.mark.parametrize("layer_class", [*LAYERS.values(), GRU])
def test_layers_say_what_they_are(layer_class):
    assert repr(layer_class(1, 4, 8)) == f"{layer_class.__name__}(1, 4, K=8)"
    changed = layer_class(1, 4, 8, mixing="dense", bias=False, checkpoint="sqrt")
    assert repr(changed) == f"{layer_class.__name__}(1, 4, K=8, mixing='dense', bias=False, checkpoint='sqrt')"


def test_options_build_the_same_layer_again():
    layer = ss.LSSM(1, 4, 8, gate_bias=True, mixing="dense", output_activation="tanh", kernel="reference", init="alive")
    assert repr(ss.LSSM(1, 4, 8, **layer.options())) == repr(layer)
    rsn = ss.RSN(1, 4, 8, state_activation="tanh")
    assert repr(ss.RSN(1, 4, 8, **rsn.options())) == repr(rsn)
    gcnn = ss.GCNN(1, 4, 8, bias=False)
    assert repr(ss.GCNN(1, 4, 8, **gcnn.options())) == repr(gcnn)


@pytest.mark.parametrize("layer_class", [*LAYERS.values(), GRU])
def test_option_names_are_those_of_the_signature_and_each_is_kept(layer_class):
    names = layer_class.option_names()
    assert set(names) >= {"mixing", "bias", "kernel", "checkpoint", "init"}
    assert not {"in_channels", "out_channels", "K", "options"} & set(names)
    assert tuple(layer_class(1, 4, 8).options()) == names


def test_option_names_of_the_papers_filters():
    shared = ("mixing", "bias", "output_activation", "kernel", "checkpoint", "init")
    assert ss.Layer.option_names() == GRU.option_names() == shared
    assert ss.GCNN.option_names() == tuple(name for name in shared if name != "output_activation")
    assert ss.RSN.option_names() == (*shared, "state_activation")
    assert ss.LSSM.option_names() == (*shared, "gate_bias")


class Leaky(ss.Layer):
    """A filter with an option of its own and another default for one that it inherits."""

    updates = ("w",)

    def __init__(self, *sizes, leak=0.5, mixing="dense", **options):
        super().__init__(*sizes, mixing=mixing, **options)
        self.leak = leak

    def update(self, h, Sw, x, c):
        return ss.Step(self.leak * Sw + torch.tanh(h("w", Sw, x)))


def test_an_option_of_a_users_filter_is_found_by_its_signature():
    layer = Leaky(1, 4, 8, leak=0.25)
    assert layer.option_names() == (*ss.Layer.option_names(), "leak")
    assert (layer.options()["leak"], layer.options()["mixing"]) == (0.25, "dense")
    assert repr(layer) == "Leaky(1, 4, K=8, leak=0.25)"
    assert repr(Leaky(1, 4, 8, mixing="bank")) == "Leaky(1, 4, K=8, mixing='bank')"
    assert repr(Leaky(1, 4, 8, **layer.options())) == repr(layer)


def test_an_option_that_is_not_kept_is_named():
    layer = ForgetsItsOption(1, 4, 8, gain=0.5)
    with pytest.raises(ValueError, match=r"^ForgetsItsOption takes the option 'gain' .* expected .* set self.gain"):
        layer.options()


class Renamed(ss.LSSM):
    """The same equations under another name."""


class Changed(ss.LSSM):
    """Other equations."""

    def update(self, h, Sw, x, c):
        return super().update(h, 0.5 * Sw, x, c)


class Halved:
    """A change of the equations that any filter can take."""

    def finish(self, total):
        return 0.5 * super().finish(total)


class Mixed(Halved, ss.LSSM):
    """Equations changed from beside."""


class Declared(ss.LSSM):
    """Changed in word only, and says so."""

    fused = "lssm"

    def finish(self, total):
        return super().finish(total)


def test_a_kernel_stands_for_the_equations_of_the_class_that_names_it():
    assert (ss.GCNN.fused, ss.RSN.fused, ss.LSSM.fused) == ("gcnn", "rsn", "lssm")
    assert Renamed.fused == Declared.fused == "lssm"
    assert Changed.fused is Mixed.fused is GRU.fused is ss.Layer.fused is None
    assert type("Child", (Changed,), {}).fused is None
    assert type("Fewer", (ss.LSSM,), {"updates": ("c", "f", "u", "w", "v")}).fused is None


def test_watching_is_the_call_itself():
    x = torch.randn(2, 3, 5, 1)
    for name, layer_class in LAYERS.items():
        layer, seen = layer_class(1, 2, 3, kernel="reference"), []
        watched = layer.watch(x, CYCLE, lambda k, step, y, seen=seen: seen.append(k))
        assert torch.equal(watched, layer(x, CYCLE)), name
        assert seen == [0, 1, 2, 3]


ARGUMENTS = {
    "K negative": ({"K": -1}, r"^K is -1; expected a whole number of at least 0$"),
    "K float": ({"K": 2.0}, r"^K is 2.0; expected a whole number of at least 0$"),
    "K bool": ({"K": True}, r"^K is True; expected a whole number"),
    "K text": ({"K": "3"}, r"^K is '3'; expected a whole number"),
    "no input": ({"in_channels": 0}, r"^in_channels is 0; expected a whole number of at least 1$"),
    "no output": ({"out_channels": -3}, r"^out_channels is -3; expected a whole number of at least 1$"),
    "mixing": ({"mixing": "depthwis"}, r"^unknown mixing 'depthwis'; .*; did you mean 'depthwise'\?$"),
    "kernel": ({"kernel": "fusd"}, r"^unknown kernel 'fusd'; .*; did you mean 'fused'\?$"),
    "init": ({"init": "papr"}, r"^unknown init 'papr'; .*; did you mean 'paper'\?$"),
    "checkpoint zero": ({"checkpoint": 0}, r"^checkpoint is 0; expected a whole number of at least 1"),
    "checkpoint word": ({"checkpoint": "sqr"}, r"^checkpoint is 'sqr'; expected .*'sqrt'"),
}


@pytest.mark.parametrize("layer_class", [*LAYERS.values(), GRU])
@pytest.mark.parametrize("name", ARGUMENTS)
def test_bad_arguments_are_refused(layer_class, name):
    change, message = ARGUMENTS[name]
    with pytest.raises(ValueError, match=message):
        layer_class(**({"in_channels": 1, "out_channels": 2, "K": 2} | change))


@pytest.mark.parametrize("layer_class", [*LAYERS.values(), GRU])
def test_an_unknown_activation_is_refused_at_birth(layer_class):
    for option in {"output_activation", "state_activation"} & set(layer_class.option_names()):
        with pytest.raises(ValueError, match=r"^unknown activation 'rleu'; .*; did you mean 'relu'\?$"):
            layer_class(1, 2, 2, **{option: "rleu"})


CALLS = {
    "nodes": (lambda f: f(torch.ones(4, 1), CYCLE), r"^x has shape \(4, 1\); expected \(..., 5, channels\)"),
    "channels": (lambda f: f(torch.ones(5, 3), CYCLE), r"^x has 3 channels; this layer expected 1 \(in_channels\)$"),
    "no channels": (lambda f: f(torch.ones(5), CYCLE), r"add a channel axis: x.unsqueeze\(-1\)$"),
    "integers": (lambda f: f(torch.ones(5, 1, dtype=torch.int64), CYCLE), r"^x holds torch.int64; expected a floating"),
    "shift dtype": (
        lambda f: f(torch.ones(5, 1), CYCLE.to(torch.float64)),
        r"^x is torch.float32 and the shift torch.float64; expected one dtype: use shift.to\(x.dtype\)$",
    ),
    "layer dtype": (
        lambda f: f(torch.ones(5, 1).double(), CYCLE.to(torch.float64)),
        r"^x is torch.float64 and the layer torch.float32; expected one dtype: x.float\(\) with "
        r"shift.to\(torch.float32\), or the slower layer.to\(x.dtype\)$",
    ),
    "layer dtype wider": (
        lambda f: f(torch.ones(5, 1).bfloat16(), CYCLE.to(torch.bfloat16)),
        r"^x is torch.bfloat16 and the layer torch.float32; expected one dtype: layer.to\(x.dtype\)$",
    ),
    "all but x in float32": (lambda f: f(torch.ones(5, 1).double(), CYCLE), r"expected one dtype: x.float\(\), or the"),
    "channels before nodes": (lambda f: f(torch.ones(3, 1, 5), CYCLE), r"transpose it: x.transpose\(-1, -2\)$"),
    "a sparse signal": (lambda f: f(torch.ones(5, 1).to_sparse(), CYCLE), r"^x is sparse; .*: x.to_dense\(\)$"),
    "shift device": (
        lambda f: f(torch.ones(5, 1), CYCLE.to("meta")),
        r"^x is on cpu and the shift on meta; expected one device: use shift.to\(x.device\)$",
    ),
    "layer device": (
        lambda f: f(torch.ones(5, 1, device="meta"), CYCLE.to("meta")),
        r"^x is on meta and the layer on cpu; expected one device: layer.to\(x.device\)$",
    ),
    "a matrix for a shift": (
        lambda f: f(torch.ones(5, 1), torch.eye(5)),
        r"^shift is a Tensor; expected a Shift: Shift.",
    ),
    "arguments exchanged": (lambda f: f(CYCLE, torch.ones(5, 1)), r"^shift is a Tensor; expected a Shift"),
    "an array for a signal": (lambda f: f(np.ones((5, 1)), CYCLE), r"^x is a ndarray; expected a torch tensor"),
}


@pytest.mark.parametrize("layer_class", LAYERS.values())
@pytest.mark.parametrize("method", ["forward", "trace", "kernel_in_use"])
@pytest.mark.parametrize("name", CALLS)
def test_bad_calls_are_refused(layer_class, method, name):
    call, message = CALLS[name]
    with pytest.raises(ValueError, match=message) as caught:
        call(getattr(layer_class(1, 2, 2), method))
    assert "\n" not in str(caught.value)


def test_a_filter_without_an_update_says_what_is_missing():
    with pytest.raises(NotImplementedError, match=r"Empty has no update; a filter is its state update"):
        type("Empty", (ss.Layer,), {})(1, 2, 2)(torch.ones(5, 1), CYCLE)


def test_an_unknown_draw_is_refused_and_changes_nothing():
    layer = ss.RSN(1, 2, 2)
    before = layer.h_ww.clone()
    with pytest.raises(ValueError, match=r"^unknown init 'xavier'; expected one of 'paper', 'alive'$"):
        layer.reset_parameters("xavier")
    assert torch.equal(layer.h_ww, before)


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("layer_class", LAYERS.values())
def test_autocast_stays_out_of_the_recurrence(layer_class, mixing):
    layer, x = layer_class(2, 3, 4, mixing=mixing), torch.randn(2, 5, 2)
    expected = layer(x, CYCLE)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(layer(x, CYCLE), expected)
        rounded = layer(x.bfloat16(), CYCLE)  # what a half-precision module before this layer hands over
        assert torch.equal(layer.trace(x, CYCLE).states, layer.trace(x, CYCLE).states.float())
    assert rounded.dtype == torch.float32
    assert torch.equal(rounded, layer(x.bfloat16().float(), CYCLE))


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("layer_class", LAYERS.values())
def test_bfloat16_runs_forward_and_backward_and_stays_near_float64(layer_class, layout):
    layer = layer_class(2, 3, 4, init="alive").bfloat16()
    edges = CYCLE.edges()[0]
    shift = ss.Shift.from_edges(edges, torch.ones(5, dtype=torch.bfloat16), layout=layout)
    x = torch.randn(2, 5, 2).bfloat16()
    y = layer(x, shift)
    assert y.dtype == torch.bfloat16
    y.sum().backward()
    assert all(p.grad.dtype == torch.bfloat16 and p.grad.isfinite().all() for p in layer.parameters())
    exact = layer.double()(x.double(), shift.to(torch.float64))
    scale = exact.abs().max()
    assert ((y.double() - exact).abs().max() / scale) < 16 * torch.finfo(torch.bfloat16).eps


@pytest.mark.parametrize("layer_class", LAYERS.values())
def test_gradients_reach_the_edge_weights_through_every_layer(layer_class):
    """On a rotation, where the state neither grows nor shrinks and every shift counts."""
    edges, layer = CYCLE.edges()[0], layer_class(1, 2, 3, init="alive").double()
    x = torch.randn(2, 5, 1, dtype=torch.float64)
    weight = torch.ones(5, dtype=torch.float64, requires_grad=True)
    for layout in ("dense", "sparse"):

        def call(weight, layout=layout):
            return layer(x, ss.Shift.from_edges(edges, weight, layout=layout))

        assert torch.autograd.gradcheck(call, (weight,))
        assert torch.autograd.grad(call(weight).sum(), weight)[0].abs().min() > 0
