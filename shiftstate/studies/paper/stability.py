"""`shiftstate reproduce stability`: the paper's Section 2.1 as a figure.

The state of a graph convolution explodes or vanishes with the spectrum of S; those of RSN and LSSM need not. The three
filters, untrained, on one graph scaled to three spectral radii: sizes of the state, and of its gradient, along k.

A live state need not know of anything far away: the input is fed in anew at every shift. So the last row shows, on a
long ring, how much of the output depends on what lies d hops away.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from torch import Tensor

from shiftstate.files import make_directory, write_whole
from shiftstate.graphs import Shift, stochastic_block_model
from shiftstate.graphs.lattices import ring
from shiftstate.layers import GCNN, LSSM, RSN, Layer
from shiftstate.layers.options import Init
from shiftstate.lens import Dependence, LayerLens, dependence, examine
from shiftstate.lens.as_json import number
from shiftstate.pictures import render

K = 32
DRAWS = 200
SEED = 0
RING = 80
"""Nodes of the ring: its longest distance, 40, is above K."""
RING_DRAWS = 40
RADII = (0.5, 1.0, 1.5)
LAYERS: dict[str, type[Layer]] = {"gcnn": GCNN, "rsn": RSN, "lssm": LSSM}
# From vanishing to exploding: cold, neutral, warm.
COLORS = {0.5: "#2b6cb0", 1.0: "#4a5568", 1.5: "#dd6b20"}
# Where the three lines coincide, the wider ones show as a rim around the narrower.
WIDTHS = {0.5: 5.4, 1.0: 3.4, 1.5: 1.5}
SAYINGS = {
    "gcnn": "the state follows the spectrum of S",
    "rsn": "the state stays, whatever the spectrum",
    "lssm": "the state stays, whatever the spectrum",
}
FAR_SAYINGS = {
    "gcnn": "the output sees some ten hops",
    "rsn": "the output hardly sees its neighbours",
    "lssm": "the output hardly sees its neighbours",
}
INIT_LINES: dict[Init, Any] = {"paper": "solid", "alive": (0, (2, 1.5))}
FAR_COLOR = "#6b46c1"
NOTHING = 1e-12
"""Shares below are not drawn."""
Seen = Mapping[str, Mapping[float, LayerLens]]
Far = Mapping[str, Mapping[Init, Dependence]]


def look() -> dict[str, dict[float, LayerLens]]:
    """Every filter at every spectral radius under the lens: a bank of 200 filters, each a draw of the weights."""
    graph = stochastic_block_model([10] * 5, p=0.8, q=0.2, seed=SEED)
    unit = Shift.from_matrix(graph.adjacency.float()).normalized("spectral").to_dense()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        x = torch.randn(graph.num_nodes, 1)
        banks = {name: layer(1, DRAWS, K) for name, layer in LAYERS.items()}
    return {
        name: {
            radius: examine(bank, x, Shift.from_matrix(radius * unit), with_reach=False, seed=SEED).layers[0]
            for radius in RADII
        }
        for name, bank in banks.items()
    }


def look_far() -> dict[str, dict[Init, Dependence]]:
    """The dependence on what lies d hops away: every filter with every draw of its weights, on a long ring."""
    x = torch.randn(RING, 1, generator=torch.Generator().manual_seed(SEED))
    return {
        name: {
            init: dependence(partial(layer, 1, 1, K, init=init), x, ring(RING), draws=RING_DRAWS, seed=SEED)
            for init in INIT_LINES
        }
        for name, layer in LAYERS.items()
    }


def write(out: Path) -> tuple[Path, ...]:
    """stability.svg, stability.png and stability.json."""
    make_directory(out)
    seen, far = look(), look_far()
    figure = draw(seen, far)
    contents: dict[str, str | bytes] = {"stability.json": json.dumps(numbers(seen, far), allow_nan=False) + "\n"}
    contents |= {f"stability.{kind}": render(figure, kind) for kind in ("svg", "png")}
    for name, content in contents.items():
        write_whole(out / name, content)
    return tuple(out / name for name in contents)


def numbers(seen: Seen, far: Far) -> dict[str, Any]:
    """What the figure shows, in numbers: filter, then spectral radius; sizes relative to those of w_0 and of k = K.

    "dependence" has filter, then draw of weights: the share of what lies d = 0 … K hops away, and the reach.
    """

    def listed(values: Tensor) -> list[float | None]:
        return [number(value) for value in values.tolist()]

    def one(lens: LayerLens) -> dict[str, Any]:
        start, last = lens.states.norm[0], lens.gradients.states[-1]
        return {
            "median": listed(lens.states.median / start),
            "low": listed(lens.states.low / start),
            "high": listed(lens.states.high / start),
            "envelope": listed(lens.envelopes["radius"] / start),
            "gradient": listed(lens.gradients.states / last),
            "verdict": lens.verdict.sentence,
        }

    def by_hop(found: Dependence) -> dict[str, Any]:
        shares = {name: listed(found.quantile(q)) for name, q in (("median", 0.5), ("low", 0.1), ("high", 0.9))}
        return {**shares, "reach": float(found.half.double().median())}

    return {
        "kind": "shiftstate.stability",
        "K": K,
        "draws": DRAWS,
        "seed": SEED,
        "filters": {
            name: {f"{radius:g}": one(lens) for radius, lens in by_radius.items()} for name, by_radius in seen.items()
        },
        "dependence": {name: {init: by_hop(found) for init, found in by.items()} for name, by in far.items()},
    }


def draw(seen: Seen, far: Far) -> Figure:
    """States, gradients, and the dependence on what is far away; one column for every filter."""
    figure = Figure(figsize=(11, 9.6), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08))
    panels = figure.subplots(3, 3, sharex=True, sharey="row", height_ratios=(3, 2, 2.6))
    for column, (name, by_radius) in enumerate(seen.items()):
        _draw_states(panels[0][column], name, by_radius)
        _draw_gradients(panels[1][column], name, by_radius)
        panels[1][column].tick_params(labelbottom=True)
        _draw_dependence(panels[2][column], name, far[name])
    _label_lines(panels[0], seen)
    _label_draws(panels[2])
    ink: dict[str, Any] = {"fontsize": 11, "color": "#2d3748"}
    panels[0][0].set_ylabel("size of the state  ‖w$_k$‖ / ‖x‖", **ink)
    panels[1][0].set_ylabel("its gradient  ‖∂loss/∂w$_k$‖", **ink)
    panels[2][0].set_ylabel("share of the output that\ndepends on nodes d hops away", **ink)
    panels[1][0].annotate(f"relative to that at k = {K}", (14, 3e4), color="#4a5568", fontsize=10)
    panels[1][1].set_xlabel("shifts k", **ink)
    panels[2][1].set_xlabel("hops d, on a ring", **ink)
    return figure


def _draw_states(axes: Axes, name: str, by_radius: Mapping[float, LayerLens]) -> None:
    k = range(K + 1)
    for radius, lens in by_radius.items():
        start, color = lens.states.norm[0], COLORS[radius]
        axes.plot(k, lens.envelopes["radius"] / start, color=color, linewidth=0.9, linestyle=(0, (4, 3)), alpha=0.7)
        axes.fill_between(k, lens.states.low / start, lens.states.high / start, color=color, alpha=0.13, linewidth=0)
        width = 2.4 if name == "gcnn" else WIDTHS[radius]
        axes.plot(k, lens.states.median / start, color=color, linewidth=width, solid_capstyle="round")
    axes.set_ylim(1e-13, 3e6)
    axes.set_title(name.upper(), loc="left", fontsize=14, fontweight="bold", pad=24)
    axes.text(0, 1.045, SAYINGS[name], transform=axes.transAxes, fontsize=11, color="#4a5568")
    _finish(axes, [1e-12, 1e-8, 1e-4, 1, 1e4])


def _draw_gradients(axes: Axes, name: str, by_radius: Mapping[float, LayerLens]) -> None:
    for radius, lens in by_radius.items():
        width = 2.4 if name == "gcnn" else WIDTHS[radius]
        flow = lens.gradients.states / lens.gradients.states[-1]
        axes.plot(range(K + 1), flow, color=COLORS[radius], linewidth=width, solid_capstyle="round")
    axes.set_ylim(1e-1, 1e6)
    _finish(axes, [1, 1e2, 1e4, 1e6])


def _draw_dependence(axes: Axes, name: str, by_init: Mapping[Init, Dependence]) -> None:
    for init, found in by_init.items():
        low, median, high = (found.quantile(q).clamp(min=NOTHING / 1e3) for q in (0.1, 0.5, 0.9))
        axes.fill_between(found.hops, low, high, color=FAR_COLOR, alpha=0.1, linewidth=0)
        axes.plot(found.hops, median, color=FAR_COLOR, linewidth=2.4, linestyle=INIT_LINES[init])
    axes.set_ylim(NOTHING, 3)
    axes.text(0, 1.045, FAR_SAYINGS[name], transform=axes.transAxes, fontsize=11, color="#4a5568")
    _finish(axes, [1e-12, 1e-8, 1e-4, 1])


def _finish(axes: Axes, ticks: Sequence[float]) -> None:
    axes.set_yscale("log")
    axes.set_yticks(ticks)
    axes.minorticks_off()
    axes.set_xlim(0, K)
    axes.set_xticks([0, 8, 16, 24, 32])
    axes.grid(axis="y", color="#e2e8f0", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=10.5, labelcolor="#4a5568", pad=6)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#cbd5e0")


def _label_lines(panels: Sequence[Axes], seen: Seen) -> None:
    """Name the radii beside the lines of the GCNN, where they lie apart, and all at once elsewhere."""
    style: dict[str, Any] = {"fontsize": 11, "textcoords": "offset points"}
    style["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    for radius, k, dx, dy in ((0.5, 21, -16, -14), (1.0, 31, 0, -18), (1.5, 31, 0, -30)):
        place = (k, float(seen["gcnn"][radius].states.median[k] / seen["gcnn"][radius].states.norm[0]))
        named = {**style, "fontweight": "bold", "color": COLORS[radius], "ha": "right"}
        panels[0].annotate(f"ρ(S) = {radius:g}", place, xytext=(dx, dy), **named)
    panels[0].annotate("dashed: ρ(S)$^k$", (1, 3e-12), color="#4a5568", fontsize=10)
    for axes, name in ((panels[1], "rsn"), (panels[2], "lssm")):
        place = (23, float(seen[name][1.0].states.median[23] / seen[name][1.0].states.norm[0]))
        axes.annotate("ρ(S) = 0.5, 1 and 1.5", place, xytext=(0, -24), color="#2d3748", ha="center", **style)


def _label_draws(panels: Sequence[Axes]) -> None:
    """Name the two draws of the weights beside their lines; the GCNN has only one."""
    style: dict[str, Any] = {"fontsize": 10.5, "color": FAR_COLOR}
    panels[0].annotate('init="paper" and "alive"', (13, 1e-3), **style)
    panels[1].annotate('"alive"', (14.5, 3e-6), **style)
    panels[1].annotate('"paper"', (3.6, 1e-11), **style)
    panels[2].annotate('"alive"', (13.5, 1e-9), **style)
    panels[2].annotate('"paper"', (3.4, 1e-11), **style)
