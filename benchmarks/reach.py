"""The table and the figure of docs/reach.md from its records, R² by distance, and the lens on a training on rings.

python benchmarks/reach.py table
python benchmarks/reach.py figure         # docs/figures/reach.svg and .png
python benchmarks/reach.py distances 25   # a minute: the recorded GSN once more, draw by draw
python benchmarks/reach.py lens           # a minute: the reach of a GSN at 10 hops, before and after
"""

import sys
from pathlib import Path

import torch

from shiftstate.lens.reach import reach
from shiftstate.machine.presets import load_preset
from shiftstate.machine.run import train
from shiftstate.studies.reach.record import as_table, draw_scores
from shiftstate.studies.ring import STUDY

DOCS = Path(__file__).parents[1] / "docs"


def table() -> None:
    """The table of docs/reach.md."""
    print(as_table(DOCS / "results"), end="")


def figure() -> None:
    """The figure of docs/reach.md."""
    drawn = draw_scores(DOCS / "results")
    for ending in ("svg", "png"):
        drawn.savefig(DOCS / "figures" / f"reach.{ending}", dpi=150)


def distances(limit: str = "25", draws: str = "3") -> None:
    """R² of the GSN at every distance, of each draw of the record."""
    for trial in load_preset(STUDY, "record", None, ["filters=gsn", f"hop_limit={limit}", f"draws={draws}"]).trials(
        "ring"
    ):
        data = trial.experiment.data(trial, None)
        outcome, model = train(trial, data)
        with torch.no_grad():
            told = model.eval()(data.test.x, data.shift)[..., 0][data.test.mask]
        wanted, d = data.test.y[data.test.mask], trial["hop_limit"]
        each = [1 - float(((told - wanted)[h::d] ** 2).mean() / wanted[h::d].var()) for h in range(d)]
        worst = min(each)
        print(f"draw {trial.unit}: R² {outcome.last['r2']:.3f}, least {worst:.3f} at {1 + each.index(worst)} hops")
        print("  " + " ".join(f"{one:.3f}" for one in each), flush=True)


def lens() -> None:
    """The hops within which half of the dependence lies, and all but one per cent of it."""
    for basis, init in (("powers", "paper"), ("powers", "alive"), ("powers", "far"), ("chebyshev", "far")):
        wanted = ["filters=gsn", "hop_limit=10", "draws=1", f"init={init}", f"basis={basis}"]
        (trial,) = load_preset(STUDY, "record", None, wanted).trials("ring")
        data = trial.experiment.data(trial, None)
        torch.manual_seed(0)
        from_scratch = load_preset(STUDY, "record", None, [*wanted, "warm_up=[]"]).trials("ring")[0]
        before = reach(trial.experiment.models["gsn"](from_scratch, data), data.test.x[0], data.shift)
        outcome, model = train(trial, data)
        after = reach(model, data.test.x[0], data.shift)
        shown = " ".join(f"{name} {one.half} {one.sees()}" for name, one in (("before", before), ("after", after)))
        print(f"{basis}, init={init}: {shown}; R² {outcome.last['r2']:.3f}", flush=True)


if __name__ == "__main__":
    {"table": table, "figure": figure, "distances": distances, "lens": lens}[sys.argv[1]](*sys.argv[2:])
