"""Settings from a file, several splits, groups, and runs that are stopped: nothing finished is lost."""

import json
import os
import signal
import subprocess
import sys
import time
import tomllib

import numpy as np
import pytest

from shiftstate.own_data import trials
from shiftstate.own_data.asking.config import settings_of
from shiftstate.own_data.trials import problem_of
from tests.own_data.towns import N, node_words, run, table

MAIN = [sys.executable, "-c", "from shiftstate.cli import main; main()"]


def test_init_writes_settings_that_train_as_flags_do_and_flags_win(files):
    data = ("--edges", files / "edges.csv", "--nodes", files / "towns.csv")
    assert run("train", "--init", files / "run.toml", *data)[0] == 0
    found = tomllib.loads((files / "run.toml").read_text())
    assert found == {
        "edges": "edges.csv",
        "nodes": "towns.csv",
        "out": "runs/run",
        "task": "node-classification",
        "target": "side",
        "split": ["split"],
    }
    settings = settings_of(files / "run.toml", {"K": "1,2", "epochs": 3}, {})
    assert (settings.K, settings.epochs, settings.edges) == ((1, 2), 3, files / "edges.csv")
    words = ("--config", files / "run.toml", "--K", "1", "--epochs", "3", "--seeds", "1")
    assert run("train", *words)[0] == 0
    assert (files / "runs/run/metrics.json").is_file()
    code, _, message = run("train", "--init", files / "run.toml", *data)
    assert code == 2
    assert "is there already" in message


def test_init_takes_a_table_without_a_target_for_a_forecast(files):
    words = ("--edges", files / "edges.csv", "--signals", files / "series.csv")
    assert run("train", "--init", files / "f.toml", *words)[0] == 0
    assert tomllib.loads((files / "f.toml").read_text())["task"] == "forecast"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("edgs = 'a.csv'", "unknown key 'edgs'"),
        ("K = ['a']", "K is ['a']; expected whole numbers"),
        ("epochs = 'many'", "epochs is 'many'; expected a whole number"),
        ("directed = 1", "directed is 1; expected true or false"),
        ("model = 3", "model is 3; expected a table"),
        ("edges = ", "cannot be read as TOML"),
    ],
)
def test_files_of_settings_that_do_not_fit_are_named(files, text, message):
    (files / "bad.toml").write_text(text)
    code, _, told = run("train", "--config", files / "bad.toml")
    assert code == 2
    assert message in told
    assert str(files / "bad.toml") in told


def test_arguments_of_the_model_come_by_name(files):
    code, shown, _ = run(*node_words(files, "run", "--set", "channels=5", "--set", "scale=none", "--dry-run"))
    assert code == 0
    assert "of 5 channels" in shown
    assert "features scaled: none" in shown
    code, _, told = run(*node_words(files, "run", "--set", "width=5"))
    assert code == 2
    assert "width" in told


def test_a_dry_run_tells_parameters_memory_and_time_for_every_model(files):
    code, shown, _ = run(*node_words(files, "run", "--filter", "gcnn,rsn", "--dry-run"))
    assert code == 0
    assert [line.split(",")[0] for line in shown.splitlines()[1:] if line[0] != " "] == ["gcnn", "rsn"]
    for words in ("parameters", "expected memory: ", "time per epoch: ", "(1 step of ", "graph normalised: "):
        assert shown.count(words) == 2
    assert not (files / "run").exists()


def test_several_splits_leave_a_run_each_and_their_mean(files):
    rows = (files / "towns.csv").read_text().splitlines()
    turned = {"train": "valid", "valid": "test", "test": "train", "split": "other"}
    new = [f"{row},{turned[row.split(',')[3]]}" for row in rows]
    (files / "towns.csv").write_text("\n".join(new) + "\n")
    words = [word if word != "split" else "split,other" for word in node_words(files)]
    code, shown, message = run(*words)
    assert (code, message) == (0, "")
    found = json.loads((files / "run/metrics.json").read_text())
    each = [json.loads((files / f"run/splits/{name}/metrics.json").read_text()) for name in ("split", "other")]
    assert found["test"]["accuracy"] == pytest.approx(np.mean([one["test"]["accuracy"] for one in each]))
    assert found["splits"] == {"split": each[0]["seeds"]["mean"], "other": each[1]["seeds"]["mean"]}
    assert found["verdict"] in shown
    assert "mean of 2 splits" in shown
    assert (files / "run/model.safetensors").is_file()


