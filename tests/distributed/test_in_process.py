"""Partition, rows by name and a whole training in this process: what is written is what was computed."""

import csv
import json

import numpy as np
import pytest
import torch
from torch import nn

import shiftstate as ss
from shiftstate.distributed import load, partition
from shiftstate.distributed.node_data import NodeFiles, read_node_data
from shiftstate.distributed.node_training import GraphTraining, train
from shiftstate.distributed.ranks import _checksum
from shiftstate.distributed.rows import own_rows

N = 20
NAMES = [f"n{i}é" for i in range(N)]


@pytest.fixture
def folder(tmp_path):
    """A ring with names, one part; a table of its nodes in another order."""
    ring = np.arange(N)
    shift = ss.Shift.from_edges([[*ring, *(ring + 1) % N], [*(ring + 1) % N, *ring]])
    partition(shift, tmp_path / "graph", parts=1, names=NAMES)
    part = ["train", "valid", "test", ""] * (N // 4)
    rows = [f"{NAMES[i]},{'ab'[i // 4 % 2]},{i / 4},{part[i]},{np.sin(i):.6f}" for i in reversed(range(N))]
    (tmp_path / "nodes.csv").write_text("\n".join(["id,kind,size,part,x", *rows]), encoding="utf-8")
    return tmp_path


def files(folder, target, **more):
    return NodeFiles(folder / "nodes.csv", target, split="part", name="id", **more)


def test_a_manifest_counts_what_is_on_a_boundary(tmp_path):
    path = ss.Shift.from_edges([np.arange(9), np.arange(1, 10)])
    found = partition(path, tmp_path / "two", parts=2, method=[0] * 5 + [1] * 5)
    assert found.boundary == pytest.approx(0.2)  # the two ends of the edge between the parts
    assert found.halo == 1  # the edge leads one way
    assert partition(path, tmp_path / "one", parts=1).boundary == 0


def test_names_come_back_as_they_were(folder):
    assert load(folder / "graph").names == NAMES


def test_rows_are_found_by_name_wherever_they_stand(folder):
    shift = load(folder / "graph")
    assert own_rows(shift, folder / "nodes.csv", "id").strings("id") == NAMES
    data = read_node_data(shift, files(folder, "size"), classify=False)
    assert data.y.tolist() == [i / 4 for i in range(N)]
    lines = (folder / "nodes.csv").read_text(encoding="utf-8").splitlines()
    for wrong, message in (
        (lines[:-1], "has rows for 19 of 20 nodes of this part; expected one for each"),
        ([*lines, lines[1]], "has 21 rows for 20 of 20 nodes of this part; expected one for each"),
    ):
        (folder / "nodes.csv").write_text("\n".join(wrong), encoding="utf-8")
        with pytest.raises(ValueError, match=message):
            own_rows(shift, folder / "nodes.csv", "id")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones((N - 1, 2)), r"float64 of shape \(19, 2\); expected numbers, a row for each of 20 nodes"),
        (np.ones((N, 2), dtype="U3"), "expected numbers, a row for each"),
        (np.array(3.0), "expected numbers, a row for each"),
        (np.ones((N, 2, 2)), r"expected features \(N, channels\)"),
        (np.full((N, 2), np.nan), "holds features that are missing or not finite"),
    ],
)
def test_features_that_do_not_fit_are_refused(folder, array, message):
    np.save(folder / "x.npy", array)
    with pytest.raises(ValueError, match=message):
        read_node_data(load(folder / "graph"), files(folder, "kind", features=folder / "x.npy"), classify=True)


@pytest.mark.parametrize(("task", "target"), [("node-classification", "kind"), ("node-regression", "size")])
def test_a_training_writes_the_predictions_of_its_model(folder, task, target):
    said = []
    wanted = GraphTraining(
        folder / "graph", folder / "out", task, files(folder, target), "gcnn", K=2, channels=3, epochs=2
    )
    metrics = train(wanted, said.append)
    assert metrics == json.loads((folder / "out/metrics.json").read_text())
    assert (metrics["epochs"], metrics["nodes"], metrics["parts"]) == (2, N, 1)
    assert said[0] == "20 nodes in 1 parts, 0.0 % of them on a boundary"
    assert said[-1].startswith("epoch 2 of 2: loss ")
    shift = load(folder / "graph").normalized("symmetric")
    data = read_node_data(shift, wanted.files, task == "node-classification")
    with torch.no_grad():
        outputs = ss.Network.load(folder / "out/model.safetensors")(data.x, shift)
    assert outputs.shape[1] == (2 if target == "kind" else 1)
    with open(folder / "out/predictions-0.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == NAMES
    told = ["ab"[i // 4 % 2] if target == "kind" else f"{i / 4:.6g}" for i in range(N)]
    assert [row["target"] for row in rows] == [one if i % 4 < 3 else "" for i, one in enumerate(told)]
    if target == "kind":
        assert [row["predicted"] for row in rows] == ["ab"[one] for one in outputs.argmax(-1).tolist()]
    else:
        assert [float(row["predicted"]) for row in rows] == pytest.approx(outputs[:, 0].tolist(), rel=1e-4)


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.5, 0.5, 0.0), (0.5, 0.3, 0.3)])
def test_shares_that_do_not_add_up_are_refused(folder, shares):
    with pytest.raises(ValueError, match="expected three shares that add up to 1"):
        GraphTraining(folder, folder, "node-regression", files(folder, "size", fractions=shares))


def test_the_checksum_tells_weights_apart_that_change_places():
    one, two = nn.Linear(1, 1), nn.Linear(1, 1)
    with torch.no_grad():
        for model, values in ((one, (2.0, 3.0)), (two, (3.0, 2.0))):
            model.weight.fill_(values[0])
            model.bias.fill_(values[1])
    assert _checksum(one) == 2 + 2 * 3
    assert _checksum(two) == 3 + 2 * 2
