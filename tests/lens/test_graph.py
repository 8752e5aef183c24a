"""The graph as the lens sees it: spectrum, norm and its bound, envelopes, and the part that is drawn."""

import math

import numpy as np
import pytest
import torch
from scipy.sparse.linalg import ArpackError
from torch.testing import assert_close

from shiftstate.graphs import Shift
from shiftstate.lens import graph as module
from shiftstate.lens.graph import drawing, spectrum

ARROW = Shift.from_matrix(torch.tensor([[0.0, 3.0, 0.0], [0.0, 0.0, 2.0], [0.25, 0.0, 0.0]], dtype=torch.float64))
RING = Shift.from_matrix(torch.eye(6, dtype=torch.float64).roll(1, 0) * 2)
PAIR = Shift.from_matrix(torch.tensor([[0.0, 2.0], [2.0, 1.0]], dtype=torch.float64))


def test_a_directed_graph_has_a_norm_above_its_radius():
    found = spectrum(ARROW)
    assert found.radius == pytest.approx(1.5 ** (1 / 3))
    assert found.smallest == pytest.approx(1.5 ** (1 / 3))
    assert found.norm == pytest.approx(3)
    assert (found.normal, found.symmetric, found.real) == (False, False, False)


def test_a_directed_ring_is_normal_and_an_acyclic_graph_has_real_eigenvalues():
    found = spectrum(RING)
    assert (found.normal, found.symmetric, found.real) == (True, False, False)
    assert found.norm == pytest.approx(found.radius) == pytest.approx(2)
    path = spectrum(Shift.from_edges([[0, 1], [1, 2]], num_nodes=3))
    assert (path.normal, path.symmetric, path.real, path.radius) == (False, False, True, 0.0)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_a_graph_is_normal_up_to_rounding_whatever_its_size(size):
    weights = np.random.default_rng(0).normal(size=3)
    ring = sum(weight * np.roll(np.eye(7), k + 1, 0) for k, weight in enumerate(weights)) * size / 3
    assert spectrum(Shift.from_matrix(torch.from_numpy(ring))).normal is True
    ring[0, 1] += 1e-3 * size
    assert spectrum(Shift.from_matrix(torch.from_numpy(ring))).normal is False


def test_a_symmetric_graph_has_its_radius_as_norm_and_real_eigenvalues():
    found = spectrum(PAIR)
    largest, least = (1 + 17**0.5) / 2, (17**0.5 - 1) / 2
    assert (found.radius, found.norm, found.smallest) == pytest.approx((largest, largest, least))
    assert (found.normal, found.symmetric, found.real) == (True, True, True)


def test_a_graph_without_edges_has_norm_zero():
    found = spectrum(Shift.from_edges(np.zeros((2, 0), int), num_nodes=3))
    assert (found.radius, found.norm, found.smallest) == (0, 0, 0)


@pytest.mark.parametrize("fails", [False, True])
def test_a_large_graph_has_the_largest_singular_value_or_a_bound_that_is_never_below_it(monkeypatch, fails):
    random = np.random.default_rng(0)
    matrix = random.normal(size=(40, 40)) * (random.random((40, 40)) < 0.2)
    shift = Shift.from_matrix(torch.from_numpy(matrix))
    monkeypatch.setattr(module, "ALL_EIGENVALUES", 39)
    if fails:
        monkeypatch.setattr(module, "svds", lambda *a, **b: (_ for _ in ()).throw(ArpackError(1)))
    found = spectrum(shift)
    exact, size = np.linalg.svd(matrix)[1][0], np.abs(matrix)
    bound = math.sqrt(size.sum(0).max() * size.sum(1).max())
    assert found.norm == pytest.approx(bound if fails else exact)
    assert found.norm >= exact * (1 - 1e-9)
    assert (found.smallest, found.eigenvalues, found.real) == (None, None, None)


def test_a_radius_that_was_not_found_is_nan_and_the_norm_is_still_there(monkeypatch):
    def fail(self):
        raise ValueError("did not converge")

    monkeypatch.setattr(Shift, "spectral_radius", fail)
    found = spectrum(PAIR)
    assert math.isnan(found.radius)
    assert found.norm == pytest.approx((1 + 17**0.5) / 2)


