"""Every way in gives the same S, in the layout and dtype that were asked for."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch

import shiftstate as ss
from tests.example_graphs import EDGES, MATRIX, WEIGHT, example

LAYOUTS = ("dense", "sparse")


def networkx_graph():
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(6))
    for source, target, weight in zip(*EDGES, WEIGHT, strict=True):
        graph.add_edge(source, target, weight=weight)
    return graph


def torch_sparse(to):
    return lambda: ss.Shift.from_matrix(to(torch.from_numpy(MATRIX)))


CONSTRUCTORS = {
    "edges as lists": lambda: ss.Shift.from_edges(EDGES, np.array(WEIGHT), num_nodes=6),
    "edges as arrays": lambda: ss.Shift.from_edges(np.array(EDGES, dtype=np.int32), np.array(WEIGHT), num_nodes=6),
    "edges as tensors": example,
    "NumPy": lambda: ss.Shift.from_matrix(MATRIX),
    "NumPy, Fortran order": lambda: ss.Shift.from_matrix(np.asfortranarray(MATRIX)),
    "NumPy, negative strides": lambda: ss.Shift.from_matrix(np.ascontiguousarray(MATRIX[::-1, ::-1])[::-1, ::-1]),
    "NumPy, other byte order": lambda: ss.Shift.from_matrix(MATRIX.astype(">f8")),
    "list of arrays": lambda: ss.Shift.from_matrix(list(MATRIX)),
    "torch dense": lambda: ss.Shift.from_matrix(torch.from_numpy(MATRIX)),
    "torch COO": torch_sparse(lambda t: t.to_sparse()),
    "torch CSR": torch_sparse(lambda t: t.to_sparse_csr()),
    "torch CSC": torch_sparse(lambda t: t.to_sparse_csc()),
    "torch BSR": torch_sparse(lambda t: t.to_sparse_bsr((2, 3))),
    "NetworkX": lambda: ss.Shift.from_networkx(networkx_graph()),
    "a batch of one": lambda: ss.Shift.batch([example()]),
} | {
    f"SciPy {kind}": (lambda kind=kind: ss.Shift.from_matrix(getattr(sp, kind)(MATRIX)))
    for kind in (
        "csr_array",
        "csr_matrix",
        "csc_array",
        "coo_array",
        "dok_array",
        "lil_array",
        "dia_array",
        "bsr_array",
    )
}


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_every_constructor_gives_the_same_s(name):
    shift = CONSTRUCTORS[name]()
    assert shift.dtype == torch.float64
    assert np.array_equal(shift.to_dense().numpy(), MATRIX)
    assert np.array_equal(shift.to_scipy().toarray(), MATRIX)
    assert (shift.num_nodes, shift.num_edges, shift.num_graphs) == (6, 6, 1)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_can_be_asked_for_in_every_constructor(layout):
    built = [
        example(layout),
        ss.Shift.from_matrix(MATRIX, layout=layout),
        ss.Shift.from_matrix(sp.csr_array(MATRIX), layout=layout),
        ss.Shift.from_networkx(networkx_graph(), layout=layout),
        ss.Shift.batch([example()], layout=layout),
    ]
    for shift in built:
        assert shift.layout == layout
        assert np.array_equal(shift.to_dense().numpy(), MATRIX)


def test_auto_is_dense_for_small_or_filled_graphs_and_sparse_otherwise():
    ring = torch.arange(65)
    cycle = torch.stack([ring, ring.roll(-1)])
    assert ss.Shift.from_edges(cycle[:, :63], num_nodes=64).layout == "dense"
    assert ss.Shift.from_edges(cycle).layout == "sparse"
    assert ss.Shift.from_matrix(np.ones((65, 65))).layout == "dense"
    assert ss.Shift.from_matrix(np.eye(65)).layout == "sparse"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_floating_dtype_is_kept(dtype, layout):
    assert example(layout, dtype).dtype == dtype
    assert ss.Shift.from_matrix(torch.eye(3, dtype=dtype), layout=layout).dtype == dtype


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8, np.uint16, bool])
def test_whole_numbers_and_bools_become_the_default_dtype(dtype):
    for matrix in (np.eye(3, dtype=dtype), sp.csr_array(np.eye(3, dtype=dtype)), torch.eye(3).bool().to_sparse()):
        assert ss.Shift.from_matrix(matrix).dtype == torch.float32
    assert ss.Shift.from_edges([[0, 1], [1, 0]], np.ones(2, dtype=dtype)).dtype == torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert ss.Shift.from_matrix(np.eye(3, dtype=dtype)).dtype == torch.float64
        assert ss.Shift.from_edges([[0, 1], [1, 0]]).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_plain_lists_of_numbers_become_the_default_dtype():
    for shift in (ss.Shift.from_matrix(MATRIX.tolist()), ss.Shift.from_edges(EDGES, WEIGHT, num_nodes=6)):
        assert shift.dtype == torch.float32
        assert np.array_equal(shift.to_dense().numpy(), MATRIX)


def test_an_edge_points_from_the_first_row_to_the_second():
    shift = ss.Shift.from_edges([[0], [1]])
    assert (shift @ torch.tensor([[1.0], [0.0]])).tolist() == [[0.0], [1.0]]
    assert shift.to_dense()[1, 0] == 1


def test_networkx_nodes_keep_their_order_and_undirected_edges_count_both_ways():
    graph = nx.Graph()
    graph.add_edge("b", "a", weight=2.0)
    graph.add_edge("a", "c")
    dense = ss.Shift.from_networkx(graph).to_dense()
    assert dense.tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]  # b, a, c
    assert ss.Shift.from_networkx(graph, weight=None).to_dense().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_shift_does_not_follow_later_changes_of_what_it_was_made_from(layout):
    matrix, tensor, weight = MATRIX.copy(), torch.from_numpy(MATRIX.copy()), torch.tensor(WEIGHT, dtype=torch.float64)
    made = [
        ss.Shift.from_matrix(matrix, layout=layout),
        ss.Shift.from_matrix(tensor, layout=layout),
        ss.Shift.from_edges(EDGES, weight, num_nodes=6, layout=layout),
    ]
    matrix[:], tensor[:], weight[:] = 7, 7, 7
    for shift in made:
        assert np.array_equal(shift.to_dense().numpy(), MATRIX)


def test_a_read_only_array_is_taken_without_a_warning():
    matrix = MATRIX.copy()
    matrix.flags.writeable = False
    assert np.array_equal(ss.Shift.from_matrix(matrix).to_dense().numpy(), MATRIX)
