"""The store: complete rows, one commit each, damage named, two configurations never mixed."""

import csv
import io
import json
import math
import sqlite3
import threading
from contextlib import closing

import pytest

from shiftstate.experiments import store as module
from shiftstate.experiments.store import Store


@pytest.fixture
def filled(tmp_path, realization, outcome):
    """A directory with two stored realizations."""
    with Store(tmp_path) as store:
        store.add(realization(draw=0), outcome(0.5, 0.6))
        store.add(realization(draw=1), outcome(0.25, 0.75, outcome="diverged"))
    return tmp_path


def test_a_row_has_what_the_architecture_asks_for_and_is_there_after_reopening(filled, realization):
    with sqlite3.connect(filled / "results.sqlite") as database:
        database.row_factory = sqlite3.Row
        row = dict(database.execute("SELECT * FROM realizations WHERE draw = 1").fetchone())
    asked = {"id", "experiment", "filter", "K", "L", "author", "accuracy_last", "accuracy_best", "outcome", "seconds"}
    assert asked | {"finished_at", "config", "versions", "seed", "curve", "results_version"} <= row.keys()
    assert row["id"] == realization(draw=1).id
    assert (row["accuracy_last"], row["accuracy_best"], row["outcome"]) == (0.25, 0.75, "diverged")
    assert json.loads(row["config"]) == json.loads(realization(draw=1).to_json())
    assert json.loads(row["curve"]) == {"loss": [1.25, 0.3], "valid_accuracy": [0.4, 0.333333]}
    assert row["author"] is None
    with Store(filled) as store:
        assert [one.realization for one in store.rows()] == [realization(draw=0), realization(draw=1)]


def test_provenance_says_with_what_and_in_how_much_time(filled):
    with Store(filled) as store:
        made = store.provenance()
    assert made["realizations"] == 2
    assert made["training_hours"] == round(2 * 1.5 / 3600, 3)
    assert made["kernels"] == {"reference": 2}
    assert made["versions"] == [{"torch": "2"}]
    assert made["first_finished"] <= made["last_finished"]


def test_provenance_of_nothing_is_empty(tmp_path):
    with Store(tmp_path) as store:
        assert store.provenance()["realizations"] == 0


def test_only_what_is_not_stored_is_missing(filled, realization):
    with Store(filled) as store:
        assert store.missing([realization(draw=draw) for draw in range(3)]) == [realization(draw=2)]


def test_two_configurations_in_one_cell_are_refused_and_the_difference_is_named(filled, realization):
    with Store(filled) as store:
        with pytest.raises(ValueError, match="with epochs = 2, and this run has 9"):
            store.missing([realization(draw=5, epochs=9)])
        assert store.missing([realization(K=9, epochs=9)]), "another cell may have another configuration"


@pytest.mark.parametrize("setting", [{"seed": 7}, {"p": 0.9}, {"source": "any"}, {"num_samples": (100, 40, 40)}])
def test_cells_of_one_experiment_that_saw_other_data_are_refused(filled, realization, setting):
    with Store(filled) as store:
        (name,) = setting
        with pytest.raises(ValueError, match=f"with {name} = "):
            store.missing([realization(filter="lssm", **setting)])
        assert store.missing([realization(experiment="table1", **setting)]), "another experiment stands for itself"


