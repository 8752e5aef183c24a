"""The largest singular value of a graph that is large: by iteration, or a bound that is never below it."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence

import shiftstate as ss
from shiftstate.lens import graph

LARGE = graph.ALL_EIGENVALUES + 1


def star(weight):
    """All edges lead from the first node, with this weight, to the others: ‖S‖₂ = weight · √(n − 1)."""
    ends = np.arange(1, LARGE)
    return sp.csr_array((np.full(LARGE - 1, weight), (ends, np.zeros(LARGE - 1, int))), shape=(LARGE, LARGE))


def fails(*args, **kwargs):
    raise ArpackNoConvergence("forced", np.empty(0), np.empty((0, 0)))


def test_the_iteration_gives_the_norm():
    assert graph._norm(star(-3.0)) == pytest.approx(3 * np.sqrt(LARGE - 1), rel=1e-9)


def test_without_convergence_it_is_the_geometric_mean_of_the_largest_sums_along_rows_and_columns(monkeypatch):
    monkeypatch.setattr(graph, "svds", fails)
    # One column of n − 1 entries 3, rows of one entry each: √(3 (n − 1) · 3), which the norm itself reaches.
    assert graph._norm(star(-3.0)) == pytest.approx(3 * np.sqrt(LARGE - 1), rel=1e-12)


def test_the_bound_is_never_below_the_norm(monkeypatch):
    matrices = [
        sp.random_array((LARGE, LARGE), density=0.01, rng=np.random.default_rng(seed), format="csr") for seed in (0, 1)
    ]
    matrices[1].data -= 0.5
    norms = [graph._norm(one) for one in matrices]
    monkeypatch.setattr(graph, "svds", fails)
    for matrix, norm in zip(matrices, norms, strict=True):
        bound = graph._norm(matrix)
        assert norm <= bound
        assert bound == pytest.approx(np.sqrt(abs(matrix).sum(0).max() * abs(matrix).sum(1).max()), rel=1e-12)


def test_a_spectrum_shows_the_bound_where_the_graph_is_directed(monkeypatch):
    monkeypatch.setattr(graph, "svds", fails)
    found = graph.spectrum(ss.Shift.from_matrix(star(2.0)))
    assert found.radius == 0
    assert found.norm == pytest.approx(2 * np.sqrt(LARGE - 1), rel=1e-6)
