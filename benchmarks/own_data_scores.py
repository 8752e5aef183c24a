"""What the estimators reach with their defaults on four data sets, beside models without the graph.

    python benchmarks/own_data_scores.py TABLES BOARD [--only cora,traffic] [--seeds 5] [--out DIR]

TABLES is a folder with cora/, chickenpox/ and traffic/ (edges.csv, papers.csv, words.mtx; cases.csv, edges.csv;
los_speed.csv, los_adj.csv), BOARD is minesweeper.npz of the heterophilous graphs. Every data set becomes one file
NAME.json in DIR, and scores.md shows all that are there. Settings are the estimators' own; docs/choosing.md says on
which validation data they were chosen. Test data are looked at here only.
"""

import argparse
import csv
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import torch
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

import shiftstate as ss
from shiftstate.estimators import Comparison, compare
from shiftstate.estimators.graph_help.baselines import TITLES
from shiftstate.files import write_whole

Values = NDArray[np.float64]
HORIZONS = (3, 6, 12)
PLAIN = ("constant", "persistence", "seasonal_mean", "linear", "linear_per_node", "trees", "no_graph")
"""Models without the graph, the plainest first."""


def row(model: str, scores: Any, goal: str = "", reached: bool | None = None) -> dict[str, Any]:
    """One line of the table."""
    scores = [float(one) for one in scores]
    told = None if reached is None else bool(reached)
    return {"model": model, "scores": scores, "mean": float(np.mean(scores)), "goal": goal, "reached": told}


def plain_rows(found: Comparison, change: Callable[[float], float] = float) -> list[dict[str, Any]]:
    """Models without the graph, the plainest first."""
    by_name = {other.name: other for other in found.others}
    return [row(TITLES[name], map(change, by_name[name].tests)) for name in PLAIN if name in by_name]


