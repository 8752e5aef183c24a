import io
import zipfile

import pytest

from shiftstate.limits import MAX_MEMBERS, SMALL_BYTES, Archive, check_unpacked, most_unpacked


def packed(*members, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return file


def test_a_member_comes_back_as_it_was_written():
    archive = Archive(packed(("a", b"one"), ("b", b"\0" * 3_000_000)))
    assert archive.sizes == {"a": 3, "b": 3_000_000}
    assert archive.read("a") == b"one"
    assert archive.read("b") == b"\0" * 3_000_000
    with pytest.raises(KeyError):
        archive.read("c")


def test_every_read_counts_also_of_one_member():
    archive = Archive(packed(("a", b"\0" * 400)), most=1000)
    archive.read("a")
    archive.read("a")
    with pytest.raises(ValueError, match="more than 1,000 bytes, at 'a'"):
        archive.read("a")


@pytest.mark.parametrize("declared", [10, 5_000_000])
def test_a_member_that_declares_another_size_than_it_has_raises(declared):
    content = packed(("a", b"\0" * 2_000_000)).getvalue()
    real = (2_000_000).to_bytes(4, "little")
    assert content.count(real) == 2  # before the member, and in the list at the end
    with pytest.raises((ValueError, zipfile.BadZipFile), match=r"CRC|declares|expected 5 MB"):
        Archive(io.BytesIO(content.replace(real, declared.to_bytes(4, "little")))).read("a")


def test_other_methods_than_deflate_are_not_unpacked():
    with pytest.raises(ValueError, match="'a' is packed by method 12; expected deflate"):
        Archive(packed(("a", b"x"), method=zipfile.ZIP_BZIP2))


def test_too_many_members_and_one_name_twice_raise(monkeypatch):
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = packed(("a", b"1"), ("a", b"2"))
    with pytest.raises(ValueError, match="two files of one name"):
        Archive(twice)
    monkeypatch.setattr("shiftstate.limits.MAX_MEMBERS", 2)
    with pytest.raises(ValueError, match="it holds 3 files; expected at most 2"):
        Archive(packed(("a", b""), ("b", b""), ("c", b"")))
    assert MAX_MEMBERS >= 10_000  # books have thousands


def test_small_files_may_grow_to_a_fixed_size_and_large_ones_by_a_ratio():
    assert most_unpacked(10) == SMALL_BYTES
    assert most_unpacked(SMALL_BYTES) == 100 * SMALL_BYTES
    check_unpacked(SMALL_BYTES, 10, "it")
    with pytest.raises(ValueError, match="its arrays would take 257 MB; expected at most 256 MB of a file of 10 bytes"):
        check_unpacked(SMALL_BYTES + 1_000_000, 10, "its arrays")
