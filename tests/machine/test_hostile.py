"""Whatever stands in a store, a CSV, a plan, a TOML file or ``--set``: a ValueError in one line, or a value."""

import csv
import io
import json
import os
import sqlite3
from contextlib import closing

import pytest
import torch
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from shiftstate.machine.parsing import parse_json, parse_override, parse_toml, read_text, shown
from shiftstate.machine.presets import load_preset
from shiftstate.machine.results.columns import Columns, split_csv
from shiftstate.machine.results.plan import NAME, Plan, read_plans
from shiftstate.machine.results.store import Store, open_results
from shiftstate.machine.run import one_thread
from shiftstate.machine.trial import parse_trial
from shiftstate.studies.minesweeper import STUDY as MINESWEEPER
from shiftstate.studies.paper import STUDY

DEEP = "[" * 5000 + "]" * 5000
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**63, -(2**70), 10**30])
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["figure1", "gcnn", "svm", "", "\ud800", "a\nb"])
)
KEYS = st.text(max_size=4)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3))
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=9)
QUIET = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)


def refuse_or_give(call):
    """The value, or None if it raised as the house does."""
    message = ""
    try:
        return call()
    except ValueError as error:
        message = str(error)
    assert "\n" not in message
    assert 0 < len(message) < 3000
    return None


@pytest.fixture(scope="module")
def filled(tmp_path_factory, trial, outcome):
    directory = tmp_path_factory.mktemp("filled")
    with Store(directory, STUDY) as store:
        store.add(trial(), outcome())
        (directory / "realizations.csv").write_text(store.to_csv())
    return directory


@QUIET
@given(data=st.data())
def test_a_configuration_with_any_value_in_any_place(data, trial):
    config = json.loads(trial().to_json())
    key = data.draw(st.sampled_from([*config, "author", "new"]))
    config[key] = data.draw(VALUES)
    found = refuse_or_give(lambda: parse_trial(STUDY, json.dumps(config)))
    if found is not None:
        assert json.loads(found.to_json()) == config or key == "author" or config[key] == found["K"]


@pytest.mark.parametrize("text", [DEEP, '{"a":' * 3000 + "1" + "}" * 3000, "null", "3", b"{}", None, 7, "", "{", "NaN"])
def test_a_configuration_that_is_no_table(text):
    with pytest.raises(ValueError):  # noqa: PT011 (each has its own words)
        parse_trial(STUDY, text)


@QUIET
@given(data=st.data())
def test_a_store_with_any_value_in_any_column(data, filled, tmp_path_factory):
    columns = Columns(STUDY)
    name = data.draw(st.sampled_from(list(columns.kinds)))
    value = data.draw(
        st.none()
        | st.binary(max_size=6)
        | st.integers(-(2**63), 2**63 - 1)
        | st.floats()
        | st.sampled_from(["", DEEP, "[]", "null", '{"loss": 1}', '{"K": [[]]}', "table1", "lssm"])
        | VALUES.map(lambda one: json.dumps(one))
    )
    directory = tmp_path_factory.mktemp("hostile")
    (directory / "results.sqlite").write_bytes((filled / "results.sqlite").read_bytes())
    with closing(sqlite3.connect(directory / "results.sqlite")) as database, database:
        try:
            database.execute(f'UPDATE realizations SET "{name}" = ?', (value,))
        except (sqlite3.IntegrityError, UnicodeEncodeError):
            return  # the database itself refuses it

    def read():
        with open_results(directory) as store:
            return store.results(), store.records(), store.provenance()

    refuse_or_give(read)


def test_a_store_whose_text_is_no_text(filled, tmp_path):
    (tmp_path / "results.sqlite").write_bytes((filled / "results.sqlite").read_bytes())
    with closing(sqlite3.connect(tmp_path / "results.sqlite")) as database, database:
        database.execute("UPDATE realizations SET kernel = CAST(x'fffe41' AS TEXT)")
    with Store(tmp_path, STUDY) as store, pytest.raises(ValueError, match="is damaged"):
        store.results()


@QUIET
@given(data=st.data())
def test_a_csv_with_any_text_in_any_cell(data, filled, tmp_path_factory):
    header, (line,) = split_csv((filled / "realizations.csv").read_text())
    at = data.draw(st.integers(0, len(header) - 1))
    line[at] = data.draw(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
        | st.sampled_from([DEEP, "9" * 25, "9" * 5000, "1e999", "nan", '{"loss": [[1]], "valid_accuracy": []}'])
        | st.integers().map(str)
    )
    text = io.StringIO()
    csv.writer(text).writerows([header, line])
    path = tmp_path_factory.mktemp("csv") / "realizations.csv"
    path.write_bytes(text.getvalue().encode())
    with Store(path.parent, STUDY) as store:
        refuse_or_give(lambda: store.import_csv(path))


