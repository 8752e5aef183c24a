"""Options come from signatures, kernels from equations."""

import pytest
import torch

import shiftstate as ss
from shiftstate.layers import LAYERS
from tests.example_filters import GRU, ForgetsItsOption
from tests.example_graphs import cycle

CYCLE = cycle(5, dtype=torch.float32)


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
    shared = ("mixing", "bias", "output_activation", "kernel", "checkpoint", "init", "input", "tied", "basis")
    assert ss.Layer.option_names() == GRU.option_names() == shared
    assert ss.GCNN.option_names() == tuple(
        name for name in shared if name not in ("output_activation", "input", "tied")
    )
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


class Own(ss.RSN):
    """A filter of a user's own."""


@pytest.mark.parametrize("layer_class", [*LAYERS.values(), Own])
def test_unknown_arguments_are_reported_in_the_name_of_the_class_that_was_called(layer_class):
    name = layer_class.__name__
    with pytest.raises(TypeError, match=rf"^{name}(.__init__)?\(\) got an unexpected keyword argument 'improved'"):
        layer_class(1, 1, 1, improved=True)
    with pytest.raises(TypeError, match=rf"^{name}.forward\(\) got an unexpected keyword argument 'lambda_max'"):
        layer_class(1, 1, 1)(torch.ones(1, 1), ss.Shift.from_edges([[0], [0]]), lambda_max=2.0)
