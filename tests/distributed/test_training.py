"""Training on many processes is training on one: losses, scores, weights; and it can be interrupted."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

import shiftstate as ss
from tests.distributed import jobs
from tests.distributed.test_exact import random_graph
from tests.distributed.worlds import world


def node_data(n):
    """Features, classes and masks; all training nodes are among the first third."""
    generator = torch.Generator().manual_seed(5)
    place = torch.arange(n)
    return {
        "x": torch.randn(n, 2, generator=generator, dtype=torch.float64),
        "y": torch.randint(3, (n,), generator=generator),
        "train": place < n // 3,
        "valid": (place >= n // 3) & (place < n // 2),
        "test": place >= n // 2,
    }


def assert_same(found, expected):
    losses, scores, best, weights = found
    assert torch.tensor(losses) == pytest.approx(torch.tensor(expected[0]), abs=1e-10)
    assert scores == pytest.approx(expected[1], abs=1e-12)
    assert best == pytest.approx(expected[2], abs=1e-9)
    for one, other in zip(weights, expected[3], strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-9)


def test_fit_gives_the_losses_scores_and_weights_of_one_process(tmp_path):
    """In the first partition two of three parts have no node to learn from."""
    shift = random_graph()
    data = node_data(shift.num_nodes)
    expected = jobs.fitted(0, None, shift, data)
    thirds = np.arange(shift.num_nodes) * 3 // shift.num_nodes
    ss.distributed.partition(shift, tmp_path / "3", 3, thirds)
    ss.distributed.partition(shift, tmp_path / "2", 2)
    for count in (2, 3):
        for found in world(count).run(jobs.fitted, tmp_path / str(count), data):
            assert_same(found, expected)


def test_a_training_goes_on_with_another_number_of_processes(tmp_path):
    shift, file = random_graph(), tmp_path / "training.safetensors"
    data = node_data(shift.num_nodes)
    expected = jobs.fitted(0, None, shift, data)
    for count in (1, 2, 3):
        ss.distributed.partition(shift, tmp_path / str(count), count, "blocks")
    world(3).run(jobs.fitted, tmp_path / "3", data, file, 2)
    world(2).run(jobs.fitted, tmp_path / "2", data, file, 4, True)
    assert_same(jobs.fitted(0, None, shift, data, file, 6, True), expected)
    for found in world(2).run(jobs.fitted, tmp_path / "2", data, file, 6, True):  # nothing is left to do
        assert_same(found, expected)


def test_signals_pooled_over_the_whole_graph_train_alike(tmp_path):
    shift = random_graph()
    generator = torch.Generator().manual_seed(6)
    x = torch.randn(10, shift.num_nodes, 2, generator=generator, dtype=torch.float64)
    y = torch.randint(2, (10,), generator=generator)
    expected = jobs.pooled_fit(0, None, shift, x, y)
    ss.distributed.partition(shift, tmp_path, 2)
    for losses in world(2).run(jobs.pooled_fit, tmp_path, x, y):
        assert losses == pytest.approx(expected, abs=1e-10)


def test_batch_statistics_are_those_of_the_whole_graph(tmp_path):
    shift = random_graph()
    x = torch.randn(3, shift.num_nodes, 2, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
    expected = jobs.normalised(0, None, shift, x)
    plain = torch.nn.BatchNorm1d(2).double()
    torch.testing.assert_close(expected[0], plain(x.view(-1, 2)).view_as(x).detach())
    torch.testing.assert_close(expected[1], plain.eval()(x.view(-1, 2)).view_as(x).detach())
    ss.distributed.partition(shift, tmp_path, 3)
    for found in world(3).run(jobs.normalised, tmp_path, x):
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("ending", ["npy", "parquet"])
def test_each_process_reads_its_rows_of_a_file(tmp_path, ending):
    shift, path = random_graph(), tmp_path / f"x.{ending}"
    x = np.random.default_rng(0).normal(size=(shift.num_nodes, 3))
    if ending == "npy":
        np.save(path, x)
    else:
        table = pa.table({f"c{i}": x[:, i] for i in range(3)})
        pq.write_table(table, path, row_group_size=17)
    ss.distributed.partition(shift, tmp_path / "parts", 3)
    for found in world(3).run(jobs.read, tmp_path / "parts", path):
        assert torch.equal(found, torch.from_numpy(x))
