"""The table of docs/reach.md from its records, and the lens before and after a training on rings.

python benchmarks/reach.py figure     # docs/figures/reach.svg and .png
python benchmarks/reach.py lens       # half a minute: the reach of a GSN at 10 hops
"""

import sys
from pathlib import Path

import torch

from shiftstate.lens.reach import reach
from shiftstate.machine.presets import load_preset
from shiftstate.machine.run import train
from shiftstate.studies.reach.record import as_table
from shiftstate.studies.ring import STUDY

DOCS = Path(__file__).parents[1] / "docs"


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
    {"table": table, "lens": lens}[sys.argv[1]]()
