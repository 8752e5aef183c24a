"""`shiftstate export`: the model of a run as an ONNX file or a torch.export program, in plain operations.

The graph, the scaling and the network become one function of the raw numbers: features of all nodes (N, G), signals
(n, N, G), or last values (n, history, N) of a forecast. Its answer is compared with the run's own before the file is
written.
"""

from __future__ import annotations

import copy
import io
import logging
import tempfile
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shiftstate.estimators import Forecaster
from shiftstate.estimators.nodes import NodeEstimator
from shiftstate.files import check_output, write_whole
from shiftstate.graphs import Shift
from shiftstate.graphs.operators import Sparse, rows_of
from shiftstate.layers import Layer
from shiftstate.own_data.left.manifest import MODEL, check_run, read_run_model
from shiftstate.own_data.predicting import stored_graph

OPSET = 18
TOLERANCE = 1e-4
"""Of the largest difference, relative to the largest answer: the sums are taken in another order."""
DENSE_NODES = 2000
"""Up to here the file is checked with a dense and with a sparse graph, beyond with a sparse one."""
SAMPLES = 3


class Function(nn.Module):
    """From raw numbers to probabilities or numbers, with the graph inside."""

    scale_mean: Tensor
    scale_deviation: Tensor
    answer_mean: Tensor
    answer_deviation: Tensor

    def __init__(self, estimator: Any, shift: Shift) -> None:
        super().__init__()
        self.model = copy.deepcopy(estimator.model_).eval().cpu()
        for layer in self.model.modules():
            if isinstance(layer, Layer):
                layer.kernel = "reference"
        self.kind = estimator.scaler_.kind
        self.forecasts = isinstance(estimator, Forecaster)
        self.labelled = hasattr(estimator, "predict_proba")
        answers = estimator.scaler_ if self.forecasts else getattr(estimator, "target_scaler_", None)
        self._keep("scale", estimator.scaler_)
        if answers is not None:
            self._keep("answer", answers)
        self.sparse = shift.layout == "sparse"
        operator = shift.operator
        if isinstance(operator, Sparse):
            row = rows_of(operator.crow, operator.col)
            self.register_buffer("row", row.long())
            self.register_buffer("col", operator.col.long())
            self.register_buffer("values", operator.values)
        else:
            self.register_buffer("matrix", operator.matrix)
        self.register_buffer("ptr", shift.ptr)
        self.nodes = shift.num_nodes

    def forward(self, x: Tensor) -> Tensor:
        """Features (N, G), signals (n, N, G), or last values (n, history, N)."""
        h = self._scaled(x.transpose(-1, -2) if self.forecasts else x)
        outputs: Tensor = self.model(h, _Graph(self))
        if self.labelled:
            return outputs.softmax(-1)
        outputs = outputs * self.answer_deviation + self.answer_mean
        return outputs.transpose(-1, -2) if self.forecasts else outputs

    def _keep(self, name: str, scaler: Any) -> None:
        for part in ("mean", "deviation"):
            self.register_buffer(f"{name}_{part}", torch.from_numpy(getattr(scaler, part)).float())

    def _scaled(self, x: Tensor) -> Tensor:
        if self.kind == "rows":
            sums = x.abs().sum(-1, keepdim=True)
            return x / torch.where(sums > 0, sums, torch.ones_like(sums))
        if self.kind == "unit":
            sizes = (x * x).sum(-1, keepdim=True).sqrt()
            return x / torch.where(sizes > 0, sizes, torch.ones_like(sizes))
        return (x - self.scale_mean) / self.scale_deviation


class _Graph(Shift):
    """The graph of a function: products in plain operations, nothing to check."""

    def __init__(self, held: Any) -> None:
        self.held = held
        self.ptr = held.ptr

    @property
    def num_nodes(self) -> int:
        return int(self.held.nodes)

    @property
    def num_graphs(self) -> int:
        return 1

    def check_signal(self, x: Tensor) -> None:
        """Was checked when the function was made."""

    def shift_nodes(self, w: Tensor) -> Tensor:
        """S w for w (N, ...)."""
        flat = w.reshape(w.shape[0], -1)
        held = self.held
        if not held.sparse:
            product: Tensor = held.matrix @ flat
            return product.reshape(w.shape)
        parts = held.values[:, None] * flat.index_select(0, held.col)
        summed = torch.zeros_like(flat).scatter_add(0, held.row[:, None].expand_as(parts), parts)
        return summed.reshape(w.shape)

    def __matmul__(self, x: Tensor) -> Tensor:
        """S x for x (..., N, C)."""
        return self.shift_nodes(x.movedim(-2, 0)).movedim(0, -2)


