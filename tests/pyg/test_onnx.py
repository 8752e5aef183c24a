"""ONNX files of the layers, conversion of the graph included, answer as the layers do."""

import logging

import pytest
import torch
from torch.export import Dim

import shiftstate as ss
from shiftstate.pyg import RSNConv
from tests.pyg.examples import graph, signal

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")
pytestmark = pytest.mark.filterwarnings("ignore")  # the exporter's own, on versions of its parts


def exported(module, arguments, shapes=None):
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    program = torch.onnx.export(module, arguments, dynamo=True, verbose=False, dynamic_shapes=shapes, opset_version=18)
    content = program.model_proto.SerializeToString()
    assert {node.domain for node in onnx.load_from_string(content).graph.node} <= {"", "ai.onnx"}
    return runtime.InferenceSession(content, providers=["CPUExecutionProvider"])


def answer(session, *tensors):
    names = [entry.name for entry in session.get_inputs()]
    return torch.from_numpy(session.run(None, {n: t.numpy() for n, t in zip(names, tensors, strict=True)})[0])


def test_a_layer_with_its_conversion_answers_on_graphs_of_any_size():
    model = RSNConv(4, 3, K=2, add_self_loops=True).eval()
    shapes = {"x": {0: Dim("N")}, "edge_index": {1: Dim("E")}}
    session = exported(model, (signal(9, 4), graph()[0]), shapes)
    for n, count in ((9, 24), (5, 7), (100, 300), (1, 4)):
        x, edges = signal(n, 4), graph(1, n, count)[0] if n > 1 else torch.zeros(2, count, dtype=torch.long)
        torch.testing.assert_close(answer(session, x, edges), model(x, edges), rtol=1e-4, atol=1e-5)


def test_the_kernels_that_onnx_does_not_have_are_not_chosen(monkeypatch):
    shift, x = ss.Shift.from_edges(graph()[0], num_nodes=9), signal(9, 4)
    monkeypatch.setattr(torch.onnx, "is_in_onnx_export", lambda: True)
    assert ss.RSN(4, 3, 2).kernel_in_use(x, shift) == ("reference", "ONNX has no such operators")
    with pytest.raises(ValueError, match='kernel="fused" cannot run this call: ONNX has no such operators'):
        ss.RSN(4, 3, 2, kernel="fused")(x, shift)


@pytest.mark.parametrize("edges", [[[0, 3, 3], [1, 1, 4]], [[2], [2]], [[], []]])
def test_rows_and_products_in_plain_operations_are_those_of_the_kernels(monkeypatch, edges):
    operator = ss.Shift.from_edges(torch.tensor(edges, dtype=torch.long), num_nodes=6, layout="sparse").operator
    expected = operator.entries()[0], operator.product(signal(6, 2))
    monkeypatch.setattr(torch.onnx, "is_in_onnx_export", lambda: True)
    assert torch.equal(operator.entries()[0], expected[0])
    torch.testing.assert_close(operator.product(signal(6, 2)), expected[1])
