"""The minesweeper study runs from file to table on a small board, goes on where it stopped, and its record is read."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from shiftstate.cli import main
from shiftstate.machine.conduct import conduct
from shiftstate.machine.presets import load_preset
from shiftstate.machine.results.store import Store
from shiftstate.machine.settings import flat
from shiftstate.studies.minesweeper import FIRST, STUDY, load
from shiftstate.studies.minesweeper.network import TAGConvOnShift, build, hide_numbers
from shiftstate.studies.minesweeper.record import read_record, settings_of, table

pytest.importorskip("torch_geometric", reason="the study compares with PyTorch Geometric: shiftstate[pyg]")

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "docs/results/minesweeper"
SMALL = ["epochs=4", "parameters=6000", "blocks=2"]


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
def run(here, board):
    def go(out, *overrides, preset="record"):
        return conduct(["minesweeper"], load_preset(STUDY, preset, None, [*SMALL, *overrides]), out, here, given=board)

    return go


def test_all_four_filters_are_trained_on_every_split_with_equal_parameters_and_summed_up(run, tmp_path, capsys):
    written = run(tmp_path, "splits=2")
    assert written.stored == 8
    rows = json.loads((tmp_path / "summary.json").read_text())
    assert {(row["filter"], row["metric"], row["n"]) for row in rows} == {(name, "roc_auc", 2) for name in FIRST}
    with Store(tmp_path, STUDY) as store:
        records = store.records()
    assert all(0 <= record["roc_auc_last"] <= 1 for record in records)
    assert all(abs(record["parameters"] - 6000) < 600 for record in records)
    assert {record["curve"]["split"]["train"] for record in records} == {72}
    tables = (tmp_path / "tables.md").read_text()
    assert "| minesweeper | lssm | chosen | 2 | 2 |" in tables
    assert "| RSN beats TAGConv |" in tables
    assert "[8/8]" in capsys.readouterr().out
    run(tmp_path, "splits=2")
    assert "[8/8]" not in capsys.readouterr().out, "all was there, nothing was trained again"


def test_a_training_repeats_itself_bit_for_bit_with_its_dropout(run, tmp_path):
    for name in ("one", "two"):
        run(tmp_path / name, "splits=1", "filters=rsn")
    one, two = ((tmp_path / name / "summary.json").read_text() for name in ("one", "two"))
    assert one == two


def test_the_search_gives_every_filter_as_many_trials_and_does_not_see_the_test_nodes(board):
    trials = load_preset(STUDY, "search").trials("minesweeper")
    assert {sum(trial.model == name for trial in trials) for name in FIRST} == {4}
    data = load(trials[0], board)
    assert torch.equal(data.test, data.valid)
    assert not torch.equal(load(load_preset(STUDY, "record").trials("minesweeper")[0], board).test, data.valid)


def test_numbers_are_hidden_in_training_only_and_anew_in_every_step(board):
    trial = load_preset(STUDY, "hiding", None, [*SMALL, "filters=rsn", "variant=hiding"]).trials("minesweeper")[0]
    data = load(trial, board)
    hidden = torch.eye(7)[0]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        one, two = (hide_numbers(data.x, 0.25) for _ in range(2))
    for x in (one, two):
        other = (x != data.x).any(-1)
        assert 0 < int(other.sum()) < 0.4 * len(x)
        assert torch.equal(x[other], hidden.expand(int(other.sum()), 7))
    assert not torch.equal(one, two)
    network = build(trial, data)
    assert not torch.equal(network(data.x, data.shift), network(data.x, data.shift))
    network.eval()
    assert torch.equal(network(data.x, data.shift), network(data.x, data.shift))


def test_tagconv_is_given_the_same_matrix_as_our_filters(board):
    trial = load_preset(STUDY, "search").trials("minesweeper")[0]
    shift = load(trial, board).shift
    conv = TAGConvOnShift(1, 1)
    conv(torch.zeros(shift.num_nodes, 1), shift)
    assert torch.equal(conv.csr.to_dense(), shift.to_dense())
    assert not torch.equal(shift.to_dense(), shift.T.to_dense()), "so that a transposed one would show"


def test_a_network_has_the_channels_of_the_recorded_ones():
    features = type("Data", (), {"x": torch.zeros(1, 7)})
    for trial in load_preset(STUDY, "record", None, ["splits=1"]).trials("minesweeper"):
        recorded = next(row for row in read_record(RECORD / "results.csv") if row["filter"] == trial.model)
        assert build(trial, features).channels == [recorded["channels"]]


def test_a_missing_or_foreign_file_is_answered_with_where_to_get_it(tmp_path, monkeypatch, capsys):
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    (tmp_path / "text.npz").write_text("no board")
    for name in ("no.npz", "other.npz", "text.npz"):
        words = ["study", "minesweeper", "--data", str(tmp_path / name), "--out", str(tmp_path / "out")]
        monkeypatch.setattr("sys.argv", ["shiftstate", *words])
        with pytest.raises(SystemExit) as stop:
            main()
        assert stop.value.code == 2
        assert re.search(rf"{name} .*get it with: curl -LO https://\S+npz$", capsys.readouterr().err.strip())
    assert not (tmp_path / "out").exists()


def test_the_recorded_table_follows_from_the_recorded_runs_and_is_the_one_in_the_guide():
    rows = read_record(RECORD / "results.csv")
    assert table(rows) == (RECORD / "table.md").read_text(encoding="utf-8")
    assert table(rows) in (ROOT / "docs/minesweeper.md").read_text(encoding="utf-8")
    assert len(rows) == 40


def test_the_guide_has_the_rows_of_the_record_with_hidden_numbers():
    tables = (ROOT / "docs/results/minesweeper_hiding/tables.md").read_text(encoding="utf-8")
    rows = [line for line in tables.splitlines() if line.startswith("| minesweeper | ")]
    guide = (ROOT / "docs/minesweeper.md").read_text(encoding="utf-8")
    assert rows
    assert all(row in guide for row in rows)


@pytest.mark.parametrize(("preset", "file"), [("record", "results"), ("search", "search"), ("gates", "gates")])
def test_the_presets_have_the_settings_and_parameters_of_the_record(preset, file):
    trials = load_preset(STUDY, preset).trials("minesweeper")
    recorded = [
        (row["filter"], row["epochs"], settings_of(row["setting"])) for row in read_record(RECORD / f"{file}.csv")
    ]
    for trial in trials:
        own = flat(trial.settings)
        same = [
            setting
            for name, epochs, setting in recorded
            if (name, epochs) == (trial.model, own["epochs"]) and setting.items() <= own.items()
        ]
        assert same, trial


def test_the_chosen_settings_are_the_best_of_the_recorded_search():
    rows = read_record(RECORD / "search.csv")
    chosen = {trial.model: flat(trial.settings) for trial in load_preset(STUDY, "record").trials("minesweeper")}
    for name in FIRST:
        best = max((row for row in rows if row["filter"] == name), key=lambda row: row["val"])
        assert settings_of(best["setting"]).items() <= chosen[name].items()
