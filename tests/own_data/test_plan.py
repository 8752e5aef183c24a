"""The plan of a run: its data stay the same, every setting has one way in, and nothing is written before it is good."""

import json
import shutil
import tomllib

import numpy as np
import pytest

from shiftstate.errors import Kept
from shiftstate.own_data import trials
from shiftstate.own_data.asking.config import model_options, settings_of
from shiftstate.own_data.asking.starting import write_config
from shiftstate.own_data.checking import check_settings, count_trainings, rehearse
from shiftstate.own_data.left.page import write_run_page
from shiftstate.own_data.trials import problem_of
from tests.own_data.towns import N, node_words, run, table


def short(files, *more):
    """A run of two trainings of three epochs."""
    return node_words(files, "run", "--epochs", "3", "--seeds", "1", *more)


def forecast_words(files, *more):
    data = ("--task", "forecast", "--edges", files / "edges.csv", "--signals", files / "series.csv")
    return ("train", *data, "--epochs", "1", "--seeds", "1", "--K", "1", "--out", files / "run", *more)


def change_a_label(files):
    text = (files / "towns.csv").read_text()
    (files / "towns.csv").write_text(text.replace("town3,west", "town3,east"))
    return text


def test_a_finished_run_is_not_taken_for_one_on_changed_data(files):
    assert run(*short(files))[0] == 0
    before = change_a_label(files)
    code, shown, message = run(*short(files))
    assert (code, shown) == (2, "")
    assert f"{files / 'towns.csv'} has changed since {files / 'run'} was begun" in message
    assert "put it back, or choose another --out" in message
    (files / "towns.csv").write_text(before)
    assert run(*short(files))[0] == 0, "the time of a file does not count"


def test_an_unfinished_run_does_not_judge_old_models_on_changed_data(files, monkeypatch):
    monkeypatch.setattr(trials, "work", stop)
    assert run(*short(files))[0] == 130
    monkeypatch.undo()
    edges = (files / "edges.csv").read_text()
    (files / "edges.csv").write_text(edges + "town0,town9\n")
    code, _, message = run(*short(files))
    assert code == 2
    assert str(files / "edges.csv") in message
    (files / "edges.csv").write_text(edges)
    assert run(*short(files))[0] == 0


def stop(unit):
    raise KeyboardInterrupt


def test_files_in_another_place_are_the_same_data(files):
    assert run(*short(files))[0] == 0
    (files / "moved").mkdir()
    for name in ("edges.csv", "towns.csv"):
        shutil.move(files / name, files / "moved" / f"my_{name}")
    words = [files / "moved" / f"my_{word.name}" if word in (files / "edges.csv", files / "towns.csv") else word
             for word in short(files)]  # fmt: skip
    assert run(*words)[0] == 0
    code, _, message = run(*words, "--features", files / "moved/my_towns.csv")
    assert code == 2
    assert "other settings (features)" in message


def test_a_run_of_an_older_version_has_no_fingerprints_and_goes_on(files):
    assert run(*short(files))[0] == 0
    scores = (files / "run/metrics.json").read_bytes()
    for name in ("data.json", "metrics.json"):
        (files / "run" / name).unlink()
    assert run(*short(files))[0] == 0
    assert (files / "run/metrics.json").read_bytes() == scores
    assert json.loads((files / "run/data.json").read_text()).keys() == {"edges", "nodes"}


@pytest.mark.parametrize("name", ["settings.json", "data.json"])
@pytest.mark.parametrize("content", ["[" * 5000, "{", "[1]", '{"edges": 3}'])
def test_what_a_run_stored_and_cannot_be_read_is_named(files, name, content):
    (files / "run").mkdir()
    (files / "run/settings.json").write_text("{}")
    (files / "run" / name).write_text(content)
    code, _, message = run(*short(files))
    assert code == 2
    assert str(files / "run") in message
    assert "--out" in message


def test_a_file_that_changes_during_a_run_is_not_learned_from(files):
    given = {"task": "node-classification", "edges": files / "edges.csv", "nodes": files / "towns.csv"}
    settings = settings_of(None, {**given, "target": "side", "out": files / "run"}, {})
    old = problem_of(settings)
    with pytest.raises(ValueError, match=r"edges\.csv has changed since the run began"):
        problem_of(settings, {"edges": "another", "nodes": "another"})
    change_a_label(files)
    assert (problem_of(settings).y != old.y).sum() == 1, "what was read before is not taken for it"


