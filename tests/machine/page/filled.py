"""A directory with something for every section of the page, and names that try to be markup."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

import shiftstate as ss
from shiftstate.machine.page.contract import PageData, ShownAxis
from shiftstate.machine.results.plan import Plan
from shiftstate.machine.results.store import Store
from shiftstate.studies.paper import STUDY
from tests.machine.page.rivers import no_trainings, some_cell, some_value

HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 1">',
    "\u202egnp.exe\u202c right to left",
    'it\'s "quoted" & <b>bold</b>',
    "javascript:window.hacked=1",
    "\u2028line\u2029ends",
]
NAME = 'runs "<i>" & \u202eevil'
FILTERS = ("gcnn", "rsn", "lssm")


def fill(directory: Path, trial, outcome) -> None:
    """Two experiments, without any training."""
    directory.mkdir(parents=True, exist_ok=True)
    with Store(directory, STUDY) as store:
        for place, (name, K) in enumerate((name, K) for K in (4, 16) for name in FILTERS):
            for graph in range(3):
                last = 0.3 + 0.05 * place + 0.017 * graph
                store.add(trial(filter=name, K=K, graph=graph), outcome(last, last + 0.1, seconds=1.0 + place))
        for L in (2, 4):
            for name in FILTERS:
                store.add(trial("table1", name, L=L), outcome(0.4 + 0.1 * L / 4, ending="diverged"))
    plans = {"figure1": Plan("paper", "As <b>I</b> read it.", "shiftstate reproduce figure1 --preset paper", 900)}
    (directory / "plan.json").write_text(json.dumps({name: plan.to_dict() for name, plan in plans.items()}))


def add_lenses(directory: Path) -> None:
    """An LSSM of two layers and a GCNN under the lens; nodes have hostile names."""
    torch.manual_seed(0)
    (directory / "lens").mkdir(parents=True)
    count = 12
    ring = torch.arange(count)
    shift = ss.Shift.from_edges(torch.stack([ring, (ring + 1) % count]), num_nodes=count).normalized("spectral")
    x = torch.randn(3, count, 1)
    names = [*HOSTILE, *(f"node {place}" for place in range(count - len(HOSTILE)))]
    for name, channels in (("lssm", [1, 2, 2]), ("gcnn", [1, 2])):
        network = ss.Network(name, channels, 5, ss.PoolReadout(2))
        lens = ss.lens.examine(network, x, shift, torch.tensor([0, 1, 0]), names=names).to_dict()
        lens["realization"] = {"name": f"{name} of {HOSTILE[0]}", "accuracy_again": 0.5, "accuracy_recorded": 0.25}
        (directory / "lens" / f"{name}.json").write_text(json.dumps(lens))


def add_words(directory: Path) -> None:
    """A network of words, two of them ordinary."""
    words = [*HOSTILE, "the", "of"]
    counts = np.random.default_rng(0).integers(1, 90, (len(words), len(words)))
    np.savez(directory / "figure2.npz", matrix=counts, words=np.array(words))
    (directory / "figure2.json").write_text(json.dumps({"author": HOSTILE[1]}))


def add_authors(data: PageData) -> None:
    """Give gathered data a Table 2 of hostile authors."""
    authors = ShownAxis(name="author", title="author", values=[some_value(author, author) for author in HOSTILE])
    cells = [
        some_cell({"filter": name, "author": author}, 0.5 + 0.01 * place, 0.02, published={"mean": 0.7, "std": None})
        for place, author in enumerate(HOSTILE)
        for name in FILTERS
    ]
    changes: Any = {"name": "table2", "title": "Table 2", "axes": [data["experiments"][0]["axes"][0], authors],
                    "place": ["author"], "picture": "dots", "published": "paper", "cells": cells, "stored": 126,
                    "plan": None, "trainings": no_trainings("graph", "draw")}  # fmt: skip
    data["experiments"].append(data["experiments"][0] | changes)