@given(st.lists(st.lists(TEXTS, min_size=1, max_size=4), min_size=1))
@example([["a", 'say "so"', "x,y", "two\nlines", ""]])
def test_our_reader_of_csv_reads_what_pythons_writer_wrote(rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    header, lines = split_csv(text.getvalue())
    assert [header, *lines] == [rows[0], *(row for row in rows[1:] if row != [""])]


@given(st.text(max_size=60))
def test_any_text_is_a_csv_or_is_not(text):
    refuse_or_give(lambda: split_csv(text))


@QUIET
@given(data=st.data())
def test_a_plan_with_any_value_in_any_place(data, tmp_path_factory):
    plan = Plan("paper", "text", "command", 9).to_dict()
    name = data.draw(st.sampled_from([*plan, "study", "more"]))
    content = {"figure1": plan | {name: data.draw(VALUES)}}
    directory = tmp_path_factory.mktemp("plan")
    (directory / NAME).write_text(json.dumps(content))
    refuse_or_give(lambda: read_plans(directory))
    (directory / NAME).write_text(json.dumps(data.draw(VALUES)))
    refuse_or_give(lambda: read_plans(directory))


@pytest.mark.parametrize("text", [DEEP, "[]", "nul", '{"a": ' * 2000 + "1" + "}" * 2000])
def test_a_plan_that_is_none(text, tmp_path):
    (tmp_path / NAME).write_text(text)
    with pytest.raises(ValueError, match=r"plan\.json cannot be read"):
        read_plans(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        f"K = {DEEP}",
        "a = " + "{b = " * 3000 + "1" + "}" * 3000,
        ".".join(["a"] * 5000) + " = 1",
        "unused = 1979-05-27T07:32:00Z",
        "epochs = 1979-05-27",
        "[figure1]\nK = [[4]]",
        "[figure1.deeper]\nK = 4",
        "epochs = 99999999999999999999999",
        "graphs = 1000000000",
        "\0",
        "K = 4\nK = 5",
    ],
)
def test_a_file_of_settings_that_cannot_be_meant(text, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(ValueError) as error:  # noqa: PT011 (each has its own words)
        load_preset(STUDY, "smoke", file)
    assert "\n" not in str(error.value)


@QUIET
@given(st.text(max_size=30))
def test_any_toml_is_parsed_or_refused(text):
    refuse_or_give(lambda: parse_toml(text))


@given(st.text(max_size=30))
@example("K=3\n[gcnn]\nepochs=1")
@example("K=3\r[gcnn]")
@example("K='''\n'''")
@example("K=" + DEEP)
def test_an_override_is_one_value_on_one_line(text):
    found = refuse_or_give(lambda: parse_override(text))
    if found is not None:
        assert "\n" not in text
        ((key, value),) = found.items()
        inner = value if "." in text.partition("=")[0] else {key: value}
        assert len(inner) == 1


def test_a_second_line_of_an_override_is_refused_and_said_so():
    with pytest.raises(ValueError, match="expected one value on one line"):
        load_preset(STUDY, "smoke", None, ["K=3\n[gcnn]\nepochs=1"])


@pytest.mark.parametrize("kind", ["pipe", "device", "directory", "large"])
def test_what_is_no_file_or_never_ends_is_not_read(kind, tmp_path):
    path = tmp_path / "mine.toml"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "directory":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(2_000_000)
    with pytest.raises(ValueError, match=r"not a regular file|larger than 1 MB"):
        load_preset(STUDY, "smoke", path)


@given(VALUES)
def test_json_comes_back_or_is_refused(value):
    text = json.dumps(value)
    assert refuse_or_give(lambda: parse_json(text)) in (None, value)


def test_messages_show_deep_and_long_values_short():
    deep = []
    for _ in range(3000):
        deep = [deep]
    assert len(shown(deep)) < 100
    assert len(shown("x" * 10**6)) < 100
    assert len(shown(10**4000)) < 100


def test_results_of_another_study_are_refused_in_one_line(filled):
    with pytest.raises(ValueError, match="other columns than minesweeper"):
        Store(filled, MINESWEEPER)


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path):
    (tmp_path / "mine.toml").write_text("K = 4", encoding="utf-8-sig")
    assert read_text(tmp_path / "mine.toml", "a text") == "K = 4"


def test_nothing_global_changes(filled, tmp_path):
    limit, threads = csv.field_size_limit(), torch.get_num_threads()
    with Store(tmp_path, STUDY) as store:
        store.import_csv(filled / "realizations.csv")
    with one_thread():
        assert torch.get_num_threads() == 1
    assert (csv.field_size_limit(), torch.get_num_threads()) == (limit, threads)
    assert limit == 131072
