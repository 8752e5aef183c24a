"""Malformed files: for every reader a hundred, each one line that names file, row and column; nothing is written."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import scipy.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shiftstate.own_data.asking.config import settings_of
from shiftstate.own_data.reading.problems import read_problem
from tests.own_data.towns import N, node_words, run

hundred = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
WORDS = st.text("abcdefghijklmnop?!äß", min_size=1, max_size=8).filter(lambda word: word not in ("inf", "nan"))


def complaint(files, **given):
    """The one line with which these data are refused."""
    base = {"edges": files / "edges.csv", "out": files / "run"}
    base |= {"task": "forecast"} if "signals" in given else {"task": "node-classification"}
    if base["task"] != "forecast":
        base |= {"nodes": files / "towns.csv", "target": "side", "split": "split"}
    with pytest.raises(ValueError, match=r".") as error:
        read_problem(settings_of(None, {**base, **given}, {}), lambda line: None)
    message = str(error.value)
    assert len(message.splitlines()) == 1
    assert not (files / "run").exists()
    return message


def cells_of(file, mark=","):
    return [line.split(mark) for line in file.read_text().splitlines()]


def written(file, cells, mark=","):
    file.write_text("\n".join(mark.join(row) for row in cells) + "\n")
    return file


@pytest.mark.parametrize("reader", ["edges", "weights", "nodes", "features", "series"])
@given(data=st.data())
@hundred
def test_a_bad_cell_of_any_text_table_is_named_by_row_and_column(files, reader, data):
    name = {"nodes": "towns.csv", "series": "series.csv"}.get(reader, "edges.csv")
    cells = cells_of(files / name)
    if reader == "features":
        cells = [[row[0], *row[4:]] for row in cells_of(files / "towns.csv")]
    elif reader == "weights":
        cells = [[*row, "weight" if not place else "1.5"] for place, row in enumerate(cells)]
    first = {"edges": 0, "weights": 2, "nodes": 4, "features": 1, "series": 1}[reader]
    row = data.draw(st.integers(1, len(cells) - 1))
    column = data.draw(st.integers(first, len(cells[0]) - 1))
    bad = data.draw(st.sampled_from(["", "word"] if reader != "edges" else ["", "stranger"]))
    cells[row][column] = data.draw(WORDS) if bad == "word" else bad
    mark = data.draw(st.sampled_from([",", "\t", ";"]))
    file = written(files / f"bad{'.tsv' if mark == chr(9) else '.csv'}", cells, mark)
    key = {"weights": "edges", "series": "signals"}.get(reader, reader)
    message = complaint(files, **{key: file})
    assert str(file) in message
    assert f"row {row + 1}" in message
    assert repr(cells[0][column]) in message


@pytest.mark.parametrize("reader", ["edges", "nodes", "signals"])
@given(row=st.integers(1, N), extra=st.booleans())
@hundred
def test_a_row_with_too_many_or_too_few_values_is_named(files, reader, row, extra):
    cells = cells_of(files / {"edges": "edges.csv", "nodes": "towns.csv", "signals": "series.csv"}[reader])
    cells[row] = [*cells[row], "1"] if extra else cells[row][:-1]
    file = written(files / "bad.csv", cells)
    message = complaint(files, **{reader: file})
    assert f"{file}: row {row + 1} has {len(cells[row])} values; expected {len(cells[0])}" in message


@given(row=st.integers(0, N - 1), column=st.sampled_from(["rain", "wind"]), value=st.sampled_from([None, np.inf]))
@hundred
def test_a_bad_value_of_a_parquet_table_is_named_by_row_and_column(files, row, column, value):
    table = pyarrow.csv.read_csv(files / "towns.csv")
    values = table.column(column).to_pylist()
    values[row] = value
    place = table.column_names.index(column)
    pyarrow.parquet.write_table(table.set_column(place, column, pa.array(values)), files / "bad.parquet")
    message = complaint(files, nodes=files / "bad.parquet")
    assert f"{files / 'bad.parquet'}: row {row + 1}, column {column!r}" in message


@given(row=st.integers(0, N - 1), column=st.integers(0, 2), kind=st.sampled_from(["npy", "npz"]))
@hundred
def test_a_missing_number_of_a_matrix_is_named_by_row_and_column(files, row, column, kind):
    x = np.ones((N, 3)) + np.arange(N)[:, None]
    x[row, column] = np.nan
    np.save(files / "bad.npy", x) if kind == "npy" else np.savez(files / "bad.npz", x=x)
    message = complaint(files, features=files / f"bad.{kind}")
    assert f"{files / f'bad.{kind}'}: row {row + 1}, column 'bad {column + 1}' is empty" in message


@given(line=st.integers(3, 2 + N), mistake=st.sampled_from(["word", "short", "beyond", "gone"]))
@hundred
def test_a_bad_line_of_a_matrix_market_file_is_named(files, line, mistake):
    scipy.io.mmwrite(files / "bad.mtx", scipy.sparse.coo_array(np.diag(np.arange(1.0, N + 1))))
    lines = (files / "bad.mtx").read_text().splitlines()
    place = next(number for number, one in enumerate(lines) if not one.startswith("%")) + line - 2
    new = {"word": "1 x 2", "short": "1", "beyond": f"{N + 1} 1 1"}
    lines[place : place + 1] = [new[mistake]] if mistake in new else []
    (files / "bad.mtx").write_text("\n".join(lines) + "\n")
    message = complaint(files, features=files / "bad.mtx")
    assert str(files / "bad.mtx") in message
    assert f"line {place + 1}" in message or mistake == "gone"


@given(cut=st.integers(1, 400), put=WORDS)
@hundred
def test_a_damaged_graphml_file_is_named_with_the_parsers_place(files, cut, put):
    nx = pytest.importorskip("networkx")
    nx.write_graphml(nx.path_graph([f"town{i}" for i in range(N)]), files / "whole.graphml")
    text = (files / "whole.graphml").read_text()
    (files / "bad.graphml").write_text(text[: len(text) - cut] + f"<{put}")
    assert str(files / "bad.graphml") in complaint(files, edges=files / "bad.graphml")


@pytest.mark.parametrize(("reader", "kind"), [("edges", "npz"), ("features", "npz"), ("signals", "npy")])
@given(content=st.binary(max_size=300))
@hundred
def test_bytes_that_are_no_archive_are_named(files, reader, kind, content):
    (files / f"bad.{kind}").write_bytes(content)
    assert str(files / f"bad.{kind}") in complaint(files, **{reader: files / f"bad.{kind}"})


def exits(files, message, *words):
    code, _, told = run(*words)
    assert code == 2
    assert message in told
    assert not (files / "run").exists()


def test_data_that_cannot_be_learned_from_are_named_as_what_they_are(files):
    whole = (files / "towns.csv").read_text()
    cells = cells_of(files / "towns.csv")
    written(
        files / "towns.csv",
        [[*row[:2], row[3], *(row[4:] if not place else ["1", "2"])] for place, row in enumerate(cells)],
    )
    exits(files, "all 2 features are constant (first: 'rain', 'wind')", *node_words(files))
    (files / "towns.csv").write_text(whole.replace("east", "west"))
    exits(files, "column 'side' has one class only in the training rows, 'west'", *node_words(files))
    (files / "towns.csv").write_text(whole.replace(",test,", ",train,"))
    exits(files, "column 'split' has no row of test", *node_words(files))
    (files / "towns.csv").write_text(whole)
    np.savetxt(files / "adjacency.csv", np.eye(N), "%d", ",")
    words = [files / "adjacency.csv" if word == files / "edges.csv" else word for word in node_words(files)]
    exits(files, "is a square table of numbers, an adjacency matrix; expected no source", *words, "--source", "0")
