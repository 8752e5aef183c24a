"""The lens as a whole: every filter, networks, what it leaves alone, JSON, drawing, bad input."""

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from torch.testing import assert_close

import shiftstate as ss
from shiftstate.lens import examine
from shiftstate.lens.as_json import number
from shiftstate.lens.draw import draw
from shiftstate.lens.verdict import WORDS
from shiftstate.testing.inputs import graph
from tests.lens.subjects import SUBJECTS, cycle, make, path, signal
from tests.strategies import graphs, layouts


def test_the_older_name_of_the_room_gives_the_same_names():
    from shiftstate import lens, stability
    from shiftstate.stability import examine as by_its_older_name

    assert by_its_older_name is ss.stability.examine is ss.lens.examine is examine
    assert stability.__all__ == lens.__all__
    assert all(getattr(stability, name) is getattr(lens, name) for name in lens.__all__)


def refuse(constant):
    raise AssertionError(f"{constant} is not strict JSON")


def strict(text):
    return json.loads(text, parse_constant=refuse)


def shape(nested):
    return (len(nested), *shape(nested[0])) if isinstance(nested, list) else ()


@pytest.mark.parametrize(("kind", "mixing"), SUBJECTS)
def test_every_filter_goes_under_the_lens_and_into_json(kind, mixing):
    layer, K, n = make(kind, mixing), 4, 8
    found = strict(examine(layer, signal(5, n, 2), graph()).to_json())
    (one,) = found["layers"]
    channels = len(one["sample"]["channels"])
    assert found["kind"] == "shiftstate.lens"
    assert one["filter"] == type(layer).__name__
    assert shape(found["graph"]["x"]) == shape(found["graph"]["y"]) == (n,)
    for name in ("norm", "median", "low", "high", "dead", "saturated"):
        assert shape(one["states"][name]) == shape(one["outputs"][name]) == (K + 1,)
    assert shape(one["sample"]["x"]) == (2, n)
    assert shape(one["sample"]["states"]) == shape(one["sample"]["outputs"]) == (K + 1, channels, n)
    for name, gate in one["gates"].items():
        assert shape(gate["nodes"]) == (K, n)
        assert shape(one["sample"]["gates"][name]) == (K, channels, n)
    assert (one["memories"] is None) == (one["sample"]["memories"] is None)
    for weight in one["gradients"]["parameters"].values():
        assert weight["first_k"] + len(weight["norm"]) == K + 1
    assert one["verdict"]["word"] in WORDS
    assert (one["response"] is None) == (kind != "gcnn")


@settings(max_examples=25)
@given(graphs(), layouts)
def test_any_graph_goes_under_the_lens(graph, layout):
    shift = graph.shift(layout)
    for kind in ("gcnn", "lssm", "gru"):
        lens = examine(make(kind, channels=(1, 2), K=3), signal(graph.num_nodes, 1), shift)
        assert strict(lens.to_json())["graph"]["num_nodes"] == graph.num_nodes
        assert lens.layers[0].reach.beyond == 0


def test_the_same_call_gives_the_same_text():
    layer, x, shift = make("lssm"), signal(5, 8, 2), graph()
    assert examine(layer, x, shift, probes=3).to_json() == examine(layer, x, shift, probes=3).to_json()


def test_dense_and_sparse_shifts_look_the_same():
    layer, x = make("lssm"), signal(5, 8, 2)
    dense, sparse = (examine(layer, x, graph(layout=layout)).layers[0] for layout in ("dense", "sparse"))
    assert_close(dense.states.norm, sparse.states.norm)
    assert_close(dense.gradients.states, sparse.gradients.states)
    assert_close(dense.reach.rms, sparse.reach.rms)


def test_every_layer_of_a_network_is_seen_with_its_own_input():
    torch.manual_seed(0)
    net = ss.Network("lssm", [2, 3, 4], 3, ss.PoolReadout(num_outputs=2), activation="tanh").double()
    x, shift = signal(5, 8, 2), graph()
    lens = examine(net, x, shift, sample=2)
    assert [layer.name for layer in lens.layers] == ["layers.0", "layers.1"]
    middle = torch.tanh(net.layers[0](x, shift)).detach()
    alone = examine(net.layers[1], middle, shift, sample=2).layers[0]
    assert_close(lens.layers[1].sample.x, middle[2].T)
    assert_close(lens.layers[1].states.norm, alone.states.norm)
    assert_close(lens.layers[1].reach.rms, alone.reach.rms)


