"""Forms of files that people have: other separators, codes, matrices with names, positions, .npz of arrays."""

import numpy as np
import pytest
import scipy.sparse as sp

from shiftstate.tables import read_graph, read_matrix, read_table

RING = np.array([[0, 1, 0, 0, 1], [1, 0, 1, 0, 0], [0, 1, 0, 1, 0], [0, 0, 1, 0, 1], [1, 0, 0, 1, 0]])
ENDS = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])


def dense(graph):
    return graph.shift.to_dense().numpy()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "source;target\na;b\nb;c\n", "values are parted by semicolons"),
        ("a.csv", "source\ttarget\na\tb\nb\tc\n", "values are parted by tabs"),
        ("a.txt", "# made by hand\n# from to\nfrom to\na b\nb c\n", "values are parted by blanks"),
    ],
)
def test_other_separators_are_guessed_and_said(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    graph = read_graph(tmp_path / name)
    assert said in graph.said
    assert graph.shift.num_nodes == 3


def test_codes_with_zeros_before_them_stay_codes(tmp_path):
    (tmp_path / "a.csv").write_text("source,target,weight\n01001,01003,1\n01003,00500,2\n")
    assert read_graph(tmp_path / "a.csv").names == ["00500", "01001", "01003"]


def test_a_node_called_na_is_a_node_and_an_empty_cell_is_not(tmp_path):
    (tmp_path / "a.csv").write_text("source,target\nNA,DE\nDE,FR\n")
    assert read_graph(tmp_path / "a.csv").names == ["DE", "FR", "NA"]
    (tmp_path / "a.csv").write_text("source,target\nNA,DE\nDE,\n")
    with pytest.raises(ValueError, match="row 3, column 'target' is empty"):
        read_graph(tmp_path / "a.csv")


def test_words_far_down_in_a_column_of_numbers_make_it_one_of_words(tmp_path):
    rows = "".join(f"{i},{i + 1}\n" for i in range(200_000)) + "200000,last\n"
    (tmp_path / "a.csv").write_text("source,target\n" + rows)
    assert "last" in read_graph(tmp_path / "a.csv").names


@pytest.mark.parametrize("corner", ["", "town"])
def test_a_matrix_with_names_of_rows_and_columns_is_joined_by_them(tmp_path, corner):
    names = ["e", "d", "c", "b", "a"]
    rows = [",".join([name, *map(str, row)]) for name, row in zip(names, RING, strict=True)]
    (tmp_path / "a.csv").write_text("\n".join([",".join([corner, *names]), *rows]) + "\n")
    graph = read_graph(tmp_path / "a.csv")
    assert graph.names == names
    np.testing.assert_array_equal(dense(graph), RING)
    turned = read_graph(tmp_path / "a.csv", nodes=sorted(names))
    np.testing.assert_array_equal(dense(turned), RING[::-1, ::-1])


def test_a_matrix_of_whole_numbers_below_the_numbers_of_its_nodes(tmp_path):
    text = "\n".join(",".join(map(str, row)) for row in [range(5), *RING])
    (tmp_path / "a.csv").write_text(text + "\n")
    np.testing.assert_array_equal(dense(read_graph(tmp_path / "a.csv")), RING)


@pytest.mark.parametrize("turned", [False, True])
def test_arrays_of_edges_in_npz_and_npy(tmp_path, turned):
    ends = ENDS.T if turned else ENDS
    np.save(tmp_path / "a.npy", ends)
    np.savez(tmp_path / "a.npz", edges=ends, weight=np.full(5, 2.0), x=np.eye(5))
    np.testing.assert_array_equal(dense(read_graph(tmp_path / "a.npy")), RING)
    np.testing.assert_array_equal(dense(read_graph(tmp_path / "a.npz")), 2 * RING)
    assert read_matrix(tmp_path / "a.npz").shape == (5, 5)
    with pytest.raises(ValueError, match="edge of node 4; expected positions from 0 to 2"):
        read_graph(tmp_path / "a.npy", nodes=["a", "b", "c"])


@pytest.mark.parametrize("first", [0, 1])
def test_ends_that_are_no_names_are_positions_and_that_is_said(tmp_path, first):
    (tmp_path / "a.csv").write_text("i,j\n" + "".join(f"{u + first},{v + first}\n" for u, v in ENDS.T))
    graph = read_graph(tmp_path / "a.csv", nodes=list("abcde"))
    np.testing.assert_array_equal(dense(graph), RING)
    assert any(f"positions, counted from {first}" in line for line in graph.said)


def test_splits_of_an_npz_become_columns(tmp_path):
    train = np.array([[True, False, False], [False, True, False]])
    np.savez(
        tmp_path / "a.npz", y=np.arange(3), train_masks=train, val_masks=train[:, [2, 0, 1]], test_masks=~train & False
    )
    table = read_table(tmp_path / "a.npz")
    assert table.strings("split0") == ["train", "valid", ""]
    assert table.strings("split1") == ["", "train", "valid"]


def test_repeated_edges_count_once_without_weights_and_add_up_with_them(tmp_path):
    (tmp_path / "a.csv").write_text("u,v\na,b\na,b\nb,c\n")
    graph = read_graph(tmp_path / "a.csv")
    assert dense(graph)[1, 0] == 1
    assert "1 edges repeat others and count once" in graph.said
    (tmp_path / "a.csv").write_text("u,v,w\na,b,1\na,b,2\nb,c,1\nc,b,4\nc,c,5\n")
    S = dense(read_graph(tmp_path / "a.csv"))
    np.testing.assert_array_equal(S, [[0, 3, 0], [3, 0, 4], [0, 1, 5]])


def test_sorted_rows_give_the_operator_that_entries_give():
    random = np.random.default_rng(0)
    matrix = sp.random_array((80, 80), density=0.05, random_state=random, format="csr", dtype=np.float32)
    from shiftstate import Shift

    rows, entries = Shift.from_matrix(matrix, "sparse").operator, Shift.from_matrix(matrix.tocoo(), "sparse").operator
    for one, other in zip(rows, entries, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one.numpy(), other.numpy())
