"""The frequency response against the polynomial, and against what the filter does to eigenvectors."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

import shiftstate as ss
from shiftstate.lens import examine
from shiftstate.testing.inputs import graph
from tests.lens.subjects import make, signal


@pytest.mark.parametrize("basis", ["powers", "chebyshev"])
@pytest.mark.parametrize("mixing", ["bank", "dense", "depthwise"])
def test_an_eigenvector_leaves_the_filter_multiplied_by_the_response(mixing, basis):
    A = signal(7, 7)
    shift = ss.Shift.from_matrix((A + A.T) / 6)
    layer = make("gcnn", mixing, bias=False, basis=basis)
    seen = examine(layer, signal(7, 2), shift, with_reach=False).layers[0].response
    values, vectors = torch.linalg.eigh(shift.to_dense())
    order = values.abs().argsort(descending=True)
    assert_close(seen.eigenvalues, values[order])
    assert seen.circle is None
    for place, index in enumerate(order):
        for g in range(2):
            x = torch.zeros(7, 2).double()
            x[:, g] = vectors[:, index]
            assert_close(layer(x, shift).detach(), torch.outer(vectors[:, index], seen.at_eigenvalues[:, g, place]))


@pytest.mark.parametrize("basis", ["powers", "chebyshev"])
def test_grid_and_circle_hold_the_polynomial(basis):
    layer, shift = make("gcnn", basis=basis), graph()
    value = np.polynomial.chebyshev.chebval if basis == "chebyshev" else np.polynomial.polynomial.polyval
    lens = examine(layer, signal(8, 2), shift, with_reach=False)
    seen, h = lens.layers[0].response, layer.h.detach().numpy()
    assert seen.eigenvalues.is_complex()
    assert seen.grid[[0, -1]].tolist() == pytest.approx([-1, 1])
    assert seen.circle.abs().numpy() == pytest.approx(np.ones(129))
    for places, values in ((seen.grid, seen.on_grid), (seen.circle, seen.on_circle)):
        for f in range(3):
            for g in range(2):
                expected = value(places.numpy(), h[:, f, g])
                assert values[f, g].numpy() == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_only_a_polynomial_filter_has_a_response():
    class Other(ss.GCNN):
        def update(self, h, Sw, x, c):
            return ss.Step(torch.tanh(Sw))

    for layer in (make("rsn"), Other(2, 3, 2).double()):
        assert examine(layer, signal(8, 2), graph(), with_reach=False).layers[0].response is None
