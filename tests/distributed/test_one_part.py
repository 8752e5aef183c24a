"""A graph of one part, in this process: radius, normalisations, statistics, parts and draws by independent means."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import shiftstate as ss
from shiftstate.distributed import BatchNorm, load, partition
from shiftstate.distributed.node_data import NodeFiles, _coded, _drawn, _moments
from shiftstate.distributed.parts.assign import assigned
from shiftstate.graphs.ranks import ALONE, Alone


def one_part(matrix, folder):
    whole = ss.Shift.from_matrix(torch.from_numpy(np.asarray(matrix, float)), layout="sparse")
    partition(whole, folder / "parts", parts=1)
    return whole, load(folder / "parts")


def far_from_normal(seed, n=200):
    """Mostly one way, with a little back: states rise far above ρ(S)^k before they fall."""
    random = np.random.default_rng(seed)
    matrix = np.triu(random.normal(size=(n, n)), 1) * (random.random((n, n)) < 0.3)
    matrix[random.integers(n, size=n), random.integers(n, size=n)] += 0.01 * random.random(n)
    return matrix


@pytest.mark.parametrize("seed", [0, 1])
def test_the_radius_far_from_normal_is_that_of_all_eigenvalues(tmp_path, seed):
    matrix = far_from_normal(seed)
    _, part = one_part(matrix, tmp_path)
    assert part.spectral_radius() == pytest.approx(np.abs(np.linalg.eigvals(matrix)).max(), rel=1e-6)


def test_nodes_on_no_cycle_have_no_say_in_the_radius(tmp_path):
    matrix = np.zeros((6, 6))
    matrix[1, 0] = matrix[0, 1] = -3.0  # a cycle of weight 9
    matrix[2, 1], matrix[3, 2], matrix[0, 4] = 100.0, 100.0, 100.0  # ways from it and to it
    assert one_part(matrix, tmp_path)[1].spectral_radius() == pytest.approx(3, rel=1e-12)
    matrix[0, 1] = 0.0
    part = one_part(matrix, tmp_path / "acyclic")[1]
    assert part.spectral_radius() == 0
    with pytest.raises(ValueError, match="radius"):
        part.normalized("spectral")


def test_a_weight_of_minus_one_is_an_edge_and_one_of_zero_is_none(tmp_path):
    matrix = -np.roll(np.eye(3), 1, 0)
    assert one_part(matrix, tmp_path)[1].spectral_radius() == pytest.approx(1, rel=1e-12)
    stored = ss.Shift.from_edges([[0, 1, 2], [1, 2, 0]], torch.tensor([1.0, 1.0, 0.0]))
    partition(stored, tmp_path / "zero", parts=1)
    assert load(tmp_path / "zero").spectral_radius() == 0


def test_a_radius_that_does_not_stand_is_refused_and_its_size_told(tmp_path):
    ring = np.roll(np.eye(100), 1, 0) * 2.0
    with pytest.raises(ValueError, match=r"did not converge \(it is about 2\)"):
        one_part(ring, tmp_path)[1].spectral_radius()


@pytest.mark.parametrize("kind", ["spectral", "row", "column", "symmetric"])
def test_a_part_is_normalised_as_the_whole(tmp_path, kind):
    random = np.random.default_rng(1)
    whole, part = one_part(random.normal(size=(30, 30)) * (random.random((30, 30)) < 0.2), tmp_path)
    x = torch.from_numpy(random.normal(size=(30, 2)))
    expected = whole.normalized(kind) @ x
    torch.testing.assert_close(part.normalized(kind) @ part.take(x), part.take(expected), rtol=1e-7, atol=1e-9)


def test_batch_normalisation_is_torchs_over_the_rows():
    x, shift = torch.randn(4, 5, 3) * 2 + 1, SimpleNamespace(ranks=ALONE)
    ours, theirs = BatchNorm(3), torch.nn.BatchNorm1d(3)
    for _ in range(2):
        torch.testing.assert_close(ours(x, shift), theirs(x.flatten(0, 1)).view_as(x))
    torch.testing.assert_close(ours.running_mean, theirs.running_mean)
    torch.testing.assert_close(ours.running_var, theirs.running_var)
    torch.testing.assert_close(ours.eval()(x, shift), theirs.eval()(x.flatten(0, 1)).view_as(x))
    assert ours.train()(x[:1, :2], shift).isfinite().all()
    with pytest.raises(ValueError, match="batch normalisation was given one row; expected two or more"):
        ours(x[:1, :1], shift)


class Twice(Alone):
    """As if another process held the same rows."""

    def total(self, x):
        return 2 * x

    def said(self, value):
        return [value, ["10", "b"]]


def test_features_are_standardised_by_the_training_nodes_of_all_processes():
    rows = torch.tensor([[1.0, 5.0], [3.0, 5.0]])
    for ranks in (ALONE, Twice()):
        mean, deviation = _moments(SimpleNamespace(ranks=ranks), rows)
        assert (mean.tolist(), deviation.tolist()) == ([2, 5], [1, 1])
    mean, deviation = _moments(SimpleNamespace(ranks=ALONE), torch.empty(0, 2))
    assert (mean.tolist(), deviation.tolist()) == ([0, 0], [1, 1])


def test_classes_are_those_of_all_processes_in_one_order():
    classes, codes = _coded(SimpleNamespace(ranks=Twice()), np.array(["9", "", "a", "9", "-1"], dtype=object))
    assert classes == ["-1", "9", "10", "a", "b"]
    assert codes.tolist() == [1, 0, 3, 1, 0]


def test_a_drawn_split_has_its_shares_and_goes_by_the_nodes_numbers():
    files = NodeFiles(None, "y", fractions=(0.5, 0.2, 0.3), seed=3)
    every, known = torch.arange(4000), np.arange(4000) % 10 != 0
    masks = _drawn(SimpleNamespace(total_nodes=4000, nodes=every), files, known)
    shares = [mask.sum().item() / known.sum() for mask in masks.values()]
    assert shares == pytest.approx([0.5, 0.2, 0.3], abs=0.03)
    assert torch.equal(sum(mask.long() for mask in masks.values()), torch.from_numpy(known).long())
    some = torch.tensor([7, 3, 1999, 10])
    own = _drawn(SimpleNamespace(total_nodes=4000, nodes=some), files, known[some.numpy()])
    assert all(torch.equal(own[name], mask[some]) for name, mask in masks.items())


@pytest.mark.parametrize("method", ["metis", "blocks"])
@pytest.mark.parametrize("parts", [2, 3])
def test_parts_of_a_long_path_are_cut_at_few_places(method, parts):
    path = sp.csr_array(np.eye(30, k=1))
    found = assigned(path, parts, method)
    assert np.bincount(found).tolist() == [30 // parts] * parts
    assert (np.diff(found) != 0).sum() <= parts
    assert assigned(path, 1, method).tolist() == [0] * 30


def test_parts_may_be_given_and_are_checked():
    path = sp.csr_array(np.eye(4, k=1))
    assert assigned(path, 2, [0, 1, 1, 0]).tolist() == [0, 1, 1, 0]
    for wrong in ([0, 1, 2, 0], [0, -1, 1, 0], [0, 1, 1], [0.0, 1.0, 1.0, 0.0]):
        with pytest.raises(ValueError, match="the part of each of 4 nodes, from 0 to 1"):
            assigned(path, 2, wrong)
    assert np.bincount(assigned(path, 4, "metis")).tolist() == [1, 1, 1, 1]
