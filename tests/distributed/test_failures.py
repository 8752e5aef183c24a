"""What goes wrong in one process ends all of them, with one line that says where and why."""

import time

import pytest
import torch

import shiftstate as ss
from tests.distributed import jobs
from tests.distributed.test_exact import random_graph
from tests.distributed.test_training import node_data
from tests.distributed.worlds import World, world


def told(count, job, *arguments):
    """The message of every process, which is one line."""
    failures = world(count).failures(job, *arguments)
    assert {kind for kind, _ in failures} == {"ValueError"}
    assert all("\n" not in message for _, message in failures)
    return [message for _, message in failures]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("K", "the ranks differ in the call: rank 1 has LSSM(1, 2, K=4)"),
        ("weights", "the ranks differ in the call: rank 1 has LSSM(1, 2, K=3)"),
        ("graph", "the ranks differ in the graph: rank 1 has "),
        ("version", "the ranks differ in the version of shiftstate: rank 1 has 9.9.9"),
    ],
)
def test_a_rank_with_something_else_is_named_by_all(tmp_path, how, expected):
    for name, seed in (("a", 0), ("b", 1)):
        ss.distributed.partition(random_graph(seed=seed), tmp_path / name, 3, "blocks")
    graphs = (tmp_path / "a", tmp_path / "b")
    for message in told(3, jobs.one_differs, graphs, how):
        assert message.startswith(expected), message


def test_a_missing_part_is_named_by_all(tmp_path):
    ss.distributed.partition(random_graph(), tmp_path, 2, "blocks")
    (tmp_path / "part-1.safetensors").unlink()
    for message in told(2, jobs.read, tmp_path, "x.npy"):
        assert message.startswith(f"rank 1: {tmp_path}/part-1.safetensors cannot be read (No such file or directory)")


def test_another_number_of_processes_is_named(tmp_path):
    ss.distributed.partition(random_graph(), tmp_path, 3, "blocks")
    for message in told(2, jobs.read, tmp_path, "x.npy"):
        assert "holds 3 parts for 2 processes" in message
    with pytest.raises(ValueError, match="holds 3 parts for 1 processes; expected torchrun --nproc-per-node 3"):
        ss.distributed.load(tmp_path)


def test_a_full_disk_ends_all(tmp_path):
    shift = random_graph()
    ss.distributed.partition(shift, tmp_path / "parts", 2, "blocks")
    file = tmp_path / "training.safetensors"
    for message in told(2, jobs.full_disk, tmp_path / "parts", node_data(shift.num_nodes), file):
        assert message.startswith(f"rank 0: {file} cannot be written (No space left on device)")
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def test_a_flatten_readout_is_refused_with_the_reason(tmp_path):
    ss.distributed.partition(random_graph(), tmp_path, 2, "blocks")
    for message in told(2, jobs.flattened, tmp_path):
        assert "FlattenReadout was given a partitioned graph" in message


def test_a_killed_rank_is_named_and_nobody_waits(tmp_path):
    ss.distributed.partition(random_graph(), tmp_path, 2, "blocks")
    doomed, began = World(2), time.monotonic()
    for inbox, _ in doomed.boxes:
        inbox.put((jobs.killed.__module__, jobs.killed.__name__, (tmp_path,)))
    fine, (kind, message, _) = doomed.boxes[0][1].get()
    doomed.close()
    assert not fine
    assert kind == "RankError"
    assert "; rank 1 of 2 did not answer within 3 s: it was killed, has crashed or hangs" in message
    assert "\n" not in message
    assert time.monotonic() - began < 120


def test_damaged_folders_are_named(tmp_path):
    shift = random_graph()
    with pytest.raises(ValueError, match=r"partition\.json cannot be read .*; expected a folder written by"):
        ss.distributed.load(tmp_path)
    ss.distributed.partition(shift, tmp_path, 1)
    part = tmp_path / "part-0.safetensors"
    content = part.read_bytes()
    part.write_bytes(content[: len(content) // 2])
    changed = r"part-0\.safetensors is not the file that was written .* partition the graph again"
    with pytest.raises(ValueError, match=changed):
        ss.distributed.load(tmp_path)
    ss.distributed.partition(random_graph(seed=1), tmp_path / "other", 1)
    part.write_bytes((tmp_path / "other" / part.name).read_bytes())
    with pytest.raises(ValueError, match=changed):
        ss.distributed.load(tmp_path)
    (tmp_path / "partition.json").write_text("{}")
    with pytest.raises(ValueError, match=r"partition\.json: graph is missing; expected graph, num_nodes"):
        ss.distributed.load(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"parts": 0}, "parts is 0; expected a whole number of at least 1"),
        ({"parts": 2, "method": "spectral"}, "unknown method 'spectral'"),
        ({"parts": 2, "method": torch.zeros(3).numpy()}, "expected 'metis', 'blocks', or the part of each of 90 nodes"),
        ({"parts": 2, "names": ["a"]}, "1 names were given; expected 90"),
        ({"parts": 2, "directed": True}, "directed was given beside a shift"),
    ],
)
def test_arguments_of_partition_are_checked(tmp_path, arguments, expected):
    with pytest.raises(ValueError, match=expected):
        ss.distributed.partition(random_graph(), tmp_path, **arguments)


def test_a_part_refuses_what_needs_the_whole_graph(tmp_path):
    ss.distributed.partition(random_graph(), tmp_path, 1)
    shift = ss.distributed.load(tmp_path)
    for action in (shift.edges, shift.to_scipy, shift.to_dense, shift.laplacian, shift.eigenvalues):
        with pytest.raises(ValueError, match="this process holds some rows of S"):
            action()
    with pytest.raises(ValueError, match="expected the 90 nodes of the whole graph"):
        shift.take(torch.zeros(3, 1))
