"""Which readings of the paper matter: each is changed alone, on the same graphs, data, initial draws and batches.

    python docs/examples/readings.py --runs runs/readings --out docs/results/readings

Figure 1's cell K = 16 of the `paper` preset, one data draw on each of the first graphs. Every reading is a directory
of `shiftstate reproduce` under ``--runs``, so a run that is stopped goes on where it was; ``--out`` gets all accuracies
as readings.csv and their means, with the paired difference from the `paper` preset, as table.md.
"""

import argparse
import csv
import io
from pathlib import Path
from statistics import fmean, stdev

from shiftstate.experiments.config import load_preset
from shiftstate.experiments.engines import make_engine
from shiftstate.experiments.reproduce import reproduce
from shiftstate.experiments.statistics import difference
from shiftstate.experiments.store import Store
from shiftstate.files import make_directory, write_whole

READINGS: dict[str, list[str]] = {
    "as in the paper preset": [],
    "any node a source": ["source=any"],
    "signals standardised": ["standardize=true"],
    "any node, standardised (community)": ["source=any", "standardize=true"],
    "a bias in every filter": ["bias=true"],
    "a bias, signals standardised": ["bias=true", "standardize=true"],
    "initial weights of half the size": ["init_gain=0.5"],
    "initial weights of twice the size": ["init_gain=2.0"],
    "live initial states": ["init=alive"],
    "twice the epochs": ["epochs=80"],
    "tanh inside RSN and LSSM": ["state_activation=tanh", "output_activation=tanh"],
}
FILTERS = ("gcnn", "rsn", "lssm")
BASE = next(iter(READINGS))

Scores = dict[tuple[str, str, int], tuple[float, float]]
"""Reading, filter and graph: test accuracy of the last epoch, and of the best on validation data."""


def measure(runs: Path, overrides: list[str], workers: int | None) -> Scores:
    """Run what is missing of every reading, or read what is there."""
    scores: Scores = {}
    for name, reading in READINGS.items():
        out = runs / ("-".join(reading) or "paper")
        preset = load_preset("paper", overrides=[*overrides, *reading])
        print(f"{name}: {' '.join(reading) or 'nothing changed'}", flush=True)
        reproduce(["figure1"], preset, out, make_engine("local", workers))
        planned = set(preset.realizations("figure1"))
        with Store(out) as store:
            for row in store.rows():
                one = row.realization
                if one in planned:  # the directory may hold another K, or more graphs
                    scores[name, one.filter, one.graph] = row.accuracy_last, row.accuracy_best
    return scores


def as_csv(scores: Scores) -> str:
    """Every training, one a line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["reading", "settings", "filter", "graph", "accuracy_last", "accuracy_best"])
    for (name, filter, graph), accuracies in scores.items():
        writer.writerow([name, " ".join(READINGS[name]), filter, graph, *accuracies])
    return text.getvalue()


def as_table(scores: Scores) -> str:
    """Means over graphs: last epoch ± standard deviation (paired difference from the base and its 95 % interval)."""
    head = f"| reading | {' | '.join(name.upper() for name in FILTERS)} |\n|---|{'--:|' * len(FILTERS)}\n"
    lines = [f"| {name} | {' | '.join(_cell(scores, name, filter) for filter in FILTERS)} |\n" for name in READINGS]
    return head + "".join(lines)


def _cell(scores: Scores, name: str, filter: str) -> str:
    last, base = (_last(scores, reading, filter) for reading in (name, BASE))
    spread = f" ± {stdev(last.values()):.1f}" if len(last) > 1 else ""
    mean = f"{fmean(last.values()):.1f}{spread}"
    moved = difference(last, base)
    if name == BASE or moved is None:
        return mean
    within = f": {moved.interval[0]:+.0f} … {moved.interval[1]:+.0f}" if moved.interval else ""
    return f"{mean} ({moved.mean:+.0f}{within})"


def _last(scores: Scores, name: str, filter: str) -> dict[tuple[int, int], float]:
    """Accuracies of the last epoch in %, by graph and draw."""
    return {
        (graph, 0): 100 * last for (known, kind, graph), (last, _) in scores.items() if (known, kind) == (name, filter)
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, default=Path("runs/readings"), help="directory of the single runs")
    parser.add_argument("--out", type=Path, default=Path("docs/results/readings"), help="directory of the table")
    parser.add_argument("--graphs", type=int, default=5, help="graphs, with one data draw on each")
    parser.add_argument("--K", type=int, default=16, help="filter order")
    parser.add_argument("--workers", type=int, help="processes; as many as cores by default")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting, for all readings")
    given = parser.parse_args()
    grid = [f"figure1.K={given.K}", f"figure1.graphs={given.graphs}", "figure1.draws=1"]
    try:
        scores = measure(given.runs, [*grid, *given.set], given.workers)
        make_directory(given.out)
    except ValueError as error:
        parser.error(str(error))
    write_whole(given.out / "readings.csv", as_csv(scores))
    write_whole(given.out / "table.md", as_table(scores))
    print(as_table(scores))


if __name__ == "__main__":
    main()