def test_the_lens_of_a_page_is_left_out_where_the_data_have_changed(files):
    assert run(*short(files))[0] == 0
    change_a_label(files)
    write_run_page(files / "run", lambda line: None)
    assert not (files / "run/lens").exists()
    assert "towns.csv has changed" in (files / "run/report.html").read_text()


@pytest.mark.parametrize(
    ("option", "flag"),
    [("K=3", "--K"), ("filter=rsn", "--filter"), ("random_state=3", "--seed"), ("epochs=3", "--epochs"),
     ("metric=roc_auc", "--metric"), ("validation_fraction=0.5", "--split or --fractions")],
)  # fmt: skip
def test_what_the_compared_models_differ_in_has_one_way_in(files, option, flag):
    name, value = option.split("=")
    (files / "model.toml").write_text(f"[model]\n{name} = {value if value[0].isdigit() else repr(value)}\n")
    for way in (("--set", option), ("--config", files / "model.toml")):
        code, _, message = run(*short(files), *way)
        assert code == 2
        assert message.startswith(f"{name} is given by --set, or in [model]; expected {flag}: ")
    assert not (files / "run").exists()


BAD_NODES = {
    "channels=-1": "channels is -1", "channels=2.5": "channels is 2.5; expected a whole number",
    "layers=0": "layers is 0", "layers=100000000": "layers is 100000000; expected 1,000 at most",
    "channels=100000000": "bytes in training", "dropout=1": "dropout is 1", "learning_rate=nan": "learning_rate is nan",
    "mixing=abc": "unknown mixing 'abc'", "normalization=abc": "unknown normalization", "scale=abc": "unknown scale",
    "device=xx": "device is 'xx'", "verbose=5": "verbose is 5; expected true or false",
    "width=5": "unknown argument of the model 'width'", "channels=1\nlayers=2": "expected one value on one line",
}  # fmt: skip


@pytest.mark.parametrize("option", BAD_NODES)
def test_a_bad_argument_of_the_model_leaves_nothing(files, option):
    code, _, message = run(*short(files, "--set", option))
    assert code == 2
    assert BAD_NODES[option] in message
    assert len(message.splitlines()) == 1
    assert not (files / "run").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--K", ""), "--K is ''; expected whole numbers"),
        (("--K", ","), "--K is ','; expected whole numbers"),
        (("--K", "2,"), "--K is '2,'; expected whole numbers"),
        (("--K", "10000000"), "--K has 10000000; expected filter orders from 0 to 10,000"),
        (("--seeds", "100000000"), "the plan has 200,000,000 trainings; expected 100,000 at most"),
        (("--seed", "4294967296"), "seed is 4294967296; expected seeds of 4,294,967,295 at most"),
        (("--seed", "4294967295", "--seeds", "2"), "expected seeds of 4,294,967,295 at most"),
        (("--metric", ""), "--metric is ''; expected a word"),
        (("--fractions", ""), "--fractions is ''; expected numbers"),
        (("--set", "channels=5", "--set", "channels=6"), "--set channels is given twice"),
    ],
)
def test_a_bad_flag_leaves_nothing(files, words, expected):
    code, _, message = run(*node_words(files), *words)
    assert code == 2
    assert expected in message
    assert not (files / "run").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ("--history", "500"),
            "series.csv has 120 times before the test data and 30 in them; expected at least 1002 and 1",
        ),
        (("--horizons", "0"), "horizons is 0"),
        (("--horizons", ""), "--horizons is ''"),
        (("--horizons", "3,3"), "--horizons names (3, 3) with something twice"),
        (("--horizons", "31"), "31"),
        (("--period", "10000000000"), "period is 10000000000; expected at most 120"),
        (("--set", "history=3"), "expected --history"),
    ],
)
def test_a_bad_flag_of_a_forecast_leaves_nothing(files, words, expected):
    code, _, message = run(*forecast_words(files, *words))
    assert code == 2
    assert expected in message
    assert not (files / "run").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("K = [2.7]", "K is [2.7]; expected whole numbers"),
        ("K = [true]", "K is [True]; expected whole numbers"),
        ("K = []", "--K names nothing"),
        ("horizons = [1.5]", "horizons is [1.5]; expected whole numbers"),
        ("fractions = ['0.6', '0.2', '0.2']", "expected numbers"),
        ("metric = ''", "metric is ''; expected a word"),
        ("K = " + "[" * 3000 + "]" * 3000, "nested too deeply"),
    ],
)
def test_values_of_a_file_are_of_their_type(files, text, message):
    (files / "bad.toml").write_text(text)
    given = {"task": "forecast", "edges": files / "edges.csv", "signals": files / "series.csv", "out": files / "run"}
    with pytest.raises(ValueError, match=r".") as error:
        settings_of(files / "bad.toml", given, {})
    assert message in str(error.value)


