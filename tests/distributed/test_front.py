"""The commands: partition, then torchrun -m shiftstate.train, and going on with one process."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "-m", "shiftstate.train"]
SHIFTSTATE = [sys.executable, "-m", "shiftstate"]


def run(command, **options):
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.getcwd()}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False, **options)


@pytest.fixture
def files(tmp_path):
    """Four communities with noisy features; names that are not numbers."""
    random, n = np.random.default_rng(0), 80
    u = random.integers(n, size=500)
    v = u // 20 * 20 + random.integers(20, size=500)
    label = np.arange(n) // 20
    np.save(tmp_path / "x.npy", (np.eye(4)[label] + 0.3 * random.normal(size=(n, 4))).astype(np.float32))
    ends = [*zip(u, v, strict=True), *((i, i) for i in range(n))]
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"n{a:02},n{b:02}\n" for a, b in ends))
    (tmp_path / "nodes.csv").write_text("id,kind\n" + "".join(f"n{i:02},k{label[i]}\n" for i in reversed(range(n))))
    return tmp_path


def test_partition_train_and_resume(files):
    for parts in ("1", "2"):
        made = run([*SHIFTSTATE, "partition", files / "edges.csv", "--parts", parts, "--out", files / parts])
        assert made.returncode == 0, made.stderr
        assert "80 nodes" in made.stdout
    told = ["--task", "node-classification", "--nodes", files / "nodes.csv", "--name", "id", "--target", "kind"]
    told += ["--features", files / "x.npy", "--K", "2", "--channels", "4", "--learning-rate", "0.05"]
    first = run([*TORCHRUN, "--graph", files / "2", *told, "--out", files / "a", "--epochs", "3", "--minutes", "0"])
    assert first.returncode == 0, first.stderr
    again = [*SHIFTSTATE, "train", "--graph", files / "1", *told]
    second = run([*again, "--out", files / "a", "--epochs", "20", "--resume"])
    assert second.returncode == 0, second.stderr
    assert "epoch 3 of 20" not in second.stderr
    assert "epoch 4 of 20" in second.stderr
    straight = run([*again, "--out", files / "b", "--epochs", "20"])
    assert straight.returncode == 0, straight.stderr
    went_on, whole = (json.loads((files / name / "metrics.json").read_text()) for name in ("a", "b"))
    assert went_on["classes"] == whole["classes"] == ["k0", "k1", "k2", "k3"]
    assert went_on["loss"] == pytest.approx(whole["loss"], rel=1e-4)  # float32
    assert whole["test"]["accuracy"] > 0.4  # of four classes
    lines = (files / "b" / "predictions-0.csv").read_text().splitlines()
    assert lines[0] == "node,name,split,target,predicted"
    rows = sorted(line.split(",")[:4] for line in lines[1:])
    assert [name for _, name, *_ in rows] == [f"n{int(node):02}" for node, *_ in rows]
    assert {target for node, _, split, target in rows if split and int(node) < 20} == {"k0"}  # joined by name
    other = run([*again, "--out", files / "a", "--epochs", "30", "--resume", "--seed", "1"])
    assert other.returncode == 2
    assert "is of a training with seed = 0; expected seed = 1" in other.stderr
    assert other.stderr.count("\n") <= 3


def test_bad_input_is_one_line_and_exit_code_2(files):
    made = run([*SHIFTSTATE, "partition", files / "nothing.csv", "--parts", "2", "--out", files / "x"])
    assert made.returncode == 2
    assert made.stderr.strip().splitlines()[-1].startswith("shiftstate: ")
    absent = run([*SHIFTSTATE, "train", "--graph", files / "x", "--task", "node-classification", "--nodes", "n.csv"])
    assert absent.returncode == 2
    assert "Traceback" not in absent.stderr


def test_the_example_in_plain_pytorch_gives_the_same_on_one_and_two_processes(tmp_path):
    example = os.path.join(os.getcwd(), "docs/examples/distributed.py")
    found = []
    for count in ("1", "2"):
        launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", count]
        done = run([*launch, example, tmp_path / count])
        assert done.returncode == 0, done.stderr
        found.append([float(word) for word in re.findall(r"(?:loss|accuracy) ([\d.]+)", done.stdout)])
    assert found[0] == pytest.approx(found[1], abs=2e-3)  # float32
    assert found[0][1] > 0.8
