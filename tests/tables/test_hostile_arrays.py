"""Arrays that would crash compiled code, or take all memory, are one line that names the file."""

import io
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse as sp

from shiftstate.tables import read_blocks, read_graph, read_matrix, read_table
from shiftstate.tables.arrays import read_arrays

S = sp.coo_array(np.array([[0, 1, 0, 0], [1, 0, 2, 0], [0, 2, 0, 3], [0, 0, 3, 0]], float))


def parts(form):
    """The arrays that `save_npz` writes."""
    file = io.BytesIO()
    sp.save_npz(file, S.asformat(form))
    file.seek(0)
    with np.load(file) as found:
        return {name: found[name] for name in found.files}


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_every_form_that_scipy_writes_is_read(tmp_path, form):
    np.savez(tmp_path / "a.npz", **parts(form))
    np.testing.assert_array_equal(read_graph(tmp_path / "a.npz").shift.to_dense().numpy(), S.toarray())
    np.testing.assert_array_equal(read_matrix(tmp_path / "a.npz"), S.toarray())


BAD = [
    ("csr", "indptr", [0, 1, 10**9, 5, 6], "indptr is not 5 numbers"),
    ("csr", "indptr", [0, 1, 3, 5, 10**9], "indptr ends with 1000000000"),
    ("csr", "indptr", [-7, 1, 3, 5, 6], "indptr is not 5 numbers"),
    ("csr", "indptr", [0, 6], "indptr is not 5 numbers"),
    ("csr", "indices", [1, 0, 2, 1, 10**9, 2], r"indices\[4\] is 1000000000; expected 0 to 3"),
    ("csc", "indices", [1, 0, 2, -1, 3, 2], r"indices\[3\] is -1; expected 0 to 3"),
    ("csr", "indices", [1.5, 0, 2, 1, 3, 2], "indices is float64"),
    ("csr", "data", [1.0], "there are 6 indices and 1 data"),
    ("csr", "data", ["a"] * 6, "its data are <U1; expected numbers"),
    ("csr", "shape", [4], "its shape is"),
    ("csr", "shape", [-4, 4], "its shape is"),
    ("bsr", "indices", [0, 1, 9], r"indices|bsr|indptr"),
    ("coo", "shape", [2**40, 2**40], r"a matrix of shape \(1099511627776, 1099511627776\) would take 8,796,093 MB"),
    ("coo", "row", [0, 1, 1, 2, 2, 4], r"row\[5\] is 4; expected 0 to 3"),
    ("coo", "col", [0, 1], "data, row and col have the lengths"),
    ("dia", "offsets", [0], "its data have the shape"),
    ("csr", "format", "lil", "in the form 'lil'; expected one of csr, csc"),
]


@pytest.mark.parametrize(("form", "name", "value", "message"), BAD)
def test_a_damaged_sparse_matrix_is_refused_before_compiled_code_sees_it(tmp_path, form, name, value, message):
    np.savez(tmp_path / "bad.npz", **(parts(form) | {name: np.array(value)}))
    for read in (read_graph, read_matrix):
        with pytest.raises(ValueError, match=message) as error:
            read(tmp_path / "bad.npz")
        assert str(tmp_path / "bad.npz") in str(error.value)


def test_a_sparse_matrix_without_one_of_its_arrays_is_named(tmp_path):
    found = parts("csr")
    del found["indptr"]
    np.savez(tmp_path / "bad.npz", **found)
    with pytest.raises(ValueError, match="it has no array 'indptr'; expected one for a csr matrix"):
        read_matrix(tmp_path / "bad.npz")


def header(shape, dtype="<f8"):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()


@pytest.mark.parametrize("shape", [(2**40,), (10**6, 10**6), (3,), (-1, 4)])
def test_a_shape_that_is_not_that_of_the_bytes_takes_no_memory(tmp_path, shape):
    content = header(shape) + bytes(64)
    (tmp_path / "a.npy").write_bytes(content)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x.npy", content)
    for kind in ("npy", "npz"):
        with pytest.raises(ValueError, match=rf"a.{kind} cannot be read .*64 are there"):
            read_matrix(tmp_path / f"a.{kind}")


