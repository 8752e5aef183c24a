"""``input="first"``: x enters as w_0 only, and the weights on it are not there."""

import pytest
import torch

import shiftstate as ss
from shiftstate.layers import LAYERS
from shiftstate.layers.options import MIXINGS
from shiftstate.model_file import write_model
from shiftstate.testing.inputs import graph
from tests.example_graphs import signal

F, G, K = 3, 2, 4
WITH_INPUT = [name for name, layer_class in LAYERS.items() if "input" in layer_class.option_names()]


def weights_on_x(layer):
    return {name for name, _ in layer.named_parameters() if name.startswith("h_") and name.endswith("x")}


def test_the_filters_that_have_it_are_those_with_weights_on_x():
    assert [name for name, layer_class in LAYERS.items() if weights_on_x(layer_class(1, 1, 1))] == WITH_INPUT
    with pytest.raises(TypeError, match="unexpected keyword argument 'input'"):
        ss.GCNN(1, 1, 1, input="first")
    with pytest.raises(ValueError, match="unknown input 'last'; expected one of 'every', 'first'"):
        ss.RSN(1, 1, 1, input="last")


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", WITH_INPUT)
def test_no_parameter_but_the_weights_on_x_is_missing(kind, mixing, biases):
    options = {"gate_bias": biases} if "gate_bias" in LAYERS[kind].option_names() else {"bias": biases}
    every = LAYERS[kind](G, F, K, mixing=mixing, **options)
    first = LAYERS[kind](G, F, K, mixing=mixing, input="first", **options)
    kept = {name: p.shape for name, p in every.named_parameters() if name not in weights_on_x(every)}
    assert {name: p.shape for name, p in first.named_parameters()} == kept
    assert "input='first'" in repr(first)


@pytest.mark.parametrize(("kind", "count"), [("rsn", 2 * K + 1), ("lssm", 5 * K + 1), ("gsn", 4 * K + 1)])
def test_a_bank_has_half_the_weights(kind, count):
    layer = LAYERS[kind](G, F, K, bias=False, input="first")
    assert sum(parameter.numel() for parameter in layer.parameters()) == count * F * G


@pytest.mark.parametrize("channels", [(G, F), (F, F)], ids=["G≠F", "G=F"])
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", WITH_INPUT)
def test_it_is_the_filter_whose_weights_on_x_are_zero(kind, mixing, channels):
    """To the last bit on both kernels, and so are the gradients of x and of all weights that are there."""
    x, shift = signal(2, 8, channels[0]), graph(layout="sparse")
    for kernel in ("reference", "fused"):
        options = {"mixing": mixing, "kernel": kernel}
        every = LAYERS[kind](*channels, K, init="alive", **options).double()
        first = LAYERS[kind](*channels, K, input="first", **options).double()
        with torch.no_grad():
            for name in weights_on_x(every):
                getattr(every, name).zero_()
        first.load_state_dict({name: p for name, p in every.state_dict().items() if name not in weights_on_x(every)})
        outputs, gradients = [], []
        for layer in (every, first):
            given = x.clone().requires_grad_()
            outputs.append(layer(given, shift))
            outputs[-1].square().sum().backward()
            gradients.append({"x": given.grad} | {name: getattr(layer, name).grad for name in first.state_dict()})
        torch.testing.assert_close(*outputs, rtol=1e-12, atol=1e-13)
        torch.testing.assert_close(*gradients, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("mixing", MIXINGS)
def test_a_linear_rsn_of_weight_one_is_the_gcnn(mixing):
    rsn = ss.RSN(F, F, K, input="first", mixing=mixing, state_activation="identity", output_activation="identity")
    gcnn = ss.GCNN(F, F, K, mixing="depthwise" if mixing == "depthwise" else "bank")
    with torch.no_grad():
        rsn.h_ww.copy_(torch.eye(F).expand_as(rsn.h_ww) if mixing == "dense" else torch.ones_like(rsn.h_ww))
        gcnn.h.copy_(rsn.h_yw)
        gcnn.bias.copy_(rsn.bias)
        if mixing == "depthwise":
            gcnn.mix.copy_(rsn.mix)
    x, shift = signal(2, 8, F, dtype=torch.float32), graph().to(torch.float32)
    torch.testing.assert_close(rsn(x, shift), gcnn(x, shift))


@pytest.mark.parametrize("kind", WITH_INPUT)
def test_a_network_keeps_it_in_its_file_and_a_file_from_before_means_every(kind, tmp_path):
    net, file = ss.Network(kind, [1, F, F], K, input="first"), tmp_path / "net.safetensors"
    net.save(file)
    again = ss.Network.load(file)
    x, shift = signal(8, 1, dtype=torch.float32), graph().to(torch.float32)
    assert again.layers[1].input == "first"
    assert torch.equal(again(x, shift), net(x, shift))
    older = ss.Network(kind, [1, F], K)
    config = older.config()
    del config["options"]["input"]
    write_model(file, "network", config, older.state_dict())
    assert ss.Network.load(file).layers[0].input == "every"


@pytest.mark.parametrize("kind", WITH_INPUT)
def test_the_lens_looks_at_it(kind):
    net = ss.Network(kind, [1, F], 12, input="first", init="paper")
    found = ss.lens.examine(net, signal(4, 8, 1, dtype=torch.float32), graph().to(torch.float32))
    assert "vanish" in str(found) or "dead" in str(found)  # of the paper's draw little is left without x at every shift
