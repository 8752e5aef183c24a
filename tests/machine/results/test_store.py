"""The store: complete rows, one commit each, damage named, two configurations never mixed."""

import csv
import io
import json
import math
import sqlite3
import threading
from contextlib import closing

import pytest

from shiftstate.machine.results import store as module
from shiftstate.machine.results.store import Store
from shiftstate.studies.paper import STUDY


@pytest.fixture
def filled(tmp_path, trial, outcome):
    """A directory with two stored realizations."""
    with Store(tmp_path, STUDY) as store:
        store.add(trial(draw=0), outcome(0.5, 0.6))
        store.add(trial(draw=1), outcome(0.25, 0.75, ending="diverged"))
    return tmp_path


def test_a_row_has_what_the_architecture_asks_for_and_is_there_after_reopening(filled, trial):
    with sqlite3.connect(filled / "results.sqlite") as database:
        database.row_factory = sqlite3.Row
        row = dict(database.execute("SELECT * FROM realizations WHERE draw = 1").fetchone())
    asked = {"id", "experiment", "filter", "K", "L", "author", "accuracy_last", "accuracy_best", "outcome", "seconds"}
    assert asked | {"finished_at", "config", "versions", "seed", "curve", "results_version"} <= row.keys()
    assert row["id"] == trial(draw=1).id
    assert (row["accuracy_last"], row["accuracy_best"], row["outcome"]) == (0.25, 0.75, "diverged")
    assert json.loads(row["config"]) == json.loads(trial(draw=1).to_json())
    assert json.loads(row["curve"]) == {"loss": [1.25, 0.3], "valid_accuracy": [0.4, 0.333333]}
    assert row["author"] is None
    with Store(filled, STUDY) as store:
        assert [one.trial for one in store.results()] == [trial(draw=0), trial(draw=1)]


def test_provenance_says_with_what_and_in_how_much_time(filled):
    with Store(filled, STUDY) as store:
        made = store.provenance()
    assert made["realizations"] == 2
    assert made["training_hours"] == round(2 * 1.5 / 3600, 3)
    assert made["kernels"] == {"reference": 2}
    assert made["versions"] == [{"torch": "2"}]
    assert made["first_finished"] <= made["last_finished"]


def test_provenance_of_nothing_is_empty(tmp_path):
    with Store(tmp_path, STUDY) as store:
        assert store.provenance()["realizations"] == 0


def test_only_what_is_not_stored_is_missing(filled, trial):
    with Store(filled, STUDY) as store:
        assert store.missing([trial(draw=draw) for draw in range(3)]) == [trial(draw=2)]


def test_two_configurations_in_one_cell_are_refused_and_the_difference_is_named(filled, trial):
    with Store(filled, STUDY) as store:
        with pytest.raises(ValueError, match="with epochs = 2, and this run has 9"):
            store.missing([trial(draw=5, epochs=9)])
        assert store.missing([trial(K=9, epochs=9)]), "another cell may have another configuration"


@pytest.mark.parametrize("setting", [{"seed": 7}, {"p": 0.9}, {"source": "any"}, {"num_samples": (100, 40, 40)}])
def test_cells_of_one_experiment_that_saw_other_data_are_refused(filled, trial, setting):
    with Store(filled, STUDY) as store:
        (name,) = setting
        with pytest.raises(ValueError, match=f"with {name} = "):
            store.missing([trial(filter="lssm", **setting)])
        assert store.missing([trial(experiment="table1", **setting)]), "another experiment stands for itself"