def export(run: Path, onnx: Path | None, torch_file: Path | None) -> list[str]:
    """Write the files that are asked for; a line on each."""
    if onnx is None and torch_file is None:
        raise ValueError("neither --onnx nor --torch is given; expected a file to write")
    for path in (onnx, torch_file):
        if path is not None and not path.parent.is_dir():
            raise ValueError(f"{path.parent} is not a directory; expected a file in one that exists")
    if onnx is not None:
        check_output(onnx, option="--onnx")
    if torch_file is not None:
        check_output(torch_file, [onnx], option="--torch")
    check_run(run, MODEL, "graph.npz")
    estimator = read_run_model(run)
    shift, _ = stored_graph(run)
    graph: Shift = estimator._normalized(shift)
    x, expected = _sample(estimator, shift)
    told = []
    if onnx is not None:
        content = _as_onnx(estimator, graph, x, expected)
        write_whole(onnx, content)
        told.append(f"{onnx}: ONNX, opset {OPSET}, {len(content) / 1e6:.1f} MB; onnxruntime gives the same answers")
    if torch_file is not None:
        content = _as_program(estimator, graph, x, expected)
        write_whole(torch_file, content)
        told.append(f"{torch_file}: torch.export program, {len(content) / 1e6:.1f} MB; read again, it answers the same")
    return told


def _sample(estimator: Any, shift: Shift) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Raw numbers of the size that the training data had, and the run's own answer."""
    random = np.random.default_rng(0)
    scaler, nodes = estimator.scaler_, shift.num_nodes
    if isinstance(estimator, Forecaster):
        x = scaler.mean + scaler.deviation * random.normal(size=(SAMPLES, estimator.history, nodes))
        x = x.astype(np.float32)
        return x, np.asarray(estimator.predict(shift, x))
    shape = (nodes,) if isinstance(estimator, NodeEstimator) else (SAMPLES, nodes)
    x = scaler.mean + scaler.deviation * random.normal(size=(*shape, len(scaler.mean)))
    x = np.abs(x).astype(np.float32) if scaler.kind in ("rows", "unit") else x.astype(np.float32)
    answer = estimator.predict_proba if hasattr(estimator, "predict_proba") else estimator.predict
    return x, np.asarray(answer(shift, x))


def _layouts(graph: Shift) -> list[str]:
    """The graph's own layout last: that one is written."""
    other = {"sparse": "dense", "dense": "sparse"}[graph.layout]
    return [graph.layout] if graph.num_nodes > DENSE_NODES else [other, graph.layout]


def _function(estimator: Any, graph: Shift, layout: str) -> Function:
    laid = graph if graph.layout == layout else Shift.from_matrix(graph.to_dense(), layout=layout)  # type: ignore[arg-type]
    return Function(estimator, laid)


def _dynamic(x: Tensor) -> Any:
    return ({0: torch.export.Dim("signals")},) if x.dim() == 3 else None


def _as_onnx(estimator: Any, graph: Shift, x: NDArray[np.float32], expected: NDArray[np.float64]) -> bytes:
    for name in ("onnx", "onnxscript", "onnxruntime"):
        try:
            import_module(name)
        except ImportError:
            raise ValueError(f"--onnx needs {name}; expected it installed: pip install 'shiftstate[export]'") from None
    runtime: Any = import_module("onnxruntime")
    content = b""
    for layout in _layouts(graph):
        content = _traced(_function(estimator, graph, layout), torch.from_numpy(x))
        session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
        (found,) = session.run(None, {session.get_inputs()[0].name: x})
        _check_same(found, expected, f"onnxruntime with a {layout} graph")
    return content


def _traced(function: Function, x: Tensor) -> bytes:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter's own, on versions of its parts
        file = Path(folder) / "model.onnx"
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # it warns of packages that nobody asked for
        torch.onnx.export(
            function,
            (x,),
            str(file),
            dynamo=True,
            opset_version=OPSET,
            input_names=["x"],
            output_names=["y"],
            dynamic_shapes=_dynamic(x),
            external_data=False,
            verbose=False,
        )
        content = file.read_bytes()
    model: Any = import_module("onnx").load_from_string(content)
    others = [node for node in model.graph.node if node.domain not in ("", "ai.onnx")]
    strange = sorted({f"{node.domain}.{node.op_type}" for node in others})
    if strange or model.functions:
        raise ValueError(f"the exporter made {', '.join(strange) or 'functions'}; expected operations of opset {OPSET}")
    return content


def _as_program(estimator: Any, graph: Shift, x: NDArray[np.float32], expected: NDArray[np.float64]) -> bytes:
    given = torch.from_numpy(x)
    content = b""
    for layout in _layouts(graph):
        program = torch.export.export(_function(estimator, graph, layout), (given,), dynamic_shapes=_dynamic(given))
        buffer = io.BytesIO()
        torch.export.save(program, buffer)
        content = buffer.getvalue()
        again: Any = torch.export.load(io.BytesIO(content)).module()
        _check_same(again(given).detach().numpy(), expected, f"the program with a {layout} graph")
    return content


def _check_same(found: Any, expected: NDArray[np.float64], what: str) -> None:
    found = np.asarray(found, dtype=np.float64).reshape(expected.shape)
    gap = float(np.abs(found - expected).max()) / max(1.0, float(np.abs(expected).max()))
    if not gap <= TOLERANCE:
        raise ValueError(f"{what} answers otherwise than the run, by {gap:.2g}; expected at most {TOLERANCE}")
