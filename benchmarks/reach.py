"""The tables and the figure of docs/reach.md from its records, R² by distance, and the lens on a training on rings.

python benchmarks/reach.py table
python benchmarks/reach.py figure         # docs/figures/reach.svg and .png
python benchmarks/reach.py distances 25   # a minute: the recorded GSN once more, draw by draw
python benchmarks/reach.py lens           # a minute: the reach of a GSN at 10 hops, before and after
python benchmarks/reach.py starts         # some minutes: other shifts, and a norm on the state, at 10 hops
"""

import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import torch
from torch import Tensor

from shiftstate.filters import Step, Taps
from shiftstate.graphs import Shift
from shiftstate.layers import GSN
from shiftstate.lens.reach import reach
from shiftstate.machine.presets import load_preset
from shiftstate.machine.run import train
from shiftstate.studies.reach import cores
from shiftstate.studies.reach.record import as_table, draw_scores, parts_as_table
from shiftstate.studies.ring import STUDY

DOCS = Path(__file__).parents[1] / "docs"


def table() -> None:
    """The tables of docs/reach.md."""
    print(as_table(DOCS / "results"), parts_as_table(DOCS / "results"), sep="\n", end="")


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


class NormedGSN(GSN):
    """The GSN with a layer norm on every state; without a fused kernel."""

    fused = None

    def update(self, h: Taps, Sw: Tensor, x: Tensor, c: Tensor) -> Step:
        """The GSN's step, then (w − mean) / deviation over the channels of every node."""
        step = super().update(h, Sw, x, c)
        return step._replace(w=torch.nn.functional.layer_norm(step.w, step.w.shape[-1:]))


def starts(draws: str = "3") -> None:
    """R² of the GSN at 10 hops with other shifts, and with a norm on the state."""
    for basis, kind, normed in (
        ("powers", "symmetric", False),
        ("powers", "symmetric", True),
        ("powers", "antisymmetric", False),
        ("powers", "antisymmetric", True),
        ("chebyshev", "symmetric", False),
        ("chebyshev", "symmetric", True),
    ):
        wanted = ["filters=gsn", "hop_limit=10", f"draws={draws}", f"basis={basis}"]
        scores = []
        for trial in load_preset(STUDY, "record", None, wanted).trials("ring"):
            data = trial.experiment.data(trial, None)
            if kind == "antisymmetric":
                data = SimpleNamespace(**{**vars(data), "shift": antisymmetric(data.shift)})
            layer = NormedGSN if normed else GSN
            with patch.dict(cores.LAYERS, gsn=layer):
                scores.append(train(trial, data)[0].last["r2"])
        shown = " ".join(f"{score:.3f}" for score in scores)
        print(f"{basis}, {kind} S{', layer norm on the state' if normed else ''}: R² {shown}", flush=True)


def antisymmetric(shift: Shift) -> Shift:
    """The edges of a ring, positive one way round and negative the other: S = −Sᵀ."""
    edges, weight = shift.edges()
    onward = (edges[1] - edges[0]) % shift.num_nodes == 1
    return Shift.from_edges(edges, torch.where(onward, weight, -weight))


if __name__ == "__main__":
    {"table": table, "figure": figure, "distances": distances, "lens": lens, "starts": starts}[sys.argv[1]](
        *sys.argv[2:]
    )
