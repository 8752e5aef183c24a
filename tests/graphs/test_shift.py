"""Shift: S does what a matrix does."""

import numpy as np
import pytest
import torch
from hypothesis import given
from torch.utils import _pytree as pytree

import shiftstate as ss
from tests.example_graphs import MATRIX, example, signal
from tests.strategies import graphs, layouts, seeds

LAYOUTS = ("dense", "sparse")


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


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_batch_is_permuted_within_its_graphs(layout):
    shift, order = ss.Shift.batch([example(layout), example(layout)]), [2, 0, 1, 5, 3, 4, 6, 8, 7, 9, 11, 10]
    permuted = shift.permuted(order)
    assert np.array_equal(permuted.to_dense(), shift.to_dense()[order][:, order])
    assert permuted.num_graphs == 2


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
