"""From files to a model and its predictions, by the command line; bad input writes nothing."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest

from shiftstate.estimators.storage import read_estimator
from tests.own_data.towns import N, node_words, run, table


def test_a_run_on_nodes_leaves_model_predictions_metrics_and_pictures(files):
    code, shown, _ = run(*node_words(files, "run", "--seeds", "2"))
    assert code == 0
    found = json.loads((files / "run/metrics.json").read_text())
    assert found["task"] == "node-classification"
    assert {"accuracy", "roc_auc", "log_loss"} <= found["test"].keys() == found["train"].keys() == found["valid"].keys()
    assert set(found["baselines"]) == {"no_graph", "constant", "linear"}, "eight nodes are too few for trees"
    assert found["verdict"] in shown
    assert {file.name for file in (files / "run").iterdir()} == {
        "confusion.svg",
        "curves.svg",
        "data.json",
        "graph.npz",
        "manifest.json",
        "metrics.json",
        "model.safetensors",
        "predictions.csv",
        "settings.json",
        "trials",
        "lock",
    }
    with open(files / "run/predictions.csv") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["node"] for row in rows] == [f"town{i}" for i in range(N)]
    assert float(rows[0]["p(east)"]) + float(rows[0]["p(west)"]) == pytest.approx(1, abs=1e-5)
    right = [row["predicted"] == row["target"] for row in rows if row["split"] == "test"]
    assert np.mean(right) == found["test"]["accuracy"]


def test_predictions_on_the_training_features_are_those_of_the_run(files):
    run(*node_words(files, "run", "--seeds", "1"))
    shuffled = (files / "towns.csv").read_text().splitlines()
    features = [",".join(np.array(line.split(","))[[0, 2, 4, 5]]) for line in shuffled]
    (files / "features.csv").write_text("\n".join([features[0], *reversed(features[1:])]) + "\n")
    code, _, message = run("predict", files / "run", "--features", files / "features.csv", "--out", files / "new.csv")
    assert (code, message) == (0, "")
    with open(files / "run/predictions.csv") as one, open(files / "new.csv") as two:
        first = {row["node"]: row["p(east)"] for row in csv.DictReader(one)}
        again = {row["node"]: row["p(east)"] for row in csv.DictReader(two)}
    assert again == first, "rows are joined by name, in any order"


def test_several_filters_are_tried_and_finished_trials_are_not_made_again(files):
    words = node_words(files, "run", "--seeds", "1", "--filter", "gcnn,rsn")
    assert run(*words)[0] == 0
    trials = {file.name: file.stat().st_mtime_ns for file in (files / "run/trials").iterdir()}
    kept, others = (
        ("gcnn", "rsn") if "gcnn" in json.loads((files / "run/metrics.json").read_text())["filter"] else ("rsn", "gcnn")
    )
    names = [f"split-{kept}-K1-seed0", f"split-{kept}-K0-seed0", f"split-{others}-K1-seed0"]
    assert set(trials) == {f"{name}.{kind}" for name in names for kind in ("json", "safetensors")}
    before = (files / "run/metrics.json").read_text()
    assert run(*words)[0] == 0
    assert {file.name: file.stat().st_mtime_ns for file in (files / "run/trials").iterdir()} == trials
    assert (files / "run/metrics.json").read_text() == before
    code, _, message = run(*node_words(files, "run", "--seeds", "2"))
    assert code == 2
    assert "holds a run with other settings (filter, seeds)" in message


def test_signals_and_numbers_and_runs_side_by_side(files):
    base = ("--edges", files / "edges.csv", "--K", "1", "--epochs", "20", "--seeds", "1")
    words = ("train", "--task", "signal-classification", "--signals", files / "signals.csv", "--target", "label")
    for out, filter in (("one", "gcnn"), ("two", "rsn")):
        assert run(*words, *base, "--filter", filter, "--out", files / out)[0] == 0
    code, shown, _ = run("compare", files / "one", files / "two")
    assert code == 0
    assert "test rows in common" in shown
    assert run("predict", files / "one", "--signals", files / "signals.csv", "--out", files / "p.csv")[0] == 0
    assert len((files / "p.csv").read_text().splitlines()) == 61
    values = np.loadtxt(files / "signals.csv", delimiter=",", skiprows=1, usecols=range(N))
    order = sorted(range(N), key=lambda place: f"town{place}")  # of the graph's nodes
    np.save(files / "signals.npy", values[:, order])
    assert run("predict", files / "one", "--signals", files / "signals.npy", "--out", files / "q.csv")[0] == 0
    assert (files / "q.csv").read_text() == (files / "p.csv").read_text()
    words = (
        "train",
        "--task",
        "node-regression",
        "--nodes",
        files / "towns.csv",
        "--target",
        "sum",
        "--split",
        "split",
    )
    assert run(*words, *base, "--out", files / "numbers")[0] == 0
    with open(files / "numbers/predictions.csv") as stream:
        row = next(csv.DictReader(stream))
    assert float(row["low"]) <= float(row["predicted"]) <= float(row["high"])
    lines = (files / "towns.csv").read_text().splitlines()
    features = [",".join(line.split(",")[i] for i in (0, 5, 4)) for line in lines]
    (files / "new.csv").write_text("\n".join(features) + "\n")
    words = ("predict", files / "numbers", "--features", files / "new.csv", "--out", files / "n.csv")
    assert run(*words)[0] == 0
    with open(files / "n.csv") as stream:
        again = next(csv.DictReader(stream))
    for one in ("predicted", "low", "high"):
        assert float(again[one]) == pytest.approx(float(row[one]), abs=1e-4)
    gaps = (files / "new.csv").read_text().splitlines()
    gaps[1] = ",".join([*gaps[1].split(",")[:2], ""])
    (files / "new.csv").write_text("\n".join(gaps) + "\n")
    assert "row 2, column 'rain' is empty" in run(*words)[2]
    assert run(*words, "--missing", "mask")[0] == 0
    table(files / "other.csv", ["source", "target"], [("town0", "town1"), ("town1", "town2")])
    assert run(*words, "--missing", "mask", "--edges", files / "other.csv")[0] == 0
    assert len((files / "n.csv").read_text().splitlines()) == 4, "another graph, of three towns"
    with pytest.raises(ValueError, match="expected runs of one task and metric"):
        raise ValueError(run("compare", files / "one", files / "numbers")[2])


def test_a_forecast_from_a_table_of_times_and_nodes(files):
    words = ("train", "--task", "forecast", "--edges", files / "edges.csv", "--signals", files / "series.csv")
    code, _, message = run(
        *words, "--history", "4", "--horizons", "1,3", "--epochs", "5", "--seeds", "1", "--out", files / "run"
    )
    assert (code, message) == (0, "")
    found = json.loads((files / "run/metrics.json").read_text())
    assert set(found["baselines"]) >= {"no_graph", "persistence", "seasonal_mean", "linear_per_node"}
    assert found["test"]["rmse at 1"] < found["test"]["rmse at 3"]
    assert read_estimator(files / "run/model.safetensors").horizons_ == [1, 3]
    assert run("predict", files / "run", "--signals", files / "series.csv", "--out", files / "next.csv")[0] == 0
    assert len((files / "next.csv").read_text().splitlines()) == 1 + 2 * N


def test_a_dry_run_describes_the_data_and_writes_nothing(files):
    code, shown, _ = run(*node_words(files, "run", "--dry-run"))
    assert code == 0
    assert "24 nodes, 48 edges, 1 component, spectral radius 2; rows: 8 train, 8 valid, 8 test, 3 features" in shown
    assert not (files / "run").exists()


def replace(files, name, old, new):
    text = (files / name).read_text()
    assert old in text
    (files / name).write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (
            "edges.csv",
            "town3,town4",
            "town3,village",
            "1 nodes that the table of nodes does not have (first: 'village')",
        ),
        ("towns.csv", "town4,", "town3,", "rows 5 and 6, column 'town', are both called 'town3'"),
        ("towns.csv", "town4,", ",", "row 6, column 'town' is empty; expected a name"),
        ("towns.csv", ",train,", ",practice,", "row 2, column 'split' holds 'practice'; expected train, valid, test"),
        (
            "towns.csv",
            "town0,west",
            "town0,",
            "row 2, column 'side' is empty, and 'split' says train; expected a target",
        ),
        ("towns.csv", "town,side", "town,Side", "has no column 'side'; expected one of its columns"),
    ],
)
def test_bad_tables_are_named_and_nothing_is_written(files, name, old, new, message):
    replace(files, name, old, new)
    code, _, told = run(*node_words(files))
    assert code == 2
    assert message in told
    assert str(files / name) in told
    assert not (files / "run").exists()


def test_missing_values_are_refused_with_their_place_or_interpolated(files):
    lines = (files / "series.csv").read_text().splitlines()
    cells = lines[7].split(",")
    cells[3] = ""
    lines[7] = ",".join(cells)
    (files / "series.csv").write_text("\n".join(lines) + "\n")
    words = ("train", "--task", "forecast", "--edges", files / "edges.csv", "--signals", files / "series.csv")
    words = (*words, "--out", files / "run", "--dry-run")
    code, _, told = run(*words)
    assert code == 2
    assert "row 8, column 'town2' is empty, the first of 1 such values" in told
    assert run(*words, "--missing", "interpolate")[0] == 0
    assert run(*words, "--missing", "mask")[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--task", "classification"), "unknown task 'classification'"),
        (("--task", "forecast"), "--signals is not given"),
        (("--task", "node-regression"), "--nodes is not given"),
        (("--task", "forecast", "--signals", "x.csv", "--horizons", "a"), "--horizons is 'a'; expected whole numbers"),
        (("--task", "forecast", "--signals", "x.csv", "--fractions", "1,2,3"), "expected three shares"),
    ],
)
def test_settings_that_do_not_fit_are_named(files, words, message):
    code, _, told = run("train", "--edges", files / "edges.csv", "--out", files / "run", *words)
    assert code == 2
    assert message in told


def test_a_split_without_test_rows_and_one_class_only_are_named(files):
    replace_all = (files / "towns.csv").read_text().replace(",test,", ",,")
    (files / "towns.csv").write_text(replace_all)
    assert "column 'split' has no row of test" in run(*node_words(files))[2]
    (files / "towns.csv").write_text(replace_all.replace("east", "west"))
    words = [word for word in node_words(files) if word not in ("--split", "split")]
    assert "one class only" in run(*words, "--seeds", "1")[2]


def test_the_command_line_ends_with_two_and_one_line(files):
    words = [sys.executable, "-c", "from shiftstate.cli import main; main()"]
    done = subprocess.run(
        [*words, "predict", str(files / "nowhere"), "--out", str(files / "p.csv")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("shiftstate: ")
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (files / "p.csv").exists()
