"""Tables and graphs from files: every form gives the same graph; what cannot be read is one line with the file."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shiftstate.tables import read_blocks, read_graph, read_matrix, read_table, reading, text

EDGES = [("b", "a", 1.0), ("b", "c", 2.0), ("c", "d", 0.5), ("d", "e", 3.0)]
NAMES = ["a", "b", "c", "d", "e"]


def expected(directed):
    S = np.zeros((5, 5))
    for source, target, weight in EDGES:
        S[NAMES.index(target), NAMES.index(source)] = weight
        if not directed:
            S[NAMES.index(source), NAMES.index(target)] = weight
    return S


def lines(separator):
    return "\n".join(separator.join(map(str, row)) for row in [("source", "target", "weight"), *EDGES]) + "\n"


def write(path, kind):
    file = path / f"edges.{kind}"
    if kind == "csv":
        file.write_text(lines(","))
    elif kind == "tsv":
        file.write_text(lines("\t"))
    elif kind == "parquet":
        columns = dict(zip(("source", "target", "weight"), map(list, zip(*EDGES, strict=True)), strict=True))
        pyarrow.parquet.write_table(pa.table(columns), file)
    elif kind == "graphml":
        nx = pytest.importorskip("networkx")
        graph = nx.DiGraph()
        graph.add_nodes_from(NAMES)
        graph.add_weighted_edges_from(EDGES)
        nx.write_graphml(graph, file)
    elif kind == "mtx":
        scipy.io.mmwrite(file, sp.coo_array(expected(True)))
    elif kind == "npz":
        sp.save_npz(file, sp.coo_array(expected(True)).tocsr())
    elif kind == "npy":
        np.save(file, expected(True))
    return file


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "graphml", "mtx", "npz", "npy"])
def test_every_form_gives_the_same_directed_graph(tmp_path, kind):
    graph = read_graph(write(tmp_path, kind), directed=True)
    np.testing.assert_allclose(graph.shift.to_dense().numpy(), expected(True))
    assert graph.names in (NAMES, None)
    assert graph.said


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_edges_count_in_both_directions_unless_directed(tmp_path, kind):
    graph = read_graph(write(tmp_path, kind))
    np.testing.assert_allclose(graph.shift.to_dense().numpy(), expected(False))
    assert any("both directions" in line for line in graph.said)


def test_edges_listed_both_ways_are_not_doubled(tmp_path):
    both = tmp_path / "both.csv"
    both.write_text("from,to\na,b\nb,a\nb,c\nc,b\nc,c\n")
    S = read_graph(both).shift.to_dense().numpy()
    np.testing.assert_array_equal(S, [[0, 1, 0], [1, 0, 1], [0, 1, 1]])


def test_numbers_with_gaps_keep_their_order_and_become_names(tmp_path):
    file = tmp_path / "edges.csv"
    file.write_text("u,v\n10,2\n2,700\n")
    graph = read_graph(file)
    assert graph.names == ["2", "10", "700"]
    assert read_graph(file, nodes=["700", "2", "10", "5"]).shift.num_nodes == 4


def test_other_column_names_are_given_or_the_first_two_are_taken(tmp_path):
    file = tmp_path / "edges.csv"
    file.write_text("when,one,two\n1,a,b\n2,b,c\n")
    assert read_graph(file, source="one", target="two").names == ["a", "b", "c"]
    file.write_text("one,two,when\na,b,1\nb,c,2\n")
    assert read_graph(file).said[0] == "edges lead from 'one' to 'two'"


@pytest.mark.parametrize("header", [True, False])
def test_a_square_table_of_numbers_is_an_adjacency_matrix(tmp_path, header):
    file = tmp_path / "adjacency.csv"
    rows = "\n".join(",".join(map(str, row)) for row in expected(False))
    file.write_text((",".join(NAMES) + "\n" if header else "") + rows + "\n")
    graph = read_graph(file)
    np.testing.assert_allclose(graph.shift.to_dense().numpy(), expected(False))
    assert graph.names == (NAMES if header else None)


def test_a_line_of_sensor_numbers_above_measurements_is_a_header(tmp_path):
    file = tmp_path / "speed.csv"
    file.write_text("773869,767541,767542\n64.4,67.6,67.1\n62.7,68.5,65.4\n")
    table = read_table(file)
    assert (table.named, len(table)) == (True, 2)
    file.write_text("1,0,0.5\n0,1,0\n")
    assert (read_table(file).named, len(read_table(file))) == (False, 2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("source,target\na,b\nc\n", "row 3 has 1 values; expected 2"),
        ("source,target\na,b\nc,\n", "row 3, column 'target' is empty; expected a node"),
        ("source,target,weight\na,b,1\nb,c,x\n", "row 3, column 'weight' holds 'x'; expected a number"),
        ("source,target,weight\na,b,1\nb,c,inf\n", "row 3, column 'weight' is inf; expected a finite weight"),
        ("source,target,weight\na,b,1\nb,c,\n", "row 3, column 'weight' is nan; expected a finite weight"),
        ("source,source\na,b\n", "two columns called 'source'"),
        ("source\na\n", "one column; expected an edge list"),
        ("source,target\n", "has no rows"),
        ("", "is empty; expected a table"),
    ],
)
def test_edge_lists_that_cannot_be_read_name_file_row_and_column(tmp_path, content, message):
    file = tmp_path / "edges.csv"
    file.write_text(content)
    with pytest.raises(ValueError, match=message) as error:
        read_graph(file)
    assert str(file) in str(error.value)
    assert "\n" not in str(error.value)


def test_edges_to_unknown_nodes_are_counted_and_the_first_three_named(tmp_path):
    file = write(tmp_path, "csv")
    with pytest.raises(ValueError, match=r"edges of 4 nodes .* \(first: 'b', 'c', 'd'\)"):
        read_graph(file, nodes=["a", "x"])


def attempt(read, file):
    """What was read, or the message of the ValueError; anything else goes through."""
    try:
        return read(file), ""
    except ValueError as error:
        return None, str(error)


def one_line(message):
    return " ".join(message.splitlines())


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "graphml", "mtx", "npz", "npy"])
@given(content=st.binary(max_size=400))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_a_file_of_anything_is_a_graph_or_one_clear_line(tmp_path, suffix, content):
    file = tmp_path / f"any.{suffix}"
    file.write_bytes(content)
    graph, message = attempt(read_graph, file)
    assert message == one_line(message)
    assert str(file) in message or graph.shift.num_nodes > 0


@pytest.mark.parametrize("suffix", ["mtx", "npz", "npy"])
@given(content=st.binary(max_size=400), cut=st.integers(0, 400), place=st.integers(0, 400))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_matrix_is_numbers_or_one_clear_line(tmp_path, suffix, content, cut, place):
    whole = write(tmp_path, suffix).read_bytes()
    file = tmp_path / f"damaged.{suffix}"
    file.write_bytes((whole[:place] + content[:3] + whole[place + 3 :])[: len(whole) - cut % len(whole)])
    matrix, message = attempt(read_matrix, file)
    assert message == one_line(message)
    assert str(file) in message or matrix.dtype == np.float64


def test_pickled_arrays_are_not_read(tmp_path):
    file = tmp_path / "x.npy"
    np.save(file, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="cannot be read"):
        read_matrix(file)


def test_files_that_are_not_there_or_no_tables_are_named(tmp_path):
    with pytest.raises(ValueError, match="No such file"):
        read_table(tmp_path / "none.csv")
    (tmp_path / "a.docx").write_text("x")
    with pytest.raises(ValueError, match=r"ends in .docx; expected a table: .csv, .tsv, .parquet or .npz"):
        read_table(tmp_path / "a.docx")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_blocks_of_a_file_are_the_whole_file_with_its_row_numbers(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(text, "BLOCK_BYTES", 200)
    monkeypatch.setattr(reading, "BLOCK_ROWS", 30)
    file = tmp_path / f"signals.{suffix}"
    if suffix == "csv":
        file.write_text("a,b\n" + "".join(f"{i},{i / 2}\n" for i in range(100)))
    else:
        pyarrow.parquet.write_table(pa.table({"a": range(100), "b": [i / 2 for i in range(100)]}), file)
    blocks = list(read_blocks(file))
    assert len(blocks) > 2
    np.testing.assert_array_equal(np.concatenate([block.numbers("a") for block in blocks]), np.arange(100))
    assert blocks[1].row(0) == len(blocks[0]) + (2 if suffix == "csv" else 1)
    (tmp_path / "bad.csv").write_text("a,b\n" + "1,2\n" * 90 + "1,x\n")
    with pytest.raises(ValueError, match=r"bad.csv: row 92, column"):
        [block.numbers("b") for block in read_blocks(tmp_path / "bad.csv")]
