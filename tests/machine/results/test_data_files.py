"""Fingerprints of data files: by content, whatever the time and the place."""

import os

import pytest

from shiftstate.machine.results.data_files import (
    changed,
    fingerprint,
    fingerprints,
    read_fingerprints,
    write_fingerprints,
)


def test_a_fingerprint_is_of_the_content_alone(tmp_path):
    one, other = tmp_path / "one.csv", tmp_path / "other.txt"
    one.write_bytes(b"a,b\n")
    other.write_bytes(b"a,b\n")
    os.utime(other, (1, 1))
    assert fingerprint(one) == fingerprint(other)
    other.write_bytes(b"a,c\n")
    assert fingerprint(one) != fingerprint(other)


def test_what_is_changed_gone_or_new_is_named(tmp_path):
    files = {name: tmp_path / name for name in ("kept", "other", "gone")}
    for file in files.values():
        file.write_text("x")
    assert read_fingerprints(tmp_path) is None
    write_fingerprints(tmp_path, fingerprints(files))
    files["other"].write_text("y")
    files["new"] = files.pop("gone").rename(tmp_path / "new")
    assert changed(read_fingerprints(tmp_path), fingerprints(files)) == ["other", "gone", "new"]
    assert changed(None, fingerprints(files)) == []


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe"])
def test_what_is_no_file_is_named_at_once(tmp_path, kind):
    path = tmp_path / "data"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    with pytest.raises(ValueError, match=rf"{path} cannot be read .*expected a file of data"):
        fingerprint(path)
