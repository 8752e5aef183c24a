"""The lens: put a layer, or every layer of a network, under it and see what happens along the shifts.

`examine` gives a `Lens`; ``lens.to_json()`` is what a page draws from. docs/lens.md describes the format.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from shiftstate.checks import check_whole
from shiftstate.graphs import Shift
from shiftstate.layers import GCNN, Layer
from shiftstate.lens import as_json
from shiftstate.lens.curves import Curve, Gate, gate_curves, memory_curve, output_curve, state_curve
from shiftstate.lens.gradients import Gradients, Loss, default_loss, gradients
from shiftstate.lens.graph import Drawing, Spectrum, drawing, spectrum
from shiftstate.lens.reach import Reach, reach
from shiftstate.lens.record import Record, at_rest, record
from shiftstate.lens.response import Response, response
from shiftstate.lens.verdict import WORDS, Verdict, judge, within


@dataclass(frozen=True)
class Sample:
    """One signal's way through a layer, on the drawn nodes and some channels: what a slider over k shows."""

    channels: tuple[str, ...]
    """Names of the channels that are kept, as "f0 g1" in a bank."""
    x: Tensor
    """The layer's input: (G, n)."""
    states: Tensor
    """w_k: (K + 1, channels, n)."""
    memories: Tensor | None
    """c_k: (K + 1, channels, n)."""
    gates: Mapping[str, Tensor]
    """γ_k, k = 1 … K: (K, channels, n)."""
    outputs: Tensor
    """y_k: (K + 1, channels, n)."""


@dataclass(frozen=True)
class LayerLens:
    """One layer under the lens, with the input it really had."""

    name: str
    filter: str
    K: int
    in_channels: int
    out_channels: int
    mixing: str
    basis: str
    states: Curve
    memories: Curve | None
    outputs: Curve
    gates: Mapping[str, Gate]
    gradients: Gradients
    reach: Reach | None
    """None if it was not asked for."""
    response: Response | None
    """Of a GCNN."""
    envelopes: Mapping[str, Tensor]
    """What the spectrum of S alone would make of w_0, in the layer's basis: see `Spectrum.envelopes`."""
    sample: Sample
    verdict: Verdict


