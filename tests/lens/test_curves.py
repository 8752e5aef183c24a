"""Norms, dead and saturated units and gates against closed forms and the trace."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

import shiftstate as ss
from shiftstate.filters.activations import activation
from shiftstate.lens import examine
from shiftstate.lens import graph as lens_graph
from shiftstate.lens.curves import bounds
from shiftstate.testing.inputs import graph
from tests.lens.subjects import SUBJECTS, cycle, make, path, signal
from tests.strategies import graphs


def under(layer, x, shift, **options):
    return examine(layer, x, shift, with_reach=False, **options).layers[0]


@settings(max_examples=25)
@given(st.floats(0.25, 2.0), st.integers(0, 2**16))
def test_the_state_of_a_gcnn_on_an_eigenvector_is_the_power_of_its_eigenvalue(scale, seed):
    A = signal(6, 6, seed=seed)
    S = scale * (A + A.T) / 4
    values, vectors = torch.linalg.eigh(S)
    shift = ss.Shift.from_matrix(S)
    for index in (0, 3):
        seen = under(make("gcnn", channels=(1, 2), K=5), 3 * vectors[:, index : index + 1], shift)
        k = torch.arange(6, dtype=torch.float64)
        assert_close(seen.states.norm, 3 * values[index].abs() ** k, rtol=1e-9, atol=1e-12)
        assert bool((seen.states.norm <= seen.envelopes["radius"] * (1 + 1e-9)).all())
        assert bool((seen.states.norm >= seen.envelopes["smallest"] * (1 - 1e-6)).all())


@settings(max_examples=25)
@given(graphs(), st.integers(0, 2**16))
def test_no_state_of_a_gcnn_leaves_the_envelope_of_the_two_norm(graph, seed):
    shift = graph.shift()
    seen = under(make("gcnn", channels=(1, 1), K=6), signal(3, graph.num_nodes, 1, seed=seed), shift)
    assert bool((seen.states.norm <= seen.envelopes["norm"] * (1 + 1e-9) + 1e-12).all())


@settings(max_examples=15)
@given(st.floats(0.25, 2.0), st.integers(0, 2**16))
def test_in_chebyshevs_basis_it_is_the_polynomial_of_its_eigenvalue(scale, seed):
    A = signal(6, 6, seed=seed)
    S = scale * (A + A.T) / 4
    values, vectors = torch.linalg.eigh(S)
    for index in (0, 3):
        layer = make("gcnn", channels=(1, 2), K=5, basis="chebyshev")
        seen = under(layer, 3 * vectors[:, index : index + 1], ss.Shift.from_matrix(S))
        expected = np.polynomial.chebyshev.chebvander(float(values[index]), 5)[0]
        assert_close(seen.states.norm, 3 * torch.from_numpy(np.abs(expected)), rtol=1e-7, atol=1e-9)
        assert bool((seen.states.norm <= seen.envelopes["radius"] * (1 + 1e-7)).all())
        assert bool((seen.states.norm >= seen.envelopes["smallest"] * (1 - 1e-7) - 1e-9).all())


@settings(max_examples=15)
@given(graphs(), st.integers(0, 2**16))
def test_no_state_in_chebyshevs_basis_leaves_the_envelope_of_the_two_norm(graph, seed):
    layer = make("gcnn", channels=(1, 1), K=6, basis="chebyshev")
    seen = under(layer, signal(3, graph.num_nodes, 1, seed=seed), graph.shift())
    assert bool((seen.states.norm <= seen.envelopes["norm"] * (1 + 1e-9) + 1e-9).all())


@pytest.mark.parametrize("directed", [False, True])
def test_envelopes_of_a_graph_too_large_for_all_eigenvalues_hold_for_those_it_has(directed, monkeypatch):
    S = cycle(12).to_dense()
    S = 1.1 * (S if directed else (S + S.T) / 2)
    layer = make("gcnn", channels=(1, 1), K=6, basis="chebyshev")
    exact = under(layer, signal(2, 12, 1), ss.Shift.from_matrix(S)).envelopes
    monkeypatch.setattr(lens_graph, "ALL_EIGENVALUES", 5)
    wide = under(layer, signal(2, 12, 1), ss.Shift.from_matrix(S)).envelopes
    assert wide.keys() == {"radius", "norm"}
    assert_close(wide["radius"], exact["radius"])  # 1.1 and 1.1 i are eigenvalues of the two


def test_a_nilpotent_shift_rises_above_its_radius_and_stays_below_its_norm():
    shift = path(6, weight=2.0)
    lens = examine(make("gcnn", channels=(1, 1), K=4), torch.eye(6, 1, dtype=torch.float64), shift)
    assert lens.spectrum.radius == 0
    assert lens.spectrum.norm == pytest.approx(2)
    assert lens.spectrum.normal is False
    assert_close(lens.layers[0].states.norm, 2.0 ** torch.arange(5).double())
    assert lens.layers[0].envelopes["radius"].tolist() == [1, 0, 0, 0, 0]


@pytest.mark.parametrize(("kind", "mixing"), SUBJECTS)
def test_curves_and_sample_are_those_of_the_trace(kind, mixing):
    layer, x, shift = make(kind, mixing), signal(5, 8, 2), graph()
    trace, seen = layer.trace(x, shift), under(layer, x, shift, sample=3, channels=[0, 2])
    norms = trace.states.norm(dim=-2).flatten(1)
    assert_close(seen.states.norm, norms.square().mean(1).sqrt())
    assert_close(seen.states.median, norms.quantile(0.5, dim=1))
    assert_close(seen.outputs.high, trace.outputs.norm(dim=-2).flatten(1).quantile(0.9, dim=1))
    assert_close(seen.outputs.dead, (trace.outputs == 0).all(1).double().mean((1, 2)))
    assert_close(seen.sample.states, trace.states[:, 3, :, [0, 2]].movedim(-1, 1))
    assert_close(seen.sample.outputs, trace.outputs[:, 3, :, [0, 2]].movedim(-1, 1))
    assert seen.gates.keys() == trace.gates.keys()
    for name, gate in trace.gates.items():
        assert_close(seen.gates[name].nodes, gate.mean((1, 3)))
        assert_close(seen.gates[name].mean, gate.mean((1, 2, 3)))
        assert_close(seen.sample.gates[name], gate[:, 3, :, [0, 2]].movedim(-1, 1))
    assert (seen.memories is None) == (trace.memories is None)
    if trace.memories is not None:
        assert_close(seen.memories.norm, trace.memories.norm(dim=-2).flatten(1).square().mean(1).sqrt())
        assert_close(seen.sample.memories, trace.memories[:, 3, :, [0, 2]].movedim(-1, 1))


def test_a_relu_that_never_opens_is_dead_and_a_leaky_one_is_not():
    x, shift = signal(4, 6, 1).abs() + 0.1, cycle(6)
    for name, share in (("relu", 1.0), ("leaky_relu", 0.0)):
        layer = make("rsn", channels=(1, 2), state_activation=name)
        with torch.no_grad():
            layer.h_ww.fill_(-1.0)
            layer.h_wx.fill_(-1.0)
        dead = under(layer, x, shift).states.dead
        assert dead[0] == 0
        assert_close(dead[1], torch.tensor(share).double())


def test_a_unit_that_is_zero_for_one_signal_only_is_not_dead():
    x = torch.tensor([[1.0, 0.0], [0.0, 0.0]]).double().unsqueeze(-1)
    seen = under(make("gcnn", channels=(1, 1), K=0), x, cycle(2))
    assert seen.states.dead.tolist() == [0.5]


@pytest.mark.parametrize(("kind", "weights"), [("rsn-tanh", ("h_wx",)), ("lssm", ("h_cx", "h_ux", "h_fx"))])
def test_large_weights_saturate_a_bounded_state_and_small_ones_do_not(kind, weights):
    x, shift = signal(4, 6, 1).abs() + 0.5, cycle(6)
    for size, share in ((50.0, 1.0), (0.01, 0.0)):
        layer = make(kind, channels=(1, 2), K=6)
        with torch.no_grad():
            for name in weights:
                getattr(layer, name).fill_(size)
        assert under(layer, x, shift).states.saturated[-1] == share


def test_a_users_bounded_filter_is_recognised_and_an_unbounded_one_is_not():
    x, shift = 40 * signal(4, 8, 1), graph()
    bounded = make("gru-memory", channels=(1, 2), K=8)
    with torch.no_grad():
        bounded.h_cx.fill_(9.0)
        bounded.h_zx.zero_()
        bounded.h_zw.zero_()
    assert under(bounded, x, shift).states.saturated[-1] > 0.5
    assert bool((under(make("gru", channels=(1, 2)), x, shift).states.saturated == 0).all())


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("tanh", (-1, 1)),
        ("sigmoid", (0, 1)),
        ("relu", (None, None)),
        ("leaky_relu", (None, None)),
        ("identity", (None, None)),
    ],
)
def test_the_range_of_every_named_activation(name, ends):
    assert bounds(activation(name), make("rsn")) == ends


def test_the_range_of_callables():
    layer = make("rsn")
    assert bounds(torch.sin, layer) == (None, None)
    assert bounds(torch.nn.functional.silu, layer) == (None, None)
    assert bounds(torch.nn.functional.hardtanh, layer) == (-1, 1)
    assert bounds(torch.nn.functional.elu, layer) == (-1, None)


def test_gates_that_biases_open_and_shut_count_as_open_and_shut():
    layer = make("lssm-biases", channels=(1, 2))
    with torch.no_grad():
        for name in ("h_fw", "h_fx", "h_ww", "h_wx", "h_uw", "h_ux", "b_u"):
            getattr(layer, name).zero_()
        layer.b_f.fill_(5.0)
        layer.b_w.fill_(-5.0)
    gates = under(layer, signal(2, 8, 1), graph()).gates
    assert_close(gates["forget"].mean, torch.full((4,), 5.0).double().sigmoid())
    assert (gates["forget"].open.min(), gates["forget"].shut.max()) == (1, 0)
    assert (gates["state"].open.max(), gates["state"].shut.min()) == (0, 1)
    assert gates["update"].mean.tolist() == [0.5] * 4
