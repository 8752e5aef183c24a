"""Trainings of a run: made by the machine's engines, each stored as it finishes, none made twice."""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shiftstate.errors import SweepError, keep
from shiftstate.estimators import ESTIMATORS, Estimator, Forecaster
from shiftstate.estimators.nodes import NodeEstimator
from shiftstate.estimators.storage import read_estimator
from shiftstate.files import check_as_written, make_directory, write_whole
from shiftstate.json_file import of_fields, read_json, table, word
from shiftstate.machine.results.data_files import changed, fingerprints
from shiftstate.machine.run import one_thread
from shiftstate.machine.running.engines import Engine, Pool, make_engine
from shiftstate.machine.running.sweep import sweep
from shiftstate.own_data.asking.settings import FILES, TrainSettings
from shiftstate.own_data.reading.joining import Say
from shiftstate.own_data.reading.problems import Problem, read_problem
from shiftstate.training import Fit

FOLDER = "trials"


@dataclass(frozen=True)
class Unit:
    """One training: of a filter with an order, by a seed; the settings name one split at most."""

    settings: TrainSettings
    filter: str
    K: int | None
    seed: int
    data: tuple[tuple[str, str], ...] = ()
    """Fingerprints of the files that it learns from, by setting."""

    @property
    def name(self) -> str:
        """Of its files."""
        split = f"{_as_file_name(self.settings.split[0])}-" if self.settings.split else ""
        return f"{split}{self.filter}-K{'auto' if self.K is None else self.K}-seed{self.seed}"

    @property
    def fingerprint(self) -> str:
        """Of what it learns and from which contents; where files lie does not count."""
        asked = {name: one for name, one in self.settings.as_dict().items() if name not in (*FILES, "out")}
        return _sha256([asked, self.filter, self.K, self.seed, self.data])

    def __str__(self) -> str:
        split = f"{self.settings.split[0]}, " if self.settings.split else ""
        return f"{split}{self.filter}, {'K by rule' if self.K is None else f'K = {self.K}'}, seed {self.seed}"


@dataclass(frozen=True)
class Trained:
    """What a worker sends back: the model as the bytes of its file, and how the training went."""

    model: bytes
    forecasts: bytes | None
    """A forecaster's forecasts of the validation data, as an .npy."""
    fit: dict[str, Any]


def make_estimator(settings: TrainSettings, filter: str, K: int | None, seed: int) -> Any:
    """The estimator of the task, with what the settings say."""
    options: dict[str, Any] = {"K": K, "epochs": settings.epochs, "metric": settings.metric, **settings.options}
    if settings.task == "forecast":
        missing = "zero" if settings.missing == "zero=missing" else "nan"
        options |= {"history": settings.history, "horizons": settings.horizons, "missing": missing}
    try:
        return ESTIMATORS[settings.task](filter, random_state=seed, **options)
    except TypeError as error:
        known = ", ".join(sorted(ESTIMATORS[settings.task]().get_params()))
        raise ValueError(f"the model has an argument that is not known ({error}); expected one of {known}") from None


def fit_on(estimator: Any, problem: Problem) -> None:
    """Fit on the training rows, by the validation rows."""
    masks = problem.masks
    if isinstance(estimator, Forecaster):
        known = int((~masks["test"]).sum())
        estimator.set_params(validation_fraction=int(masks["valid"].sum()) / known)
        estimator.fit(problem.shift, problem.X[:known])
    elif isinstance(estimator, NodeEstimator):
        estimator.fit(problem.shift, problem.X, problem.y, train=masks["train"], valid=masks["valid"])
    else:
        assert problem.y is not None
        X, y, choose = problem.X, problem.y, masks["valid"]
        estimator.fit(problem.shift, X[masks["train"]], y[masks["train"]], valid=(X[choose], y[choose]))


_read: dict[str, Problem] = {}
"""The last problems that this process has read, by their settings and the fingerprints of their files."""


def problem_of(settings: TrainSettings, data: Mapping[str, str] | None = None, say: Say = lambda line: None) -> Problem:
    """The data of these settings, read once per process.

    Args:
        settings: which name files.
        data: the fingerprints that the files have to have; those that they have now by default.
        say: told what was decided.
    """
    data = fingerprints(settings.files()) if data is None else data
    key = json.dumps([settings.as_dict(), dict(data)], sort_keys=True)
    if key not in _read:
        problem = read_problem(settings, say)
        check_unchanged(settings, data)
        if len(_read) > 20:
            _read.clear()
        _read[key] = problem
    return _read[key]


def check_unchanged(settings: TrainSettings, data: Mapping[str, str] | None) -> None:
    """Raise if a file has another content than it had; runs of older versions do not tell."""
    files = settings.files()
    for name in changed(data, fingerprints(files)):
        raise ValueError(
            f"{files.get(name, name)} has changed since the run began; expected the file that the run learns from"
        )


def work(unit: Unit) -> Trained:
    """What a worker does. One thread: the same sums in the same order, however many workers there are."""
    with one_thread():
        estimator = make_estimator(unit.settings, unit.filter, unit.K, unit.seed)
        fit_on(estimator, problem_of(unit.settings, dict(unit.data)))
    with tempfile.TemporaryDirectory() as folder:
        estimator.save(Path(folder) / "model.safetensors")
        model = (Path(folder) / "model.safetensors").read_bytes()
    forecasts = getattr(estimator, "valid_forecasts_", None)
    return Trained(model, None if forecasts is None else _as_npy(forecasts), asdict(estimator.fit_))


