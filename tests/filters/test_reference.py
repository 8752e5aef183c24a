"""The reference loop against an independent computation, number by number, on any graph."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import shiftstate as ss
from shiftstate.filters import Step, Taps, reference
from shiftstate.layers import LAYERS
from shiftstate.layers.options import MIXINGS
from shiftstate.testing import assert_alive
from tests import oracle
from tests.example_graphs import signal
from tests.strategies import graphs, layouts, seeds

ACTIVATIONS = ("identity", "relu", "leaky_relu", "tanh", "sigmoid")


def variants(kind):
    """Every option that changes the equations: each activation by itself and x as w_0 only; gate biases or none."""
    known = LAYERS[kind].option_names()
    names = [name for name in known if name.endswith("_activation")]
    biases = [{"gate_bias": bias} for bias in (False, True)] if "gate_bias" in known else [{}]
    choices = [{name: "relu" for name in names} | {one: name} for one in names for name in ACTIVATIONS] or [{}]
    choices += [{name: "tanh" for name in names} | {"input": "first"}] if "input" in known else []
    return [choice | bias for bias in biases for choice in choices]


VARIANTS = [(kind, options) for kind in LAYERS for options in variants(kind)]


def build(kind, in_channels, out_channels, K, seed=0, **options):
    """A float64 layer with weights of order one, gate biases included: every term counts."""
    layer = LAYERS[kind](in_channels, out_channels, K, **{"kernel": "reference", **options}).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.uniform_(-1.2, 1.2, generator=generator)
    return layer


def expected(kind, layer, S, x):
    weights = {name: parameter.detach().numpy() for name, parameter in layer.named_parameters()}
    names = {"state": getattr(layer, "state_activation", "relu"), "output": layer.output_activation}
    return oracle.layer(kind, weights, S, x.numpy(), layer.K, layer.mixing, **names)


def assert_equal(got, wanted):
    np.testing.assert_allclose(got.detach().numpy(), wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("kernel", ["reference", "auto"])
@pytest.mark.parametrize("channels", [(2, 3), (2, 2)], ids=["G≠F", "G=F"])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize(("kind", "options"), VARIANTS, ids=lambda value: str(value))
def test_every_layer_mixing_and_option_equals_the_oracle(kind, options, mixing, layout, channels, kernel):
    S = np.array([[0.2, 0, 0, 0.9, 0], [1.0, 0, -0.7, 0, 0], [0, 0.8, 0, 0, 0], [0, 0, 1.0, 0, 0], [0, 0, 0, 0, 0]])
    layer = build(kind, *channels, 4, mixing=mixing, kernel=kernel, **options)
    shift, x = ss.Shift.from_matrix(S, layout=layout), signal(5, channels[0], seed=3)
    assert_alive(layer.trace(x, shift))
    assert_equal(layer(x, shift), expected(kind, layer, S, x))


@settings(max_examples=120)
@given(
    graphs(max_nodes=5),
    layouts,
    seeds,
    st.sampled_from(VARIANTS),
    st.sampled_from(MIXINGS),
    st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(0, 5)),
    st.booleans(),
)
def test_any_graph_and_shape_equals_the_oracle(graph, layout, seed, variant, mixing, sizes, bias):
    kind, options = variant
    layer = build(kind, *sizes, seed=seed, mixing=mixing, bias=bias, **options)
    x = signal(graph.num_nodes, sizes[0], seed=seed)
    scale = max(1.0, graph.shift().spectral_radius())
    shift = ss.Shift.from_matrix(graph.matrix / scale, layout=layout)
    wanted = expected(kind, layer, graph.matrix / scale, x)
    np.testing.assert_allclose(
        layer(x, shift).detach().numpy(), wanted, rtol=1e-9, atol=1e-9 * max(1, abs(wanted).max())
    )


def test_the_oracle_knows_every_activation_of_the_package():
    assert set(oracle.ACTIVATIONS) == set(ACTIVATIONS) == set(ss.filters.activations.ACTIVATIONS)


def test_taps_apply_scalars_and_matrices_and_add_gate_biases():
    w, x = torch.randn(5, 2), torch.randn(5, 3)
    weights = {"h_aw": torch.randn(4, 2), "h_ax": torch.randn(4, 3)}
    torch.testing.assert_close(Taps(weights, dense=True)("a", w, x), w @ weights["h_aw"].T + x @ weights["h_ax"].T)
    scalars = {"h_aw": torch.randn(2), "h_ax": torch.randn(2), "b_a": torch.randn(2)}
    got = Taps(scalars, dense=False)("a", w, w)
    torch.testing.assert_close(got, w * scalars["h_aw"] + w * scalars["h_ax"] + scalars["b_a"])
    gate = torch.randn(5, 2)
    gated = Taps(scalars, dense=False)("a", w, w, gate=gate)
    torch.testing.assert_close(gated, gate * (w * scalars["h_aw"]) + w * scalars["h_ax"] + scalars["b_a"])


def test_taps_leave_out_an_input_that_has_no_weight():
    w, x, h = torch.randn(5, 2), torch.full((5, 2), torch.nan), torch.randn(2)
    torch.testing.assert_close(Taps({"h_aw": h}, dense=False)("a", w, x), w * h)


def test_the_observer_sees_every_step_in_order():
    layer, shift = ss.LSSM(1, 2, 3), ss.Shift.from_edges([[0, 1], [1, 0]])
    seen = []
    reference.run(layer, torch.randn(2, 4, 1), shift, observe=lambda k, step, y: seen.append((k, type(step), y.shape)))
    assert seen == [(k, Step, (2, 4, 2, 1)) for k in range(4)]


@pytest.mark.parametrize(("checkpoint", "shifts"), [(None, 6), (1, 12), (4, 12), (100, 12)])
def test_a_checkpoint_computes_each_shift_once_more_in_the_backward(checkpoint, shifts, monkeypatch):
    calls = []
    layer, shift = ss.RSN(1, 2, 6, kernel="reference", checkpoint=checkpoint), ss.Shift.from_edges([[0, 1], [1, 0]])
    plain = ss.Shift.shift_nodes
    monkeypatch.setattr(ss.Shift, "shift_nodes", lambda self, w: calls.append(1) or plain(self, w))
    layer(torch.randn(2, 1), shift).sum().backward()
    assert len(calls) == shifts


def test_checkpoints_keep_fewer_states():
    def kept(checkpoint):
        sizes = []
        layer = ss.LSSM(1, 2, 36, kernel="reference", checkpoint=checkpoint)
        shift, x = ss.Shift.from_edges([[0, 1], [1, 0]]), torch.randn(50, 2, 1)
        with torch.autograd.graph.saved_tensors_hooks(lambda t: sizes.append(t.numel()) or t, lambda t: t):
            layer(x, shift)
        return sum(sizes)

    assert kept("sqrt") < kept(None) / 4
    assert kept(18) < kept(None) / 4
