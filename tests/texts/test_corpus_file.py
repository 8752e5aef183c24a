"""Prepared corpora that were damaged or made to harm: each is one `ValueError`, never a traceback or a wrong corpus."""

import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from shiftstate.texts import Corpus
from shiftstate.texts import array_file as array_file_module
from shiftstate.texts.corpus import Excerpts


def small_corpus():
    counts = np.array([[3, 1], [2, 0], [0, 4]])
    networks = csr_matrix(np.array([[0, 100, 80, 0], [0, 0, 0, 0], [64, 0, 0, 100]], dtype=np.int32))
    own = Excerpts(counts, np.array([0, 0, 1]), ("first", "second"))
    return Corpus(("the", "of"), {"ann": own}, {"ann": networks})


def arrays_of(data):
    with np.load(io.BytesIO(data)) as content:
        return dict(content)


def packed(arrays):
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def refused(path, data):
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"is no prepared corpus \(.+\); expected a prepared corpus") as error:
        Corpus.load(path)
    assert "\n" not in str(error.value)
    return str(error.value)


def beyond(array):
    return array.astype(np.uint64) + np.uint64(2**63)


GOOD = small_corpus().to_bytes()
HEAD = json.loads(str(arrays_of(GOOD)["head"]))


def test_the_undamaged_file_is_read(tmp_path):
    (tmp_path / "c.npz").write_bytes(GOOD)
    assert Corpus.load(tmp_path / "c.npz").to_bytes() == GOOD


@pytest.mark.parametrize("name", sorted(arrays_of(GOOD)))
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda array: None, id="missing"),
        pytest.param(lambda array: array.astype("U40") if array.dtype.kind != "U" else np.array(7), id="other dtype"),
        pytest.param(lambda array: np.array([{"a": 1}], dtype=object), id="objects"),
        pytest.param(lambda array: array[None], id="one axis more"),
        pytest.param(lambda array: array.astype("c16" if array.dtype.kind != "U" else "S200"), id="complex or bytes"),
        pytest.param(lambda array: array[:-1] if array.ndim else np.array("{}"), id="shorter"),
        pytest.param(lambda array: array - 2**40 if array.dtype.kind != "U" else np.array("["), id="negative"),
        pytest.param(lambda array: beyond(array) if array.dtype.kind != "U" else np.array("[" * 100_000), id="2^63"),
        pytest.param(lambda array: array * np.nan if array.dtype.kind != "U" else np.array("null"), id="NaN"),
    ],
)  # fmt: skip
def test_an_array_that_is_wrong_in_any_way_is_refused(tmp_path, name, change):
    arrays = arrays_of(GOOD)
    old = arrays.pop(name)
    changed = change(old if old.dtype.kind == "U" else old.astype(np.int64))
    if changed is not None:
        arrays[name] = changed
    refused(tmp_path / "c.npz", packed(arrays))


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2}, {"format": True}, {"format": [1]}, {"words": "the"}, {"words": ["the"]}, {"words": ["a", "a"]},
        {"words": []}, {"words": [1, 2]}, {"words": None}, {"titles": []}, {"titles": {"ann": "first"}},
        {"titles": {"ann": ["first"]}}, {"titles": {"bob": ["first", "second"]}}, {"titles": {"ann": [1, 2]}},
        {"wans": "ann"}, {"wans": ["bob"]}, {"wans": [["ann"]]}, {"wans": None}, {"wans": ["ann", "ann"]},
    ],
    ids=str,
)  # fmt: skip
def test_a_head_that_is_wrong_in_any_way_is_refused(tmp_path, change):
    refused(tmp_path / "c.npz", packed(arrays_of(GOOD) | {"head": np.array(json.dumps(HEAD | change))}))


def with_member(name, content, kind=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(GOOD)) as old, zipfile.ZipFile(stream, "w", kind) as new:
        for entry in old.namelist():
            new.writestr(entry, content if entry == name else old.read(entry))
    return stream.getvalue()


def npy(shape, dtype="<i8", data=b""):
    header = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}, }}"
    header = header.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


@pytest.mark.parametrize(
    "content",
    [
        npy("(1000000000000, 2)"), npy("(3, 2, 99999999)"), npy("(-3, 2)"), npy("(3.0, 2)"), npy("'ab'"), npy("(3, 2"),
        npy("(3, 2)", "|O"), npy("(3, 2)", "<U0"), npy("(0, 2)"), npy("(3, 2)", data=bytes(47)), b"", b"\x93NUMPY",
        npy("(3, 2)", data=bytes(49)), npy("(" * 500), b"\x93NUMPY\x03\x00" + bytes(10), b"PK" * 50,
    ],
    ids=range(16),
)  # fmt: skip
def test_what_an_array_declares_is_compared_with_its_bytes_before_memory_is_taken(tmp_path, content):
    refused(tmp_path / "c.npz", with_member("ann/counts.npy", content))


def test_a_file_that_would_unpack_to_more_than_memory_is_refused_before(tmp_path, monkeypatch):
    monkeypatch.setattr(array_file_module, "MAX_BYTES", 1_000_000)
    bomb = with_member("ann/counts.npy", npy("(125000, 1)", data=bytes(1_000_000)))
    assert len(bomb) < 10_000
    assert "GB" in refused(tmp_path / "c.npz", bomb)


def test_an_array_twice_is_refused(tmp_path):
    stream = io.BytesIO(GOOD)
    with zipfile.ZipFile(stream, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("head.npy", b"x")
    assert "twice" in refused(tmp_path / "c.npz", stream.getvalue())


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_no_changed_byte_gives_anything_but_a_refusal_or_the_same_corpus(tmp_path_factory, place, difference):
    damaged = bytearray(GOOD)
    damaged[place] ^= difference
    file = tmp_path_factory.getbasetemp() / "changed.npz"
    file.write_bytes(damaged)
    try:
        again = Corpus.load(file)
    except ValueError:
        refused(file, damaged)
    else:
        assert again.to_bytes() == GOOD


@given(st.integers(0, len(GOOD) - 1))
def test_no_cut_off_file_is_read(tmp_path_factory, length):
    refused(tmp_path_factory.getbasetemp() / "cut.npz", GOOD[:length])


@given(st.binary(max_size=300))
def test_no_random_bytes_are_a_corpus(tmp_path_factory, data):
    refused(tmp_path_factory.getbasetemp() / "random.npz", data)
