"""A stored trial is trained again, compared with its record, and put under the lens."""

import json
import sqlite3
from contextlib import closing

import pytest

from shiftstate.lens.verdict_table import verdict_table
from shiftstate.machine.inspection import choose, inspect
from shiftstate.machine.results.store import Store
from shiftstate.machine.run import run
from shiftstate.studies.paper import STUDY


@pytest.fixture
def results(tmp_path, trial):
    """A directory with three finished trials."""
    several = {"learning_rate": (0.001, 0.1), "kernel": "reference"}
    planned = [
        trial(filter="gcnn", K=3, kernel="reference"),
        trial(filter="lssm", K=2, L=2, **several),
        trial(filter="lssm", K=2, L=2, draw=1, **several),
    ]
    with Store(tmp_path, STUDY) as store:
        for one in planned:
            store.add(one, run(one))
    return tmp_path, planned


def change(directory, **values):
    with closing(sqlite3.connect(directory / "results.sqlite")) as database, database:
        for name, value in values.items():
            database.execute(f"UPDATE realizations SET {name} = ?", (value,))


def test_the_recorded_accuracy_comes_again_for_every_filter_and_with_a_choice_of_learning_rates(results):
    directory, planned = results
    for one in planned[:2]:
        found = inspect(directory, one.id)
        assert found.same
        assert "came again" in found.comparison()
        assert found.trial == one
        assert len(found.lens.layers) == one["L"]
        assert [path.name for path in found.files] == [f"{one.id}.{kind}" for kind in ("json", "svg", "png")]
        content = json.loads((directory / "lens" / f"{one.id}.json").read_text())
        assert content["layers"] == found.lens.to_dict()["layers"]
        assert content["realization"]["id"] == one.id
        assert content["realization"]["same"] is True
        assert content["realization"]["config"] == json.loads(one.to_json())
        assert content["realization"]["versions_recorded"] == content["realization"]["versions_now"]


def test_without_an_id_the_richest_filter_with_the_largest_K_is_taken(results):
    directory, planned = results
    with Store(directory, STUDY) as store:
        assert choose(store.results(), None, directory).trial == planned[1]


def test_an_accuracy_that_does_not_come_again_is_said_plainly(results):
    directory, planned = results
    change(directory, accuracy_last=0.123, versions='{"torch": "1.0"}')
    found = inspect(directory, planned[0].id)
    assert not found.same
    assert "did NOT come again" in found.comparison()
    assert "torch was 1.0 and is 2." in found.comparison()
    assert found.files[0].exists()


def test_without_another_version_the_code_is_named(results):
    directory, planned = results
    change(directory, accuracy_last=0.123)
    assert "the code computes or rounds otherwise" in inspect(directory, planned[0].id).comparison()


def test_the_table_has_a_line_for_every_layer(results):
    directory, planned = results
    table = verdict_table(inspect(directory, planned[1].id).lens)
    assert table.row_count == 2
    assert list(table.columns[0].cells) == ["layers.0", "layers.1"]
    assert "forget 0." in next(iter(table.columns[7].cells))


def test_the_command_prints_the_verdict_and_its_codes_tell_what_happened(results, command):
    directory, planned = results
    code, printed, said = command("inspect", directory)
    assert code == 0, said
    assert f"Training {planned[1].id} again" in said
    assert "came again" in printed
    assert "layers.1" in printed
    change(directory, accuracy_last=0.123)
    code, printed, _ = command("inspect", directory, "--realization", planned[0].id)
    assert code == 3
    assert "did NOT come again" in printed


def test_bad_input_ends_with_code_2_and_one_line(results, command, tmp_path_factory):
    directory, planned = results
    code, _, said = command("inspect", directory, "--realization", planned[0].id[:-1] + "z")
    assert code == 2
    assert f"did you mean {planned[0].id!r}?" in said
    empty = tmp_path_factory.mktemp("empty")
    code, _, said = command("inspect", empty)
    assert code == 2
    assert "holds no results.sqlite" in said
    assert len(said.splitlines()) == 1
    assert list(empty.iterdir()) == []
    with Store(empty, STUDY):
        pass
    with pytest.raises(ValueError, match="no trained network"):
        inspect(empty)