def test_the_reach_of_a_network_is_that_of_its_last_layers_output():
    torch.manual_seed(0)
    net = ss.Network("rsn", [2, 3, 4], 2, ss.PoolReadout(num_outputs=2), activation="tanh").double()
    x, shift = signal(5, 20, 2), cycle(20)

    def body(x):
        return net.layers[1](torch.tanh(net.layers[0](x, shift)), shift)

    jacobian = torch.autograd.functional.jacobian(body, x[2])  # (N, F, N, G)
    energy = jacobian.square().sum((1, 3))
    hops = (torch.arange(20)[:, None] - torch.arange(20)) % 20
    lens = examine(net, x, shift, sample=2)
    assert lens.reach.hops.tolist() == [0, 1, 2, 3, 4]
    assert lens.reach.offered == 4
    for d, share in enumerate(lens.reach.share):
        assert float(share) == pytest.approx(float(energy[hops == d].sum() / energy.sum()))
    assert lens.reach.beyond == 0
    found = strict(lens.to_json())["reach"]
    assert (found["half"], found["sees"]) == (lens.reach.half, lens.reach.sees())
    assert str(lens).splitlines()[-1].startswith("all layers: Half of what the output depends on lies ")


def test_the_reach_of_a_layer_is_taken_once():
    layer, x, shift = make("lssm"), signal(5, 8, 2), graph()
    lens = examine(layer, x, shift)
    assert lens.reach is lens.layers[0].reach
    assert examine(layer, x, shift, with_reach=False).reach is None


@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
def test_a_network_reaches_as_far_for_signals_with_and_without_a_batch(batch):
    class OneSignal(torch.nn.Module):
        """Takes signals of one rank alone."""

        def __init__(self):
            super().__init__()
            self.filter = make("rsn-tanh", channels=(2, 2))

        def forward(self, x, shift):
            assert x.dim() == len(batch) + 2
            return self.filter(self.filter(x, shift), shift)

    model, x, shift = OneSignal(), signal(8, 2), graph()
    jacobian = torch.autograd.functional.jacobian(lambda x: model.filter(model.filter(x, shift), shift), x)
    found = examine(model, x.expand(*batch, 8, 2), shift).reach
    own = jacobian.square().sum((1, 3)).diagonal().sum() / jacobian.square().sum()
    assert float(found.share[0]) == pytest.approx(float(own))


