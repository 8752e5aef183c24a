"""A lens as plain numbers, lists and words: five significant digits, None for what is not finite."""

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from shiftstate.lens.curves import Curve, Gate
from shiftstate.lens.graph import Drawing, Spectrum
from shiftstate.lens.reach import Reach
from shiftstate.lens.response import Response
from shiftstate.lens.verdict import Verdict

if TYPE_CHECKING:
    from shiftstate.lens.examination import LayerLens, Lens, Sample

FORMAT = 1
"""Raised when a key changes its meaning or goes; new keys do not raise it."""
GRAPH = "graph"
"""Key of what is drawn."""
FILTER, ORDER = "filter", "K"
"""Keys of a layer: the name of its filter, and how many shifts it makes."""
DIGITS = 5
MAX_PAIRS = 16
"""Filters of a bank whose frequency response is kept."""


def lens(one: "Lens") -> dict[str, Any]:
    """The whole."""
    return {
        "kind": "shiftstate.lens",
        "format": FORMAT,
        GRAPH: {
            "num_nodes": one.num_nodes,
            "num_edges": one.num_edges,
            **_spectrum(one.spectrum),
            **_drawing(one.drawing),
        },
        "signals": one.signals,
        "sample": one.sample,
        "loss": {"value": number(one.loss), "kind": one.loss_kind},
        "seed": one.seed,
        "verdict": _verdict(one.verdict),
        "reach": None if one.reach is None else _reach(one.reach),
        "layers": [_layer(layer, one.drawing.nodes) for layer in one.layers],
    }


def number(value: float) -> float | None:
    """Five significant digits; None for what is not finite."""
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def _numbers(values: Tensor | None) -> Any:
    """Nested lists."""
    if values is None:
        return None
    if values.is_complex():
        return {"re": _numbers(values.real), "im": _numbers(values.imag)}

    def rounded(part: Any) -> Any:
        return [rounded(one) for one in part] if isinstance(part, list) else number(part)

    return rounded(values.detach().tolist())


def _layer(one: "LayerLens", nodes: Tensor) -> dict[str, Any]:
    flow = one.gradients
    return {
        "name": one.name,
        FILTER: one.filter,
        ORDER: one.K,
        "in_channels": one.in_channels,
        "out_channels": one.out_channels,
        "mixing": one.mixing,
        "basis": one.basis,
        "k": list(range(one.K + 1)),
        "states": _curve(one.states),
        "memories": None if one.memories is None else _curve(one.memories),
        "outputs": _curve(one.outputs),
        "envelopes": {name: _numbers(values) for name, values in one.envelopes.items()},
        "gates": {name: _gate(gate, nodes) for name, gate in one.gates.items()},
        "gradients": {
            "states": _numbers(flow.states),
            "memories": _numbers(flow.memories),
            "outputs": _numbers(flow.outputs),
            "parameters": {
                name: {"first_k": one.K + 1 - len(norms), "norm": _numbers(norms)}
                for name, norms in flow.parameters.items()
            },
        },
        "reach": None if one.reach is None else _reach(one.reach),
        "response": None if one.response is None else _response(one.response),
        "sample": _sample(one.sample),
        "verdict": _verdict(one.verdict),
    }


def _curve(one: Curve) -> dict[str, Any]:
    return {name: _numbers(values) for name, values in vars(one).items()}


def _gate(one: Gate, nodes: Tensor) -> dict[str, Any]:
    return {name: _numbers(values[:, nodes] if name == "nodes" else values) for name, values in vars(one).items()}


def _reach(one: Reach) -> dict[str, Any]:
    columns = {name: _numbers(getattr(one, name)) for name in ("hops", "pairs", "rms", "error", "share")}
    return {
        "method": one.method,
        "probes": one.probes,
        **columns,
        "beyond": number(one.beyond),
        "half": one.half,
        "sees": one.sees(),
    }


def _response(one: Response) -> dict[str, Any]:
    F, G = one.on_grid.shape[:2]
    pairs = [(f, g) for f in range(F) for g in range(G)][:MAX_PAIRS]

    def kept(values: Tensor | None) -> Any:
        return None if values is None else _numbers(torch.stack([values[f, g] for f, g in pairs]))

    return {
        "pairs": [list(pair) for pair in pairs],
        "eigenvalues": _numbers(one.eigenvalues),
        "at_eigenvalues": kept(one.at_eigenvalues),
        "grid": _numbers(one.grid),
        "on_grid": kept(one.on_grid),
        "circle": _numbers(one.circle),
        "on_circle": kept(one.on_circle),
    }


def _sample(one: "Sample") -> dict[str, Any]:
    return {
        "channels": list(one.channels),
        "x": _numbers(one.x),
        "states": _numbers(one.states),
        "memories": _numbers(one.memories),
        "gates": {name: _numbers(values) for name, values in one.gates.items()},
        "outputs": _numbers(one.outputs),
    }


def _spectrum(one: Spectrum) -> dict[str, Any]:
    return {
        "spectral_radius": number(one.radius),
        "norm": number(one.norm),
        "smallest": None if one.smallest is None else number(one.smallest),
        "normal": one.normal,
        "symmetric": one.symmetric,
    }


def _drawing(one: Drawing) -> dict[str, Any]:
    return {
        "nodes": one.nodes.tolist(),
        "names": None if one.names is None else list(one.names),
        "x": _numbers(one.positions[:, 0]),
        "y": _numbers(one.positions[:, 1]),
        "edges": {
            "source": one.edges[0].tolist(),
            "target": one.edges[1].tolist(),
            "weight": _numbers(one.weight),
        },
        "left_out": {"nodes": one.left_out[0], "edges": one.left_out[1]},
    }


def _verdict(one: Verdict) -> dict[str, Any]:
    return {
        "word": one.word,
        "since": one.since,
        "sentence": one.sentence,
        "notes": list(one.notes),
        "advice": list(one.advice),
        "rate": number(one.rate),
    }