def test_a_plan_says_its_size(files):
    given = {"task": "node-classification", "edges": files / "edges.csv", "nodes": files / "towns.csv"}
    given |= {"target": "side", "out": files / "run", "filter": "gcnn,rsn", "K": "1,2,3", "seeds": 5}
    settings = settings_of(None, given, model_options(["channels=7", "layers=3"]))
    check_settings(settings)
    assert count_trainings(settings) == 2 * 3 + 2 * 5
    line = rehearse(settings, [problem_of(settings)])
    assert line.startswith("plan: 16 trainings of up to ")
    told = int(line.split("up to ")[1].split(" ")[0].replace(",", ""))
    estimator = trials.make_estimator(settings_of(None, given, {"channels": 7, "layers": 3}), "rsn", 3, 0)
    estimator.set_params(epochs=1)
    trials.fit_on(estimator, problem_of(settings))
    assert told == sum(one.numel() for one in estimator.model_.parameters())


def series_without(files, rows, columns):
    """The series with these values missing."""
    lines = [line.split(",") for line in (files / "series.csv").read_text().splitlines()]
    for line in lines[1:][rows]:
        line[columns] = [""] * len(line[columns])
    return table(files / "gaps.csv", lines[0], lines[1:])


@pytest.mark.parametrize(("rows", "part"), [((0, 90), "90 train"), ((90, 120), "30 valid"), ((120, 150), "30 test")])
def test_a_part_of_a_series_without_any_value_is_named_before_the_training(files, rows, part):
    gaps = series_without(files, slice(*rows), slice(1, None))
    code, _, message = run(*forecast_words(files, "--missing", "mask", "--signals", gaps))
    assert code == 2
    assert message == f"{gaps} has no value in the {part} times; expected some that are known"
    assert not (files / "run").exists()


def test_a_node_of_which_nothing_is_known_has_the_mean_for_its_linear_model():
    from shiftstate.estimators.graph_help.baselines import linear_per_node

    values = np.random.default_rng(0).normal(size=(40, 3))
    values[:, 1] = np.nan
    forecast = linear_per_node(values, range(30, 35), [1, 2], 30, 4)
    assert np.isfinite(forecast).all()
    np.testing.assert_allclose(forecast[:, :, 1], np.nanmean(values[:30]))


def test_features_without_a_column_are_named_before_the_training(files):
    np.save(files / "none.npy", np.zeros((N, 0)))
    code, _, message = run(*short(files, "--features", files / "none.npy"))
    assert code == 2
    assert f"{files / 'none.npy'}" in message
    assert not (files / "run").exists()


@pytest.mark.parametrize("name", ["a\nepochs = 1", 'say "so"', "back\\slash", "\x7f\x01", "t\tab", "\u2028"])
def test_the_name_of_a_column_writes_no_line_of_settings(files, name):
    rows = [(f"town{i}", "west" if i < N // 2 else "east", i) for i in range(N)]
    table(files / "odd.csv", ["town", name, "rain"], rows)
    given = {"edges": files / "edges.csv", "nodes": files / "odd.csv", "target": name, "task": "node-classification"}
    write_config(files / "odd.toml", given)
    found = tomllib.loads((files / "odd.toml").read_text())
    assert found["target"] == name
    assert found.keys() == {"edges", "nodes", "out", "task", "target"}


def test_a_stop_before_anything_is_finished_promises_nothing(files, monkeypatch):
    monkeypatch.setattr(Kept, "some", False)
    monkeypatch.setattr(trials, "work", stop)
    assert run(*short(files))[0] == 130
    assert not Kept.some
    monkeypatch.undo()
    monkeypatch.setattr(Kept, "some", False)
    assert run(*short(files))[0] == 0
    assert Kept.some
