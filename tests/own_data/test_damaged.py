"""Edited, damaged and hostile files of runs: each is one line that names the file, and nothing hangs or is built."""

import copy
import json
import os
import shutil
from dataclasses import asdict

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from shiftstate.estimators import NodeClassifier, storage
from shiftstate.estimators.defaults import NetworkSettings
from shiftstate.estimators.storage import read_estimator
from shiftstate.graphs import Shift
from shiftstate.model_file import read_model, write_model
from shiftstate.own_data.asking.settings import TrainSettings
from shiftstate.own_data.comparing import side_by_side
from shiftstate.own_data.left import manifest as manifests
from shiftstate.own_data.left.leaving import read_metrics, read_settings
from shiftstate.own_data.left.manifest import FILES, MANIFEST, check_run, is_finished, write_manifest
from shiftstate.own_data.left.page import _shown
from shiftstate.own_data.predicting import predict, stored_graph
from tests.own_data.towns import run, table

N = 6
NASTY = (None, True, -1, 10**18, 0.5, "../x", [], {"a": 1})
ENDS = np.stack([np.arange(N), (np.arange(N) + 1) % N])
SCORES = {"accuracy": 0.5}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A finished run of six nodes, and features for predictions."""
    folder = tmp_path_factory.mktemp("whole")
    made = folder / "run"
    made.mkdir()
    X = np.random.default_rng(0).normal(size=(N, 2))
    names = [f"n{i}" for i in range(N)]
    estimator = NodeClassifier("gcnn", K=1, channels=2, epochs=1).fit(Shift.from_edges(ENDS), X, np.arange(N) % 2)
    estimator.node_names_, estimator.feature_names_ = names, ["a", "b"]
    estimator.save(made / "model.safetensors")
    np.savez(made / "graph.npz", edges=ENDS, weight=np.ones(N), names=np.array(names))
    table(folder / "new.csv", ["name", "a", "b"], [(name, *row) for name, row in zip(names, X, strict=True)])
    settings = TrainSettings("node-classification", folder / "e.csv", made, nodes=folder / "new.csv", target="y")
    (made / "settings.json").write_text(json.dumps(settings.as_dict()))
    (made / "predictions.csv").write_text("node,split,target,predicted\nn0,test,1,0\nn1,test,1,1\n")
    metrics = {
        "task": "node-classification", "metric": "accuracy", "filter": "gcnn", "settings": asdict(NetworkSettings()),
        "normalization": "none", "scale": "none", "train": SCORES, "valid": SCORES, "test": SCORES,
        "seeds": {"mean": 0.5, "seeds": [0.5], "interval": None}, "baselines": {"constant": 0.5}, "rival": "constant",
        "lead": 0.0, "interval": [0.0, 0.0], "verdict": "the graph is worth nothing", "table": "a table",
    }  # fmt: skip
    (made / "metrics.json").write_text(json.dumps(metrics))
    write_manifest(made)
    return folder


@pytest.fixture
def damaged(whole, tmp_path):
    """A copy to damage."""
    shutil.copytree(whole, tmp_path / "copy")
    return tmp_path / "copy"


def mutants(value):
    """The value with every key deleted, and every value inside it replaced by each nasty one."""
    places = [()]
    for place in places:
        inner = value
        for key in place:
            inner = inner[key]
        places += [(*place, key) for key in (inner if isinstance(inner, dict) else range(len(inner))
                   if isinstance(inner, list) else ())]  # fmt: skip
    for *path, last in places[1:]:
        for nasty in ("delete", *NASTY):
            other = inner = copy.deepcopy(value)
            for key in path:
                inner = inner[key]
            if nasty == "delete":
                del inner[last]
            else:
                inner[last] = nasty
            yield other


def survives(file, use):
    """Whether a use of an edited file gives an answer; what it raises is one line that names the file."""
    message = None
    try:
        use()
    except ValueError as error:
        message = str(error)
    assert message is None or (str(file) in message and "\n" not in message), message
    return message is None


@pytest.mark.parametrize("name", [MANIFEST, *FILES])
def test_any_edited_file_of_a_run_is_named_by_every_command(damaged, name):
    file = damaged / "run" / name
    if not file.exists():
        return
    file.write_bytes(file.read_bytes().replace(b"0", b"1", 1) + b" ]")
    features, out = damaged / "new.csv", damaged / "out.csv"
    for words in (
        ("predict", damaged / "run", "--features", features, "--out", out),
        ("compare", damaged / "run"),
        ("report", damaged / "run"),
        ("export", damaged / "run", "--torch", out),
    ):
        code, _, message = run(*words)
        assert code == 2
        assert str(file) in message
        assert "\n" not in message
    assert not out.exists()


@pytest.mark.parametrize("name", ["settings.json", "metrics.json", MANIFEST])
def test_hostile_json_of_a_run_is_an_answer_or_one_line(damaged, name, monkeypatch):
    made = damaged / "run"
    file = made / name
    if name != MANIFEST:
        monkeypatch.setattr(manifests, "check_as_written", lambda *given: None)  # as if the checksum were forged too

    def use():
        check_run(made)
        read_settings(made)
        side_by_side([made])
        _shown(made, read_metrics(made), "")

    texts = [json.dumps(other) for other in mutants(json.loads(file.read_text()))]
    results = []
    for text in [*texts, "[" * 100_000, "[1]", "", "\udce4", '{"a": NaN}']:
        file.write_text(text, errors="surrogateescape")
        results.append(survives(file, use))
    assert len(results) > 20
    assert not any(results[-5:])
    assert not all(results)


def test_a_hostile_header_of_a_model_is_an_answer_or_one_line(whole, monkeypatch):
    file = whole / "run/model.safetensors"
    described, tensors = read_model(file, "estimator", "")
    described["fitted"]["node_names"] = described["fitted"]["node_names"][:1]  # one stands for all
    shift, X = Shift.from_edges(ENDS), np.ones((N, 2))

    def refused(other):
        monkeypatch.setattr(storage, "read_model", lambda *given: (other, tensors))
        return not survives(file, lambda: read_estimator(file).predict(shift, X))

    assert sum(map(refused, mutants(described))) > 200
    for key in ("layers", "members", "K", "channels"):
        assert refused(changed(described, key, 10**9, "settings"))
    for key, value in (("classes", ["0"]), ("feature_names", ["a"]), ("classes_dtype", "<U1000000000")):
        assert refused(changed(described, key, value))


def changed(described, key, value, *inside):
    """A header with another value in its fitted state."""
    other = copy.deepcopy(described)
    table = other["fitted"]
    for name in inside:
        table = table[name]
    table[key] = value
    return other


@pytest.mark.parametrize("dtype", [torch.int32, torch.float16, torch.float64])
def test_a_tensor_of_another_dtype_or_value_is_named(damaged, dtype):
    file = damaged / "run/model.safetensors"
    described, tensors = read_model(file, "estimator", "")
    name = next(name for name in tensors if name.startswith("model."))
    bits = tensors[name].view(torch.int32) if dtype == torch.int32 else tensors[name].to(dtype)
    write_model(file, "estimator", described, {**tensors, name: bits})
    with pytest.raises(ValueError, match=rf"{file} describes .* holds '{name}' as {str(dtype)[6:]} of shape"):
        read_estimator(file)


def test_a_changed_weight_is_noticed_by_the_models_own_checksum(damaged):
    file = damaged / "run/model.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(ValueError, match=rf"{file} is not as it was written"):
        read_estimator(file)
    tensors = load_file(file)
    save_file(tensors, file, {"shiftstate.format": "1", "shiftstate.estimator": "{" * 99})
    with pytest.raises(ValueError, match=rf"{file} holds a configuration that is not JSON"):
        read_estimator(file)


def test_a_truncated_graph_is_named(damaged):
    file = damaged / "run/graph.npz"
    content = file.read_bytes()
    for end in (0, 10, len(content) // 2, len(content) - 3):
        file.write_bytes(content[:end])
        assert not survives(file, lambda: stored_graph(damaged / "run"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", [MANIFEST, "settings.json", "graph.npz", "model.safetensors", "metrics.json"])
def test_a_named_pipe_in_place_of_a_file_is_named_at_once(damaged, name):
    file = damaged / "run" / name
    file.unlink()
    os.mkfifo(file)
    assert not survives(file, lambda: check_run(damaged / "run"))
    if name == "model.safetensors":
        assert not survives(file, lambda: read_estimator(file))


def test_a_missing_file_is_made_again_and_a_missing_manifest_is_said(damaged):
    made = damaged / "run"
    assert is_finished(made)
    (made / "predictions.csv").unlink()
    assert not is_finished(made)
    (made / MANIFEST).unlink()
    assert not is_finished(made)
    with pytest.raises(ValueError, match="completed by the same `shiftstate train`"):
        check_run(made)


def test_own_files_and_inputs_are_refused_as_outputs(damaged, monkeypatch):
    made, features = damaged / "run", damaged / "new.csv"
    monkeypatch.chdir(damaged)
    (damaged / "linked").symlink_to(made, target_is_directory=True)
    (damaged / "link.csv").symlink_to(made / "model.safetensors")
    outputs = ["run/model.safetensors", made / "metrics.json", "linked/graph.npz", "link.csv", "run/../new.csv"]
    outputs += ["run/trials/x.json", "run/manifest.json", "new.csv"]
    before = {file: file.read_bytes() for file in [features, *made.iterdir()]}
    for out in outputs:
        code, _, message = run("predict", "run", "--features", features, "--out", out)
        assert code == 2
        assert str(out) in message
        assert "--out to be another file" in message
        if "new.csv" not in str(out):
            assert run("export", "run", "--torch", out)[0] == 2
    assert {file: file.read_bytes() for file in before} == before
    assert predict(made, made / "next.csv", lambda line: None, features=features) == N, "a file of one's own is fine"


def test_a_run_does_not_overwrite_what_it_reads(damaged):
    words = ("train", "--task", "node-classification", "--nodes", damaged / "new.csv", "--target", "a")
    code, _, message = run(*words, "--edges", damaged / "run/graph.npz", "--out", damaged / "run")
    assert code == 2
    assert "run/graph.npz would be overwritten by graph.npz of the run" in message


def test_a_full_disk_leaves_no_manifest(damaged, monkeypatch):
    made = damaged / "run"
    (made / MANIFEST).unlink()

    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_manifest(made)
    assert not (made / MANIFEST).exists()
    assert not list(made.glob(".*"))