def test_normality_is_not_tried_on_a_huge_directed_graph(monkeypatch):
    monkeypatch.setattr(module, "NORMAL_NODES", 5)
    assert spectrum(RING).normal is None
    assert spectrum(PAIR).normal is True
    monkeypatch.setattr(module, "NORMAL_NODES", 6)
    assert spectrum(RING).normal is True


def test_envelopes_are_powers_of_the_rates():
    found = spectrum(PAIR).envelopes(3.0, 2)
    largest, least = (1 + 17**0.5) / 2, (17**0.5 - 1) / 2
    assert set(found) == {"radius", "norm", "smallest"}
    assert_close(found["radius"], torch.tensor([3, 3 * largest, 3 * largest**2], dtype=torch.float64))
    assert_close(found["norm"], found["radius"])
    assert_close(found["smallest"], torch.tensor([3, 3 * least, 3 * least**2], dtype=torch.float64))


def test_envelopes_of_chebyshevs_basis_are_its_polynomials_at_the_eigenvalues():
    found = spectrum(PAIR).envelopes(2.0, 3, "chebyshev")
    values = np.array([(1 + 17**0.5) / 2, (1 - 17**0.5) / 2])
    sizes = np.abs([np.ones(2), values, 2 * values**2 - 1, 4 * values**3 - 3 * values])
    assert_close(found["radius"], torch.from_numpy(2 * sizes.max(1)))
    assert_close(found["norm"], found["radius"])
    assert_close(found["smallest"], torch.from_numpy(2 * sizes.min(1)))
    arrow = spectrum(ARROW).envelopes(1.0, 3, "chebyshev")
    norm = spectrum(ARROW).norm  # |T_k(i norm)|: 1, n, 2 n² + 1, 4 n³ + 3 n
    assert_close(arrow["norm"], torch.tensor([1, norm, 2 * norm**2 + 1, 4 * norm**3 + 3 * norm], dtype=torch.float64))


def test_envelopes_of_chebyshevs_basis_without_eigenvalues_are_bounds(monkeypatch):
    monkeypatch.setattr(module, "ALL_EIGENVALUES", 1)
    radius = (1 + 17**0.5) / 2
    found = spectrum(PAIR).envelopes(1.0, 2, "chebyshev")
    assert set(found) == {"radius", "norm"}
    for curve in found.values():
        assert_close(curve, torch.tensor([1, radius, 2 * radius**2 - 1], dtype=torch.float64))
    small = spectrum(Shift.from_matrix(PAIR.to_dense() / 10)).envelopes(1.0, 2, "chebyshev")
    assert_close(small["radius"], torch.ones(3, dtype=torch.float64))  # |T_k| ≤ 1 within ±1
    ring = spectrum(RING).envelopes(1.0, 2, "chebyshev")
    assert_close(ring["radius"], torch.tensor([1.0, 2.0, 9.0], dtype=torch.float64))


def test_the_nodes_of_highest_degree_and_the_heaviest_edges_are_drawn(monkeypatch):
    monkeypatch.setattr(module, "MAX_EDGES", 2)
    matrix = torch.zeros(5, 5, dtype=torch.float64)
    matrix[1, 2], matrix[2, 1], matrix[3, 2], matrix[2, 3], matrix[4, 2] = 1.0, -5.0, 2.0, 0.5, 9.0
    found = drawing(Shift.from_matrix(matrix), 3, list("abcde"))
    assert found.nodes.tolist() == [1, 2, 3]
    assert found.names == ("b", "c", "d")
    assert sorted(zip(*found.edges.tolist(), found.weight.tolist(), strict=True)) == [(0, 1, -5.0), (1, 2, 2.0)]
    assert found.left_out == (2, 3)
    assert found.positions.shape == (3, 2)
    with pytest.raises(ValueError, match="2 names were given; expected 5, one for each node"):
        drawing(Shift.from_matrix(matrix), 3, ["a", "b"])
