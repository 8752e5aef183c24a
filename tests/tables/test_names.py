"""Names, headers, classes and columns as people wrote them: nothing merges, nothing is lost, doubts are refused."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from shiftstate.tables import read_blocks, read_graph, read_table


def written(tmp_path, text, name="edges.csv"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def dense(graph):
    return graph.shift.to_dense().numpy()


@pytest.mark.parametrize("first", ["1,2,5", "1,2,0.5", "a,b,5"])
def test_a_first_row_with_numbers_is_an_edge(tmp_path, first):
    rest = "2,3,0.25\n3,4,1\n" if first[0] == "1" else "b,c,0.25\nc,d,1\n"
    bare = read_graph(written(tmp_path, f"{first}\n{rest}"))
    named = read_graph(written(tmp_path, f"source,target,weight\n{first}\n{rest}", "named.csv"))
    assert bare.names == named.names
    np.testing.assert_array_equal(dense(bare), dense(named))
    assert any("first row holds numbers" in line for line in bare.said)
    assert "edges lead from column 1 to column 2, weighted by column 3" in bare.said


def test_header_decides_over_the_guess(tmp_path):
    file = written(tmp_path, "1,2\n2,3\n3,4\n")
    assert read_graph(file).names == ["1", "2", "3", "4"]
    assert read_graph(file, header=True).names == ["2", "3", "4"]
    file = written(tmp_path, "alice,bob\nbob,carol\n")
    with pytest.raises(ValueError, match="row 1 holds 'bob', which is a node further down"):
        read_graph(file)
    assert read_graph(file, header=False).names == ["alice", "bob", "carol"]
    assert read_graph(file, header=True).names == ["bob", "carol"]
    np.save(tmp_path / "edges.npy", np.array([[0, 1, 2], [1, 2, 0]]))
    with pytest.raises(ValueError, match="is no table of text; expected --header for"):
        read_graph(tmp_path / "edges.npy", header=True)


@pytest.mark.parametrize("corner", [None, "", "id"])
@pytest.mark.parametrize("names", [[0, 1, 2, 3], [71, 18, 28, 9]])
def test_numbers_above_a_matrix_are_the_names_of_its_nodes(tmp_path, corner, names):
    S = np.array([[0, 1, 0, 2], [1, 0, 3, 0], [0, 3, 0, 1], [2, 0, 1, 0]])
    rows = [names, *S.tolist()] if corner is None else [[corner, *names]]
    rows += [] if corner is None else [[name, *row] for name, row in zip(names, S.tolist(), strict=True)]
    graph = read_graph(written(tmp_path, "\n".join(",".join(map(str, row)) for row in rows) + "\n"))
    assert graph.names == list(map(str, names))
    np.testing.assert_array_equal(dense(graph), S)


def test_a_matrix_with_more_rows_than_are_looked_at_keeps_its_header(tmp_path):
    n = 210
    S = np.roll(np.eye(n, dtype=int), 1, 1) + np.roll(np.eye(n, dtype=int), -1, 1)
    text = "\n".join(",".join(map(str, row)) for row in [range(n), *S])
    np.testing.assert_array_equal(dense(read_graph(written(tmp_path, text + "\n"))), S)


def test_many_columns_without_names_are_no_edge_list(tmp_path):
    text = "\n".join(",".join(["1", "2", *["0"] * 10]) for _ in range(5))
    with pytest.raises(ValueError, match="12 columns without names and 5 rows; expected an edge list"):
        read_graph(written(tmp_path, text + "\n"))


@pytest.mark.parametrize(("one", "two"), [("7", "007"), ("1E2", "100"), ("0x10", "16"), ("TRUE", "True"), ("5", "5.0")])
@pytest.mark.parametrize("rows", [1, 300])
def test_names_that_are_written_differently_are_different_nodes(tmp_path, one, two, rows):
    text = "source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(1000, 1000 + rows)) + f"{one},{two}\n"
    graph = read_graph(written(tmp_path, text))
    assert {one, two} <= {*graph.names}
    assert len(graph.names) == rows + 3


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_unsigned_numbers_of_64_bits_keep_their_names(tmp_path, kind):
    large = [2**64 - 1, 2**64 - 2]
    file = tmp_path / f"edges.{kind}"
    if kind == "csv":
        file.write_text(f"source,target\n{large[0]},{large[1]}\n1,2\n")
    else:
        columns = {"source": pa.array([large[0], 1], pa.uint64()), "target": pa.array([large[1], 2], pa.uint64())}
        pyarrow.parquet.write_table(pa.table(columns), file)
    assert sorted(read_graph(file).names) == sorted(map(str, [1, 2, *large]))
    assert read_graph(file, nodes=["2", "1", *map(str, large)]).shift.num_nodes == 4


def test_blanks_around_names_do_not_count_and_names_may_be_written_with_a_fraction_of_zero(tmp_path):
    graph = read_graph(written(tmp_path, "source, target\n1, 2\n2, 10\n"))
    assert graph.names == ["1", "2", "10"]
    table = read_table(written(tmp_path, "id,x\n7.0,1\n8.0,2\n"))
    assert table.strings("id") == ["7", "8"]
    pyarrow.parquet.write_table(pa.table({"id": [7.0, None, float("nan")]}), tmp_path / "a.parquet")
    assert read_table(tmp_path / "a.parquet").strings("id") == ["7", "", ""]


def test_names_of_codes_are_not_positions(tmp_path):
    file = written(tmp_path, "source,target\n1,2\n2,3\n")
    with pytest.raises(ValueError, match=r"edges of 3 nodes .* does not have \(first: '1', '2', '3'\)"):
        read_graph(file, nodes=["003", "002", "001"])


def test_large_floating_point_names_are_refused_with_file_and_column(tmp_path):
    file = tmp_path / "edges.parquet"
    pyarrow.parquet.write_table(pa.table({"source": [1e19, 1.0], "target": [2e19, 2.0]}), file)
    with pytest.raises(ValueError, match=r"edges.parquet: column 'source' holds 1e\+19 as a floating-point number"):
        read_graph(file)


def test_large_whole_numbers_are_features_without_complaint(tmp_path):
    pyarrow.parquet.write_table(pa.table({"x": pa.array([2**60 + 1, 2])}), tmp_path / "a.parquet")
    assert read_table(tmp_path / "a.parquet").numbers("x")[0] == float(2**60 + 1)


FOUR = "1,2,0.5,2020\n2,3,1,2021\n3,4,1,2022\n4,1,2,2023\n"


@pytest.mark.parametrize("header", ["source,target,weight,year", "u,v,w,year"])
def test_named_columns_win_over_a_square_shape(tmp_path, header):
    graph = read_graph(written(tmp_path, f"{header}\n{FOUR}"))
    assert graph.names == ["1", "2", "3", "4"]
    assert dense(graph)[0, 1] == 0.5


def test_given_columns_win_over_a_square_shape(tmp_path):
    graph = read_graph(written(tmp_path, f"a,b,c,d\n{FOUR}"), source="a", target="b")
    assert graph.names == ["1", "2", "3", "4"]


def test_nodes_may_be_called_u_and_v(tmp_path):
    text = "s,u,v,w\n0,1,0,1\n1,0,1,0\n0,1,0,1\n1,0,1,0\n"
    assert read_graph(written(tmp_path, text)).names == ["s", "u", "v", "w"]


def test_a_matrix_of_other_names_is_joined_by_position_only_if_asked_for(tmp_path):
    file = written(tmp_path, "a,b,c,d\n0,1,0,2\n1,0,1,0\n0,1,0,1\n2,0,1,0\n")
    with pytest.raises(ValueError, match=r"names of other nodes \(first: 'a'\)"):
        read_graph(file, nodes=["w", "x", "y", "z"])
    assert read_graph(file, nodes=["w", "x", "y", "z"], join="position").names == ["w", "x", "y", "z"]


@pytest.mark.parametrize(
    "given", [{"source": "a", "target": "a"}, {"source": "a", "weight": "a"}, {"target": "b", "weight": "b"}]
)
def test_one_column_cannot_be_two_things(tmp_path, given):
    with pytest.raises(ValueError, match=r"edges.csv: source, target and weight are '(.)', '\1'; expected different"):
        read_graph(written(tmp_path, "a,b,c\n1,2,3\n2,3,4\n"), **given)


def test_a_given_source_is_not_guessed_as_target_too(tmp_path):
    file = written(tmp_path, "source,target\n1,2\n2,3\n")
    said = read_graph(file, source="target", directed=True).said
    assert said[0] == "edges lead from 'target' to 'source'"


@pytest.mark.parametrize("kind", ["csv", "parquet", "npz"])
def test_words_for_missing_values_are_unknown_classes_unless_kept(tmp_path, kind):
    words = ["a", "NA", "b", "NaN", "null"]
    file = tmp_path / f"nodes.{kind}"
    if kind == "csv":
        file.write_text("kind\n" + "\n".join(words) + "\n")
    elif kind == "parquet":
        pyarrow.parquet.write_table(pa.table({"kind": words}), file)
    else:
        np.savez(file, kind=np.array(words))
    table = read_table(file)
    assert table.classes("kind") == (["a", "", "b", "", ""], ["NA", "NaN", "null"])
    assert table.classes("kind", keep_na=True) == (words, [])


@pytest.mark.parametrize(("one", "two"), [("1", "1.0"), ("7", "007"), ("100", "1e2")])
def test_one_number_written_in_two_ways_is_no_class(tmp_path, one, two):
    rows = [one] * 300 + [two]
    table = read_table(written(tmp_path, "x,kind\n" + "".join(f"1,{word}\n" for word in rows)))
    with pytest.raises(ValueError, match=f"column 'kind' holds '{one}' and '{two}', the same number"):
        table.classes("kind")


def test_counted_names_above_counts_are_a_header_and_a_row_with_gaps_is_none(tmp_path):
    table = read_table(written(tmp_path, "0,1,2,3\n5,6,7,8\n9,9,9,9\n"))
    assert (list(table.columns), len(table)) == (["0", "1", "2", "3"], 2)
    assert "the numbers in the first row are the names of the columns" in table.said
    assert len(read_table(written(tmp_path, "1.5,NA,3\n5,6,7\n"))) == 2
    assert len(read_table(written(tmp_path, ",0,1\n0,5,6\n1,7,8\n"))) == 2, "as pandas writes a table"


def test_names_in_blocks_are_text(tmp_path):
    file = written(tmp_path, "id,x\n" + "7,1\n" * 300 + "007,2\n")
    (block,) = read_blocks(file, words=["id"])
    assert block.column("id").to_pylist()[-2:] == ["7", "007"]


@pytest.mark.parametrize("values", [[[1, 2], [3]], [{"a": 1}, {"a": 2}]])
def test_lists_and_structs_in_a_column_are_refused_by_name(tmp_path, values):
    pyarrow.parquet.write_table(pa.table({"x": values}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a.parquet: column 'x' holds (list|struct)"):
        read_table(tmp_path / "a.parquet")


def test_categories_decimals_and_half_precision_are_read_as_what_they_mean(tmp_path):
    columns = {
        "kind": pa.array(["a", "b", "a"]).dictionary_encode(),
        "price": pa.array([1, 2, 3]).cast(pa.decimal128(22, 2)),
        "half": pa.array(np.array([0.5, 1, 2], np.float16)),
    }
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    assert table.strings("kind") == ["a", "b", "a"]
    assert table.numeric_names() == ["price", "half"]
    np.testing.assert_array_equal(table.numbers("price"), [1, 2, 3])
