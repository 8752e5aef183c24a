"""Shift: every way in gives the same S, and S does what a matrix does."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from torch.utils import _pytree as pytree

import shiftstate as ss
from tests.example_graphs import signal
from tests.strategies import graphs, layouts, seeds

# Directed, signed, a self-loop (3), a duplicate (0 → 1), an isolated node (5).
EDGES = [[0, 0, 1, 2, 3, 4, 2], [1, 1, 2, 0, 3, 2, 4]]
WEIGHT = [0.5, 1.0, -2.0, 0.25, 3.0, 1.5, -1.0]
MATRIX = np.zeros((6, 6))
for source, target, weight in zip(*EDGES, WEIGHT, strict=True):
    MATRIX[target, source] += weight

LAYOUTS = ("dense", "sparse")


def example(layout="dense", dtype=torch.float64):
    return ss.Shift.from_edges(EDGES, torch.tensor(WEIGHT, dtype=dtype), num_nodes=6, layout=layout)


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


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("batch", [(), (3,), (2, 3), (0,), (2, 0, 1)])
@pytest.mark.parametrize("channels", [0, 1, 4])
def test_the_product_takes_any_leading_axes(layout, batch, channels):
    x = torch.randn(*batch, 6, channels, dtype=torch.float64)
    expected = np.einsum("ij,...jc->...ic", MATRIX, x.numpy())
    got = example(layout) @ x
    assert got.shape == x.shape
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_product_takes_views_with_gaps(layout):
    x = torch.randn(5, 8, 6, dtype=torch.float64).transpose(1, 2)[..., ::2]
    np.testing.assert_allclose((example(layout) @ x).numpy(), MATRIX @ x.numpy(), rtol=1e-14, atol=1e-14)


def test_matmul_is_the_same_as_the_operator_and_its_order_counts():
    x = torch.randn(6, 6, dtype=torch.float64)
    assert torch.equal(torch.matmul(example(), x), example() @ x)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for @: 'Tensor' and 'Shift'"):
        x @ example()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_shift_nodes_shifts_the_first_axis(layout):
    w = torch.randn(6, 2, 3, 4, dtype=torch.float64)
    expected = np.einsum("ij,jabc->iabc", MATRIX, w.numpy())
    np.testing.assert_allclose(example(layout).shift_nodes(w).numpy(), expected, rtol=1e-14, atol=1e-14)


@given(graphs(), layouts, seeds)
def test_any_graph_multiplies_like_its_matrix(graph, layout, seed):
    shift, x = graph.shift(layout), signal(2, graph.num_nodes, 3, seed=seed)
    np.testing.assert_allclose((shift @ x).numpy(), graph.matrix @ x.numpy(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose((shift.T @ x).numpy(), graph.matrix.T @ x.numpy(), rtol=1e-12, atol=1e-12)


@given(graphs(), layouts)
def test_any_graph_makes_the_round_trip_through_edges_matrix_and_scipy(graph, layout):
    shift = graph.shift(layout)
    edge_index, weight = shift.edges()
    for again in (
        ss.Shift.from_edges(edge_index, weight, num_nodes=graph.num_nodes, layout=layout),
        ss.Shift.from_matrix(shift.to_dense(), layout=layout),
        ss.Shift.from_matrix(shift.to_scipy(), layout=layout),
        shift.T.T,
        shift.to(torch.float32).to(torch.float64),  # sixteenths are exact in both
    ):
        assert np.array_equal(again.to_dense().numpy(), graph.matrix)


@given(graphs(), layouts, seeds)
def test_any_graph_permutes_like_its_matrix(graph, layout, seed):
    order = torch.randperm(graph.num_nodes, generator=torch.Generator().manual_seed(seed))
    shift = graph.shift(layout)
    permuted = shift.permuted(order)
    assert np.array_equal(permuted.to_dense().numpy(), graph.matrix[np.ix_(order, order)])
    assert np.array_equal(permuted.permuted(order.argsort()).to_dense().numpy(), graph.matrix)
    x = signal(graph.num_nodes, 2, seed=seed)
    np.testing.assert_allclose((permuted @ x[order]).numpy(), (shift @ x)[order].numpy(), rtol=1e-12, atol=1e-12)


@given(graphs(), graphs(), layouts)
def test_a_batch_is_block_diagonal(first, second, layout):
    batch = ss.Shift.batch([first.shift("dense"), second.shift("sparse")], layout=layout)
    n = first.num_nodes
    expected = np.zeros((n + second.num_nodes,) * 2)
    expected[:n, :n], expected[n:, n:] = first.matrix, second.matrix
    assert np.array_equal(batch.to_dense().numpy(), expected)
    assert batch.ptr.tolist() == [0, n, n + second.num_nodes]
    nested = ss.Shift.batch([batch, first.shift()], layout=layout)
    assert nested.ptr.tolist() == [0, n, n + second.num_nodes, 2 * n + second.num_nodes]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_transpose_reverses_every_edge_and_keeps_the_batch(layout):
    batch = ss.Shift.batch([example(), example()], layout=layout)
    assert torch.equal(batch.T.to_dense(), batch.to_dense().T)
    assert batch.T.num_graphs == 2
    assert batch.T.layout == layout


@pytest.mark.parametrize("layout", LAYOUTS)
def test_to_changes_dtype_or_device_and_nothing_else(layout):
    shift = ss.Shift.batch([example(), example()], layout=layout)
    half = shift.to(torch.float32)
    assert (half.dtype, half.layout, half.num_graphs) == (torch.float32, layout, 2)
    assert torch.equal(half.to_dense(), shift.to_dense().float())
    assert torch.equal(half.T.to_dense(), shift.to_dense().float().T)
    moved = shift.to("meta")
    assert moved.device.type == "meta"
    assert {leaf.device.type for leaf in pytree.tree_leaves(moved)} == {"meta"}
    assert shift.to(torch.device("cpu")).device.type == "cpu"


def test_to_takes_what_torch_takes():
    shift, both = example(dtype=torch.float32), ("meta", torch.float64)
    moved = [shift.to(*both), shift.to(device="meta", dtype=torch.float64), shift.to("meta", dtype=torch.float64)]
    moved += [shift.to(torch.empty(0, dtype=torch.float64, device="meta")), shift.to(torch.float64).to("meta")]
    assert {(one.device.type, one.dtype) for one in moved} == {both}
    assert (shift.to(dtype=torch.float64).dtype, shift.to(dtype=torch.float64).device.type) == (torch.float64, "cpu")
    assert (shift.to(device="meta").dtype, shift.to(device="meta").device.type) == (torch.float32, "meta")


def test_any_iterable_of_shifts_makes_a_batch():
    shifts = [example(), example("sparse")]
    expected = ss.Shift.batch(shifts).to_dense()
    for given_as in (tuple(shifts), iter(shifts), (shift for shift in shifts), dict(enumerate(shifts)).values()):
        batch = ss.Shift.batch(given_as)
        assert torch.equal(batch.to_dense(), expected)
        assert batch.graph_of_node().tolist() == [0] * 6 + [1] * 6


def test_the_repr_says_what_it_is():
    assert repr(example("sparse")) == "Shift(6 nodes, 6 edges, sparse, float64, cpu)"
    assert repr(ss.Shift.batch([example(), example()])) == "Shift(2 graphs, 12 nodes, 12 edges, dense, float64, cpu)"
    weight = torch.ones(2, requires_grad=True)
    assert repr(ss.Shift.from_edges([[0, 1], [1, 0]], weight)) == (
        "Shift(2 nodes, 2 edges, dense, float32, cpu, requires_grad)"
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_shift_is_a_pytree_of_plain_tensors(layout):
    shift = ss.Shift.batch([example(), example()], layout=layout)
    leaves, spec = pytree.tree_flatten(shift)
    assert all(type(leaf) is torch.Tensor and leaf.layout == torch.strided for leaf in leaves)
    again = pytree.tree_unflatten(leaves, spec)
    assert torch.equal(again.to_dense(), shift.to_dense())
    assert (again.layout, again.num_graphs) == (layout, 2)
    doubled = pytree.tree_map(lambda leaf: 2 * leaf if leaf.is_floating_point() else leaf, shift)
    assert torch.equal(doubled.to_dense(), 2 * shift.to_dense())
    keys = [pytree.keystr(path) for path, _ in pytree.tree_flatten_with_path(shift)[0]]
    assert keys[-1] == ".ptr"
    assert len(set(keys)) == len(leaves)


def test_the_serialised_form_of_the_pytree_comes_back():
    spec = pytree.tree_flatten(example("sparse"))[1]
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec


class Product(torch.nn.Module):
    def forward(self, x, shift):
        return shift.T @ (shift @ x)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_shift_passes_through_compile_whole(layout):
    shift, x = example(layout), torch.randn(2, 6, 3, dtype=torch.float64)
    torch.compiler.reset()
    compiled = torch.compile(Product(), backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x, shift), Product()(x, shift))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_exported_program_is_saved_loaded_and_run_on_another_graph(layout, tmp_path):
    shift, x = example(layout), torch.randn(2, 6, 3, dtype=torch.float64)
    torch.export.save(torch.export.export(Product(), (x, shift)), tmp_path / "program.pt2")
    program = torch.export.load(tmp_path / "program.pt2").module()
    other = shift.permuted([5, 4, 3, 2, 1, 0])
    torch.testing.assert_close(program(x, other), Product()(x, other))


def test_a_shift_is_built_inside_a_compiled_function():
    edges = torch.tensor(EDGES)

    def build_and_shift(weight, x):
        return ss.Shift.from_edges(edges, weight, num_nodes=6, layout="sparse") @ x

    weight, x = torch.tensor(WEIGHT, dtype=torch.float64), torch.randn(6, 2, dtype=torch.float64)
    torch.compiler.reset()
    compiled = torch.compile(build_and_shift, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(weight, x), torch.from_numpy(MATRIX) @ x)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_half_precision_products_are_right_to_the_last_bits(layout, dtype):
    x = torch.randn(6, 3, dtype=torch.float64)
    got = example(layout, dtype) @ x.to(dtype)
    assert got.dtype == dtype
    expected = torch.from_numpy(MATRIX) @ x.to(dtype).double()
    torch.testing.assert_close(got.double(), expected, rtol=2 * torch.finfo(dtype).eps, atol=torch.finfo(dtype).eps)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_autocast_stays_out_of_the_product(layout):
    shift, x = example(layout, torch.float32), torch.randn(6, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got = shift @ x
    assert torch.equal(got, shift @ x)