def test_a_csv_with_two_configurations_in_a_cell_is_refused_whole(realization, outcome, tmp_path, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    with Store(tmp_path) as store, Store(other) as copy:
        store.add(realization(draw=0, epochs=2), outcome())
        store.add(realization(draw=1, epochs=9), outcome())
        (other / "realizations.csv").write_text(store.to_csv())
        planned = [realization(draw=draw, epochs=9) for draw in range(3)]
        with pytest.raises(ValueError, match="with epochs = 2, and also 9"):
            copy.import_csv(other / "realizations.csv", planned)
        assert copy.rows() == []


def test_losses_that_are_not_finite_are_stored_as_valid_json_and_read_back(realization, outcome, tmp_path):
    with Store(tmp_path) as store:
        store.add(realization(), outcome(losses=(1.0, float("nan"), float("inf"))))
        (record,) = store.records()
    assert record["curve"]["loss"][0] == 1.0
    assert all(math.isnan(loss) for loss in record["curve"]["loss"][1:])
    with sqlite3.connect(tmp_path / "results.sqlite") as database:
        assert database.execute("SELECT json_valid(curve) FROM realizations").fetchone() == (1,)


def test_a_program_that_reads_the_store_delays_a_write_and_does_not_fail_it(filled, realization, outcome):
    with Store(filled) as store, closing(sqlite3.connect(filled / "results.sqlite", check_same_thread=False)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM realizations").fetchone()
        threading.Timer(6.0, reader.rollback).start()  # longer than SQLite waits by itself
        store.add(realization(draw=2), outcome())
        assert len(store.rows()) == 3


def test_a_store_of_another_results_version_is_refused(filled, realization, monkeypatch):
    monkeypatch.setattr(module, "RESULTS_VERSION", 999)
    with Store(filled) as store, pytest.raises(ValueError, match="results of version 1; expected 999"):
        store.missing([realization()])


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
        Store(filled)
    assert "\n" not in str(error.value)


def test_a_store_with_other_columns_is_refused(tmp_path):
    with sqlite3.connect(tmp_path / "results.sqlite") as database:
        database.execute("CREATE TABLE realizations (id TEXT)")
    with pytest.raises(ValueError, match="other columns"):
        Store(tmp_path)


def test_a_configuration_from_a_newer_version_is_named(filled):
    with sqlite3.connect(filled / "results.sqlite") as database:
        database.execute("UPDATE realizations SET config = json_set(config, '$.dropout', 0.5)")
    with Store(filled) as store, pytest.raises(ValueError, match=r"'dropout'.*newer"):
        store.rows()


def test_a_full_disk_loses_the_row_that_did_not_fit_and_nothing_else(filled, realization, outcome):
    with Store(filled) as store:
        pages = store._database.execute("PRAGMA page_count").fetchone()[0]
        store._database.execute(f"PRAGMA max_page_count = {pages}")  # SQLite's own way to run out of room

        def add_many():
            for draw in range(2, 100):
                store.add(realization(draw=draw), outcome())

        with pytest.raises(sqlite3.OperationalError, match="full"):
            add_many()
        kept = len(store.rows())
        assert 2 <= kept < 100
    with Store(filled) as store:
        assert len(store.rows()) == kept
        store.add(realization(draw=99), outcome())
        assert len(store.rows()) == kept + 1


def test_csv_carries_everything_into_an_empty_store(filled, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    with Store(filled) as store, Store(other) as copy:
        (other / "realizations.csv").write_text(store.to_csv())
        assert copy.import_csv(other / "realizations.csv") == 2
        assert copy.to_csv() == store.to_csv()
        assert copy.rows() == store.rows()
        assert copy.import_csv(other / "realizations.csv") == 0, "what is stored is not taken over again"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"results_version": "7"}, "line 2 has results version 7; expected 1"),
        ({"K": "5"}, "line 2 says one thing and its configuration another"),
        ({"accuracy_last": "good"}, "line 2 is not a realization"),
        ({"config": "{}"}, "line 2 is not a realization"),
        ({"config": "{"}, "line 2 is not a realization"),
        ({"config": "5"}, "line 2 is not a realization"),
        ({"versions": "new"}, "line 2 is not a realization"),
        ({"curve": "[1"}, "line 2 is not a realization"),
        ({"seconds": ""}, "line 2 is not a realization"),
        ({"id": "0123456789abcdef"}, "line 2 says one thing and its configuration another"),
        ({"accuracy_last": "7"}, "line 2 has accuracy_last = 7.0; expected a number from 0 to 1"),
        ({"accuracy_best": "nan"}, "line 2 has accuracy_best = nan"),
        ({"seconds": "-1"}, "line 2 has seconds = -1.0"),
        ({"seconds": "inf"}, "line 2 has seconds = inf"),
        ({"parameters": "9" * 30}, "line 2 has parameters = 999"),
        ({"outcome": "banana"}, "line 2 has the outcome 'banana'; expected finished or diverged"),
        ({"finished_at": "yesterday"}, "line 2 is not a realization"),
        ({"curve": "{}"}, "line 2 is not a realization"),
        ({"seed": "5"}, "line 2 says one thing and its configuration another"),
    ],
)
def test_a_csv_that_does_not_match_is_refused(filled, change, message):
    with Store(filled) as store:
        lines = list(csv.DictReader(io.StringIO(store.to_csv())))
        text = io.StringIO()
        writer = csv.DictWriter(text, lines[0])
        writer.writeheader()
        writer.writerows([{**lines[0], **change}, lines[1]])
        (filled / "realizations.csv").write_text(text.getvalue())
        with pytest.raises(ValueError, match=message) as error:
            store.import_csv(filled / "realizations.csv")
    assert "move it away" in str(error.value)


def test_a_csv_that_says_something_twice_is_refused(filled):
    with Store(filled) as store:
        lines = store.to_csv().splitlines(keepends=True)
        (filled / "realizations.csv").write_text("".join([*lines, lines[1]]))
        with pytest.raises(ValueError, match="line 4 repeats line 2"):
            store.import_csv(filled / "realizations.csv")


def test_a_csv_with_a_very_long_curve_is_read_back(realization, outcome, tmp_path, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    with Store(tmp_path) as store, Store(other) as copy:
        store.add(realization(), outcome(losses=(1 / 3,) * 20_000))
        (other / "realizations.csv").write_text(store.to_csv())
        assert copy.import_csv(other / "realizations.csv") == 1


def test_a_csv_may_hold_nothing_yet_and_begin_with_a_byte_order_mark(filled, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    with Store(filled) as store, Store(other) as copy:
        (other / "realizations.csv").write_text(copy.to_csv())
        assert copy.import_csv(other / "realizations.csv") == 0
        (other / "realizations.csv").write_text(store.to_csv(), encoding="utf-8-sig")
        assert copy.import_csv(other / "realizations.csv") == 2


def test_a_store_with_words_for_numbers_is_named(filled):
    with sqlite3.connect(filled / "results.sqlite") as database:
        database.execute("UPDATE realizations SET accuracy_last = 'abc' WHERE draw = 1")
    with Store(filled) as store, pytest.raises(ValueError, match="holds numbers that are none"):
        store.rows()


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\xff\xfe\x00", b"id\n\0\n"])
def test_a_file_that_is_no_csv_of_realizations_is_refused(filled, content):
    (filled / "realizations.csv").write_bytes(content)
    with Store(filled) as store, pytest.raises(ValueError, match="cannot be taken over"):
        store.import_csv(filled / "realizations.csv")