def columns(path: Path) -> dict[str, list[str]]:
    """A CSV with a header, by column."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: [one[name] for one in rows] for name in rows[0]}


def edges_of(path: Path, names: list[str]) -> NDArray[np.int64]:
    """The edges of a CSV (2, E), by the place of their names."""
    place, table = {name: number for number, name in enumerate(names)}, columns(path)
    return np.array([[place[name] for name in table[end]] for end in ("source", "target")])


def cora(tables: Path, seeds: int) -> dict[str, Any]:
    """Topics of papers: the public split."""
    folder = tables / "cora"
    papers = columns(folder / "papers.csv")
    edges = edges_of(folder / "edges.csv", papers["paper"])
    shift = ss.Shift.from_edges(np.hstack([edges, edges[::-1]]), num_nodes=len(papers["paper"]))
    words, topics = scipy.io.mmread(folder / "words.mtx").tocsr(), np.array(papers["topic"])
    split = np.array(papers["split"])
    masks = {name: split == name for name in ("train", "valid", "test")}
    found = compare(ss.NodeClassifier(), shift, words, topics, **masks, seeds=seeds, say=print)
    rows = plain_rows(found)
    goals = {"rsn": 0.81, "lssm": 0.79, "gsn": None}
    rows.append(row("NodeClassifier()", found.model.tests, "≥ 0.82", found.model.test >= 0.82))
    for name, goal in goals.items():
        each = []
        for seed in range(seeds):
            model = ss.NodeClassifier(name, random_state=seed)
            model.fit(shift, words, topics, train=masks["train"], valid=masks["valid"])
            each.append(model.score(shift, words, topics, masks["test"]))
        mean = np.mean(each)
        rows.append(row(f'NodeClassifier("{name}")', each, f"≥ {goal}" if goal else "", mean >= goal if goal else None))
    return {"title": "Cora, public split", "metric": "accuracy", "rows": rows, "verdict": found.verdict}


def chickenpox(tables: Path, seeds: int) -> dict[str, Any]:
    """Cases in the next week: the last fifth of the weeks."""
    table = columns(tables / "chickenpox" / "cases.csv")
    names = [name for name in table if name != "week"]
    series = np.array([[float(one) for one in table[name]] for name in names]).T
    shift = ss.Shift.from_edges(edges_of(tables / "chickenpox" / "edges.csv", names), num_nodes=len(names))
    rows, verdict = [], ""
    for title, options in (("Forecaster()", {}), ("Forecaster(history=4)", {"history": 4})):
        found = compare(ss.Forecaster(**options), shift, series, seeds=seeds, say=print)
        if not rows:
            rows, verdict = plain_rows(found, np.square), found.verdict
        scores = np.square(found.model.tests)
        goal = ("", None) if options else ("≤ 0.70", bool(scores.mean() <= 0.70))
        rows.append(row(title, scores, *goal))
    return {"title": "Chickenpox, next week", "metric": "mean squared error", "rows": rows, "verdict": verdict}


def traffic(tables: Path, seeds: int) -> dict[str, Any]:
    """Speeds 15, 30 and 60 minutes ahead: the last fifth of a week; zeros are missing."""
    series = np.loadtxt(tables / "traffic" / "los_speed.csv", delimiter=",", skiprows=1)
    shift = ss.Shift.from_matrix(np.loadtxt(tables / "traffic" / "los_adj.csv", delimiter=","))
    forecaster = ss.Forecaster(horizons=HORIZONS, missing="zero", metric="mae")
    found = compare(forecaster, shift, series, seeds=seeds, say=print)
    rows = plain_rows(found)
    rows.append(row('Forecaster(horizons=(3, 6, 12), missing="zero", metric="mae")', found.model.tests))
    by_horizon = {TITLES.get(name, name): scores for name, scores in found.by_horizon.items()}
    own = by_horizon.pop("model")
    beaten = [TITLES[name] for name in ("persistence", "seasonal_mean", "linear_per_node")]
    reached = all(mine < by_horizon[name][place] for name in beaten for place, mine in enumerate(own))
    rows[-1] |= {"goal": f"below {', '.join(beaten)} at all three horizons", "reached": reached}
    return {
        "title": "Traffic, 15, 30 and 60 minutes ahead",
        "metric": "MAE",
        "rows": rows,
        "verdict": found.verdict,
        "by_horizon": {**by_horizon, "Forecaster": own},
    }


def minesweeper(board: Path, seeds: int) -> dict[str, Any]:
    """Mines: the ten splits of the file, one training each."""
    arrays = np.load(board)
    edges = arrays["edges"].T
    shift = ss.Shift.from_edges(np.hstack([edges, edges[::-1]]), num_nodes=len(arrays["node_labels"]))
    data = shift, arrays["node_features"].astype(float), arrays["node_labels"]
    first: Comparison | None = None
    each: list[float] = []
    for split in range(len(arrays["train_masks"])):
        masks = {
            name: arrays[f"{key}_masks"][split]
            for name, key in zip(("train", "valid", "test"), ("train", "val", "test"), strict=True)
        }
        estimator = ss.NodeClassifier(metric="roc_auc", random_state=split)
        if first is None:
            first = compare(estimator, *data, **masks, seeds=1, say=print)
            each.append(first.model.test)
            continue
        estimator.fit(*data, train=masks["train"], valid=masks["valid"])
        chances = estimator.predict_proba(*data[:2])[masks["test"], 1]
        each.append(float(roc_auc_score(data[2][masks["test"]], chances)))
        print(f"split {split}: {each[-1]:.4f}", flush=True)
    assert first is not None
    rows = [{**one, "model": f"{one['model']} (first split)"} for one in plain_rows(first)]
    rows.append(row('NodeClassifier(metric="roc_auc"), ten splits', each, "≥ 0.95", np.mean(each) >= 0.95))
    return {"title": "Minesweeper", "metric": "ROC AUC", "rows": rows, "verdict": f"{first.verdict} (first split)"}


def page(parts: list[dict[str, Any]]) -> str:
    """All data sets as tables."""
    lines = [
        "# What the defaults reach",
        "",
        "Made by `python benchmarks/own_data_scores.py`; ± is the standard deviation over seeds",
        "(minesweeper: over splits). Models without the graph come first.",
        "",
    ]
    for part in parts:
        lines += [f"## {part['title']}", "", f"| model | test {part['metric']} | goal | reached |", "|---|---|---|---|"]
        for one in part["rows"]:
            spread = f" ± {np.std(one['scores'], ddof=1):.4f}" if len(one["scores"]) > 1 else ""
            told = {None: "", True: "yes", False: "no"}[one["reached"]]
            lines.append(f"| {one['model']} | {one['mean']:.4f}{spread} | {one['goal']} | {told} |")
        lines += ["", f"Does the graph help? {part['verdict'][0].upper()}{part['verdict'][1:]}.", ""]
        if "by_horizon" in part:
            lines += ["| MAE | 15 minutes | 30 minutes | 60 minutes |", "|---|---|---|---|"]
            lines += [
                f"| {name} | {' | '.join(f'{one:.3f}' for one in scores)} |"
                for name, scores in part["by_horizon"].items()
            ]
            lines.append("")
    return "\n".join(lines)


PARTS: dict[str, Callable[[Path, int], dict[str, Any]]] = {
    "cora": cora, "chickenpox": chickenpox, "traffic": traffic, "minesweeper": minesweeper
}  # fmt: skip


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", type=Path)
    parser.add_argument("board", type=Path)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("docs/results/own_data"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.only.split(","):
        began = time.process_time()
        found = PARTS[name](given.board if name == "minesweeper" else given.tables, given.seeds)
        found |= {"cpu_seconds": round(time.process_time() - began), "seeds": given.seeds}
        found |= {
            "versions": {"shiftstate": ss.__version__, "torch": torch.__version__, "python": platform.python_version()}
        }
        write_whole(given.out / f"{name}.json", json.dumps(found, indent=1, ensure_ascii=False, default=float) + "\n")
    parts = [
        json.loads((given.out / f"{name}.json").read_text("utf-8"))
        for name in PARTS
        if (given.out / f"{name}.json").is_file()
    ]
    text = page(parts)
    write_whole(given.out / "scores.md", text)
    print(text)


if __name__ == "__main__":
    main()
