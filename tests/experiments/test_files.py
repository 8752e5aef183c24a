"""Files are whole or not there."""

import errno
import os

import pytest

from shiftstate.experiments.files import write_whole


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step):
    path = tmp_path / "summary.json"
    write_whole(path, "old")

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["summary.json"]


def test_text_and_bytes_replace_what_was_there(tmp_path):
    path = tmp_path / "file"
    write_whole(path, "long enough")
    write_whole(path, b"\x00\x01")
    assert path.read_bytes() == b"\x00\x01"
