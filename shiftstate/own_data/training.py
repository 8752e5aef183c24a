"""`shiftstate train`: trials, the best one beside its baselines, and everything that a run leaves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from shiftstate.files import RUN_FILES, check_folder, make_directory, remove_leftovers, write_whole
from shiftstate.machine.parsing import parse_table, read_text
from shiftstate.machine.results.data_files import changed, fingerprints, read_fingerprints, write_fingerprints
from shiftstate.machine.running.engines import Engine
from shiftstate.machine.running.lock import locked
from shiftstate.own_data.asking.settings import TrainSettings
from shiftstate.own_data.checking import check_settings, compared, rehearse
from shiftstate.own_data.left.leaving import METRICS, graph_bytes, read_metrics, write_run
from shiftstate.own_data.left.manifest import MANIFEST, check_run, is_finished
from shiftstate.own_data.left.several import write_several
from shiftstate.own_data.reading.joining import Say
from shiftstate.own_data.reading.problems import Problem
from shiftstate.own_data.trials import Trials, make_estimator, problem_of

SETTINGS = "settings.json"


def train(settings: TrainSettings, say: Say, engine: Engine) -> dict[str, Any]:
    """Train every filter with every K, keep the best on validation data, and compare it with models without the graph.

    Every finished training is stored in ``trials/`` at once; the same settings go on from there.

    Returns:
        what metrics.json holds.
    """
    settings = settings.absolute()
    out = settings.out
    check_settings(settings)
    check_folder(out, RUN_FILES, settings.files().values())
    data = fingerprints(settings.files())
    _check_same(settings, data, say)
    problems = [problem_of(one, data, say if not number else _nothing) for number, one in enumerate(settings.splits())]
    say(describe(problems[0]))
    say(rehearse(settings, problems))
    make_directory(out, "the run")
    with locked(out):
        remove_leftovers(out)
        if is_finished(out):
            check_run(out, METRICS)
            say(f"{out} is finished; --out with another directory begins a new run")
            return read_metrics(out)
        (out / MANIFEST).unlink(missing_ok=True)
        write_whole(out / SETTINGS, json.dumps(settings.as_dict(), indent=1) + "\n")
        write_fingerprints(out, data)
        write_whole(out / "graph.npz", graph_bytes(problems[0]))
        trials = Trials(out, engine, say, data)
        remove_leftovers(trials.folder)
        filter, K = _best(settings, trials, say)
        units = [
            trials.unit(one, filter, order, seed)
            for one in settings.splits()
            for order in dict.fromkeys((K, 0))
            for seed in settings.seed_numbers()
        ]
        say(f"{_title(filter, K)}, and the same network with K = 0: {len(units)} trainings")
        trials.run(units)
        say("models without the graph")
        comparisons = [
            compared(one, problem, _from_trials(one, filter, K, trials))
            for one, problem in zip(settings.splits(), problems, strict=True)
        ]
        if len(comparisons) == 1:
            write_run(settings, problems[0], comparisons[0], out)
        else:
            write_several(settings, problems, comparisons, data)
        return read_metrics(out)


def describe(problem: Problem) -> str:
    """Nodes, edges, components, spectral radius, rows and features."""
    from scipy.sparse.csgraph import connected_components

    shift = problem.shift
    components = connected_components(shift.to_scipy(), directed=False, return_labels=False)
    parts = ", ".join(f"{int(mask.sum())} {name}" for name, mask in problem.masks.items())
    width = f", {problem.X.shape[1]} features" if problem.feature_names else ""
    return (
        f"{shift.num_nodes} nodes, {shift.num_edges} edges, {components} component{'s' * (components > 1)}, "
        f"spectral radius {shift.spectral_radius():.3g}; rows: {parts}{width}"
    )


def _check_same(settings: TrainSettings, data: Mapping[str, str], say: Say) -> None:
    """Raise if the directory holds a run with other settings, or on other data."""
    file = settings.out / SETTINGS
    if not file.is_file():
        return
    try:
        asked = parse_table(read_text(file, "the settings of a run"))
    except ValueError as error:
        raise ValueError(
            f"{file} cannot be read ({error}); expected the settings of a run: choose another --out"
        ) from None
    stored = read_fingerprints(settings.out)
    if stored is None:
        say(f"{settings.out} was begun without fingerprints of its data, which are taken to be the same")
    names = changed(stored, data)
    for name in names:
        if name in data and stored is not None and name in stored:
            raise ValueError(
                f"{settings.files()[name]} has changed since {settings.out} was begun; expected the same --{name} "
                "to go on: put it back, or choose another --out for a new run"
            )
    other = settings.differs_from(asked, [] if stored is None else [name for name in data if name not in names])
    if other:
        raise ValueError(
            f"{settings.out} holds a run with other settings ({', '.join(other)}); expected the same ones to go on, or "
            "another --out"
        )


def _best(settings: TrainSettings, trials: Trials, say: Say) -> tuple[str, int | None]:
    """The filter and K with the best validation score, on the mean of all splits."""
    choices = [(filter, K) for filter in settings.filter for K in settings.K]
    if len(choices) == 1:
        return choices[0]
    units = {choice: [trials.unit(one, *choice, settings.seed) for one in settings.splits()] for choice in choices}
    say(f"trying {len(choices)} models: {sum(map(len, units.values()))} trainings")
    trials.run([unit for several in units.values() for unit in several])
    metric = make_estimator(settings, *choices[0], settings.seed).task().metric
    scores = {choice: float(np.mean([trials.valid_score(one) for one in units[choice]])) for choice in choices}
    best = choices[0]
    for choice in choices[1:]:
        best = choice if metric.better(scores[choice], than=scores[best]) else best
    for choice in choices:
        mark = "  <- kept" if choice == best else ""
        say(f"{_title(*choice)}: {metric.title} {scores[choice]:.4g} on validation data{mark}")
    return best


def _title(filter: str, K: int | None) -> str:
    return f"{filter}, {'K by rule' if K is None else f'K = {K}'}"


def _from_trials(settings: TrainSettings, filter: str, K: int | None, trials: Trials) -> Any:
    """An estimator that does not train: its fit takes the finished training of its own filter, K and seed."""
    made = make_estimator(settings, filter, K, 0)
    kind: Any = type(made)

    class Stored(kind):  # type: ignore[misc]
        def fit(self, *data: Any, **more: Any) -> Any:
            found = trials.load(trials.unit(settings, self.filter, self.K, settings.seed + int(self.random_state)))
            self.__dict__.update(found.__dict__)
            return self

    Stored.__name__ = kind.__name__
    return Stored(**made.get_params(deep=False))


def _nothing(line: str) -> None:
    """What was decided has been said for the first split."""
