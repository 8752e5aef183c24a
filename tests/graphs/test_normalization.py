"""Normalisations and Laplacians of Shift against NumPy."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

import shiftstate as ss
from tests.strategies import graphs, layouts

KINDS = ("spectral", "row", "column", "symmetric")


def normalized(S, kind):
    """diag(left) S diag(right), entry by entry; 0/0 is 0."""
    n = len(S)
    rows = [sum(abs(S[i, j]) for j in range(n)) for i in range(n)]
    cols = [sum(abs(S[i, j]) for i in range(n)) for j in range(n)]
    radius = max(abs(np.linalg.eigvals(S))) if kind == "spectral" else None
    result = np.zeros_like(S)
    for i in range(n):
        for j in range(n):
            if S[i, j] != 0:
                by = {"row": rows[i], "column": cols[j], "symmetric": np.sqrt(rows[i] * cols[j]), "spectral": radius}
                result[i, j] = S[i, j] / by[kind]
    return result


@given(graphs(), layouts, st.sampled_from(KINDS))
def test_any_graph_is_normalised_as_in_numpy(graph, layout, kind):
    if kind == "spectral":
        assume(graph.shift().spectral_radius() > 0)
    shift = graph.shift(layout).normalized(kind)
    assert shift.layout == layout
    np.testing.assert_allclose(shift.to_dense().numpy(), normalized(graph.matrix, kind), rtol=1e-9, atol=1e-12)
    # The prepared transpose is scaled along with S.
    np.testing.assert_allclose(shift.T.to_dense().numpy(), normalized(graph.matrix, kind).T, rtol=1e-9, atol=1e-12)


@given(graphs(), layouts)
def test_rows_or_columns_sum_to_one_in_magnitude_and_empty_ones_to_zero(graph, layout):
    S = abs(graph.matrix)
    row = graph.shift(layout).normalized("row").to_dense().abs().sum(1)
    column = graph.shift(layout).normalized("column").to_dense().abs().sum(0)
    np.testing.assert_allclose(row.numpy(), S.sum(1) > 0, rtol=1e-12)
    np.testing.assert_allclose(column.numpy(), S.sum(0) > 0, rtol=1e-12)


@given(graphs(), layouts)
def test_spectral_normalisation_gives_radius_one(graph, layout):
    assume(graph.shift().spectral_radius() > 1e-3)
    assert graph.shift(layout).normalized("spectral").spectral_radius() == pytest.approx(1, rel=1e-6)


@given(graphs(), layouts, st.sampled_from(KINDS[1:]))
def test_normalising_twice_changes_nothing_for_rows_and_columns(graph, layout, kind):
    assume(kind != "symmetric")
    once = graph.shift(layout).normalized(kind)
    np.testing.assert_allclose(once.normalized(kind).to_dense().numpy(), once.to_dense().numpy(), rtol=1e-12)


@given(graphs(weights=st.sampled_from([0.5, 1.0, 2.0])), layouts)
def test_the_spectrum_of_a_symmetric_normalisation_lies_within_one(graph, layout):
    undirected = graph.matrix + graph.matrix.T
    shift = ss.Shift.from_matrix(undirected, layout=layout).normalized("symmetric")
    assert torch.equal(shift.to_dense(), shift.to_dense().T)
    assert shift.eigenvalues().abs().max() <= 1 + 1e-12


@given(graphs(), graphs(), layouts, st.sampled_from(KINDS))
def test_each_graph_of_a_batch_is_normalised_by_itself(first, second, layout, kind):
    shifts = [first.shift(layout), second.shift(layout)]
    if kind == "spectral":
        assume(all(shift.spectral_radius() > 0 for shift in shifts))
    together = ss.Shift.batch(shifts, layout=layout).normalized(kind)
    apart = ss.Shift.batch([shift.normalized(kind) for shift in shifts], layout=layout)
    np.testing.assert_allclose(together.to_dense().numpy(), apart.to_dense().numpy(), rtol=1e-12, atol=1e-14)
    assert together.num_graphs == 2


@given(graphs(), layouts)
def test_the_laplacian_is_degrees_minus_s(graph, layout):
    S, degree = graph.matrix, abs(graph.matrix).sum(1)
    laplacian = graph.shift(layout).laplacian()
    assert laplacian.layout == layout
    np.testing.assert_allclose(laplacian.to_dense().numpy(), np.diag(degree) - S, rtol=1e-12, atol=1e-12)
    for kind in ("row", "symmetric"):
        expected = np.diag((degree > 0).astype(float)) - normalized(S, kind)
        np.testing.assert_allclose(graph.shift(layout).laplacian(kind).to_dense().numpy(), expected, atol=1e-12)


@given(graphs(weights=st.sampled_from([0.5, 1.0, 2.0])), layouts)
def test_constants_are_in_the_kernel_of_a_laplacian_of_positive_weights(graph, layout):
    ones = torch.ones(graph.num_nodes, 1, dtype=torch.float64)
    assert (graph.shift(layout).laplacian() @ ones).abs().max() < 1e-12
    assert (graph.shift(layout).laplacian("row") @ ones).abs().max() < 1e-12


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_the_laplacian_of_a_batch_stays_a_batch(layout):
    cycle = ss.Shift.from_edges([[0, 1, 2], [1, 2, 0]])
    batch = ss.Shift.batch([cycle, cycle], layout=layout).laplacian()
    assert batch.num_graphs == 2
    assert torch.equal(batch.to_dense()[:3, :3], cycle.laplacian().to_dense())


def test_float32_keeps_float32_and_the_radius_is_taken_in_float64():
    shift = ss.Shift.from_matrix(np.full((3, 3), 0.1, dtype=np.float32)).normalized("spectral")
    assert shift.dtype == torch.float32
    torch.testing.assert_close(shift.to_dense(), torch.full((3, 3), 1 / 3), rtol=1e-6, atol=0)


@pytest.mark.parametrize("kind", [None, *KINDS])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_first_and_second_gradients_flow_to_weights_and_signal(layout, kind):
    """On a signed graph with a cycle, a self-loop, a duplicate, an isolated node and empty rows."""
    edges = [[0, 1, 2, 0, 0, 3], [1, 2, 0, 1, 0, 3]]
    weight = torch.tensor([0.6, -1.1, 0.9, 0.5, 0.7, -0.4], dtype=torch.float64, requires_grad=True)
    x = torch.randn(2, 5, 2, dtype=torch.float64, requires_grad=True)
    constant = ss.Shift.from_edges(edges, weight.detach(), num_nodes=5).spectral_radius()

    def product(weight, x):
        shift = ss.Shift.from_edges(edges, weight, num_nodes=5, layout=layout)
        if kind == "spectral":  # the radius is a constant for gradients: finite differences must hold it fixed
            assert torch.allclose(shift.normalized(kind).to_dense() * shift.spectral_radius(), shift.to_dense())
            shift = ss.Shift.from_edges(edges, weight / constant, num_nodes=5, layout=layout)
        elif kind is not None:
            shift = shift.normalized(kind)
        return shift @ (shift.T @ x)

    assert torch.autograd.gradcheck(product, (weight, x))
    assert torch.autograd.gradgradcheck(product, (weight, x))


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_the_spectral_radius_is_a_constant_for_gradients(layout):
    weight = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    shift = ss.Shift.from_edges([[0, 1], [1, 0]], weight, layout=layout)
    (shift.normalized("spectral") @ torch.ones(2, 1, dtype=torch.float64)).sum().backward()
    torch.testing.assert_close(weight.grad, torch.full((2,), 1 / np.sqrt(6), dtype=torch.float64))


@pytest.mark.parametrize("kind", [None, "row", "symmetric"])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_gradients_flow_through_the_laplacian(layout, kind):
    weight = torch.tensor([0.6, -1.1, 0.9], dtype=torch.float64, requires_grad=True)
    x = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)

    def product(weight, x):
        return ss.Shift.from_edges([[0, 1, 0], [1, 0, 2]], weight, num_nodes=4, layout=layout).laplacian(kind) @ x

    assert torch.autograd.gradcheck(product, (weight, x))
    assert torch.autograd.gradgradcheck(product, (weight, x))


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize(
    "through",
    [
        lambda shift: shift.permuted([2, 0, 1]),
        lambda shift: shift.to(torch.float32).to(torch.float64),
        lambda shift: ss.Shift.batch([shift, shift], layout="sparse"),
        lambda shift: ss.Shift.batch([shift, shift], layout="dense"),
    ],
    ids=["permuted", "to", "batch sparse", "batch dense"],
)
def test_an_edge_of_weight_zero_still_learns(layout, through):
    weight = torch.tensor([0.0, 1.0, 1.0], dtype=torch.float64, requires_grad=True)
    shift = through(ss.Shift.from_edges([[0, 1, 2], [1, 2, 0]], weight, layout=layout))
    (shift @ torch.ones(shift.num_nodes, 1, dtype=torch.float64)).sum().backward()
    assert (weight.grad == shift.num_nodes / 3).all()


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize(
    ("graph", "named"),
    [
        (lambda: ss.Shift.from_edges([[], []], num_nodes=3), "the shift"),
        (lambda: ss.Shift.from_edges([[0, 1, 0], [1, 2, 2]]), "the shift"),
        (
            lambda: ss.Shift.batch([ss.Shift.from_edges([[0, 1], [1, 0]]), ss.Shift.from_edges([[0], [1]])]),
            "graph 1 of the batch",
        ),
    ],
    ids=["no edges", "acyclic", "one of a batch"],
)
def test_a_radius_of_zero_is_refused(layout, graph, named):
    shift = ss.Shift.batch([graph()], layout=layout)
    with pytest.raises(ValueError, match=rf"^{named} has spectral radius 0; expected a cycle .* likely cause"):
        shift.normalized("spectral")
    assert shift.normalized("row").to_dense().isfinite().all()


def test_unknown_names_are_refused_with_the_nearest():
    shift = ss.Shift.from_edges([[0, 1], [1, 0]])
    with pytest.raises(ValueError, match=r"^unknown normalization 'sym'; expected one of 'spectral', 'row'"):
        shift.normalized("sym")
    with pytest.raises(ValueError, match=r"did you mean 'symmetric'\?$"):
        shift.normalized("symetric")
    with pytest.raises(ValueError, match=r"^unknown normalization 'column'; expected one of 'row', 'symmetric'$"):
        shift.laplacian("column")