def test_a_csv_with_two_configurations_in_a_cell_is_refused_whole(trial, outcome, tmp_path, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    with Store(tmp_path, STUDY) as store, Store(other, STUDY) as copy:
        store.add(trial(draw=0, epochs=2), outcome())
        store.add(trial(draw=1, epochs=9), outcome())
        (other / "realizations.csv").write_text(store.to_csv())
        planned = [trial(draw=draw, epochs=9) for draw in range(3)]
        with pytest.raises(ValueError, match="with epochs = 2, and also 9"):
            copy.import_csv(other / "realizations.csv", planned)
        assert copy.results() == []


def test_losses_that_are_not_finite_are_stored_as_valid_json_and_read_back(trial, outcome, tmp_path):
    with Store(tmp_path, STUDY) as store:
        store.add(trial(), outcome(losses=(1.0, float("nan"), float("inf"))))
        (record,) = store.records()
    assert record["curve"]["loss"][0] == 1.0
    assert all(math.isnan(loss) for loss in record["curve"]["loss"][1:])
    with sqlite3.connect(tmp_path / "results.sqlite") as database:
        assert database.execute("SELECT json_valid(curve) FROM realizations").fetchone() == (1,)


def test_a_program_that_reads_the_store_delays_a_write_and_does_not_fail_it(filled, trial, outcome):
    with (
        Store(filled, STUDY) as store,
        closing(sqlite3.connect(filled / "results.sqlite", check_same_thread=False)) as reader,
    ):
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM realizations").fetchone()
        threading.Timer(6.0, reader.rollback).start()  # longer than SQLite waits by itself
        store.add(trial(draw=2), outcome())
        assert len(store.results()) == 3


def test_a_store_of_another_results_version_is_refused(filled, trial, monkeypatch):
    monkeypatch.setattr(module, "RESULTS_VERSION", 999)
    with Store(filled, STUDY) as store, pytest.raises(ValueError, match="results of version 1; expected 999"):
        store.missing([trial()])


def damage_header(path):
    content = bytearray(path.read_bytes())
    content[:100] = b"x" * 100
    path.write_bytes(content)


def damage_truncated(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def damage_page(path):
    content = bytearray(path.read_bytes())
    content[4096:6000] = b"\xff" * (6000 - 4096)
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [damage_header, damage_truncated, damage_page])
def test_a_damaged_store_is_recognised_and_named(filled, damage):
    damage(filled / "results.sqlite")
    with pytest.raises(ValueError, match=r"results\.sqlite is damaged .*move it away") as error:
        Store(filled, STUDY)
    assert "\n" not in str(error.value)


def test_a_store_with_other_columns_is_refused(tmp_path):
    with sqlite3.connect(tmp_path / "results.sqlite") as database:
        database.execute("CREATE TABLE realizations (id TEXT)")
    with pytest.raises(ValueError, match="other columns"):
        Store(tmp_path, STUDY)


def test_a_configuration_from_a_newer_version_is_named(filled):
    with sqlite3.connect(filled / "results.sqlite") as database:
        database.execute("UPDATE realizations SET config = json_set(config, '$.dropout', 0.5)")
    with Store(filled, STUDY) as store, pytest.raises(ValueError, match=r"'dropout'.*newer"):
        store.results()


def test_a_full_disk_loses_the_row_that_did_not_fit_and_nothing_else(filled, trial, outcome):
    with Store(filled, STUDY) as store:
        pages = store._database.execute("PRAGMA page_count").fetchone()[0]
        store._database.execute(f"PRAGMA max_page_count = {pages}")  # SQLite's own way to run out of room

        def add_many():
            for draw in range(2, 100):
                store.add(trial(draw=draw), outcome())

        with pytest.raises(sqlite3.OperationalError, match="full"):
            add_many()
        kept = len(store.results())
        assert 2 <= kept < 100
    with Store(filled, STUDY) as store:
        assert len(store.results()) == kept
        store.add(trial(draw=99), outcome())
        assert len(store.results()) == kept + 1


def test_csv_carries_everything_into_an_empty_store(filled, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    with Store(filled, STUDY) as store, Store(other, STUDY) as copy:
        (other / "realizations.csv").write_text(store.to_csv())
        assert copy.import_csv(other / "realizations.csv") == 2
        assert copy.to_csv() == store.to_csv()
        assert copy.results() == store.results()
        assert copy.import_csv(other / "realizations.csv") == 0, "what is stored is not taken over again"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"results_version": "7"}, "results version 7; expected 1"),
        ({"K": "5"}, "its columns say one thing and its configuration another"),
        ({"K": "five"}, "K is 'five'; expected a whole number"),
        ({"K": "9" * 30}, "K is 9+; expected less than"),
        ({"accuracy_last": "good"}, "accuracy_last is 'good'; expected a number"),
        ({"config": "{}"}, "unknown experiment None"),
        ({"config": "{"}, "Expecting property name"),
        ({"config": "5"}, "got 5; expected a table in JSON"),
        ({"config": "[" * 9999 + "]" * 9999}, "nested too deeply"),
        ({"versions": "new"}, "Expecting value"),
        ({"versions": '{"torch": 2}'}, "torch is 2; expected a word"),
        ({"curve": "[1"}, "Expecting"),
        ({"curve": '{"loss": 3, "valid_accuracy": []}'}, "the curve's loss is 3; expected a list of numbers"),
        ({"curve": '{"loss": [], "valid_accuracy": [], "split": [1]}'}, "expected a table of whole numbers"),
        ({"seconds": ""}, "seconds is ''; expected a number"),
        ({"id": "0123456789abcdef"}, "its columns say one thing and its configuration another"),
        ({"accuracy_last": "7"}, "accuracy_last = 7.0; expected a number from 0 to 1"),
        ({"accuracy_best": "nan"}, "accuracy_best = nan"),
        ({"seconds": "-1"}, "seconds = -1.0"),
        ({"seconds": "inf"}, "seconds = inf"),
        ({"parameters": "9" * 17}, "parameters = 999"),
        ({"outcome": "banana"}, "the outcome 'banana'; expected finished or diverged"),
        ({"finished_at": "yesterday"}, "finished_at is 'yesterday'; expected a time"),
        ({"curve": "{}"}, "the curve's loss is None"),
        ({"seed": "5"}, "its columns say one thing and its configuration another"),
    ],
)
def test_a_csv_that_does_not_match_is_refused(filled, change, message):
    with Store(filled, STUDY) as store:
        lines = list(csv.DictReader(io.StringIO(store.to_csv())))
        text = io.StringIO()
        writer = csv.DictWriter(text, lines[0])
        writer.writeheader()
        writer.writerows([{**lines[0], **change}, lines[1]])
        (filled / "realizations.csv").write_text(text.getvalue())
        with pytest.raises(ValueError, match=message) as error:
            store.import_csv(filled / "realizations.csv")
    assert "line 2 is not a result of paper" in str(error.value)
    assert "move it away" in str(error.value)