class Trials:
    """The trainings of a run, as files: NAME.safetensors, NAME.npy for forecasts, and NAME.json, written last."""

    def __init__(self, out: Path, engine: Engine, say: Say, data: Mapping[str, str]) -> None:
        self.folder, self.engine, self.say, self.data = out / FOLDER, engine, say, data
        make_directory(self.folder, "the trials")

    def unit(self, settings: TrainSettings, filter: str, K: int | None, seed: int) -> Unit:
        """A training on the data of this run."""
        return Unit(settings, filter, K, seed, tuple(self.data.items()))

    def run(self, units: Sequence[Unit]) -> None:
        """Make those that are not stored yet, and store each as it finishes."""
        missing = [unit for unit in units if self._fit(unit) is None]
        if len(missing) < len(units):
            keep()
            self.say(f"{len(units) - len(missing)} of {len(units)} trainings were finished before")
        began, done = time.monotonic(), 0

        def finished(unit: Unit, trained: Trained) -> None:
            nonlocal done
            done += 1
            self._store(unit, trained)
            left = (time.monotonic() - began) / done * (len(missing) - done)
            end = f"; about {_duration(left)} left" if done < len(missing) else ""
            self.say(f"[{done}/{len(missing)}] {unit}: {_outcome(unit, trained.fit)}{end}")

        try:
            sweep(missing, self.engine, finished, task=work)
        except SweepError as error:
            if isinstance(error.__cause__, ValueError):
                raise ValueError(str(error.__cause__)) from None
            raise

    def load(self, unit: Unit) -> Estimator:
        """A finished training."""
        fit = self._fit(unit)
        if fit is None:
            self.run([unit])
            fit = self._fit(unit)
            assert fit is not None
        estimator = read_estimator(self._file(unit, "safetensors"))
        estimator.fit_ = fit
        if isinstance(estimator, Forecaster) and self._file(unit, "npy").exists():
            estimator.valid_forecasts_ = np.load(self._file(unit, "npy"), allow_pickle=False)
        return estimator

    def valid_score(self, unit: Unit) -> float:
        """The validation score of a finished training's best epoch."""
        fit = self._fit(unit)
        assert fit is not None
        return fit.valid_scores[fit.look_epochs.index(fit.best_epoch)]

    def _file(self, unit: Unit, kind: str) -> Path:
        return self.folder / f"{unit.name}.{kind}"

    def _store(self, unit: Unit, trained: Trained) -> None:
        files = {"safetensors": trained.model} | ({} if trained.forecasts is None else {"npy": trained.forecasts})
        for kind, content in files.items():
            write_whole(self._file(unit, kind), content)
        sums = {kind: hashlib.sha256(content).hexdigest() for kind, content in files.items()}
        body = {"unit": unit.fingerprint, "fit": trained.fit, "files": sums}
        write_whole(self._file(unit, "json"), json.dumps({**body, "sha256": _own_checksum(body)}) + "\n")

    def _fit(self, unit: Unit) -> Fit | None:
        """How a finished training went; None if it is not there, or its files are not as they were written."""
        file = self._file(unit, "json")
        if not file.exists():
            return None
        try:
            found = read_json(file, "a finished training", _TRAINED, finite=False)
            if _own_checksum(found) != found["sha256"] or found["unit"] != unit.fingerprint:
                raise ValueError(f"{file} was edited, or is of other settings or data")
            for kind, written in found["files"].items():
                check_as_written(self._file(unit, kind), written, file.name, "")
        except ValueError as error:
            self.say(f"{error}; the training is made again")
            return None
        told = found["fit"]
        return Fit(**told | {key: tuple(value) for key, value in told.items() if isinstance(value, list)})


_TRAINED = table(
    {
        "unit": word(),
        "fit": of_fields(Fit),
        "files": table({"safetensors": word()}, {"npy": word()}),
        "sha256": word(),
    }
)


def _own_checksum(told: dict[str, Any]) -> str:
    """Of all that a training's JSON holds beside its own checksum."""
    return _sha256({name: value for name, value in told.items() if name != "sha256"})


def _sha256(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def engine_of(name: str, workers: int | None, scheduler: str | None) -> Engine:
    """The machine's engine of this name; one worker of this machine is this process itself."""
    engine = make_engine(name, workers, scheduler)
    return _here if name == "local" and workers == 1 else engine


class _Here(Executor):
    """Runs what it is given at once."""

    def submit(self, fn: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*arguments, **keywords))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def _here() -> Iterator[Pool]:
    yield Pool(_Here(), lambda: 1, ())


def _outcome(unit: Unit, fit: dict[str, Any]) -> str:
    score = fit["valid_scores"][fit["look_epochs"].index(fit["best_epoch"])]
    metric = fit["metric"].replace("_", " ")
    data = "validation data" if unit.settings.task.endswith("classification") else "scaled validation data"
    told = f"{metric} {score:.4g} on {data}, {len(fit['losses'])} epochs, {_duration(fit['seconds'])}"
    return told if fit["outcome"] == "finished" else f"{told} ({fit['outcome']})"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _as_npy(values: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(values), allow_pickle=False)
    return buffer.getvalue()


def _as_file_name(text: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in text)
