"""Sizes along k: norms of states and outputs, shares of dead and saturated units, openness of gates.

A unit is one channel at one node. It is *dead* at k if it is exactly 0 for every signal: a ReLU that never opens, or a
node that nothing reaches. A value is *saturated* if it lies within `MARGIN` of an end of its activation's range,
where tanh and sigmoid have less than 6 % of their largest slope; a ReLU has no such end.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from shiftstate.filters.activations import activation
from shiftstate.graphs import Shift
from shiftstate.layers import GCNN, LSSM, RSN, Layer
from shiftstate.lens.record import Record

MARGIN = 0.015
"""Of the width of the range: |tanh| > 0.97, sigmoid < 0.015 or > 0.985."""
OPEN, SHUT = 0.9, 0.1
"""Beyond these a gate counts as open or shut."""
FAR = 1e4
"""Where an activation is tried to see whether it is bounded."""

Range = tuple[float | None, float | None]


@dataclass(frozen=True)
class Curve:
    """The size of a signal along k: ‖v_k‖ over the nodes, for every signal and channel; entries are (K + 1)."""

    norm: Tensor
    """Root mean square over signals and channels."""
    median: Tensor
    low: Tensor
    """The lowest tenth lies below."""
    high: Tensor
    """The highest tenth lies above."""
    dead: Tensor
    """Share of units that are 0 for every signal."""
    saturated: Tensor
    """Share of values at an end of the activation's range."""


@dataclass(frozen=True)
class Gate:
    """How open a gate is, k = 1 … K."""

    mean: Tensor
    """Over signals, nodes and channels: (K)."""
    low: Tensor
    """A tenth of the nodes is below (means over signals and channels): (K)."""
    high: Tensor
    open: Tensor
    """Share of values above 0.9: (K)."""
    shut: Tensor
    """Share of values below 0.1: (K)."""
    nodes: Tensor
    """Mean over signals and channels: (K, N)."""


def state_curve(record: Record, shift: Shift) -> Curve:
    """‖w_k‖; w_0 is the input, which no activation has bounded."""
    judged: Iterable[Tensor] = record.flat(record.states)
    if _is_lssm(record.layer) and record.memories:
        judged = (signal.tanh() for signal in record.flat([record.states[0], *record.memories]))
    return _curve(record.flat(record.states), judged, state_range(record, shift), first=1)


def memory_curve(record: Record) -> Curve | None:
    """‖c_k‖ with c_0 = 0; None for filters without a memory."""
    if not record.memories:
        return None
    memories = [torch.zeros_like(record.memories[0]), *record.memories]
    return _curve(record.flat(memories), record.flat(memories), (None, None), first=1)


def output_curve(record: Record) -> Curve:
    """‖y_k‖."""
    ends = bounds(activation(record.layer.output_activation), record.layer)
    return _curve(record.flat(record.outputs), record.flat(record.outputs), ends, first=0)


def gate_curves(record: Record) -> dict[str, Gate]:
    """Every gate by its name."""
    return {name: _gate(record.flat(values)) for name, values in record.gates.items()} if record.layer.K else {}


def state_range(record: Record, shift: Shift) -> Range:
    """The ends between which the state is held.

    Those of ``state_activation`` where the layer has one, those of tanh for the LSSM (whose tanh(c_k) is judged).
    Another filter is tried: if an input 10⁴ times as large leaves its states within ±1, these are the ends.
    """
    layer = record.layer
    chosen = getattr(layer, "state_activation", None)
    if chosen is not None:
        return bounds(activation(chosen), layer)
    if _is_lssm(layer):
        return -1.0, 1.0
    if isinstance(layer, GCNN | RSN) or layer.K == 0:
        return None, None
    largest = layer.trace(FAR * record.x.detach(), shift).states[1:].abs().max()
    return (-1.0, 1.0) if float(largest) <= 1 + 1e-6 else (None, None)


def bounds(function: Callable[[Tensor], Tensor], layer: Layer) -> Range:
    """The ends of an activation's range; None where it goes on. A ReLU's 0 is no end: there a unit is dead."""
    places = next(layer.parameters()).new_tensor([-2 * FAR, -FAR, FAR, 2 * FAR])
    with torch.no_grad():
        values = function(places).tolist()
    low = values[1] if abs(values[1] - values[0]) < 1e-6 else None
    high = values[2] if abs(values[3] - values[2]) < 1e-6 else None
    return (None, None) if low is not None and abs(low) < 1e-6 and high is None else (low, high)


def _is_lssm(layer: Layer) -> bool:
    return type(layer).update is LSSM.update


def _curve(signals: Iterable[Tensor], judged: Iterable[Tensor], ends: Range, first: int) -> Curve:
    columns: list[list[float]] = []
    tenths = torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64)
    for k, (signal, unit) in enumerate(zip(signals, judged, strict=True)):
        norms = _norm(signal.double(), 0).flatten()
        low, median, high = norms.quantile(tenths.to(norms)).tolist()
        dead = (signal == 0).all(1).double().mean().item()
        saturated = _near(unit, ends) if k >= first else 0.0
        columns.append([_norm(norms, 0).item() / len(norms) ** 0.5, median, low, high, dead, saturated])
    return Curve(*torch.tensor(columns, dtype=torch.float64).T)


def _norm(values: Tensor, dim: int) -> Tensor:
    """‖·‖ whose squares neither overflow nor underflow before the norm itself does."""
    peak = values.abs().amax()
    norm: Tensor = (values / peak).norm(dim=dim) * peak if 0 < peak < float("inf") else values.norm(dim=dim)
    return norm


def _near(values: Tensor, ends: Range) -> float:
    low, high = ends
    width = MARGIN * (high - low if low is not None and high is not None else 2.0)
    near = torch.zeros_like(values, dtype=torch.bool)
    if low is not None:
        near |= values <= low + width
    if high is not None:
        near |= values >= high - width
    return near.double().mean().item()


def _gate(values: Iterable[Tensor]) -> Gate:
    nodes, opened, shut = [], [], []
    for value in values:
        nodes.append(value.double().mean((1, 2)))
        opened.append((value > OPEN).double().mean())
        shut.append((value < SHUT).double().mean())
    stack = torch.stack(nodes)
    low, high = stack.quantile(torch.tensor([0.1, 0.9]).to(stack), dim=1)
    return Gate(stack.mean(1), low, high, torch.stack(opened), torch.stack(shut), stack)
