"""Files are whole or not there, and what killed processes leave is found and removed."""

import errno
import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shiftstate.files import MARK, make_directory, read_regular, remove_leftovers, write_whole

LEFT = f".plan.json.0123abcd.{MARK}"
NOT_OURS = [
    "plan.json",
    ".plan.json",
    f"plan.json.0123abcd.{MARK}",  # no dot in front
    f".plan.json.0123abcz.{MARK}",  # not hexadecimal
    f".0123abcd.{MARK}",  # no name
    f"{LEFT}.txt",
    f"{LEFT}\n",
    ".summary.json.zl870ay_",  # the older pattern, of a name that was not given
    ".plan.json.zl870ay",  # seven letters
    ".planXjson.zl870ay_",
]


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


def test_a_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "other").touch()
    write_whole(tmp_path / "file", "text")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("file", "other")}
    assert len(modes) == 1


def test_what_a_killed_write_leaves_is_removed_and_nothing_else(tmp_path, monkeypatch):
    for name in NOT_OURS:
        (tmp_path / name).touch()
    (tmp_path / f".folder.0123abcd.{MARK}").mkdir()
    (tmp_path / f".link.0123abcd.{MARK}").symlink_to(tmp_path / "plan.json")
    before = set(os.listdir(tmp_path))
    monkeypatch.setattr(os, "replace", lambda *_: None)  # as if killed before the rename
    write_whole(tmp_path / "plan.json", "new")
    left = set(os.listdir(tmp_path)) - before
    assert len(left) == 1
    assert {path.name for path in remove_leftovers(tmp_path)} == left
    assert set(os.listdir(tmp_path)) == before
    assert remove_leftovers(tmp_path) == []


def test_names_of_older_versions_are_removed_for_the_files_that_are_named(tmp_path):
    for name in (".plan.json.zl870ay_", ".plan.json.part", *NOT_OURS):
        (tmp_path / name).touch()
    removed = remove_leftovers(tmp_path, ["plan.json", "results.sqlite"])
    assert [path.name for path in removed] == [".plan.json.part", ".plan.json.zl870ay_"]
    assert set(os.listdir(tmp_path)) == set(NOT_OURS)


@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=30))
def test_every_name_that_can_be_written_is_found_again(tmp_path_factory, name):
    directory = tmp_path_factory.mktemp("any")
    if name in (".", ".."):
        return
    (directory / f".{name}.0123abcd.{MARK}").touch()
    assert len(remove_leftovers(directory)) == 1


def test_a_directory_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"cannot be made \(Not a directory\); expected a directory for the results$"):
        make_directory(tmp_path / "file" / "out")
    make_directory(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: os.mkfifo(path), "a named pipe"),
        (lambda path: path.mkdir(), "Is a directory"),
        (lambda path: path.symlink_to("/dev/zero"), "a device"),
        (lambda path: None, "No such file"),
    ],
)
def test_what_is_no_regular_file_raises_at_once_instead_of_waiting(tmp_path, make, reason):
    make(tmp_path / "it")
    with pytest.raises(ValueError, match=rf"it cannot be read \({reason}.*\); expected a poem"):
        read_regular(tmp_path / "it", "a poem")


def test_a_regular_file_is_read_whole_also_by_a_link(tmp_path):
    (tmp_path / "file").write_bytes(b"\x00\xffdata")
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "link", "data") == b"\x00\xffdata"


def test_a_name_with_a_zero_byte_is_one_line():
    with pytest.raises(ValueError, match="cannot be read"):
        read_regular("a\0b", "a poem")