@dataclass(frozen=True)
class Lens:
    """Everything that `examine` saw."""

    layers: tuple[LayerLens, ...]
    reach: Reach | None
    """Of the whole: how the last layer's output depends on the model's input; None if not asked for or not defined."""
    spectrum: Spectrum
    drawing: Drawing
    num_nodes: int
    num_edges: int
    signals: int
    """Signals that the curves are taken over."""
    sample: int
    """The one whose states are kept."""
    loss: float
    loss_kind: str
    seed: int

    @property
    def verdict(self) -> Verdict:
        """The worst of the layers'."""
        return min((layer.verdict for layer in self.layers), key=lambda verdict: WORDS.index(verdict.word))

    def to_dict(self) -> dict[str, Any]:
        """As plain numbers, lists and words: five significant digits, None for what is not finite."""
        return as_json.lens(self)

    def to_json(self) -> str:
        """As strict JSON; docs/lens.md describes every key."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False, separators=(",", ":")) + "\n"

    def __str__(self) -> str:
        lines = [f"{layer.name} ({layer.filter}, K = {layer.K}): {layer.verdict}" for layer in self.layers]
        if len(lines) > 1 and self.reach is not None:
            lines.append(f"all layers: {within(self.reach)}")
        return "\n".join(lines)


def examine(
    model: nn.Module,
    x: Tensor,
    shift: Shift,
    target: Tensor | None = None,
    *,
    loss: Loss | None = None,
    sample: int = 0,
    channels: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    probes: int | None = None,
    with_reach: bool = True,
    max_nodes: int = 200,
    seed: int = 0,
) -> Lens:
    """Put a layer, or every layer in a network, under the lens; the model is left as it was.

    Args:
        model: a `Layer` of any kind, or any module called as ``model(x, shift)`` that calls layers.
        x: signals (..., N, G); curves and gradients are over all of them.
        shift: the graph.
        target: classes (whole numbers) or values; what the gradients are of.
        loss: called as ``loss(output, target)``. By default cross-entropy for classes, the mean squared error
            for values, and without a target a projection of the output on random signs.
        sample: the signal (counted over the batch) whose states are kept and at which the reach is taken.
        channels: state channels to keep of it; the first four by default.
        names: of the nodes.
        probes: output nodes to draw for the reach; None for all of a graph of up to 200 nodes (exact), and 64 of a
            larger one.
        with_reach: whether to take the reach, the costliest part. Without it no layer is found short-sighted.
        max_nodes: nodes that are drawn and kept one by one; of a larger graph those of highest degree.
        seed: of probes and projection.

    Example:
        >>> import torch, shiftstate as ss
        >>> shift = ss.Shift.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> lens = ss.lens.examine(ss.GCNN(1, 1, 40), torch.ones(4, 1), ss.Shift.from_matrix(2 * shift.to_dense()))
        >>> lens.verdict.word, lens.verdict.since
        ('exploding', 7)
    """
    if not isinstance(model, nn.Module):
        raise ValueError(f"model is a {type(model).__name__}; expected a layer or a network")
    if not isinstance(shift, Shift):
        raise ValueError(f"shift is a {type(shift).__name__}; expected a Shift, as the second argument after x")
    shift.check_signal(x)
    check_whole("max_nodes", max_nodes, 1)
    check_whole("seed", seed, 0)
    if probes is not None:
        check_whole("probes", probes, 2)
    signals = math.prod(x.shape[:-2])
    if signals == 0 or not 0 <= check_whole("sample", sample, 0) < signals:
        raise ValueError(f"sample is {sample} and x holds {signals} signals; expected one of them, counted from 0")
    with at_rest(model):
        y, records = record(model, x.detach().clone().requires_grad_(), shift)
        value, kind = (loss(y, target), "given") if loss else default_loss(y, target, seed)
        flows = gradients(value, records)
        seen = spectrum(shift)
        drawn = drawing(shift, max_nodes, names)
        layers = tuple(
            _layer(one, flow, seen, drawn, shift, sample, channels, probes, with_reach, seed)
            for one, flow in zip(records, flows, strict=True)
        )
        whole = layers[0].reach
        if not isinstance(model, Layer):
            whole = _whole(model, x, shift, records, sample, probes, seed) if with_reach else None
    loss_value = float(value.detach())
    return Lens(layers, whole, seen, drawn, shift.num_nodes, shift.num_edges, signals, sample, loss_value, kind, seed)


def _whole(
    model: nn.Module, x: Tensor, shift: Shift, records: Sequence[Record], sample: int, probes: int | None, seed: int
) -> Reach | None:
    """The reach of all layers together; None if a layer has other signals than the model, as after a pooling."""
    if any(one.x.shape[:-1] != x.shape[:-1] for one in records):
        return None
    return reach(model, x.detach().reshape(-1, *x.shape[-2:])[sample], shift, probes, seed, batch_axes=x.dim() - 2)


def _layer(
    one: Record,
    flow: Gradients,
    seen: Spectrum,
    drawn: Drawing,
    shift: Shift,
    sample: int,
    channels: Sequence[int] | None,
    probes: int | None,
    with_reach: bool,
    seed: int,
) -> LayerLens:
    layer = one.layer
    states = state_curve(one, shift)
    at = one.x.detach().reshape(-1, *one.x.shape[-2:])[sample]
    polynomial = isinstance(layer, GCNN) and type(layer).update is GCNN.update and type(layer).output is GCNN.output
    parts: dict[str, Any] = {
        "name": one.name,
        "filter": type(layer).__name__,
        "K": layer.K,
        "in_channels": layer.in_channels,
        "out_channels": layer.out_channels,
        "mixing": layer.mixing,
        "basis": layer.basis,
        "states": states,
        "memories": memory_curve(one),
        "outputs": output_curve(one),
        "gates": gate_curves(one),
        "gradients": flow,
        "reach": reach(layer, at, shift, probes, seed) if with_reach else None,
        "response": response(layer, seen.radius, seen.eigenvalues) if polynomial else None,  # type: ignore[arg-type]
        "envelopes": seen.envelopes(float(states.norm[0]), layer.K, layer.basis),
        "sample": _sample(one, at, drawn.nodes, sample, channels),
    }
    unjudged = LayerLens(**parts, verdict=Verdict("alive", None, ""))
    return LayerLens(**parts, verdict=judge(unjudged, layer, seen))


def _sample(one: Record, at: Tensor, nodes: Tensor, sample: int, channels: Sequence[int] | None) -> Sample:
    names = _channel_names(one)
    chosen = list(range(min(4, len(names)))) if channels is None else list(channels)
    for channel in chosen:
        if not 0 <= check_whole("channel", channel, 0) < len(names):
            raise ValueError(f"channel {channel} was asked for; expected 0 to {len(names) - 1}, those of the state")

    def kept(signals: Sequence[Tensor]) -> Tensor:
        return torch.stack([signal[nodes, sample][:, chosen].T.cpu() for signal in one.flat(signals)])

    memories = [torch.zeros_like(one.memories[0]), *one.memories] if one.memories else []
    return Sample(
        tuple(names[channel] for channel in chosen),
        at[nodes].T.cpu(),
        kept(one.states),
        kept(memories) if memories else None,
        {name: kept(values) for name, values in one.gates.items()} if one.layer.K else {},
        kept(one.outputs),
    )


def _channel_names(one: Record) -> list[str]:
    shape = one.outputs[0].shape[2:]
    if len(shape) == 2 and shape[1] > 1:
        return [f"f{f} g{g}" for f in range(shape[0]) for g in range(shape[1])]
    return [f"f{f}" for f in range(shape[0])]
