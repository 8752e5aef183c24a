"""A run whose features are divided by the sums of their rows is exported with that division."""

import numpy as np
import torch

from shiftstate.estimators import NodeRegressor
from shiftstate.graphs import Shift
from shiftstate.own_data.exporting import export
from shiftstate.own_data.left.manifest import write_manifest

N = 12


def test_a_program_of_a_model_scaled_by_rows_answers_as_the_run(tmp_path):
    ring, random = np.arange(N), np.random.default_rng(0)
    ends = np.stack([np.r_[ring, (ring + 1) % N], np.r_[(ring + 1) % N, ring]])
    shift = Shift.from_edges(ends)
    made = NodeRegressor("gcnn", K=2, epochs=2, scale="rows").fit(shift, random.poisson(3, (N, 3)), ring / 3)
    made.save(tmp_path / "model.safetensors")
    np.savez(tmp_path / "graph.npz", edges=ends, weight=np.ones(2 * N), names=np.array([str(i) for i in ring]))
    write_manifest(tmp_path)
    (line,) = export(tmp_path, None, tmp_path / "m.pt2")
    assert "it answers the same" in line
    x = (random.normal(size=(N, 3)) * [1, 10, 100]).astype(np.float32)
    x[2] = 0  # a row without a sum is left as it is
    found = torch.export.load(tmp_path / "m.pt2").module()(torch.from_numpy(x)).detach().numpy()[:, 0]
    np.testing.assert_allclose(found, made.predict(shift, x), rtol=1e-4, atol=1e-4)
    assert np.ptp(found) > 1e-3, "the features matter"
