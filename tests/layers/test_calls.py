"""What layers take and what raises; dtypes, autocast, and gradients to the edges."""

import numpy as np
import pytest
import torch

import shiftstate as ss
from shiftstate.layers import LAYERS
from shiftstate.layers.options import MIXINGS
from tests.example_filters import GRU
from tests.example_graphs import cycle

CYCLE = cycle(5, dtype=torch.float32)


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
    with pytest.raises(ValueError, match=r"^unknown init 'xavier'; expected one of 'paper', 'alive', 'far'$"):
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
