"""The two forms of S keep one contract, and the sparse product is a proper torch operator."""

import numpy as np
import pytest
import torch
from hypothesis import given

import shiftstate as ss
from shiftstate.graphs.operators import Dense, Sparse, compress, rows_of, spmm
from tests.example_graphs import signal
from tests.strategies import graphs, seeds

MATRIX = torch.tensor([[0.0, 2.0, 0.0], [0.0, -1.0, 3.0], [0.0, 0.0, 0.0]], dtype=torch.float64)


def sparse(matrix):
    return Sparse.from_entries(*Dense(matrix).entries(), matrix.shape[0])


FORMS = [Dense, sparse]


@pytest.mark.parametrize("form", FORMS)
def test_one_contract(form):
    operator, x = form(MATRIX), torch.randn(3, 4, dtype=torch.float64)
    assert operator.num_nodes == 3
    torch.testing.assert_close(operator.product(x), MATRIX @ x)
    torch.testing.assert_close(operator.transposed().product(x), MATRIX.T @ x)
    assert torch.equal(operator.dense(), MATRIX)
    rows, cols = operator.absolute_sums()
    assert rows.tolist() == [2, 4, 0]
    assert cols.tolist() == [0, 3, 3]
    left, right = torch.tensor([1.0, 2.0, 3.0]).double(), torch.tensor([5.0, 7.0, 11.0]).double()
    scaled = operator.scaled(left, right)
    assert torch.equal(scaled.dense(), left[:, None] * MATRIX * right)
    assert torch.equal(scaled.transposed().dense(), scaled.dense().T)
    row, col, values = operator.entries()
    assert sorted(zip(row.tolist(), col.tolist(), values.tolist(), strict=True)) == [(0, 1, 2), (1, 1, -1), (1, 2, 3)]
    assert operator.map(lambda t: t.float()).dense().dtype == torch.float32


def test_rows_are_sorted_in_both_directions_and_duplicates_added():
    row, col = torch.tensor([2, 0, 2, 2]), torch.tensor([1, 2, 0, 1])
    operator = Sparse.from_entries(row, col, torch.tensor([1.0, 2.0, 3.0, 4.0]), 3)
    assert operator.crow.tolist() == [0, 1, 1, 3]
    assert operator.col.tolist() == [2, 0, 1]
    assert operator.values.tolist() == [2, 3, 5]
    assert operator.t_crow.tolist() == [0, 1, 2, 3]
    assert operator.t_col.tolist() == [2, 2, 0]
    assert operator.t_values.tolist() == [3, 5, 2]
    assert operator.col.dtype == operator.crow.dtype == torch.int32


def test_duplicates_that_cancel_stay_as_a_stored_zero():
    operator = Sparse.from_entries(torch.tensor([0, 0]), torch.tensor([1, 1]), torch.tensor([1.0, -1.0]), 2)
    assert operator.values.tolist() == [0]


def test_row_pointers_and_rows_are_each_others_inverse():
    row = torch.tensor([0, 0, 3, 3, 3])
    crow = compress(row, 5, torch.int64)
    assert crow.tolist() == [0, 2, 2, 2, 5, 5]
    assert torch.equal(rows_of(crow, row), row)


@given(graphs(), seeds)
def test_both_forms_give_the_same_product_and_gradients(graph, seed):
    x, cotangent = signal(graph.num_nodes, 2, seed=seed), signal(graph.num_nodes, 2, seed=seed + 1)
    results = []
    for layout in ("dense", "sparse"):
        weight = torch.from_numpy(graph.weight).requires_grad_()
        leaf = x.clone().requires_grad_()
        y = ss.Shift.from_edges(graph.edge_index, weight, num_nodes=graph.num_nodes, layout=layout) @ leaf
        results.append((y, *torch.autograd.grad(y, (leaf, weight), cotangent)))
    for dense, from_sparse in zip(*results, strict=True):
        np.testing.assert_allclose(from_sparse.detach().numpy(), dense.detach().numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("requires", ["values", "x", "both"])
def test_the_sparse_product_passes_the_checks_torch_has_for_operators(requires):
    operator = sparse(MATRIX)
    x = torch.randn(3, 2, dtype=torch.float64, requires_grad=requires in ("x", "both"))
    values = operator.values.clone().requires_grad_(requires in ("values", "both"))
    torch.library.opcheck(spmm, (operator.crow, operator.col, values, *operator[3:], x))


def test_the_gradient_is_not_computed_where_nobody_asks():
    operator = sparse(MATRIX)
    x = torch.randn(3, 2, dtype=torch.float64)
    assert not spmm(*operator, x).requires_grad
    y = spmm(*operator, x.requires_grad_())
    assert [name is not None for name, _ in y.grad_fn.next_functions] == [False] * 6 + [True]