def test_an_archive_that_unpacks_to_far_more_than_its_size_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("shiftstate.limits.SMALL_BYTES", 1_000_000)
    np.savez_compressed(tmp_path / "a.npz", np.zeros((1500, 1500)))
    for read in (read_graph, read_matrix, read_arrays):
        with pytest.raises(ValueError, match=r"a.npz cannot be read \(it would unpack to more than 2 MB, at 'arr_0"):
            read(tmp_path / "a.npz")
    np.savez_compressed(tmp_path / "b.npz", np.zeros((900, 900), np.int8))
    with pytest.raises(ValueError, match=r"b.npz: a matrix of shape \(900, 900\) would take 6 MB; expected at most"):
        read_matrix(tmp_path / "b.npz")
    sp.save_npz(tmp_path / "c.npz", sp.coo_array((1000, 1000)))
    with pytest.raises(ValueError, match=r"c.npz: a matrix of shape \(1000, 1000\) would take 8 MB"):
        read_matrix(tmp_path / "c.npz")
    np.savez(tmp_path / "d.npz", np.zeros((1500, 1500)))
    assert read_matrix(tmp_path / "d.npz").shape == (1500, 1500), "a file that is not compressed is as large as it is"


def test_a_parquet_file_of_many_repeated_rows_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("shiftstate.limits.SMALL_BYTES", 1_000_000)
    pyarrow.parquet.write_table(pa.table({"x": np.zeros(200_000)}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a.parquet: a table of 200,000 rows would take 2 MB; expected at most 1 MB"):
        read_table(tmp_path / "a.parquet")


def test_a_long_word_that_repeats_in_a_parquet_file_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("shiftstate.limits.SMALL_BYTES", 1_000_000)
    words = pa.DictionaryArray.from_arrays(np.zeros(400, np.int32), ["x" * 10_000])
    pyarrow.parquet.write_table(pa.table({"word": words.dictionary_decode()}), tmp_path / "a.parquet")
    for read in (read_table, lambda path: list(read_blocks(path))):
        with pytest.raises(ValueError, match=r"a.parquet: column 'word' would take 4 MB; expected at most 1 MB"):
            read(tmp_path / "a.parquet")
    monkeypatch.undo()
    assert {*read_table(tmp_path / "a.parquet").strings("word")} == {"x" * 10_000}


def test_an_edge_to_a_huge_position_takes_no_memory(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[0, 1, 2], [1, 2**40, 0]]))
    with pytest.raises(ValueError, match=r"a.npy: a graph of 1,099,511,627,777 nodes would take"):
        read_graph(tmp_path / "a.npy")
    np.save(tmp_path / "a.npy", np.array([[0, 1, 2], [1, 2**64 - 1, 0]], np.uint64))
    with pytest.raises(ValueError, match="edge of node 18446744073709551615; expected positions"):
        read_graph(tmp_path / "a.npy")


def test_huge_sizes_in_matrix_market_take_no_memory_and_places_are_whole(tmp_path):
    text = "%%MatrixMarket matrix coordinate real general\n{0} {0} 1\n{1} 1 1\n"
    (tmp_path / "a.mtx").write_text(text.format(2**31 - 1, 1))
    with pytest.raises(ValueError, match=r"a.mtx cannot be read \(a matrix of shape .* would take"):
        read_graph(tmp_path / "a.mtx")
    (tmp_path / "a.mtx").write_text(text.format(3, 1.5))
    with pytest.raises(ValueError, match="line 3 holds a place outside"):
        read_graph(tmp_path / "a.mtx")


@pytest.mark.parametrize("shape", [(60, 0), (0, 4), (0,)])
def test_a_matrix_without_entries_is_named_by_its_shape(tmp_path, shape):
    np.save(tmp_path / "a.npy", np.zeros(shape))
    with pytest.raises(ValueError, match=r"a.npy has the shape .*; expected at least one row and one column"):
        read_matrix(tmp_path / "a.npy")


def test_truncated_archives_are_one_line(tmp_path):
    np.savez(tmp_path / "whole.npz", edges=np.zeros((2, 50), int))
    whole = (tmp_path / "whole.npz").read_bytes()
    for length in range(0, len(whole), 97):
        (tmp_path / "a.npz").write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"a.npz cannot be read \(.*\); expected a run"):
            read_arrays(tmp_path / "a.npz", "a run")
