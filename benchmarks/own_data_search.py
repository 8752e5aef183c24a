"""How the estimators' defaults were chosen: every candidate on data that hold no test data of the published splits.

    python benchmarks/own_data_search.py TABLES BOARD [--only words,rules,weeks]

words: Cora without its 1,000 public test nodes; six random splits with 20 labels per topic, 500 nodes to stop by, and
       the others to judge by. Three filters share each setting.
rules: which of three settings for nodes suits how many labels and features: tables of scikit-learn with the graph of
       their eight nearest neighbours, Cora's words as 64 principal components, and some training cells of minesweeper's
       first split. Two random splits each; a third of the rows is learned from, or as many as the name says.
weeks: forecasts of chickenpox within the first 80, 72 and 64 % of the weeks, the last fifth of each to judge by.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
from numpy.typing import NDArray
from own_data_scores import columns, edges_of
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import StandardScaler

import shiftstate as ss
from shiftstate.estimators.defaults import DEEP, FEW_LABELS, SHALLOW

Mask = NDArray[np.bool_]
WORDS = [
    {"dropout": dropout, "weight_decay": decay, "channels": channels, "K": K}
    for dropout, decay, channels, K in (
        (0.6, 1.0, 64, 8), (0.7, 1.0, 64, 8), (0.7, 0.5, 64, 8), (0.7, 1.0, 128, 8), (0.8, 1.0, 128, 8),
        (0.7, 2.0, 128, 8), (0.7, 1.0, 64, 10), (0.7, 1.0, 64, 12),
    )
]  # fmt: skip
WEEKS: list[dict[str, Any]] = [
    {}, {"K": 0}, {"K": 1}, {"K": 4}, {"history": 4}, {"dropout": 0.3}, {"channels": 64, "dropout": 0.3},
    {"filter": "rsn"}, {"filter": "lssm"},
]  # fmt: skip


def cora(tables: Path) -> tuple[ss.Shift, Any, NDArray[Any], Mask]:
    """Graph, words, topics, and the papers that are not in the public test set."""
    papers = columns(tables / "cora" / "papers.csv")
    edges = edges_of(tables / "cora" / "edges.csv", papers["paper"])
    shift = ss.Shift.from_edges(np.hstack([edges, edges[::-1]]), num_nodes=len(papers["paper"]))
    words = scipy.io.mmread(tables / "cora" / "words.mtx").tocsr()
    return shift, words, np.array(papers["topic"]), np.array(papers["split"]) != "test"


def masks_of(count: int, *rows: Any) -> list[Mask]:
    """Masks with these rows."""
    return [np.isin(np.arange(count), one) for one in rows]


def words(tables: Path, board: Path) -> None:
    """Settings for few labels and many features."""
    shift, X, y, pool = cora(tables)
    for setting in WORDS:
        for name in ("gcnn", "rsn", "lssm"):
            scores = []
            for seed in range(6):
                random = np.random.default_rng(seed)
                learn = np.concatenate(
                    [random.permutation(np.flatnonzero(pool & (y == one)))[:20] for one in np.unique(y)]
                )
                rest = random.permutation(np.setdiff1d(np.flatnonzero(pool), learn))
                train, valid, judge = masks_of(len(y), learn, rest[:500], rest[500:])
                model: Any = ss.NodeClassifier(name, random_state=seed, **setting)
                scores.append(model.fit(shift, X, y, train=train, valid=valid).score(shift, X, y, judge))
            print(f"words {name} {setting}: {np.mean(scores):.4f} ± {np.std(scores):.4f}", flush=True)


def rules(tables: Path, board: Path) -> None:
    """Which rule for how many labels and features."""
    problems = {}
    for load in (load_wine, load_breast_cancer, load_digits, load_diabetes):
        X, y = load(return_X_y=True)
        near = kneighbors_graph(StandardScaler().fit_transform(X), 8)
        graph = ss.Shift.from_matrix(((near + near.T) > 0).astype(np.float32).tocsr())
        problems[load.__name__] = (graph, X, y, np.arange(len(y)), round(0.3 * len(y)))
    shift, words_, topics, pool = cora(tables)
    dense = TruncatedSVD(64, random_state=0).fit_transform(words_)
    problems |= {f"cora, {n} labels": (shift, dense, topics, np.flatnonzero(pool), n) for n in (140, 800)}
    arrays = np.load(board)
    edges = arrays["edges"].T
    grid = ss.Shift.from_edges(np.hstack([edges, edges[::-1]]), num_nodes=len(arrays["node_labels"]))
    cells = np.flatnonzero(arrays["train_masks"][0])
    features = arrays["node_features"].astype(float)
    problems |= {f"minesweeper, {n} labels": (grid, features, arrays["node_labels"], cells, n) for n in (300, 1000)}
    for title, (graph, X, y, rows, count) in problems.items():
        for rule, setting in {"few labels": FEW_LABELS, "shallow": SHALLOW, "deep": DEEP}.items():
            scores = [_judged(title, setting, graph, X, y, rows, count, seed) for seed in range(2)]
            ratio = count / X.shape[1]
            print(f"rules {title}, {ratio:.0f} labels per feature, {rule}: {np.mean(scores):.3f}", flush=True)


def _judged(
    title: str, setting: dict[str, Any], graph: ss.Shift, X: Any, y: Any, rows: Any, count: int, seed: int
) -> float:
    order = np.random.default_rng(seed).permutation(rows)
    half = count + (len(order) - count) // 2
    train, valid, judge = masks_of(len(y), order[:count], order[count:half], order[half:])
    if title.startswith("load_diabetes"):
        model: Any = ss.NodeRegressor(random_state=seed)
    else:
        model = ss.NodeClassifier(random_state=seed, metric="roc_auc" if title.startswith("mine") else None)
    with _chosen(setting):
        model.fit(graph, X, y, train=train, valid=valid)
    if title.startswith("mine"):
        return float(roc_auc_score(y[judge], model.predict_proba(graph, X)[judge, 1]))
    return float(model.score(graph, X, y, judge))


def _chosen(setting: dict[str, Any]) -> Any:
    """The estimators choose this setting, whatever the data."""
    from unittest.mock import patch

    return patch("shiftstate.estimators.base.choose", lambda **counts: setting)


def weeks(tables: Path, board: Path) -> None:
    """Settings of forecasts."""
    table = columns(tables / "chickenpox" / "cases.csv")
    names = [name for name in table if name != "week"]
    series = np.array([[float(one) for one in table[name]] for name in names]).T
    shift = ss.Shift.from_edges(edges_of(tables / "chickenpox" / "edges.csv", names), num_nodes=len(names))
    for setting in WEEKS:
        errors = []
        for share in (0.8, 0.72, 0.64):
            seen = series[: int(share * len(series))]
            first = len(seen) - round(0.2 * len(seen))
            for seed in range(2):
                model = ss.Forecaster(random_state=seed, **setting).fit(shift, seen[:first])
                forecast, came = model.forecast(shift, seen, first)
                errors.append(float(np.mean((forecast - came) ** 2)))
        print(f"weeks {setting}: {np.mean(errors):.4f}", flush=True)


PARTS: dict[str, Callable[[Path, Path], None]] = {"words": words, "rules": rules, "weeks": weeks}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path)
    parser.add_argument("board", type=Path)
    parser.add_argument("--only", default=",".join(PARTS))
    given = parser.parse_args()
    for part in given.only.split(","):
        PARTS[part](given.tables, given.board)
