"""The minesweeper example runs from file to table on a small board, goes on where it stopped, and scores rightly."""

import csv
import dataclasses
import importlib.util
import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("torch_geometric", reason="the example compares with PyTorch Geometric: shiftstate[pyg]")

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "docs/results/minesweeper"
FILTERS = ("lssm", "rsn", "gcnn", "tagconv")


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("minesweeper", ROOT / "docs/examples/minesweeper.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["minesweeper"] = module  # its dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["minesweeper"]


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


def test_all_four_filters_are_trained_on_every_split_with_equal_parameters_and_summed_up(
    example, board, tmp_path, rows, capsys
):
    options = ["--data", str(board), "--out", str(tmp_path), "--epochs", "4", "--parameters", "6000"]
    example.main(options)
    results = rows("results.csv")
    assert {(row["filter"], row["split"]) for row in results} == {
        (filter, split) for filter in FILTERS for split in "01"
    }
    assert all(0 <= float(row["test"]) <= 100 for row in results)
    assert all(abs(int(row["parameters"]) - 6000) < 600 for row in results)
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["rows"]
    lssm = [float(row["test"]) for row in results if row["filter"] == "lssm"]
    assert summary[0]["mean"] == pytest.approx(sum(lssm) / 2, abs=0.01)
    assert (tmp_path / "table.md").read_text(encoding="utf-8") in capsys.readouterr().out

    example.main(options)
    assert rows("results.csv") == results
    assert "split 0" not in capsys.readouterr().out  # all was there, nothing was trained again


def test_the_search_gives_every_filter_as_many_trials_and_does_not_see_the_test_nodes(example, board, tmp_path, rows):
    example.main(["--data", str(board), "--out", str(tmp_path), "--epochs", "1", "--parameters", "2500", "--search"])
    results = rows("search.csv")
    assert {sum(row["filter"] == filter for row in results) for filter in FILTERS} == {len(results) // len(FILTERS)}
    assert len({row["setting"] for row in results}) == len(results)
    assert "test" not in results[0]


def test_a_chosen_setting_is_one_that_the_search_tried(example):
    assert all(example.CHOSEN[filter] in example.trials(filter) for filter in FILTERS)


def test_tagconv_is_given_the_same_matrix_as_our_filters(example, board):
    data = example.Board.load(board)
    ours, theirs = (data.graph(example.Setting(filter)) for filter in ("gcnn", "tagconv"))
    assert torch.equal(theirs.to_dense(), ours.to_dense())
    assert not torch.equal(ours.to_dense(), ours.T.to_dense())  # so that a transposed one would show


def test_the_score_is_the_share_of_pairs_in_the_right_order_with_ties_counted_half(example):
    torch.manual_seed(0)
    y = (torch.rand(200) < 0.3).float()
    logits = torch.randint(0, 9, (200,)).float() + 2 * y
    pairs = logits[y == 1][:, None] - logits[y == 0]
    expected = 100 * ((pairs > 0).double() + 0.5 * (pairs == 0)).mean().item()
    assert 60 < expected < 95
    assert example.roc_auc(logits, y) == pytest.approx(expected, abs=1e-9)


def test_a_missing_file_is_answered_with_where_to_get_it(example, tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        example.main(["--data", str(tmp_path / "no.npz")])
    assert stop.value.code == 2
    assert re.search(r"no\.npz is not there; get it with: curl -LO https://\S+npz$", capsys.readouterr().err.strip())


def test_the_recorded_table_follows_from_the_recorded_runs_and_is_the_one_in_the_guide(example, tmp_path):
    shutil.copy(RECORD / "results.csv", tmp_path)
    table = example.summarize(tmp_path, example.EPOCHS)
    assert table == (RECORD / "table.md").read_text(encoding="utf-8")
    assert table in (ROOT / "docs/minesweeper.md").read_text(encoding="utf-8")
    new, recorded = (json.loads((path / "summary.json").read_text(encoding="utf-8")) for path in (tmp_path, RECORD))
    assert new["rows"] == recorded["rows"]
    assert [row["splits"] for row in recorded["rows"]] == [10] * 4


def test_the_chosen_settings_are_the_best_of_the_recorded_search(example):
    rows = example.read(RECORD / "search.csv")
    for filter in FILTERS:
        best = max((row for row in rows if row["filter"] == filter), key=lambda row: float(row["val"]))
        assert json.loads(best["setting"]) == dataclasses.asdict(example.CHOSEN[filter])
        tried = [json.loads(row["setting"]) for row in rows if row["filter"] == filter]
        assert tried == [dataclasses.asdict(setting) for setting in example.trials(filter)]
