"""`shiftstate inspect`: train a stored realization again, see that it gives what was recorded, look inside it."""

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from shiftstate.experiments.config import Realization
from shiftstate.experiments.corpora import NO_TEXTS, corpus_file, prepare, write_corpora
from shiftstate.experiments.data import build_data
from shiftstate.experiments.realization import train, versions
from shiftstate.experiments.rows import Row
from shiftstate.experiments.store import Store
from shiftstate.files import write_whole
from shiftstate.layers import LAYERS
from shiftstate.lens import Lens, examine
from shiftstate.lens.draw import draw
from shiftstate.pictures import render
from shiftstate.texts.corpus import Corpus, fingerprint

SIGNALS = 100
"""Test signals that the curves are taken over."""


@dataclass(frozen=True)
class Inspection:
    """A realization under the lens."""

    realization: Realization
    lens: Lens
    recorded: float
    """The accuracy in the store, of the model after the last epoch."""
    again: float
    """The accuracy of the same training now."""
    versions_recorded: dict[str, str]
    versions_now: dict[str, str]
    files: tuple[Path, ...]

    @property
    def same(self) -> bool:
        """Whether the recorded accuracy came again, to the digit."""
        return self.recorded == self.again

    def comparison(self) -> str:
        """One sentence on whether the accuracy came again, and if not, what is different from then."""
        if self.same:
            return f"The recorded accuracy, {self.recorded:.4f}, came again."
        changed = [
            f"{name} was {self.versions_recorded.get(name, 'not recorded')} and is {now}"
            for name, now in self.versions_now.items()
            if self.versions_recorded.get(name) != now
        ]
        cause = "; ".join(changed) or "versions and machine are those of then, so the code computes or rounds otherwise"
        return f"The recorded accuracy, {self.recorded:.4f}, did NOT come again: it is {self.again:.4f} now. {cause}."


def inspect(
    directory: Path, id: str | None = None, texts: Path | None = None, console: Console | None = None
) -> Inspection:
    """Train a stored realization from its configuration, put every layer under the lens, write DIR/lens/ID.*.

    Args:
        directory: where `reproduce` has left its results.
        id: of the realization; without one the first of the LSSM (else RSN, else GCNN) with the largest K and L.
        texts: folder of the texts, for a realization on texts whose corpus is no longer in the directory.
        console: where to say what is trained.
    """
    if not (directory / "results.sqlite").is_file():
        raise ValueError(f"{directory} holds no results.sqlite; expected a directory written by shiftstate reproduce")
    with Store(directory) as store:
        row = choose(store.rows(), id, directory)
        then = store.versions(row.realization)
    if console is not None:
        why = "" if id else ", chosen as the first of the largest K of the filter with the most gates"
        console.print(f"Training {row.realization.id} again: {row.realization}{why}")
    torch.set_num_threads(1)  # as the workers of a sweep do: the same sums in the same order
    data = build_data(row.realization, _corpus(row.realization, directory, texts))
    outcome, network = train(row.realization, data)
    network = network.cpu()
    seen = examine(
        network,
        data.test.x[:SIGNALS],
        data.shift,
        data.test.y[:SIGNALS],
        names=getattr(data, "words", None),
    )
    found = Inspection(row.realization, seen, row.accuracy_last, outcome.fit.accuracy_last, then, dict(versions()), ())
    return _write(directory / "lens", found)


def verdict_table(lens: Lens) -> Table:
    """One line for every layer."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("layer", "filter", "K", "verdict", "from k", "‖w_K‖ / ‖w_0‖", "by shift", "gates", "sees 99 % in"):
        table.add_column(name, justify="right" if name in ("K", "from k", "by shift") else "left")
    for layer in lens.layers:
        verdict, norm = layer.verdict, layer.states.norm
        gates = ", ".join(f"{name} {float(gate.mean.mean()):.2f}" for name, gate in layer.gates.items())
        hops = -1 if layer.reach is None else layer.reach.sees()
        table.add_row(
            layer.name,
            layer.filter,
            str(layer.K),
            verdict.word,
            "" if verdict.since is None else str(verdict.since),
            f"{float(norm[-1] / norm[0]):.3g}",
            f"× {verdict.rate:.3g}",
            gates or "–",
            f"{hops} hops" if hops >= 0 else "–",
        )
    return table


def choose(rows: Sequence[Row], id: str | None, directory: Path) -> Row:
    """The row of this id, or a sensible one."""
    ids = {row.realization.id: row for row in rows}
    if id is not None:
        if id not in ids:
            close = difflib.get_close_matches(id, ids, n=1, cutoff=0)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"{directory} holds no realization {id!r}; expected one of its {len(ids)} ids{hint}")
        _check_layers(ids[id].realization)
        return ids[id]
    order = list(LAYERS)  # from the simplest filter to the one with gates
    networks = [row for row in rows if row.realization.filter.split(":")[0] in order]
    if not networks:
        raise ValueError(f"{directory} holds no trained network; expected at least one finished realization")
    return max(  # of equals the first: graph 0, draw 0
        networks,
        key=lambda row: (order.index(row.realization.filter.split(":")[0]), row.realization.K, row.realization.L),
    )


def _corpus(realization: Realization, directory: Path, texts: Path | None) -> Path | None:
    """The prepared corpus of a realization on texts, made again if need be."""
    file = corpus_file(directory, realization.protocol)
    if file is None or (file.exists() and realization.author in Corpus.load(file).wans):
        return file
    if texts is None:
        raise ValueError(f"{directory} no longer holds the corpus of {realization}; {NO_TEXTS}")
    if fingerprint(texts) != getattr(realization.protocol, "corpus", None):
        raise ValueError(f"{texts} holds other texts than {realization} was trained on; expected those of then")
    write_corpora(prepare(texts, [realization], directory))
    return file


def _check_layers(realization: Realization) -> None:
    if realization.filter.split(":")[0] not in LAYERS:
        raise ValueError(f"{realization} is a {realization.filter}; expected a network: the lens looks at layers")


def _write(folder: Path, found: Inspection) -> Inspection:
    realization = found.realization
    content: dict[str, Any] = found.lens.to_dict()
    content["realization"] = {
        "id": realization.id,
        "name": str(realization),
        "experiment": realization.experiment,
        "filter": realization.filter,
        "K": realization.K,
        "L": realization.L,
        "author": getattr(realization, "author", None),
        "config": json.loads(realization.to_json()),
        "accuracy_recorded": found.recorded,
        "accuracy_again": found.again,
        "same": found.same,
        "versions_recorded": found.versions_recorded,
        "versions_now": found.versions_now,
    }
    folder.mkdir(exist_ok=True)
    text = json.dumps(content, allow_nan=False, ensure_ascii=False, separators=(",", ":")) + "\n"
    figure = draw(found.lens)
    files: dict[str, str | bytes] = {"json": text} | {kind: render(figure, kind) for kind in ("svg", "png")}
    for kind, data in files.items():
        write_whole(folder / f"{realization.id}.{kind}", data)
    return Inspection(**{**vars(found), "files": tuple(folder / f"{realization.id}.{kind}" for kind in files)})
