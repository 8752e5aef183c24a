"""Matrix Market files: their forms, and what is said of those that are not well formed."""

import numpy as np
import pytest
import scipy.sparse as sp

from shiftstate.tables import read_matrix
from shiftstate.tables.matrix_market import read_matrix_market

HEAD = "%%MatrixMarket matrix "


def read(tmp_path, text):
    (tmp_path / "m.mtx").write_text(text)
    found = read_matrix_market(tmp_path / "m.mtx")
    return found.toarray() if sp.issparse(found) else found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("coordinate real general\n% a comment\n\n%another\n2 3 2\n1 3 4.5\n2 1 -1\n", [[0, 0, 4.5], [-1, 0, 0]]),
        ("coordinate pattern general\n2 2 1\n2 1\n", [[0, 0], [1, 0]]),
        ("coordinate integer symmetric\n2 2 2\n1 1 5\n2 1 3\n", [[5, 3], [3, 0]]),
        ("coordinate real general\n2 2 0\n", [[0, 0], [0, 0]]),
        ("array double general\n2 3\n1\n2\n3\n4\n5\n6\n", [[1, 3, 5], [2, 4, 6]]),
    ],
)
def test_every_form_is_read(tmp_path, text, expected):
    assert np.array_equal(read(tmp_path, HEAD + text), expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%%MatrixMarket vector coordinate real general\n", "does not begin with %%MatrixMarket matrix"),
        (HEAD + "coordinate real\n1 1 0\n", "does not begin with"),
        (HEAD + "coordinate complex general\n1 1 0\n", "it is coordinate complex general; real or integer numbers"),
        (HEAD + "coordinate real hermitian\n1 1 0\n", "it is coordinate real hermitian"),
        (HEAD + "list real general\n1 1 0\n", "it is list real general"),
        (HEAD + "coordinate real general\n2 2\n", "its line of sizes is not one"),
        (HEAD + "array real general\n2 2 2\n", "its line of sizes is not one"),
        (HEAD + "coordinate real general\n2 -2 1\n1 1 1\n", "its line of sizes is not one"),
        (HEAD + f"coordinate real general\n{2**31} 2 1\n1 1 1\n", "its line of sizes is not one"),
        (HEAD + "coordinate real general\n2 2 3\n1 1 1\n1 2 1\n", "it holds 2 entries of 3 numbers where 3 were"),
        (HEAD + "coordinate real general\n%\n2 2 2\n1 1 1\n3 1 1\n", r"line 5 holds a place outside of its 2 × 2"),
        (HEAD + "coordinate real general\n2 2 2\n1 1 1\n1 0 1\n", r"line 4 holds a place outside"),
        (HEAD + "coordinate real general\n2 2 2\n1 1 1\n1 x 1\n", "line 4 holds '1 x 1'; expected 3 numbers"),
        (HEAD + "coordinate pattern general\n2 2 2\n1 1\n1 2 1\n", "line 4 holds '1 2 1'; expected 2 numbers"),
        (HEAD + "array real general\n2 2\n1\n2\n3\n", "it holds 3 numbers; 2 × 2 were announced"),
        (HEAD + "array real symmetric\n2 2\n1\n2\n3\n", "it is a symmetric array; a general one can be read"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text)


def test_a_side_may_have_as_many_nodes_as_a_32_bit_number_holds(tmp_path):
    (tmp_path / "m.mtx").write_text(f"{HEAD}coordinate real general\n{2**31 - 1} 2 1\n1 1 1\n")
    assert read_matrix_market(tmp_path / "m.mtx").shape == (2**31 - 1, 2)


@pytest.mark.parametrize("suffix", ["mtx", "npz"])
def test_a_sparse_matrix_becomes_dense_unless_it_is_too_large(tmp_path, suffix):
    file = tmp_path / f"m.{suffix}"
    for side, entries in ((3, "1 2 5"), (10**6, "1 1 1")):
        if suffix == "mtx":
            file.write_text(f"{HEAD}coordinate real general\n{side} {side} 1\n{entries}\n")
        else:
            row, column, value = map(int, entries.split())
            sp.save_npz(file, sp.coo_array(([float(value)], ([row - 1], [column - 1])), shape=(side, side)))
        if side == 3:
            assert read_matrix(file).tolist() == [[0, 5, 0], [0, 0, 0], [0, 0, 0]]
        else:
            with pytest.raises(ValueError, match=rf"{file.name}.*1[,_]?000[,_]?000"):
                read_matrix(file)
