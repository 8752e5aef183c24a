"""The curves of a lens as a figure: for every layer its states, its gates or response, gradients and reach."""

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator
from torch import Tensor

from shiftstate.lens.examination import LayerLens, Lens

INK, SOFT, GRID = "#2d3748", "#718096", "#e2e8f0"
COLORS = ("#2b6cb0", "#dd6b20", "#2f855a", "#805ad5", "#b83280", "#718096", "#b7791f", "#0987a0", "#9b2c2c", "#4c51bf")
TINY = 1e-30


def draw(lens: Lens) -> Figure:
    """One row for every layer."""
    rows = len(lens.layers)
    figure = Figure(figsize=(13, 0.5 + 3.3 * rows), layout=ConstrainedLayoutEngine(h_pad=0.12, w_pad=0.08))
    panels = figure.subplots(rows, 4, squeeze=False)
    for row, layer in zip(panels, lens.layers, strict=True):
        _states(row[0], layer)
        if layer.gates:
            _gates(row[1], layer)
        elif layer.response is not None:
            _response(row[1], layer)
        else:
            _units(row[1], layer)
        _gradients(row[2], layer)
        _reach(row[3], layer)
        since = "" if layer.verdict.since is None else f" from k = {layer.verdict.since} on"
        heading = f"{layer.name}: {layer.filter}, K = {layer.K}, {layer.verdict.word}{since}"
        row[0].annotate(heading, (0, 1), (0, 24), xycoords="axes fraction", textcoords="offset points",
                        fontsize=12, fontweight="bold", color=INK)  # fmt: skip
    return figure


def _states(axes: Axes, layer: LayerLens) -> None:
    k = range(layer.K + 1)
    for label, curve, color in (("w$_k$", layer.states, COLORS[0]), ("y$_k$", layer.outputs, COLORS[1])):
        axes.fill_between(k, curve.low, curve.high, color=color, alpha=0.15, linewidth=0)
        axes.plot(k, curve.norm, color=color, label=label)
    if layer.memories is not None:
        axes.plot(k[1:], layer.memories.norm[1:], color=COLORS[2], label="c$_k$")
    alone = "max|T$_k$(λ)|" if layer.basis == "chebyshev" else "ρ(S)$^k$"
    axes.plot(k, layer.envelopes["radius"], color=SOFT, linestyle="--", linewidth=1, label=f"{alone} ‖w$_0$‖")
    _finish(axes, "size along the shifts", "k", log=True)


def _gates(axes: Axes, layer: LayerLens) -> None:
    k = range(1, layer.K + 1)
    for color, (name, gate) in zip(COLORS, layer.gates.items(), strict=False):
        axes.fill_between(k, gate.low, gate.high, color=color, alpha=0.15, linewidth=0)
        axes.plot(k, gate.mean, color=color, label=name)
    axes.set_ylim(-0.02, 1.02)
    _finish(axes, "gates: mean, and 10–90 % of nodes", "k")


def _units(axes: Axes, layer: LayerLens) -> None:
    k = range(layer.K + 1)
    axes.plot(k, layer.states.dead, color=COLORS[0], label="state dead")
    axes.plot(k, layer.states.saturated, color=COLORS[0], linestyle=":", label="state saturated")
    axes.plot(k, layer.outputs.dead, color=COLORS[1], label="output dead")
    axes.set_ylim(-0.02, 1.02)
    _finish(axes, "share of units", "k")


def _gradients(axes: Axes, layer: LayerLens) -> None:
    axes.plot(range(layer.K + 1), _positive(layer.gradients.states), color=INK, linewidth=2, label="w$_k$")
    for color, (name, norms) in zip(COLORS, layer.gradients.parameters.items(), strict=False):
        axes.plot(range(layer.K + 1 - len(norms), layer.K + 1), _positive(norms), color=color, linewidth=1, label=name)
    _finish(axes, "gradient of the loss by …", "k", log=True)


def _positive(norms: Tensor) -> Tensor:
    """Without what a logarithm cannot show: c_0 = 0 leaves the first forget gate no gradient."""
    return norms.where(norms > 0, torch.nan)


def _reach(axes: Axes, layer: LayerLens) -> None:
    if layer.reach is not None:
        one = layer.reach
        shown = one.rms > TINY
        axes.errorbar(one.hops[shown], one.rms[shown], one.error[shown], color=COLORS[0], marker="o", markersize=3)
    _finish(axes, "|∂y$_i$/∂x$_j$| by hops from j to i", "hops", log=True)


def _response(axes: Axes, layer: LayerLens) -> None:
    assert layer.response is not None
    for row in layer.response.on_grid.abs().flatten(0, 1)[: len(COLORS)]:
        axes.plot(layer.response.grid, row, linewidth=1)
    _finish(axes, "frequency response |h(λ)|", "λ")


def _finish(axes: Axes, title: str, label: str, log: bool = False) -> None:
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    axes.set_xlabel(label, fontsize=9, color=SOFT)
    if log and any((np.asarray(line.get_ydata()) > 0).any() for line in axes.get_lines()):
        axes.set_yscale("log")
    axes.minorticks_off()
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=8.5, labelcolor=SOFT)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(GRID)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=label != "λ"))
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=8, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.16))