def test_a_csv_that_says_something_twice_is_refused(filled):
    with Store(filled, STUDY) as store:
        lines = store.to_csv().splitlines(keepends=True)
        (filled / "realizations.csv").write_text("".join([*lines, lines[1]]))
        with pytest.raises(ValueError, match="line 4 repeats line 2"):
            store.import_csv(filled / "realizations.csv")


def test_a_csv_with_a_very_long_curve_is_read_back(trial, outcome, tmp_path, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    with Store(tmp_path, STUDY) as store, Store(other, STUDY) as copy:
        store.add(trial(), outcome(losses=(1 / 3,) * 20_000))
        (other / "realizations.csv").write_text(store.to_csv())
        assert copy.import_csv(other / "realizations.csv") == 1


def test_a_csv_may_hold_nothing_yet_and_begin_with_a_byte_order_mark(filled, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    with Store(filled, STUDY) as store, Store(other, STUDY) as copy:
        (other / "realizations.csv").write_text(copy.to_csv())
        assert copy.import_csv(other / "realizations.csv") == 0
        (other / "realizations.csv").write_text(store.to_csv(), encoding="utf-8-sig")
        assert copy.import_csv(other / "realizations.csv") == 2


def test_a_store_with_words_for_numbers_is_named(filled):
    with sqlite3.connect(filled / "results.sqlite") as database:
        database.execute("UPDATE realizations SET accuracy_last = 'abc' WHERE draw = 1")
    with Store(filled, STUDY) as store, pytest.raises(ValueError, match="accuracy_last is 'abc'; expected a number"):
        store.results()


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\xff\xfe\x00", b"id\n\0\n"])
def test_a_file_that_is_no_csv_of_realizations_is_refused(filled, content):
    (filled / "realizations.csv").write_bytes(content)
    with Store(filled, STUDY) as store, pytest.raises(ValueError, match="cannot be taken over"):
        store.import_csv(filled / "realizations.csv")
