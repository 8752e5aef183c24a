"""Verdicts on layers made to explode, vanish, saturate, die and live."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import shiftstate as ss
from shiftstate.lens import examine
from shiftstate.lens.verdict import growth, since_when
from tests.lens.subjects import cycle, make, path, signal


def verdict(layer, x, shift, **options):
    return examine(layer, x, shift, with_reach=False, **options).layers[0].verdict


@settings(max_examples=25)
@given(st.floats(1.2, 3.0))
def test_a_gcnn_explodes_from_the_shift_where_the_power_passes_a_hundred(radius):
    found = verdict(make("gcnn", channels=(1, 1), K=40), signal(6, 1), cycle(6, radius))
    assert found.word == "exploding"
    assert radius ** (found.since - 1) < 100 <= radius**found.since * (1 + 1e-9)
    assert found.rate == pytest.approx(radius)
    assert "normalized('spectral')" in " ".join(found.advice)


@settings(max_examples=25)
@given(st.floats(0.2, 0.8))
def test_a_gcnn_vanishes_from_the_shift_where_the_power_passes_a_thousandth(radius):
    found = verdict(make("gcnn", channels=(1, 1), K=40), signal(6, 1), cycle(6, radius))
    assert found.word == "vanishing"
    assert radius**found.since * (1 - 1e-9) <= 1e-3 < radius ** (found.since - 1)
    assert found.rate == pytest.approx(radius)


@pytest.mark.parametrize("kind", ["gcnn", "rsn-tanh", "lssm", "lssm-biases", "gru-memory"])
def test_a_cycle_keeps_every_filter_alive(kind):
    found = verdict(make(kind, channels=(1, 4), K=32), signal(8, 10, 1), cycle(10))
    assert (found.word, found.since, found.advice) == ("alive", None, ())
    assert "alive through all 32 shifts" in found.sentence


def only(k, K=16):
    """A GCNN whose output is S^k x alone."""
    layer = make("gcnn", channels=(1, 1), K=K)
    with torch.no_grad():
        layer.h.zero_()
        layer.h[k] = 1.0
    return layer


@pytest.mark.parametrize(
    ("k", "K", "nodes", "word"),
    [
        (0, 16, 20, "short-sighted"),
        (2, 16, 20, "short-sighted"),
        (2, 8, 20, "short-sighted"),
        (3, 16, 20, "alive"),  # three hops are far enough
        (2, 7, 20, "alive"),  # so few hops are offered by K
        (2, 16, 8, "alive"),  # so few hops are offered by the graph
    ],
)
def test_a_living_state_is_short_sighted_if_half_lies_within_two_of_eight_hops_or_more(k, K, nodes, word):
    lens = examine(only(k, K), signal(4, nodes, 1), cycle(nodes))
    assert lens.reach.half == k
    assert lens.reach.offered == min(K, nodes - 1)
    assert (lens.verdict.word, lens.verdict.since) == (word, None)
    assert (", but short-sighted: " in lens.verdict.sentence) == (word == "short-sighted")
    assert bool(lens.verdict.advice) == (word == "short-sighted")


def test_a_state_that_explodes_is_not_called_short_sighted():
    assert examine(only(0), signal(4, 20, 1), cycle(20, 2.0)).verdict.word == "exploding"


def test_short_sight_is_worse_than_life_and_better_than_everything_else():
    net = torch.nn.ModuleList([only(0), only(9)])
    net.forward = lambda x, shift: net[1](net[0](x, shift), shift)
    lens = examine(net, signal(4, 40, 1), cycle(40))
    assert [layer.verdict.word for layer in lens.layers] == ["short-sighted", "alive"]
    assert lens.verdict.word == "short-sighted"
    assert lens.reach.half == 9


def test_sizes_are_right_up_to_the_largest_number_and_beyond_it_the_state_explodes():
    seen = examine(make("gcnn", channels=(1, 1), K=9), torch.ones(6, 1).double(), cycle(6, 1e60)).layers[0]
    assert float(seen.states.norm[5]) == pytest.approx(6**0.5 * 1e300)
    assert not torch.isfinite(seen.states.norm[6:]).any()
    assert (seen.verdict.word, seen.verdict.since) == ("exploding", 1)


def test_a_dead_state():
    layer = make("rsn", channels=(1, 2), K=6)
    with torch.no_grad():
        layer.h_ww.fill_(1.0)
        layer.h_wx.zero_()
        layer.h_ww[3].fill_(-1.0)
        layer.h_yx.fill_(1.0)
    found = verdict(layer, signal(4, 6, 1).abs() + 0.1, cycle(6))
    assert (found.word, found.since) == ("dead", 4)
    assert "leaky_relu" in found.advice[0]


def test_a_dead_output():
    layer = make("rsn", channels=(1, 2), state_activation="tanh", K=6)
    with torch.no_grad():
        layer.h_yw.zero_()
        layer.h_yx.fill_(-1.0)
    found = verdict(layer, signal(4, 6, 1).abs() + 0.1, cycle(6))
    assert (found.word, found.since) == ("dead", 0)
    assert "output is dead" in found.sentence


def test_a_saturated_state():
    layer = make("rsn-tanh", channels=(1, 2), K=6)
    with torch.no_grad():
        layer.h_wx.fill_(100.0)
    found = verdict(layer, signal(4, 6, 1).abs() + 0.1, cycle(6))
    assert (found.word, found.since) == ("saturated", 1)
    assert "weight decay" in found.advice[0]


def test_an_acyclic_graph_is_told_apart():
    found = verdict(make("gcnn", channels=(1, 1), K=8), signal(4, 1), path(4))
    assert (found.word, found.since) == ("dead", 4)
    assert found.rate != found.rate
    late = torch.eye(40, 1).double()
    found = verdict(make("gcnn", channels=(1, 1), K=8), late, path(40, 0.1))
    assert (found.word, found.since) == ("dead", 1)  # one node of forty is no more than a tenth


def test_a_non_normal_shift_is_named_as_the_cause():
    S = torch.diag(torch.full((5,), 30.0), 1).double() + 0.5 * torch.eye(6).double()
    found = verdict(make("gcnn", channels=(1, 1), K=4), signal(6, 1), ss.Shift.from_matrix(S))
    assert found.word == "exploding"
    assert "far from normal" in found.advice[0]


def test_weights_that_hardly_learn_are_named_with_their_k():
    found = verdict(make("gcnn", channels=(1, 1), K=20), torch.ones(6, 1).double(), cycle(6, 0.5))
    (note,) = (note for note in found.notes if "gradient" in note)
    assert "h from k = 10" in note


def test_the_worst_layer_gives_the_verdict_of_a_network():
    torch.manual_seed(0)
    net = ss.Network("gcnn", [1, 2, 2], 12, activation="identity").double()
    with torch.no_grad():
        net.layers[0].h.zero_()
        net.layers[0].h[0] = 1.0
        net.layers[0].bias.zero_()
    x = torch.tensor([[1.0], [-1.0]]).double()
    S = torch.tensor([[1.5, 0.5], [0.5, 1.5]]).double()
    lens = examine(net, x, ss.Shift.from_matrix(S), with_reach=False)
    assert [layer.verdict.word for layer in lens.layers] == ["alive", "alive"]
    lens = examine(net, x + 1, ss.Shift.from_matrix(S), with_reach=False)
    assert lens.verdict.word == "exploding"


def test_no_shifts_at_all():
    found = verdict(make("rsn-tanh", K=0), signal(3, 6, 2), cycle(6))
    assert (found.word, found.sentence) == ("alive", "There are no shifts: K = 0.")


def test_a_zero_input():
    found = verdict(make("rsn-tanh"), torch.zeros(3, 6, 2).double(), cycle(6))
    assert found.word == "dead"


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_since_when_is_the_first_k_from_which_on_it_holds(holds):
    expected = next((k for k in range(len(holds)) if all(holds[k:])), None)
    assert since_when(torch.tensor(holds)) == expected


@given(st.floats(0.1, 10), st.integers(1, 30))
def test_growth_of_a_geometric_curve(rate, K):
    assert growth(rate ** torch.arange(K + 1).double()) == pytest.approx(rate)


def test_chebyshevs_basis_on_a_directed_graph_is_named_as_the_cause():
    x = signal(4, 20, 1)
    found = examine(make("gcnn", channels=(1, 1), K=20, basis="chebyshev"), x, cycle(20), with_reach=False).verdict
    assert found.word == "exploding"
    assert "take basis='powers'" in str(found)
    both = ss.Shift.from_matrix((cycle(20).to_dense() + cycle(20).to_dense().T) / 2)
    layer = make("gcnn", channels=(1, 1), K=20, basis="chebyshev")
    assert examine(layer, x, both, with_reach=False).verdict.word == "alive"