def test_rows_of_a_group_stay_together(files):
    rows = (files / "towns.csv").read_text().splitlines()
    new = [rows[0] + ",region", *(f"{row},r{place // 4}" for place, row in enumerate(rows[1:]))]
    (files / "towns.csv").write_text("\n".join(new) + "\n")
    given = {"task": "node-classification", "edges": files / "edges.csv", "nodes": files / "towns.csv"}
    settings = settings_of(None, {**given, "target": "side", "groups": "region", "out": files / "run"}, {})
    masks = problem_of(settings).masks
    part = np.argmax([masks[name] for name in ("train", "valid", "test")], 0)
    assert sum(mask.sum() for mask in masks.values()) == N
    assert all(len({*part[4 * region : 4 * region + 4]}) == 1 for region in range(N // 4))
    assert {*part} == {0, 1, 2}


def test_matrices_of_signals_have_their_targets_beside_them(files):
    random = np.random.default_rng(0)
    x = random.normal(size=(60, N, 2))
    y = np.where(x[:, 0, 0] > 0, "up", "down")
    np.save(files / "x.npy", x)
    table(files / "y.csv", ["label"], [[one] for one in y])
    np.savez(files / "xy.npz", x=x, label=y)
    table(files / "ring.csv", ["i", "j"], [(i, (i + 1) % N) for i in range(N)])
    base = {"task": "signal-classification", "edges": files / "ring.csv", "target": "label", "out": files / "run"}
    apart = problem_of(settings_of(None, {**base, "signals": files / "x.npy", "targets": files / "y.csv"}, {}))
    together = problem_of(settings_of(None, {**base, "signals": files / "xy.npz"}, {}))
    np.testing.assert_array_equal(apart.X, together.X)
    np.testing.assert_array_equal(apart.y, together.y)
    code, _, told = run("train", *(word for pair in base.items() for word in (f"--{pair[0]}", pair[1])), "--signals",
                        files / "x.npy")  # fmt: skip
    assert code == 2
    assert "expected the targets in a table: --targets FILE" in told
    named = {**base, "edges": files / "edges.csv", "signals": files / "xy.npz"}
    with pytest.raises(ValueError, match="expected --nodes FILE, a table with their names in the order of the columns"):
        problem_of(settings_of(None, named, {}))
    problem_of(settings_of(None, {**named, "nodes": files / "towns.csv"}, {}))


@pytest.mark.parametrize("missing", ["mask", "zero=missing", "interpolate"])
def test_missing_features_are_filled_by_what_the_user_says(files, missing):
    text = (files / "towns.csv").read_text().splitlines()
    cells = text[4].split(",")
    cells[5] = "0" if missing == "zero=missing" else ""
    text[4] = ",".join(cells)
    (files / "towns.csv").write_text("\n".join(text) + "\n")
    given = {"task": "node-classification", "edges": files / "edges.csv", "nodes": files / "towns.csv"}
    given |= {"target": "side", "split": "split", "out": files / "run", "missing": missing}
    problem = problem_of(settings_of(None, given, {}))
    wind = problem.X[:, 2]
    train = problem.masks["train"] & (np.arange(N) != 3)
    expected = (wind[2] + wind[4]) / 2 if missing == "interpolate" else wind[train].mean()
    assert wind[3] == pytest.approx(expected)


def stopped(files, *more):
    return node_words(files, "run", "--seeds", "1", "--filter", "gcnn,rsn", *more)


def test_a_stop_in_the_midst_loses_nothing_that_was_finished(files, monkeypatch):
    whole, work = [], trials.work

    def work_once(unit):
        if whole:
            raise KeyboardInterrupt
        whole.append(unit)
        return work(unit)

    monkeypatch.setattr(trials, "work", work_once)
    assert run(*stopped(files))[0] == 130
    (stored,) = (files / "run/trials").glob("*.json")
    when = stored.stat().st_mtime_ns
    monkeypatch.setattr(trials, "work", work)
    assert run(*stopped(files))[0] == 0
    assert stored.stat().st_mtime_ns == when, "it was not trained again"
    again = json.loads((files / "run/metrics.json").read_text())
    assert run(*(files / "straight" if word == files / "run" else word for word in stopped(files)))[0] == 0
    straight = json.loads((files / "straight/metrics.json").read_text())
    assert again == straight


def test_a_training_that_was_half_written_or_edited_is_made_again(files):
    assert run(*stopped(files))[0] == 0
    before = (files / "run/metrics.json").read_text()
    (files / "run/metrics.json").unlink()
    stored = sorted((files / "run/trials").glob("*.json"))
    stored[0].write_text(stored[0].read_text()[:50])
    stored[1].write_text(stored[1].read_text().replace('"best_epoch": ', '"best_epoch": 1'))
    stored[2].with_suffix(".safetensors").write_bytes(stored[0].with_suffix(".safetensors").read_bytes())
    (files / "run/trials/.x.json.0123abcd.shiftstate-part").write_text("{")
    assert run(*stopped(files))[0] == 0
    assert (files / "run/metrics.json").read_text() == before
    assert not list((files / "run/trials").glob(".*"))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_run_with_workers_goes_on(files, number):
    words = [str(word) for word in stopped(files, "--epochs", "200", "--workers", "2")]
    running = subprocess.Popen(MAIN + words, stderr=subprocess.PIPE, text=True, env={**os.environ})
    while not list((files / "run/trials").glob("*.json")):
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(number)
    told = running.communicate()[1]
    assert running.returncode == {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130}[number]
    if number != signal.SIGKILL:
        assert told.splitlines()[-1].endswith("what was finished is stored, and the same command goes on from there")
    stored = {file: file.stat().st_mtime_ns for file in (files / "run/trials").glob("*.json")}
    assert subprocess.run(MAIN + words, capture_output=True, check=False).returncode == 0
    assert all(file.stat().st_mtime_ns == when for file, when in stored.items())
    assert (files / "run/metrics.json").is_file()
