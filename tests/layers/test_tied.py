"""``tied=True``: one set of weights for all shifts, and only the last state is read."""

import pytest
import torch

import shiftstate as ss
from shiftstate.layers import LAYERS
from shiftstate.layers.options import MIXINGS
from shiftstate.testing.inputs import graph
from tests.example_graphs import signal
from tests.filters.fused.comparison import assert_same, pair, results

F, G, K = 3, 2, 4
TIED = [name for name, layer_class in LAYERS.items() if "tied" in layer_class.option_names()]


def untied(layer):
    """The layer with the same weights at every shift, written out."""
    options = layer.options() | {"tied": False}
    other = type(layer)(layer.in_channels, layer.out_channels, layer.K, **options).double()
    given = layer.update_weights() | layer.output_weights()
    with torch.no_grad():
        for name, parameter in other.named_parameters():
            parameter.copy_(given.get(name, getattr(layer, name)))
    return other


def test_the_filters_that_have_it_are_those_with_weights_in_the_state():
    assert [name for name, layer_class in LAYERS.items() if layer_class.updates] == TIED
    with pytest.raises(TypeError, match="unexpected keyword argument 'tied'"):
        ss.GCNN(1, 1, 1, tied=True)


@pytest.mark.parametrize("kernel", ["reference", "fused"])
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", TIED)
def test_it_is_the_filter_with_the_same_weights_at_every_shift(kind, mixing, kernel):
    """Outputs too, and gradients are those of the untied filter summed over the shifts."""
    options = {"gate_bias": True} if "gate_bias" in LAYERS[kind].option_names() else {}
    torch.manual_seed(0)
    layer = LAYERS[kind](G, F, K, mixing=mixing, kernel=kernel, init="alive", tied=True, **options).double()
    assert "tied=True" in repr(layer)
    written_out, x, shift = untied(layer), signal(2, 8, G), graph(layout="sparse")
    y, expected = layer(x, shift), written_out(x, shift)
    assert float(expected.detach().abs().max()) > 0.01
    torch.testing.assert_close(y, expected, rtol=1e-12, atol=1e-13)
    for one in (y, expected):
        one.square().sum().backward()
    for name, parameter in layer.named_parameters():
        gradient = getattr(written_out, name).grad
        if name in layer.output_weights():
            gradient = gradient[-1:]
        elif name in layer.update_weights():
            gradient = gradient.sum(0, keepdim=True)
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", TIED)
def test_the_kernels_agree(kind, mixing):
    layer, reference = pair(kind, 2, 3, 5, mixing=mixing, tied=True, output_activation="tanh")
    x, shift = signal(3, 8, 2), graph(layout="sparse")
    assert_same(results(layer, x, shift), results(reference, x, shift))


@pytest.mark.parametrize("kind", TIED)
def test_no_parameter_depends_on_k_and_any_order_runs_after_training(kind):
    torch.manual_seed(0)
    short, long = (LAYERS[kind](G, F, order, tied=True, init="alive").double() for order in (2, 7))
    assert {n: p.shape for n, p in short.named_parameters()} == {n: p.shape for n, p in long.named_parameters()}
    long.load_state_dict(short.state_dict())
    x, shift = signal(2, 8, G), graph()
    expected = long(x, shift)
    short.K = 7
    assert torch.equal(short(x, shift), expected)
    assert short.trace(x, shift).states.shape[0] == 8
    short.K = 0
    assert short(x, shift).shape == expected.shape


@pytest.mark.parametrize("kind", TIED)
def test_a_network_keeps_it_in_its_file_and_the_lens_looks_at_it(kind, tmp_path):
    net, file = ss.Network(kind, [1, F, F], K, tied=True, init="alive"), tmp_path / "net.safetensors"
    net.save(file)
    again = ss.Network.load(file)
    x, shift = signal(4, 8, 1, dtype=torch.float32), graph().to(torch.float32)
    assert again.layers[1].tied
    assert torch.equal(again(x, shift), net(x, shift))
    assert len(ss.lens.examine(net, x, shift).layers) == 2
