"""Spectral radius and eigenvalues where they are known, and on the ways a solver can fail."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence

import shiftstate as ss
from shiftstate.graphs import spectrum
from tests.strategies import graphs


def path(n):
    """The undirected path: eigenvalues 2 cos(πj/(n+1))."""
    return sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1], format="csr")


def cycle(n, weight=1.0):
    """The directed cycle: eigenvalues are the n-th roots of the product of its weights."""
    ring = np.arange(n)
    return sp.csr_array((np.broadcast_to(np.asarray(weight, dtype=float), n), ((ring + 1) % n, ring)), shape=(n, n))


def radius(matrix):
    return ss.Shift.from_matrix(matrix).spectral_radius()


@pytest.mark.parametrize(("n", "weight"), [(2, 1), (3, -2), (64, -2), (500, -2), (501, 1), (600, -2), (5000, 1)])
def test_a_directed_cycle_has_the_radius_of_its_weight(n, weight):
    assert radius(cycle(n, weight)) == pytest.approx(abs(weight), rel=1e-9)


def test_complex_eigenvalues_count_by_magnitude():
    assert radius(np.array([[0.0, -3.0], [3.0, 0.0]])) == pytest.approx(3)
    assert radius(np.array([[1.0, -1.0], [1.0, 1.0]])) == pytest.approx(np.sqrt(2))


def test_a_large_antisymmetric_matrix_has_its_imaginary_radius():
    rng = np.random.default_rng(0)
    upper = sp.random_array((700, 700), density=0.02, rng=rng, format="csr")
    matrix = sp.csr_array(upper - upper.T)
    assert radius(matrix) == pytest.approx(abs(np.linalg.eigvals(matrix.toarray())).max(), rel=1e-8)


@pytest.mark.parametrize("n", [1, 2, 10, 600, 3000])
def test_an_acyclic_graph_has_radius_exactly_zero(n):
    rng = np.random.default_rng(n)
    matrix = sp.csr_array(sp.triu(sp.random_array((n, n), density=min(1, 5 / n), rng=rng), k=1))
    order = rng.permutation(n)
    assert radius(matrix[order][:, order]) == 0.0
    assert radius(sp.csr_array((n, n))) == 0.0


def test_stored_zeros_are_not_edges():
    matrix = sp.csr_array((np.array([1.0, 0.0]), ([0, 1], [1, 0])), shape=(2, 2))
    assert radius(matrix) == 0.0


def test_self_loops_are_cycles():
    assert radius(np.diag([1.0, -4.0, 2.0])) == 4.0


def test_the_radius_is_the_largest_over_components():
    blocks = sp.block_diag([cycle(3, 2.0), path(700), np.array([[5.0]])], format="lil")
    blocks[0, 10] = 100.0  # an edge between components changes no eigenvalue
    assert radius(blocks) == 5.0


@pytest.mark.parametrize("n", [501, 2000, 20_000])
def test_a_large_path_has_its_closed_form(n):
    assert radius(path(n)) == pytest.approx(2 * np.cos(np.pi / (n + 1)), rel=1e-9)


def test_a_large_cycle_of_unequal_weights_has_their_geometric_mean():
    weights = np.random.default_rng(0).uniform(0.5, 2, 3000)
    assert radius(cycle(3000, weights)) == pytest.approx(np.exp(np.log(weights).mean()), rel=1e-9)


def test_a_large_grid_has_its_closed_form():
    identity = sp.eye_array(80)
    grid = sp.kron(path(80), identity) + sp.kron(identity, path(80))
    assert radius(grid) == pytest.approx(4 * np.cos(np.pi / 81), rel=1e-9)


def test_the_same_graph_gives_the_same_digits():
    matrix = sp.random_array((800, 800), density=0.01, rng=np.random.default_rng(1), format="csr")
    assert radius(matrix) == radius(matrix)


@given(graphs())
def test_any_small_graph_has_the_radius_of_its_eigenvalues(graph):
    # A defective matrix has eigenvalues accurate to eps^(1/n) only; powers are accurate: rho <= |S^k|^(1/k).
    got = graph.shift().spectral_radius()
    assert got == pytest.approx(abs(np.linalg.eigvals(graph.matrix)).max(), abs=2e-2 * (1 + got))
    bound = np.linalg.norm(np.linalg.matrix_power(graph.matrix, 64), 2) ** (1 / 64)
    assert got <= bound * (1 + 1e-6) + 1e-12


def no_convergence(*args, **kwargs):
    raise ArpackNoConvergence("forced", np.empty(0), np.empty((0, 0)))


def no_shifts(*args, **kwargs):
    raise ArpackError(3)


@pytest.mark.parametrize("failure", [no_convergence, no_shifts])
def test_all_eigenvalues_are_taken_where_the_iteration_fails(monkeypatch, failure):
    matrix = sp.random_array((600, 600), density=0.02, rng=np.random.default_rng(2), format="csr")
    matrix.data -= 0.3  # signed: Perron's theorem does not help
    expected = radius(matrix)
    calls = []
    monkeypatch.setattr(spectrum, "eigs", lambda *args, **kwargs: calls.append(kwargs["ncv"]) or failure())
    assert radius(matrix) == pytest.approx(expected, rel=1e-9)
    assert calls == [20, 100]


def test_a_second_iteration_with_more_vectors_is_tried_and_its_answer_taken(monkeypatch):
    tried = []

    def fails_at_first(*args, ncv, maxiter, **kwargs):
        tried.append((ncv, maxiter))
        if ncv == 20:
            raise ArpackNoConvergence("forced", np.empty(0), np.empty((0, 0)))
        return np.array([3 - 4j])

    monkeypatch.setattr(spectrum, "eigs", fails_at_first)
    assert radius(cycle(600, -1.0)) == 5
    assert tried == [(20, 300), (100, 60)], "as many products either way"


@pytest.mark.parametrize(("nodes", "taken"), [(59, False), (60, True), (61, True)])
def test_all_eigenvalues_are_the_last_way_up_to_the_limit_itself(monkeypatch, nodes, taken):
    monkeypatch.setattr(spectrum, "DENSE_UP_TO", 10)
    monkeypatch.setattr(spectrum, "eigs", no_convergence)
    monkeypatch.setattr(spectrum, "FALLBACK_UP_TO", nodes)
    if taken:
        assert radius(cycle(60, -2.0)) == pytest.approx(2, rel=1e-9)
    else:
        with pytest.raises(ValueError, match="component of 60 nodes did not converge"):
            radius(cycle(60, -2.0))


def test_one_negative_weight_is_enough_for_perrons_bounds_not_to_hold(monkeypatch):
    monkeypatch.setattr(spectrum, "DENSE_UP_TO", 10)
    monkeypatch.setattr(spectrum, "eigs", no_convergence)
    monkeypatch.setattr(spectrum, "_perron_radius", lambda matrix: 7.0)
    weights = np.ones(60)
    assert radius(cycle(60, weights)) == 7
    weights[5] = -1.0
    assert radius(cycle(60, weights)) == pytest.approx(1, rel=1e-9)


def test_a_symmetric_matrix_falls_back_too(monkeypatch):
    monkeypatch.setattr(spectrum, "eigsh", no_convergence)
    assert radius(path(600)) == pytest.approx(2 * np.cos(np.pi / 601), rel=1e-9)


def test_a_nonnegative_matrix_takes_perrons_bounds_where_the_iteration_fails(monkeypatch):
    monkeypatch.setattr(spectrum, "eigs", no_convergence)
    monkeypatch.setattr(spectrum, "eigsh", no_convergence)
    monkeypatch.setattr(spectrum, "FALLBACK_UP_TO", 0)
    matrix = sp.random_array((600, 600), density=0.02, rng=np.random.default_rng(3), format="csr")
    assert radius(matrix) == pytest.approx(abs(np.linalg.eigvals(matrix.toarray())).max(), rel=1e-8)
    assert radius(cycle(600)) == pytest.approx(1, rel=1e-9)
    star = sp.lil_array((600, 600))
    star[0, 1:] = star[1:, 0] = 1  # bipartite: ±sqrt(599), where a plain power iteration turns for ever
    assert radius(star) == pytest.approx(np.sqrt(599), rel=1e-8)


def test_a_signed_matrix_beyond_all_fallbacks_is_refused_with_a_way_out(monkeypatch):
    monkeypatch.setattr(spectrum, "eigs", no_convergence)
    monkeypatch.setattr(spectrum, "FALLBACK_UP_TO", 550)
    matrix = cycle(600, -1.0)
    with pytest.raises(ValueError, match=r"component of 600 nodes did not converge; .* use normalized\('symmetric'\)"):
        radius(matrix)


def test_the_last_fallback_goes_up_to_its_bound(monkeypatch):
    monkeypatch.setattr(spectrum, "eigs", no_convergence)
    monkeypatch.setattr(spectrum, "DENSE_UP_TO", 5)
    monkeypatch.setattr(spectrum, "FALLBACK_UP_TO", 6)
    assert radius(cycle(6, -2.0)) == pytest.approx(2)
    with pytest.raises(ValueError, match="component of 7 nodes did not converge"):
        radius(cycle(7, -2.0))
    monkeypatch.setattr(spectrum, "DENSE_UP_TO", 7)
    assert radius(cycle(7, -2.0)) == pytest.approx(2)


def test_bounds_that_do_not_close_are_refused_and_named(monkeypatch):
    monkeypatch.setattr(spectrum, "eigsh", no_convergence)
    monkeypatch.setattr(spectrum, "POWER_STEPS", 50)
    monkeypatch.setattr(spectrum, "NODA_STEPS", 0)
    with pytest.raises(ValueError, match=r"lies between 1\.\S* and 2, and rounding leaves it there; .* use normalized"):
        radius(path(600))


def test_a_cycle_whose_perron_vector_leaves_the_range_of_floats_is_refused():
    weights = np.ones(1000)
    weights[:500], weights[500:] = 1e-3, 1e3
    with pytest.raises(ValueError, match=r"lies between .* weights of like size along every cycle"):
        radius(cycle(1000, weights))


def test_eigenvalues_are_complete_sorted_and_real_only_for_symmetric_matrices():
    values = ss.Shift.from_matrix(path(5)).eigenvalues()
    assert values.dtype == torch.float64
    expected = 2 * np.cos(np.pi * np.arange(1, 6) / 6)
    np.testing.assert_allclose(np.sort(values.numpy()), np.sort(expected), atol=1e-12)
    assert (values.abs().diff() <= 1e-12).all()
    directed = ss.Shift.from_matrix(cycle(4)).eigenvalues()
    assert directed.dtype == torch.complex128
    np.testing.assert_allclose(directed.numpy() ** 4, 1, atol=1e-12)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_eigenvalues_are_taken_in_float64_whatever_the_dtype(layout):
    shift = ss.Shift.from_matrix(path(4).astype(np.float32), layout=layout)
    expected = 2 * np.cos(np.pi * np.array([1, 4, 2, 3]) / 5)
    np.testing.assert_allclose(np.sort(shift.eigenvalues().numpy()), np.sort(expected), atol=1e-14)


def test_all_eigenvalues_of_a_huge_graph_are_refused():
    shift = ss.Shift.from_edges([[0], [1]], num_nodes=20_001)
    with pytest.raises(ValueError, match=r"^all eigenvalues of 20001 nodes were asked for; expected at most 20000"):
        shift.eigenvalues()
