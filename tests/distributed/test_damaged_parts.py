"""Edited, damaged and hostile folders of parts: one line that names the file, and no path leads out of the folder."""

import copy
import hashlib
import json
import os

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import shiftstate as ss
from shiftstate.distributed.parts.write import MOST_EMPTY

NASTY = (None, True, -1, 0, 10**18, 0.5, "../x", "/etc/passwd", [], {"a": 1})


@pytest.fixture
def folder(tmp_path):
    """A ring of five nodes in one part."""
    shift = ss.Shift.from_edges([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])
    ss.distributed.partition(shift, tmp_path / "parts", parts=1, method="blocks", names=list("abcde"))
    return tmp_path / "parts"


def refused(folder):
    """Whether loading raises; what it raises is one line that names a file of the folder."""
    message = None
    try:
        ss.distributed.load(folder)
    except ValueError as error:
        message = str(error)
    assert message is None or (str(folder) in message and "\n" not in message), message
    return message is not None


def with_forged_checksum(folder, tensors):
    """Another part, with a manifest that fits its bytes."""
    part, manifest = folder / "part-0.safetensors", folder / "partition.json"
    told = json.loads(manifest.read_text())
    save_file(tensors, part, {"shiftstate.partition": "2", "shiftstate.graph": told["graph"]})
    told["parts"][0]["sha256"] = hashlib.sha256(part.read_bytes()).hexdigest()
    manifest.write_text(json.dumps(told))


def test_every_edited_entry_of_a_manifest_is_refused_unless_it_changes_no_answer(folder):
    file = folder / "partition.json"
    told = json.loads(file.read_text())
    kept = []
    for inside in ((), ("parts", 0)):
        names = told["parts"][0] if inside else told
        for name in names:
            for value in ("delete", *NASTY):
                other = copy.deepcopy(told)
                place = other["parts"][0] if inside else other
                if value == "delete":
                    del place[name]
                else:
                    place[name] = value
                file.write_text(json.dumps(other))
                if not refused(folder) and value != names[name]:
                    kept.append(name)
    assert set(kept) <= {"method", "seconds"}, "what is only said"
    for text in ("[" * 100_000, "", "[]", '{"format": 1}'):
        file.write_text(text)
        assert refused(folder)


def test_a_part_outside_of_the_folder_is_not_followed(folder, tmp_path):
    file = folder / "partition.json"
    told = json.loads(file.read_text())
    (folder / "part-0.safetensors").rename(tmp_path / "part-0.safetensors")
    for name in ("../part-0.safetensors", str(tmp_path / "part-0.safetensors"), "./part-0.safetensors"):
        told["parts"][0]["file"] = name
        file.write_text(json.dumps(told))
        with pytest.raises(ValueError, match=r"partition\.json: parts\[0\]\.file is .*in the folder itself"):
            ss.distributed.load(folder)


@pytest.mark.parametrize("name", ["nodes", "rows.values", "columns.col", "names.bytes"])
def test_changed_values_of_a_part_are_noticed(folder, name):
    part = folder / "part-0.safetensors"
    tensors = load_file(part)
    tensors[name] = tensors[name][::-1].copy() if name != "rows.values" else 2 * tensors[name]
    save_file(tensors, part, {"shiftstate.partition": "2"})
    with pytest.raises(ValueError, match=r"part-0\.safetensors is not the file that was written"):
        ss.distributed.load(folder)


def test_hostile_tensors_with_a_forged_checksum_lead_nowhere(folder):
    tensors = load_file(folder / "part-0.safetensors")
    assert not refused(folder)
    for name, array in tensors.items():
        others = [None, array[:0], array.astype(np.float64), np.stack([array, array]), np.full_like(array, 99)]
        others += [] if array.dtype == np.uint8 else [-array - 1]
        for other in others:
            changed = {key: value for key, value in tensors.items() if key != name}
            with_forged_checksum(folder, changed if other is None else {**changed, name: other})
            same = other is not None and other.shape == array.shape and other.dtype == array.dtype
            plain = name.endswith("values") or name == "names.bytes" or not array.size  # any such value is a graph's
            assert refused(folder) or (same and plain), name


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", ["partition.json", "part-0.safetensors"])
def test_a_named_pipe_is_refused_at_once(folder, name):
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(ValueError, match=rf"{name} cannot be read \(a named pipe\)"):
        ss.distributed.load(folder)


def test_more_parts_than_can_be_meant_are_refused_before_anything_is_written(tmp_path):
    shift = ss.Shift.from_edges([[0, 1], [1, 0]])
    for parts in (MOST_EMPTY + 1, 99_999_999_999):
        with pytest.raises(ValueError, match=f"parts is {parts}; expected at most 2, one for every node"):
            ss.distributed.partition(shift, tmp_path / "parts", parts, "blocks")
    assert not list(tmp_path.iterdir())


def test_a_disk_that_fills_up_leaves_no_manifest(folder, monkeypatch):
    written = []

    def full(number):
        written.append(number)
        if len(written) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    shift = ss.Shift.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])
    with pytest.raises(ValueError, match=r"cannot be written \(No space left on device\)"):
        ss.distributed.partition(shift, folder, parts=2, method="blocks")
    assert not (folder / "partition.json").exists()
    assert not list(folder.glob(".*"))
    assert refused(folder)
