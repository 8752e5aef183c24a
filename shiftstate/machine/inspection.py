"""`shiftstate inspect`: train a stored trial again, see that it gives what was recorded, look inside it."""

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from shiftstate.files import write_whole
from shiftstate.lens import Lens, examine
from shiftstate.lens.draw import draw
from shiftstate.machine.results.columns import Result
from shiftstate.machine.results.store import DATABASE, Store, study_in
from shiftstate.machine.run import known_versions, one_thread, train
from shiftstate.machine.trial import Trial
from shiftstate.pictures import render

SIGNALS = 100
"""Test signals that the curves are taken over."""


@dataclass(frozen=True)
class Inspection:
    """A trial under the lens."""

    trial: Trial
    lens: Lens
    recorded: float
    """The score in the store, of the model after the last epoch."""
    again: float
    """The score of the same training now."""
    versions_recorded: dict[str, str]
    versions_now: dict[str, str]
    files: tuple[Path, ...] = ()

    @property
    def same(self) -> bool:
        """Whether the recorded score came again, to the digit."""
        return self.recorded == self.again

    def comparison(self) -> str:
        """One sentence on whether the score came again, and if not, what is different from then."""
        recorded = f"The recorded {self.trial.experiment.metric.title}, {self.recorded:.4f},"
        if self.same:
            return f"{recorded} came again."
        changed = [
            f"{name} was {self.versions_recorded.get(name, 'not recorded')} and is {now}"
            for name, now in self.versions_now.items()
            if self.versions_recorded.get(name) != now
        ]
        cause = "; ".join(changed) or "versions and machine are those of then, so the code computes or rounds otherwise"
        return f"{recorded} did NOT come again: it is {self.again:.4f} now. {cause}."


def inspect(
    directory: Path, id: str | None = None, given: Path | None = None, console: Console | None = None
) -> Inspection:
    """Train a stored trial from its configuration, put every layer under the lens, write DIR/lens/ID.*.

    Args:
        directory: where a run has left its results.
        id: of the trial; without one the first of those that the study finds worth most to look at.
        given: the data, for a trial on data given by path whose prepared file is no longer in the directory.
        console: where to say what is trained.
    """
    if not (directory / DATABASE).is_file():
        raise ValueError(f"{directory} holds no {DATABASE}; expected a directory written by shiftstate reproduce")
    with Store(directory, study_in(directory)) as store:
        result = choose(store.results(), id, directory)
        then = store.versions(result.trial)
    if console is not None:
        why = "" if id else ", chosen as the first of the largest that can be looked into"
        console.print(f"Training {result.trial.id} again: {result.trial}{why}")
    with one_thread():  # as the workers of a sweep do: the same sums in the same order
        data = result.trial.experiment.data(result.trial, _prepared(result.trial, directory, given))
        outcome, network = train(result.trial, data)
        seen = examine(
            network.cpu(),
            data.test.x[:SIGNALS],
            data.shift,
            data.test.y[:SIGNALS],
            names=getattr(data, "words", None),
        )
    return _write(
        directory / "lens",
        Inspection(
            result.trial, seen, result.last, outcome.last[result.trial.experiment.metric.name], then, known_versions()
        ),
    )


def choose(results: Sequence[Result], id: str | None, directory: Path) -> Result:
    """The result of this id, or a sensible one."""
    ids = {result.trial.id: result for result in results}
    if id is not None:
        if id not in ids:
            close = difflib.get_close_matches(id, ids, n=1, cutoff=0)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"{directory} holds no realization {id!r}; expected one of its {len(ids)} ids{hint}")
        trial = ids[id].trial
        if _worth(ids[id]) is None:
            raise ValueError(f"{trial} is a {trial.model}; expected a network: the lens looks at layers")
        return ids[id]
    networks = [result for result in results if _worth(result) is not None]
    if not networks:
        raise ValueError(f"{directory} holds no trained network; expected at least one finished realization")
    return max(networks, key=_worth)  # of equals the first: unit 0, repetition 0


def _worth(result: Result) -> Any:
    return result.trial.experiment.lens(result.trial)


def _prepared(trial: Trial, directory: Path, given: Path | None) -> Path | None:
    """The prepared data of a trial whose data are given by path, made again if need be."""
    source = trial.experiment.source
    if source is None:
        return None
    file = source.file(directory, trial.settings)
    if file.exists() and source.holds(file, trial):
        return file
    if given is None:
        raise ValueError(f"{directory} no longer holds the data of {trial}; {source.missing}")
    if source.fingerprint(given) != getattr(trial.settings.data, source.setting):
        raise ValueError(f"{given} holds other data than {trial} was trained on; expected those of then")
    for path, content in source.prepare(given, [trial], directory).items():
        write_whole(path, content)
    return file


def _write(folder: Path, found: Inspection) -> Inspection:
    trial, metric = found.trial, found.trial.experiment.metric.name
    content: dict[str, Any] = found.lens.to_dict()
    content["realization"] = {
        "id": trial.id,
        "name": str(trial),
        **trial.cell.to_dict(),
        "config": json.loads(trial.to_json()),
        f"{metric}_recorded": found.recorded,
        f"{metric}_again": found.again,
        "same": found.same,
        "versions_recorded": found.versions_recorded,
        "versions_now": found.versions_now,
    }
    folder.mkdir(exist_ok=True)
    text = json.dumps(content, allow_nan=False, ensure_ascii=False, separators=(",", ":")) + "\n"
    figure = draw(found.lens)
    files: dict[str, str | bytes] = {"json": text} | {kind: render(figure, kind) for kind in ("svg", "png")}
    for kind, data in files.items():
        write_whole(folder / f"{trial.id}.{kind}", data)
    return replace(found, files=tuple(folder / f"{trial.id}.{kind}" for kind in files))