def test_a_module_whose_layers_have_signals_of_other_shapes_has_no_reach_of_its_own():
    class Folds(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.filter = make("rsn-tanh", channels=(1, 2))

        def forward(self, x, shift):
            return self.filter(x.movedim(-1, 0).unsqueeze(-1), shift)  # every channel a signal of its own

    lens = examine(Folds(), signal(5, 8, 2), graph())
    assert lens.reach is None
    assert lens.layers[0].reach is not None
    assert strict(lens.to_json())["reach"] is None


def test_any_module_that_calls_layers_goes_under_the_lens():
    class Twice(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.filter = make("rsn-tanh", channels=(2, 2))

        def forward(self, x, shift):
            return self.filter(shift=shift, x=self.filter(x, shift))

    model, x, shift = Twice(), signal(5, 8, 2), graph()
    lens = examine(model, x, shift, loss=lambda y, target: y.square().sum())
    assert [layer.name for layer in lens.layers] == ["filter", "filter (call 2)"]
    (gradient,) = torch.autograd.grad(model(x, shift).square().sum(), model.filter.h_ww)
    assert_close(lens.layers[0].gradients.parameters["h_ww"], gradient.flatten(1).norm(dim=1))


def test_the_model_is_left_as_it_was():
    torch.manual_seed(0)
    net = ss.Network("rsn", [2, 3], 3, ss.PoolReadout(num_outputs=2)).double()
    net.layers[0].h_ww.requires_grad_(False)
    net.train()
    net.readout.eval()
    x, state, before = signal(5, 8, 2), torch.get_rng_state(), net.state_dict()
    with torch.no_grad():
        seen = examine(net, x, graph()).layers[0]
    assert seen.gradients.parameters["h_ww"].min() > 0  # frozen weights have a gradient all the same
    assert not net.layers[0].h_ww.requires_grad
    assert net.layers[0].h_wx.requires_grad
    assert all(parameter.grad is None for parameter in net.parameters())
    assert (net.training, net.readout.training) == (True, False)
    assert not net.layers[0]._forward_hooks
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(before[name], value) for name, value in net.state_dict().items())
    assert not x.requires_grad


def test_hooks_are_gone_after_an_error_too():
    layer = make("rsn")
    with pytest.raises(RuntimeError, match="broken"):
        examine(layer, signal(8, 2), graph(), loss=lambda y, target: (_ for _ in ()).throw(RuntimeError("broken")))
    assert not layer._forward_hooks


def test_a_large_graph_is_capped_and_says_so():
    edges = torch.from_numpy(np.random.default_rng(0).integers(0, 900, (2, 6000)))
    shift = ss.Shift.from_edges(edges, torch.ones(6000), num_nodes=900)
    names = [f"node {number}" for number in range(900)]
    lens = examine(ss.LSSM(1, 2, 3), torch.randn(2, 900, 1), shift, names=names, max_nodes=50, probes=4)
    found = strict(lens.to_json())
    drawn = found["graph"]["nodes"]
    degree = np.bincount(edges.unique(dim=1).flatten().numpy(), minlength=900)
    assert len(drawn) == 50
    assert min(degree[drawn]) >= np.sort(degree)[-50]
    assert found["graph"]["names"] == [names[node] for node in drawn]
    assert found["graph"]["left_out"]["nodes"] == 850
    assert found["graph"]["left_out"]["edges"] + len(found["graph"]["edges"]["source"]) == shift.num_edges
    assert found["graph"]["smallest"] is None
    assert shape(found["layers"][0]["gates"]["forget"]["nodes"]) == (3, 50)
    assert lens.layers[0].gates["forget"].nodes.shape == (3, 900)
    norm = torch.linalg.matrix_norm(shift.to_dense().double(), 2)
    assert lens.spectrum.norm == pytest.approx(float(norm), rel=1e-6)


def test_at_most_two_thousand_edges_are_drawn_the_heaviest_first():
    S = signal(60, 60)
    drawing = examine(make("gcnn", channels=(1, 1), K=1), signal(60, 1), ss.Shift.from_matrix(S)).drawing
    assert drawing.weight.numel() == 2000
    assert drawing.left_out == (0, 1600)
    assert drawing.weight.abs().min() == S.abs().flatten().sort(descending=True).values[1999]
    assert_close(S[drawing.edges[1], drawing.edges[0]], drawing.weight)


def test_numbers_that_are_not_finite_are_null():
    shift = ss.Shift.from_matrix(1e30 * cycle(5).to_dense().float())
    found = strict(examine(ss.GCNN(1, 1, 4), torch.ones(5, 1), shift).to_json())
    assert found["layers"][0]["states"]["norm"][-1] is None
    assert found["verdict"]["word"] == "exploding"
    assert (number(math.nan), number(math.inf), number(1 / 3), number(2.0)) == (None, None, 0.33333, 2)


def test_names_from_outside_stay_text():
    hostile = ["</script><script>", '"', "\u202eabc", "\n", "ü"]
    lens = examine(make("gcnn", channels=(1, 1), K=1), signal(5, 1), cycle(5), names=hostile)
    assert strict(lens.to_json())["graph"]["names"] == hostile


def test_the_curves_are_drawn_for_every_kind_of_layer():
    for kind in ("gcnn", "rsn", "lssm", "gru-memory"):
        figure = draw(examine(make(kind, K=3), signal(8, 2), graph()))
        assert len(figure.axes) == 4
        assert all(axes.get_title(loc="left") for axes in figure.axes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "rsn"}, "model is a str; expected a layer or a network"),
        ({"model": torch.nn.Linear(2, 2)}, "Linear holds no Layer"),
        ({"shift": torch.eye(8)}, "shift is a Tensor; expected a Shift"),
        ({"x": signal(7, 2)}, "expected .*8, channels"),
        ({"sample": 5}, "sample is 5 and x holds 5 signals"),
        ({"channels": [9]}, "channel 9 was asked for; expected 0 to 5"),
        ({"names": ["a"]}, "1 names were given; expected 8"),
        ({"probes": 1}, "probes is 1"),
        ({"max_nodes": 0}, "max_nodes is 0"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_bad_input_is_refused_in_one_line(change, message):
    arguments = {"model": make("rsn"), "x": signal(5, 8, 2), "shift": graph(), **change}
    with pytest.raises(ValueError, match=message) as caught:
        examine(**arguments)
    assert "\n" not in str(caught.value)


def test_a_path_has_its_ends_drawn_apart():
    place = examine(make("gcnn", channels=(1, 1), K=1), signal(12, 1), path(12)).drawing.positions
    steps = (place[1:] - place[:-1]).norm(dim=1)
    assert (place[0] - place[-1]).norm() > 2 * steps.mean()
