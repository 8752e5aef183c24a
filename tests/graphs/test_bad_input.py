"""What Shift refuses, and how it says so: what was got, what was expected, the likely cause."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

import shiftstate as ss
from shiftstate import memory

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
        r"^weight has shape \(1,\); expected \(2,\): one number per edge$",
    ),
    "weights as a column": (lambda: ss.Shift.from_edges([[0], [1]], [[1.0]]), r"^weight has shape \(1, 1\); expected"),
    "weight NaN": (lambda: ss.Shift.from_edges([[0], [1]], [NAN]), r"^weight holds 1 NaN or infinite entries"),
    "weight complex": (lambda: ss.Shift.from_edges([[0], [1]], [1j]), r"^weight is complex; expected real weights$"),
    "weight words": (lambda: ss.Shift.from_edges([[0], [1]], ["a"]), r"^weight is a list that is not numeric"),
    "weight elsewhere": (
        lambda: ss.Shift.from_edges(torch.tensor([[0], [1]]), torch.ones(1, device="meta")),
        r"^weight is on meta and edge_index on cpu; expected one device$",
    ),
    "node names": (
        lambda: ss.Shift.from_edges([["a", "b"], ["b", "c"]]),
        r"^edge_index holds the node name 'a'; expected integer node ids from 0: number the names, or use",
    ),
    "node names by edge": (lambda: ss.Shift.from_edges([("a", "b")]), r"^edge_index holds the node name 'a'"),
    "node names of NumPy": (
        lambda: ss.Shift.from_edges(np.array([["a"], ["b"]])),
        r"^edge_index holds the node name 'a'",
    ),
    "node names among ids": (
        lambda: ss.Shift.from_edges(np.array([[0], ["b"]], dtype=object)),
        r"^edge_index holds the node name 'b'",
    ),
    "edges as a set": (lambda: ss.Shift.from_edges({(0, 1)}), r"^edge_index is a set that is not numeric"),
    "edges as a sparse tensor": (
        lambda: ss.Shift.from_edges(torch.ones(2, 2).to_sparse()),
        r"^edge_index is a sparse tensor .*; expected \(2, E\) node ids, or from_matrix$",
    ),
    "edges without values": (
        lambda: ss.Shift.from_edges(torch.zeros(2, 1, dtype=torch.int64, device="meta")),
        r"^edge_index is on the meta device, where tensors have no values; expected one with values$",
    ),
    "matrix without values": (
        lambda: ss.Shift.from_matrix(torch.eye(2, device="meta")),
        r"^matrix is on the meta device, where tensors have no values; expected one with values$",
    ),
    "eight bits": (
        lambda: ss.Shift.from_matrix(torch.eye(2).to(torch.float8_e4m3fn)),
        r"^matrix holds torch.float8_e4m3fn; expected a floating dtype: one of float16, bfloat16, float32, float64$",
    ),
    "weights of eight bits": (
        lambda: ss.Shift.from_edges([[0], [1]], torch.ones(1).to(torch.float8_e4m3fn)),
        r"^weight holds torch.float8_e4m3fn; expected a floating dtype",
    ),
    "more nodes than can be": (
        lambda: ss.Shift.from_edges([[0], [1]], num_nodes=10**30),
        r"^the graph has 1,000,.* nodes; expected at most 3,037,000,499; .*: is an id a hash or a key\?$",
    ),
    "an id that is a hash": (
        lambda: ss.Shift.from_edges([[0], [2**63 - 1]]),
        r"^the graph has 9,223,.*a hash or a key",
    ),
    "a dense matrix of ten million nodes": (
        lambda: ss.Shift.from_edges([[0], [1]], num_nodes=10**7, layout="dense"),
        r'^a dense S of 10,000,000 nodes needs .* bytes and .* are free; expected a sparse one: layout="sparse"',
    ),
    "a large shift made dense": (
        lambda: ss.Shift.from_edges([[0], [1]], num_nodes=10**7).to_dense(),
        r"^a dense S of 10,000,000 nodes needs 400,000,000,000,000 bytes",
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
    "batch of nothing": (lambda: ss.Shift.batch(None), r"^None was given; expected a list of shifts: \[shift, ...\]$"),
    "batch of a shift": (
        lambda: ss.Shift.batch(PAIR),
        r"^a Shift was given; expected a list of shifts: \[shift, ...\]$",
    ),
    "batch of a dict": (
        lambda: ss.Shift.batch({"a": PAIR}),
        r"^a dict was given; expected a list of shifts: list\(shifts.values\(\)\)$",
    ),
    "batch of a tensor": (lambda: ss.Shift.batch(torch.eye(2)), r"^a Tensor was given; expected shifts"),
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
        r"^x is torch.float64 and the shift torch.float32; expected one dtype: x.float\(\), or the slower "
        r"shift.to\(x.dtype\) with layer.to\(x.dtype\)$",
    ),
    "dtypes, the shift wider": (
        lambda: PAIR.to(torch.float64) @ torch.ones(2, 1),
        r"^x is torch.float32 and the shift torch.float64; expected one dtype: use shift.to\(x.dtype\)$",
    ),
    "channels before nodes": (
        lambda: PAIR @ torch.ones(7, 3, 2),
        r"^x has shape \(7, 3, 2\); .*; transpose it: x.transpose\(-1, -2\)$",
    ),
    "sparse signal": (lambda: PAIR @ torch.ones(2, 1).to_sparse(), r"^x is sparse; .* dense tensor: x.to_dense\(\)$"),
    "nested signal": (
        lambda: PAIR @ torch.nested.nested_tensor([torch.ones(2, 1)] * 2, layout=torch.jagged),
        r"^x is nested; expected one dense tensor",
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
        r"^a shift cannot hold torch.int64; expected a floating dtype: one of float16, bfloat16, float32, float64$",
    ),
    "to eight bits": (lambda: PAIR.to(torch.float8_e5m2), r"^a shift cannot hold torch.float8_e5m2; expected a float"),
    "to two dtypes": (
        lambda: PAIR.to(torch.float32, torch.float64),
        r"^target is torch.float32; expected .* or one of each",
    ),
    "to two devices": (lambda: PAIR.to("cpu", device="cpu"), r"^target is 'cpu'; expected .* or one of each$"),
    "to the dtype of integers": (lambda: PAIR.to(torch.arange(3)), r"^a shift cannot hold torch.int64"),
    "to nowhere": (lambda: PAIR.to("float64"), r"^target is 'float64'; expected a torch dtype, or a device such as"),
    "to nothing": (lambda: PAIR.to(None), r"^target is None; expected a torch dtype"),
}


WRONG_INDICES = {
    "COO": lambda: torch.sparse_coo_tensor([[0, 5], [1, 0]], [1.0, 1.0], (2, 2), check_invariants=False),
    "CSR": lambda: torch.sparse_csr_tensor([0, 1, 2], [5, 0], [1.0, 1.0], (2, 2), check_invariants=False),
    "CSC": lambda: torch.sparse_csc_tensor([0, 1, 9], [1, 0], [1.0, 1.0], (2, 2), check_invariants=False),
    "BSR": lambda: torch.sparse_bsr_tensor([0, 1], [3], torch.ones(1, 2, 2), (2, 2), check_invariants=False),
    "SciPy CSR": lambda: spoiled(sp.csr_array(np.eye(2)), "indices"),
    "SciPy CSC": lambda: spoiled(sp.csc_array(np.eye(2)), "indptr"),
    "SciPy COO": lambda: spoiled(sp.coo_array(np.eye(2)), "col"),
}


def spoiled(matrix, part):
    getattr(matrix, part)[1] = 7
    return matrix


@pytest.mark.parametrize("kind", WRONG_INDICES)
def test_indices_beyond_the_shape_of_a_sparse_matrix_are_refused(kind):
    with pytest.raises(ValueError, match=r"^matrix .*; expected .*; was the matrix put together by hand\?$") as caught:
        ss.Shift.from_matrix(WRONG_INDICES[kind]())
    assert "\n" not in str(caught.value)


@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=2).map(lambda middle: [0, *sorted(middle), 4])
    | st.lists(st.integers(-2, 5), min_size=4, max_size=4),
    st.lists(st.integers(0, 2), min_size=4, max_size=4) | st.lists(st.integers(-2, 4), min_size=0, max_size=5),
    st.sampled_from([torch.sparse_csr, torch.sparse_csc]),
)
def test_any_compressed_matrix_is_what_its_indices_say_or_is_refused(pointers, indices, layout):
    """Three nodes; no numbers make torch read what is not there."""
    values = torch.arange(1.0, len(indices) + 1)
    parts = torch.tensor(pointers), torch.tensor(indices, dtype=torch.int64), values
    matrix = torch.sparse_compressed_tensor(*parts, (3, 3), layout=layout, check_invariants=False)
    steps = np.diff(pointers)
    if pointers[0] == 0 and pointers[-1] == len(indices) and (steps >= 0).all() and set(indices) <= {0, 1, 2}:
        expected = np.zeros((3, 3))
        np.add.at(expected, (np.repeat(range(3), steps), indices), values)
        expected = expected if layout == torch.sparse_csr else expected.T
        assert np.array_equal(ss.Shift.from_matrix(matrix).to_dense().numpy(), expected)
    else:
        with pytest.raises(ValueError, match=r"^matrix (has wrong indices|holds node id)"):
            ss.Shift.from_matrix(matrix)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
@pytest.mark.parametrize("arguments", [("cuda",), ("cuda:1",), (torch.device("cuda"),), ("cuda", torch.float64)])
def test_a_device_that_is_not_there_is_refused(arguments):
    with pytest.raises(
        ValueError, match=r"^target is .*cuda.*; expected a torch dtype, or a device such as 'cpu'"
    ) as caught:
        PAIR.to(*arguments)
    assert "\n" not in str(caught.value)


def test_more_nodes_than_fit_into_memory_are_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda device: 2**30)
    with pytest.raises(
        ValueError, match=r"^a graph of 1,000,000,000 nodes needs 16,000,000,000 bytes and 1,073,741,824"
    ):
        ss.Shift.from_edges([[0], [1]], num_nodes=10**9)


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
