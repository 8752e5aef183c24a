"""What Shift refuses, and how it says so: what was got, what was expected, the likely cause."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch

import shiftstate as ss

PAIR = ss.Shift.from_edges([[0, 1], [1, 0]])
NAN, INF = float("nan"), float("inf")


def weighted(value):
    graph = nx.DiGraph()
    graph.add_edge(0, 1, weight=value)
    return graph


REFUSED = {
    "not square": (
        lambda: ss.Shift.from_matrix(np.ones((2, 3))),
        r"^matrix has shape \(2, 3\); expected a square \(N, N\); is it an edge list\? use from_edges$",
    ),
    "not square, sparse": (lambda: ss.Shift.from_matrix(sp.csr_array((2, 3))), r"^matrix has shape \(2, 3\)"),
    "not square, torch sparse": (
        lambda: ss.Shift.from_matrix(torch.ones(2, 3).to_sparse()),
        r"^matrix has shape \(2, 3\)",
    ),
    "a vector": (lambda: ss.Shift.from_matrix([1.0, 2.0]), r"^matrix has shape \(2,\); expected a square"),
    "three axes": (lambda: ss.Shift.from_matrix(torch.ones(2, 2, 2)), r"^matrix has shape \(2, 2, 2\)"),
    "no nodes": (lambda: ss.Shift.from_matrix(np.ones((0, 0))), r"^the graph has no nodes; expected at least one$"),
    "NaN": (
        lambda: ss.Shift.from_matrix([[0, NAN], [INF, 0]]),
        r"^matrix holds 2 NaN or infinite entries; expected finite weights$",
    ),
    "infinity, sparse": (lambda: ss.Shift.from_matrix(sp.csr_array([[0, INF]] * 2)), r"^matrix holds 2 NaN or inf"),
    "NaN, torch sparse": (
        lambda: ss.Shift.from_matrix(torch.tensor([[0, NAN], [0, 0]]).to_sparse()),
        r"^matrix holds 1 NaN or infinite",
    ),
    "complex": (lambda: ss.Shift.from_matrix(np.eye(2) * 1j), r"^matrix is complex; expected real weights$"),
    "complex, sparse": (lambda: ss.Shift.from_matrix(sp.eye_array(2) * 1j), r"^matrix is complex; expected real"),
    "a string": (
        lambda: ss.Shift.from_matrix("A"),
        r"^matrix is a str that is not numeric.*; expected a tensor or arr",
    ),
    "ragged": (lambda: ss.Shift.from_matrix([[1, 2], [3]]), r"^matrix is a list that is not numeric"),
    "objects": (lambda: ss.Shift.from_matrix(np.array([[None, 1], [1, 0]])), r"^matrix is a ndarray that is not num"),
    "wider than torch": (
        lambda: ss.Shift.from_matrix(np.eye(2, dtype=np.longdouble)),
        r"or of a kind of number that torch does not have",
    ),
    "layout": (
        lambda: ss.Shift.from_matrix(np.eye(2), layout="sprase"),
        r"^unknown layout 'sprase'; expected one of 'auto', 'dense', 'sparse'; did you mean 'sparse'\?$",
    ),
    "id out of range": (
        lambda: ss.Shift.from_edges([[0, 1], [1, 3]], num_nodes=3),
        r"^edge_index holds node id 3; expected ids from 0 to 2 \(num_nodes is 3\); are the ids counted from 1",
    ),
    "negative id": (
        lambda: ss.Shift.from_edges([[0, -1], [1, 0]]),
        r"^edge_index holds node id -1; expected ids from 0",
    ),
    "float ids": (
        lambda: ss.Shift.from_edges(torch.tensor([[0.0], [1.0]])),
        r"^edge_index holds torch.float32; expected integer node ids$",
    ),
    "bool ids": (
        lambda: ss.Shift.from_edges([[True], [False]]),
        r"^edge_index holds torch.bool; expected integer node",
    ),
    "edges by row": (
        lambda: ss.Shift.from_edges([[0, 1], [1, 2], [2, 0]]),
        r"^edge_index has shape \(3, 2\); expected \(2, E\); transpose it: edge_index.T$",
    ),
    "one row": (lambda: ss.Shift.from_edges([[0, 1, 2]]), r"^edge_index has shape \(1, 3\); expected \(2, E\)$"),
    "no edges": (lambda: ss.Shift.from_edges([[], []]), r"^no edges and no num_nodes were given; expected num_nodes"),
    "num_nodes zero": (lambda: ss.Shift.from_edges([[], []], num_nodes=0), r"^num_nodes is 0; expected a whole number"),
    "num_nodes float": (lambda: ss.Shift.from_edges([[0], [1]], num_nodes=2.0), r"^num_nodes is 2.0; expected a whole"),
    "weights too few": (
        lambda: ss.Shift.from_edges([[0, 1], [1, 0]], [1.0]),
        r"^weight has shape \(1,\); expected \(2,\): one number an edge$",
    ),
    "weights as a column": (lambda: ss.Shift.from_edges([[0], [1]], [[1.0]]), r"^weight has shape \(1, 1\); expected"),
    "weight NaN": (lambda: ss.Shift.from_edges([[0], [1]], [NAN]), r"^weight holds 1 NaN or infinite entries"),
    "weight complex": (lambda: ss.Shift.from_edges([[0], [1]], [1j]), r"^weight is complex; expected real weights$"),
    "weight words": (lambda: ss.Shift.from_edges([[0], [1]], ["a"]), r"^weight is a list that is not numeric"),
    "weight elsewhere": (
        lambda: ss.Shift.from_edges(torch.tensor([[0], [1]]), torch.ones(1, device="meta")),
        r"^weight is on meta and edge_index on cpu; expected one device$",
    ),
    "not a NetworkX graph": (lambda: ss.Shift.from_networkx([(0, 1)]), r"^graph is a list; expected a NetworkX graph$"),
    "empty NetworkX": (lambda: ss.Shift.from_networkx(nx.Graph()), r"^graph has no nodes; expected at least one$"),
    "NetworkX words": (
        lambda: ss.Shift.from_networkx(weighted("heavy")),
        r"^edge attribute 'weight' holds values that are not numbers; expected real weights$",
    ),
    "NetworkX NaN": (lambda: ss.Shift.from_networkx(weighted(NAN)), r"^matrix holds 1 NaN or infinite entries"),
    "empty batch": (lambda: ss.Shift.batch([]), r"^an empty list was given; expected at least one shift$"),
    "batch of matrices": (lambda: ss.Shift.batch([PAIR, np.eye(2)]), r"^a ndarray was given; expected shifts"),
    "batch of dtypes": (
        lambda: ss.Shift.batch([PAIR, PAIR.to(torch.float64)]),
        r"^shifts of torch.float32 on cpu and torch.float64 on cpu were given; expected one dtype and device",
    ),
    "batch of devices": (
        lambda: ss.Shift.batch([PAIR, PAIR.to("meta")]),
        r"^shifts of torch.float32 on cpu and torch.",
    ),
    "nodes of another graph": (
        lambda: PAIR @ torch.ones(5, 3, 1),
        r"^x has shape \(5, 3, 1\); expected \(..., 2, channels\) for a shift of 2 nodes; wrong graph\?$",
    ),
    "no channel axis": (
        lambda: PAIR @ torch.ones(2),
        r"^x has shape \(2,\); .*; add a channel axis: x.unsqueeze\(-1\)$",
    ),
    "no axis at all": (lambda: PAIR @ torch.tensor(1.0), r"^x has shape \(\); expected"),
    "batch without channel axis": (lambda: PAIR @ torch.ones(7, 2), r"add a channel axis: x.unsqueeze\(-1\)$"),
    "integer signal": (
        lambda: PAIR @ torch.ones(2, 1, dtype=torch.int64),
        r"^x holds torch.int64; expected a floating dtype: x.to\(torch.float32\)$",
    ),
    "bool signal": (
        lambda: PAIR @ torch.ones(2, 1, dtype=torch.bool),
        r"^x holds torch.bool; expected a floating dtype",
    ),
    "complex signal": (lambda: PAIR @ torch.ones(2, 1, dtype=torch.complex64), r"^x holds torch.complex64; expected"),
    "signal of NumPy": (
        lambda: PAIR @ np.ones((2, 1)),
        r"^x is a ndarray; expected a torch tensor \(..., N, channels\)$",
    ),
    "dtypes": (
        lambda: PAIR @ torch.ones(2, 1, dtype=torch.float64),
        r"^x is torch.float64 and the shift torch.float32; expected one dtype: use shift.to\(x.dtype\)$",
    ),
    "devices": (
        lambda: PAIR @ torch.ones(2, 1, device="meta"),
        r"^x is on meta and the shift on cpu; expected one device: use shift.to\(x.device\)$",
    ),
    "order too short": (lambda: PAIR.permuted([0]), r"^order is not a permutation; expected each of 0 to 1 once$"),
    "order twice": (lambda: PAIR.permuted([0, 0]), r"^order is not a permutation"),
    "order of floats": (lambda: PAIR.permuted([0.0, 1.0]), r"^order is not a permutation"),
    "order as a mask": (lambda: PAIR.permuted([False, True]), r"^order is not a permutation"),
    "order across graphs": (
        lambda: ss.Shift.batch([PAIR, PAIR]).permuted([2, 1, 0, 3]),
        r"^order moves nodes from one graph of the batch to another; permute within graphs$",
    ),
    "to an integer dtype": (
        lambda: PAIR.to(torch.int64),
        r"^a shift cannot hold torch.int64; expected a floating dtype$",
    ),
    "to nowhere": (lambda: PAIR.to("float64"), r"^target is 'float64'; expected a torch dtype, or a device such as"),
    "to nothing": (lambda: PAIR.to(None), r"^target is None; expected a torch dtype"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_in_one_line(name):
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_networkx_is_asked_for_by_name_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "networkx", None)
    with pytest.raises(ImportError, match=r"from_networkx needs NetworkX: pip install 'shiftstate\[networkx\]'"):
        ss.Shift.from_networkx(nx.path_graph(3))
