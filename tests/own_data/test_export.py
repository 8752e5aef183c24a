"""Exported models answer as the run does: ONNX in onnxruntime, torch.export read again, dense and sparse graphs."""

import re

import numpy as np
import pytest
import torch

from shiftstate.estimators import Forecaster, NodeClassifier, NodeRegressor, SignalClassifier, SignalRegressor
from shiftstate.graphs import Shift
from shiftstate.own_data.exporting import Function, _check_same, export
from shiftstate.own_data.left.manifest import write_manifest
from tests.own_data.towns import run

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")

N = 12
RING = np.stack([np.arange(N), (np.arange(N) + 1) % N])


def make(kind, folder):
    """A run's directory with the files that export reads."""
    random = np.random.default_rng(0)
    ends = np.concatenate([RING, RING[::-1]], 1)
    shift = Shift.from_edges(ends)
    x = random.normal(size=(30, N))
    if kind == "forecast":
        made = Forecaster("rsn", history=4, horizons=(1, 2), epochs=2).fit(shift, random.normal(size=(80, N)))
    elif kind == "node-classification":
        made = NodeClassifier("lssm", K=3, epochs=2).fit(shift, random.normal(size=(N, 3)), np.arange(N) % 2)
    elif kind == "node-regression":
        made = NodeRegressor("gcnn", K=2, epochs=2).fit(shift, random.normal(size=(N, 3)), np.arange(N) / 3)
    elif kind == "signal-classification":
        made = SignalClassifier("rsn", K=2, epochs=2).fit(shift, x, np.where(x[:, 0] > 0, "up", "down"))
    else:
        made = SignalRegressor("gcnn", K=2, epochs=2).fit(shift, x, x[:, 0])
    made.save(folder / "model.safetensors")
    np.savez(folder / "graph.npz", edges=ends, weight=np.ones(2 * N), names=np.array([str(i) for i in range(N)]))
    write_manifest(folder)
    return made, shift


@pytest.mark.parametrize("kind", ["node-classification", "signal-regression", "forecast"])
def test_onnx_of_plain_operations_answers_as_the_run(tmp_path, kind):
    made, shift = make(kind, tmp_path)
    code, shown, message = run("export", tmp_path, "--onnx", tmp_path / "m.onnx")
    assert (code, message) == (0, "")
    assert re.search(r"m.onnx: ONNX, opset 18, 0\.\d MB; onnxruntime gives the same answers", shown)
    model = onnx.load(tmp_path / "m.onnx")
    assert {node.domain for node in model.graph.node} <= {"", "ai.onnx"}
    assert not model.functions
    shapes = {"node-classification": (N, 3), "signal-regression": (5, N, 1), "forecast": (5, 4, N)}
    x = np.random.default_rng(1).normal(size=shapes[kind]).astype(np.float32)
    (found,) = runtime.InferenceSession(tmp_path / "m.onnx").run(None, {"x": x})
    answer = made.predict_proba if kind == "node-classification" else made.predict
    np.testing.assert_allclose(found.reshape(answer(shift, x).shape), answer(shift, x), atol=1e-4)


@pytest.mark.parametrize("kind", ["node-regression", "signal-classification", "forecast"])
def test_a_program_of_torch_is_read_again_and_answers_as_the_run(tmp_path, kind):
    made, shift = make(kind, tmp_path)
    (line,) = export(tmp_path, None, tmp_path / "m.pt2")
    assert re.search(r"m.pt2: torch.export program, 0\.\d MB; read again, it answers the same", line)
    shapes = {"node-regression": (N, 3), "signal-classification": (5, N, 1), "forecast": (5, 4, N)}
    x = np.random.default_rng(1).normal(size=shapes[kind]).astype(np.float32)
    found = torch.export.load(tmp_path / "m.pt2").module()(torch.from_numpy(x)).detach().numpy()
    answer = made.predict_proba if kind == "signal-classification" else made.predict
    np.testing.assert_allclose(found.reshape(answer(shift, x).shape), answer(shift, x), atol=1e-4)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("scale", ["rows", "unit", "standard", "none"])
def test_every_scaling_is_part_of_the_function(scale, layout):
    random = np.random.default_rng(0)
    shift = Shift.from_edges(RING, layout=layout)
    x = (random.normal(size=(N, 3)) + np.array([0, 2, -1])).astype(np.float32)
    x[4] = 0  # has no size to be divided by
    made = NodeClassifier("gcnn", K=2, epochs=1, scale=scale).fit(shift, x, np.arange(N) % 2)
    function = Function(made, made._normalized(shift))
    np.testing.assert_allclose(function._scaled(torch.from_numpy(x)), made.scaler_(x), atol=1e-6)
    with torch.no_grad():
        np.testing.assert_allclose(function(torch.from_numpy(x)), made.predict_proba(shift, x), atol=1e-5)


def test_an_answer_that_differs_is_told_by_how_much():
    expected = np.array([200.0, -400.0])
    _check_same(expected + np.array([0.039, 0]), expected, "it")
    with pytest.raises(ValueError, match=r"it answers otherwise than the run, by 0.00011; expected at most 0.0001"):
        _check_same(expected - np.array([0.045, 0]), expected, "it")
    with pytest.raises(ValueError, match="by nan"):
        _check_same(expected * np.nan, expected, "it")


def test_a_file_must_be_named_and_its_folder_be_there(tmp_path):
    assert "neither --onnx nor --torch is given" in run("export", tmp_path)[2]
    assert "is not a directory" in run("export", tmp_path, "--onnx", tmp_path / "none/m.onnx")[2]
