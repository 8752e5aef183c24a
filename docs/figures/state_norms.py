"""Draw ‖w_k‖ along the shifts for the three filters, on one graph scaled to three spectral radii.

Writes state_norms.svg and state_norms.png next to this file, or into --out.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from torch import Tensor

import shiftstate as ss
from shiftstate.graphs import stochastic_block_model

K = 32
DRAWS = 200
# From vanishing to exploding: cold, neutral, warm.
COLORS = {0.5: "#2b6cb0", 1.0: "#4a5568", 1.5: "#dd6b20"}
LAYERS = {"GCNN": ss.GCNN, "RSN": ss.RSN, "LSSM": ss.LSSM}
# Where the three lines coincide, the wider ones show as a rim around the narrower.
WIDTHS = {0.5: 5.4, 1.0: 3.4, 1.5: 1.5}
SAYINGS = {
    "GCNN": "the state follows the spectrum of S",
    "RSN": "the state stays, whatever the spectrum",
    "LSSM": "the state stays, whatever the spectrum",
}


def state_norms() -> dict[str, dict[float, Tensor]]:
    """‖w_k‖ / ‖x‖ for every filter and spectral radius: (K + 1, draws of the weights)."""
    torch.manual_seed(0)
    graph = stochastic_block_model([10] * 5, p=0.8, q=0.2, seed=0)
    unit = ss.Shift.from_matrix(graph.adjacency.float()).normalized("spectral").to_dense()
    x = torch.randn(graph.num_nodes, 1)
    norms: dict[str, dict[float, Tensor]] = {}
    for name, layer in LAYERS.items():
        bank = layer(1, DRAWS, K)  # every output channel is a filter of its own: one draw each
        norms[name] = {
            radius: bank.trace(x, ss.Shift.from_matrix(radius * unit)).states.norm(dim=-2) / x.norm()
            for radius in COLORS
        }
    return norms


def draw_panel(axes: Axes, name: str, curves: dict[float, Tensor]) -> None:
    k = range(K + 1)
    for radius, norms in curves.items():
        low, middle, high = norms.quantile(torch.tensor([0.1, 0.5, 0.9]), dim=1)
        axes.fill_between(k, low, high, color=COLORS[radius], alpha=0.13, linewidth=0)
        width = 2.4 if name == "GCNN" else WIDTHS[radius]
        axes.plot(k, middle, color=COLORS[radius], linewidth=width, solid_capstyle="round")
    axes.set_yscale("log")
    axes.set_ylim(1e-13, 3e5)
    axes.set_yticks([1e-12, 1e-8, 1e-4, 1, 1e4])
    axes.minorticks_off()
    axes.set_xlim(0, K)
    axes.set_xticks([0, 8, 16, 24, 32])
    axes.set_title(name, loc="left", fontsize=14, fontweight="bold", pad=24)
    axes.text(0, 1.035, SAYINGS[name], transform=axes.transAxes, fontsize=11, color="#4a5568")
    axes.grid(axis="y", color="#e2e8f0", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=10.5, labelcolor="#4a5568", pad=6)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#cbd5e0")


def label_lines(panels: Sequence[Axes], norms: dict[str, dict[float, Tensor]]) -> None:
    """Name the radii beside the lines of the GCNN, where they lie apart, and all at once elsewhere."""
    style: dict[str, Any] = {"fontsize": 11, "textcoords": "offset points"}
    style["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    for radius, k, dx, dy in ((0.5, 21, -16, -10), (1.0, 31, 0, 11), (1.5, 23, -14, 6)):
        place = (k, float(norms["GCNN"][radius][k].median()))
        named = {**style, "fontweight": "bold", "color": COLORS[radius], "ha": "right"}
        panels[0].annotate(f"ρ(S) = {radius:g}", place, xytext=(dx, dy), **named)
    for axes, name in ((panels[1], "RSN"), (panels[2], "LSSM")):
        place = (16, float(norms[name][1.0][16].median()))
        axes.annotate("ρ(S) = 0.5, 1 and 1.5", place, xytext=(0, 22), color="#2d3748", ha="center", **style)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder to write to")
    folder = parser.parse_args(argv).out
    plt.rcParams.update({"svg.hashsalt": "shiftstate", "font.family": "DejaVu Sans"})

    norms = state_norms()
    figure, panels = plt.subplots(1, 3, sharey=True, figsize=(11, 4.2), layout="constrained")
    for axes, (name, curves) in zip(panels, norms.items(), strict=True):
        draw_panel(axes, name, curves)
    label_lines(panels, norms)
    panels[0].set_ylabel("size of the state  ‖w$_k$‖ / ‖x‖", fontsize=11, color="#2d3748")
    figure.supxlabel("shifts k", fontsize=11, color="#2d3748")
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.08)
    figure.savefig(folder / "state_norms.svg", metadata={"Date": None})
    figure.savefig(folder / "state_norms.png", dpi=160, metadata={"Software": None})


if __name__ == "__main__":
    main()
