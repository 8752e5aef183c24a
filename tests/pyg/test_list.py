"""Every layer of the core's list is a PyG layer, without a line here for any of them."""

import sys

import pytest
import torch

import shiftstate.pyg
from shiftstate.layers import LAYERS
from shiftstate.pyg import StateSpaceConv, StateSpaceGNN
from shiftstate.pyg.convs import CONVS, conv_of
from tests.example_filters import GRU
from tests.pyg.examples import graph, signal

N = 9


@pytest.mark.parametrize("name", LAYERS)
def test_every_layer_of_the_list_has_a_pyg_layer_of_its_name(name):
    conv_class = CONVS[name]
    assert conv_class.__name__ == f"{LAYERS[name].__name__}Conv"
    assert conv_class.__name__ in shiftstate.pyg.__all__
    assert getattr(shiftstate.pyg, conv_class.__name__) is conv_class
    assert getattr(sys.modules[conv_class.__module__], conv_class.__name__) is conv_class  # it can be pickled
    assert conv_class.layer_class is LAYERS[name]
    assert conv_class.__doc__ != StateSpaceConv.__doc__
    assert StateSpaceGNN(4, 8, 2, 3, conv=name, K=2)(signal(N, 4), graph()[0]).shape == (N, 3)


def test_a_layer_without_a_text_of_its_own_gets_a_class_with_the_layers():
    conv_class = conv_of(GRU)
    assert issubclass(conv_class, StateSpaceConv)
    assert conv_class.__name__ == "GRUConv"
    assert conv_class.__doc__.startswith(GRU.__doc__.partition("\n")[0])
    conv, x = conv_class(-1, 3, K=4), signal(N, 4)
    y = conv(x, *graph())
    assert str(conv) == "GRUConv(4, 3, K=4)"
    assert isinstance(conv.layer, GRU)
    assert conv.layer.mixing == "depthwise"
    assert torch.equal(conv_class.from_layer(conv.layer)(x, *graph()), y)


def test_an_unknown_name_is_an_attribute_error_of_the_room():
    with pytest.raises(AttributeError, match=r"module 'shiftstate\.pyg' has no attribute 'XYZConv'"):
        shiftstate.pyg.XYZConv  # noqa: B018
