"""The figure of docs/reach.md from its records, and the lens before and after a training on rings.

python benchmarks/reach.py figure     # docs/figures/reach.svg and .png
python benchmarks/reach.py lens       # half a minute: the reach of a GSN at 10 hops
"""

import sys
from pathlib import Path

import torch
from matplotlib.figure import Figure

from shiftstate.files import write_whole
from shiftstate.lens.reach import reach
from shiftstate.machine.presets import load_preset
from shiftstate.machine.run import train
from shiftstate.pictures import render
from shiftstate.studies.reach.record import as_table, read, title
from shiftstate.studies.reach.shared import COLORS, OURS
from shiftstate.studies.ring import STUDY

DOCS = Path(__file__).parents[1] / "docs"


def figure() -> None:
    """Score against d for every model of the records."""
    drawing = Figure(figsize=(9, 4), layout="constrained")
    axes = drawing.subplots(1, 2)
    for axis, record, measure in ((axes[0], "ring", "R²"), (axes[1], "unbroken", "accuracy")):
        rows = read(DOCS / "results" / record)
        for name in COLORS:
            points = sorted((row["hop_limit"], row["mean"]) for row in rows if row["filter"] == name)
            style = {"color": COLORS[name], "linewidth": 2.4 if name in OURS else 1.1, "label": title(name)}
            if points:
                axis.plot(*zip(*points, strict=True), "o-", markersize=4, **style)
        axis.set_xlabel("d, hops")
        axis.set_ylabel(measure)
        axis.set_xticks(sorted({row["hop_limit"] for row in rows}))
    axes[0].set_title("Ring transfer, distance 1 … d", fontsize="medium")
    axes[1].set_title("Unbroken path of d hops", fontsize="medium")
    axes[0].set_ylim(-0.05, 1.05)
    axes[1].set_ylim(0.45, 1.02)
    drawing.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize="small", frameon=False
    )
    for kind in ("svg", "png"):
        write_whole(DOCS / "figures" / f"reach.{kind}", render(drawing, kind))


def table() -> None:
    """The table of docs/reach.md."""
    print(as_table(DOCS / "results"), end="")


def lens() -> None:
    """The hops within which half of the dependence lies, and all but one per cent of it."""
    for init in ("paper", "alive", "far"):
        wanted = ["filters=gsn", "hop_limit=10", "draws=1", f"init={init}"]
        (trial,) = load_preset(STUDY, "record", None, wanted).trials("ring")
        data = trial.experiment.data(trial, None)
        torch.manual_seed(0)
        from_scratch = load_preset(STUDY, "record", None, [*wanted, "warm_up=[]"]).trials("ring")[0]
        before = reach(trial.experiment.models["gsn"](from_scratch, data), data.test.x[0], data.shift)
        outcome, model = train(trial, data)
        after = reach(model, data.test.x[0], data.shift)
        shown = " ".join(f"{name} {one.half} {one.sees()}" for name, one in (("before", before), ("after", after)))
        print(f"init={init}: {shown}; R² {outcome.last['r2']:.3f}")


if __name__ == "__main__":
    {"figure": figure, "table": table, "lens": lens}[sys.argv[1]]()
