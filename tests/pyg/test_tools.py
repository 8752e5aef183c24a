"""PyG's tools take the layers and the model: summary, to_hetero, the model hub."""

import sys
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import summary, to_hetero
from torch_geometric.nn.model_hub import PyGModelHubMixin
from torch_geometric.utils import total_influence

from shiftstate.pyg import LSSMConv, StateSpaceGNN
from tests.pyg.examples import CONVS, graph, signal

RELATIONS = [("a", "near", "a"), ("a", "like", "a"), ("b", "near", "b")]
SIZES = {"a": 9, "b": 7}
GRAPHS = {relation: graph(seed, SIZES[relation[0]]) for seed, relation in enumerate(RELATIONS)}
EDGES = {relation: edges for relation, (edges, _) in GRAPHS.items()}
WEIGHTS = {relation: weight for relation, (_, weight) in GRAPHS.items()}
SIGNALS = {kind: signal(n, 4, seed=n) for kind, n in SIZES.items()}


@pytest.fixture
def plain_tables(monkeypatch):
    """PyG's summary draws its table by tabulate, which is optional: here, the rows are enough."""
    monkeypatch.setitem(sys.modules, "tabulate", SimpleNamespace(tabulate=lambda tabular_data, **_: tabular_data))


def rows(*arguments):
    return {row[0].strip("│├└─ "): row[1:] for row in summary(*arguments)[1:]}


@pytest.mark.usefixtures("plain_tables")
@pytest.mark.parametrize("conv_class", CONVS)
def test_a_summary_tells_shapes_and_parameters_of_a_layer(conv_class):
    (edges, weight), conv = graph(), conv_class(4, 3)
    count = sum(parameter.numel() for parameter in conv.parameters())
    assert rows(conv, signal(9, 4), edges, weight) == {
        conv_class.__name__: ["[9, 4], [2, 24], [24]", "[9, 3]", str(count)]
    }


@pytest.mark.usefixtures("plain_tables")
def test_a_summary_lists_the_layers_of_a_model():
    found = rows(StateSpaceGNN(4, 8, 2, 3, conv="rsn"), signal(9, 4), graph()[0])
    assert found["StateSpaceGNN"][:2] == ["[9, 4], [2, 24]", "[9, 3]"]
    assert found["(0)RSNConv"][:2] == ["[9, 4]", "[9, 8]"]
    assert found["(1)RSNConv"][:2] == ["[9, 8]", "[9, 3]"]


class TwoLayers(torch.nn.Module):
    def __init__(self, conv_class, in_channels):
        super().__init__()
        self.first = conv_class(in_channels, 8)
        self.second = conv_class(-1, 3)

    def forward(self, x, edge_index, edge_weight):
        return self.second(self.first(x, edge_index, edge_weight).relu(), edge_index, edge_weight)


def by_hand(convs, x, relations):
    """What to_hetero makes of a layer: one for each relation, summed over the relations of a node type."""
    outputs = {}
    for relation in relations:
        y = convs["__".join(relation)](x[relation[0]], EDGES[relation], WEIGHTS[relation])
        outputs[relation[0]] = outputs.get(relation[0], 0) + y
    return outputs


@pytest.mark.parametrize("in_channels", [4, -1])
@pytest.mark.parametrize("conv_class", CONVS)
def test_layers_become_heterogeneous_where_each_relation_has_one_node_type(conv_class, in_channels):
    model = to_hetero(TwoLayers(conv_class, in_channels), (list(SIZES), RELATIONS), aggr="sum")
    found = model(SIGNALS, EDGES, WEIGHTS)
    hidden = {kind: y.relu() for kind, y in by_hand(model.first, SIGNALS, RELATIONS).items()}
    for kind, expected in by_hand(model.second, hidden, RELATIONS).items():
        torch.testing.assert_close(found[kind], expected)
    sum(y.sum() for y in found.values()).backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


@pytest.mark.parametrize("weighted", [True, False])
def test_a_model_becomes_heterogeneous_where_each_relation_has_one_node_type(weighted):
    model = to_hetero(StateSpaceGNN(4, 8, 2, 3, conv="rsn"), (list(SIZES), RELATIONS))
    found = model(SIGNALS, EDGES, WEIGHTS) if weighted else model(SIGNALS, EDGES)
    assert {kind: y.shape for kind, y in found.items()} == {"a": (9, 3), "b": (7, 3)}


def test_a_relation_between_two_node_types_raises_and_names_the_reason():
    relations = [("a", "near", "a"), ("a", "owns", "b")]
    model = to_hetero(TwoLayers(LSSMConv, 4), (list(SIZES), relations))
    edges = {relation: graph()[0] for relation in relations}
    with pytest.raises(ValueError, match="does not support bipartite message passing"):
        model(SIGNALS, edges, dict.fromkeys(relations, graph()[1]))


class OnTheHub(StateSpaceGNN, PyGModelHubMixin):
    """As PyG documents it."""

    def __init__(self, model_name, dataset_name, model_kwargs):
        StateSpaceGNN.__init__(self, **model_kwargs)
        PyGModelHubMixin.__init__(self, model_name, dataset_name, model_kwargs)


@pytest.mark.parametrize("in_channels", [4, -1])
def test_a_model_of_the_hub_mixin_is_read_back_from_its_files(in_channels, tmp_path):
    size = {
        "in_channels": in_channels,
        "hidden_channels": 8,
        "num_layers": 2,
        "out_channels": 3,
        "conv": "lssm",
        "K": 5,
    }
    model = OnTheHub("lssm", "none", dict(size)).eval()
    expected = model(signal(9, 4), graph()[0])
    assert model.model_config == size
    # The two methods that the hub's client calls; the client itself is not needed for files on disk.
    model._save_pretrained(tmp_path)
    again = OnTheHub._from_pretrained(str(tmp_path), None, None, False, True, None, config=model.model_config)
    assert torch.equal(again(signal(9, 4), graph()[0]), expected)


@pytest.mark.parametrize("conv", ["gcnn", "lssm"])
def test_pygs_total_influence_asks_for_many_gradients_at_once(conv, capsys):
    data = Data(x=signal(9, 4), edge_index=graph()[0])
    influence, reach = total_influence(StateSpaceGNN(4, 8, 2, 3, conv=conv), data, max_hops=2, num_samples=2)
    assert influence.shape == (3,)
    assert 0 <= reach <= 2


@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    "convert", [torch.jit.script, partial(torch.jit.trace, example_inputs=(signal(9, 4), graph()[0]))]
)
@pytest.mark.parametrize("conv_class", CONVS)
def test_torchscript_raises_and_names_what_works(conv_class, convert):
    with pytest.raises(ValueError, match=rf"^{conv_class.__name__} was given to TorchScript .*torch.export.export"):
        convert(conv_class(4, 3))
