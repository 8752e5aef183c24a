"""The minesweeper example runs from file to table on a small board, goes on where it stopped, and scores rightly."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch_geometric", reason="the example compares with PyTorch Geometric: shiftstate[pyg]")

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "docs/results/minesweeper"


def run_python(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


def run_example(*arguments: object) -> str:
    done = run_python("docs/examples/minesweeper.py", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """A board of 12 × 12 with two splits, drawn as the real one is."""
    generator = np.random.default_rng(0)
    side = 12
    mine = generator.random((side, side)) < 0.2
    around = np.zeros((side + 2, side + 2), int)
    edges = []
    for down, right in ((0, 1), (1, -1), (1, 0), (1, 1)):
        for i in range(side):
            for j in range(side):
                if i + down < side and 0 <= j + right < side:
                    edges.append((i * side + j, (i + down) * side + j + right))
                    around[i, j] += mine[i + down, j + right]
                    around[i + down, j + right] += mine[i, j]
    shown = np.where(generator.random((side, side)) < 0.5, 0, 1 + np.minimum(around[:side, :side], 5))
    part = np.stack([generator.permutation(np.arange(side * side) % 4) for _ in range(2)])
    path = tmp_path_factory.mktemp("minesweeper") / "board.npz"
    np.savez(
        path,
        node_features=np.eye(7, dtype=np.float32)[shown.flatten()],
        node_labels=mine.flatten().astype(np.int64),
        edges=np.array(edges),
        train_masks=part < 2,
        val_masks=part == 2,
        test_masks=part == 3,
    )
    return path


@pytest.fixture
def rows(tmp_path):
    def read(name: str) -> list[dict[str, str]]:
        with (tmp_path / name).open(encoding="utf-8") as stream:
            return list(csv.DictReader(stream))

    return read


def test_all_four_filters_are_trained_on_every_split_with_equal_parameters_and_summed_up(board, tmp_path, rows):
    options = ("--data", board, "--out", tmp_path, "--epochs", 4, "--parameters", 6000)
    output = run_example(*options)
    results = rows("results.csv")
    assert {(row["filter"], row["split"]) for row in results} == {
        (filter, split) for filter in ("lssm", "rsn", "gcnn", "tagconv") for split in "01"
    }
    assert all(0 <= float(row["test"]) <= 100 for row in results)
    assert all(abs(int(row["parameters"]) - 6000) < 600 for row in results)
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["rows"]
    lssm = [float(row["test"]) for row in results if row["filter"] == "lssm"]
    assert summary[0]["mean"] == pytest.approx(sum(lssm) / 2, abs=0.01)
    assert (tmp_path / "table.md").read_text(encoding="utf-8") in output

    again = run_example(*options)
    assert "split" not in again.split("|")[0]  # no run was reported before the table: all were there
    assert rows("results.csv") == results


def test_the_search_gives_every_filter_as_many_trials_and_does_not_see_the_test_nodes(board, tmp_path, rows):
    run_example("--data", board, "--out", tmp_path, "--epochs", 1, "--parameters", 2500, "--search")
    results = rows("search.csv")
    number = {filter: sum(row["filter"] == filter for row in results) for filter in ("lssm", "rsn", "gcnn", "tagconv")}
    assert len(set(number.values())) == 1
    assert len({row["setting"] for row in results}) == len(results)
    assert "test" not in results[0]


def test_the_score_is_the_share_of_pairs_in_the_right_order_with_ties_counted_half():
    code = """
import sys, torch
sys.path.insert(0, "docs/examples")
from minesweeper import roc_auc
torch.manual_seed(0)
y = (torch.rand(200) < 0.3).float()
logits = torch.randint(0, 9, (200,)).float() + 2 * y
pairs = logits[y == 1][:, None] - logits[y == 0]
expected = 100 * ((pairs > 0).double() + 0.5 * (pairs == 0)).mean().item()
assert 60 < expected < 95
print(roc_auc(logits, y) - expected)
"""
    done = run_python("-c", code)
    assert done.returncode == 0, done.stderr
    assert abs(float(done.stdout)) < 1e-9


def test_a_missing_file_is_answered_with_where_to_get_it(tmp_path):
    done = run_python("docs/examples/minesweeper.py", "--data", tmp_path / "no.npz")
    assert done.returncode == 2
    assert re.search(r"no\.npz is not there; get it with: curl -LO https://\S+minesweeper\.npz$", done.stderr.strip())
