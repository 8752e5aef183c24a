"""What all estimators share: their arguments, the training, and what is kept."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, asdict, dataclass, fields, replace
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from torch import Tensor

from shiftstate.checks import check_device, check_name
from shiftstate.estimators.alignment import names_of
from shiftstate.estimators.constraints import ARGUMENTS, NORMALIZATIONS, Check, checked, constraints_of
from shiftstate.estimators.defaults import NetworkSettings, choose
from shiftstate.estimators.inputs import as_shift
from shiftstate.estimators.model import EstimatorNetwork, Members, build_network, joined
from shiftstate.estimators.progress import TrainingLine
from shiftstate.estimators.scaling import Scaler
from shiftstate.estimators.storage import check_stored, read_estimator, write_estimator
from shiftstate.graphs import Shift
from shiftstate.readout import READOUTS, Readout
from shiftstate.tasks import Metric, Task
from shiftstate.training import Fit, fit
from shiftstate.training.parts import evaluated


@dataclass(eq=False, repr=False)
class Estimator(BaseEstimator):
    """The base of all estimators; every argument has a default, and None means: chosen by a measured rule.

    Args:
        filter: "gcnn", "rsn", "lssm", or any other layer of the library by name.
        K: the filter order, how many shifts a layer makes.
        channels: of every layer.
        layers: how many.
        mixing: how channels mix: "depthwise", "dense" or "bank".
        input: "first" if x enters as w_0 only, "every" if it enters at every shift.
        dropout: the share of channels dropped before every layer in training.
        learning_rate: of Adam.
        weight_decay: decoupled, as in AdamW.
        epochs: at most so many.
        patience: epochs without a better validation score before training stops.
        batch_size: signals in a step.
        normalization: of the graph: "none", "symmetric", "row", "column", "spectral", or "auto": none if the spectral
            radius is at most 1, else symmetric for an undirected graph and row for a directed one.
        scale: of the features: "standard", "unit", "rows", "none", or "auto"; see `Scaler`.
        metric: what decides on validation data, and what comparisons are made by; by default the log loss and the
            accuracy for classes, the RMSE for numbers.
        validation_fraction: the share of the training data set aside where no validation data are given.
        random_state: of weights, dropout, batches and the part set aside.
        device: where to train.
        verbose: whether a training that takes more than two seconds shows on standard error how far it is; None
            shows it on a terminal.
    """

    filter: str = "gcnn"
    _: KW_ONLY
    K: int | None = None
    channels: int | None = None
    layers: int | None = None
    mixing: str | None = None
    input: str | None = None
    dropout: float | None = None
    learning_rate: float | None = None
    weight_decay: float | None = None
    epochs: int | None = None
    patience: int | None = None
    batch_size: int | None = None
    normalization: str = "auto"
    scale: str = "auto"
    metric: str | None = None
    validation_fraction: float = 0.2
    random_state: Any = 0
    device: str = "cpu"
    verbose: bool | None = None

    task_name: ClassVar[str]
    forecasts: ClassVar[bool] = False
    constraints: ClassVar[Mapping[str, Check]] = ARGUMENTS
    """A check for every argument; a class adds those of its own arguments."""

    def check_arguments(self) -> None:
        """Raise a ValueError that names the first argument of the constructor that is not allowed; `fit` begins so."""
        checked(self.get_params(deep=False), constraints_of(type(self)))

    def task(self) -> Task:
        """What is learned."""
        raise NotImplementedError

    def reported(self) -> Metric:
        """What comparisons are made by."""
        return self.task().metric

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything that predictions need as one safetensors file; the graph is not part of it."""
        self._check_fitted()
        write_estimator(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read an estimator that `save` wrote."""
        found = read_estimator(path)
        if not isinstance(found, cls):
            raise ValueError(f"{path} holds a {type(found).__name__}; expected a {cls.__name__}")
        return found

    def _train(self, shift: Shift, data: Any, readout: tuple[str, dict[str, Any]], seed: int, **counts: Any) -> None:
        """Choose what was not given, build the network, and train it on scaled data."""
        task = self.task()
        self.settings_ = self._settings(per_node=task.per_node, **counts)
        self.readout_ = readout
        channels = (data.x if hasattr(data, "x") else data.train.x).shape[-1]
        self.n_features_in_ = self.__dict__.get("n_features_in_", channels)
        trained = [self._train_member(shift, data, seed + one, channels) for one in range(self.settings_.members)]
        self.fit_: Fit = trained[0][0]
        self.model_ = joined([network for _, network in trained])

    def _train_member(self, shift: Shift, data: Any, seed: int, channels: int) -> tuple[Fit, EstimatorNetwork]:
        """One network, trained from a start of its own."""
        settings, task = self.settings_, self.task()
        with seeded(seed), TrainingLine(settings.epochs, task.metric.title, self.verbose) as line:
            network = self._build_member(channels)
            self._prepare(network, shift, data)
            if network.encoder is not None and hasattr(data, "x"):
                network.encoder.remember(data.x)
            done = fit(
                network,
                shift,
                data,
                task=task,
                epochs=settings.epochs,
                batch_size=settings.batch_size,
                learning_rate=settings.learning_rate,
                weight_decay=settings.weight_decay,
                schedule=settings.schedule,
                clip=settings.clip,
                patience=settings.patience,
                keep_best=True,
                seed=seed,
                device=self.device,
                progress=line,
            )
        if network.encoder is not None:
            network.encoder.forget()
        return done, network

    def _prepare(self, network: EstimatorNetwork, shift: Shift, data: Any) -> None:
        """Before the first step; a place for what an estimator starts its network with."""

    def _build(self, channels: int) -> EstimatorNetwork | Members:
        return joined([self._build_member(channels) for _ in range(self.settings_.members)])

    def _build_member(self, channels: int) -> EstimatorNetwork:
        settings, (kind, options) = self.settings_, self.readout_
        readout: Readout = READOUTS[kind](**options)
        first = settings.channels if settings.encode else channels
        widths = [first] + [settings.channels] * settings.layers
        network = build_network(
            self.filter, widths, settings.K, readout, input=settings.input, wanted=settings.options()
        )
        return EstimatorNetwork(
            network,
            settings.dropout,
            features=channels if settings.encode else None,
            around=settings.around,
            linear=settings.linear,
        )

    def _settings(self, **counts: Any) -> NetworkSettings:
        chosen = choose(forecast=self.forecasts, **counts)
        names = {field.name for field in fields(NetworkSettings)} & {field.name for field in fields(self)}
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        settings = replace(NetworkSettings(), **{**chosen, **given})
        if settings.batch_size is not None and settings.batch_size > counts["samples"]:
            settings = replace(settings, batch_size=None)
        return settings

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _choose_normalization(self, shift: Shift) -> None:
        self.normalization_ = self.normalization
        if self.normalization == "auto":
            self.normalization_ = auto_normalization(shift)

    def _normalized(self, shift: Shift) -> Shift:
        shift = as_shift(shift).to(torch.float32)
        return shift if self.normalization_ == "none" else shift.normalized(self.normalization_)  # type: ignore[arg-type]

    def _outputs(self, shift: Shift, x: NDArray[np.float32], at_once: int | None = None) -> NDArray[np.float64]:
        """The network's outputs for scaled signals."""
        device = check_device("device", self.device)
        model = self.model_.to(device)
        outputs: Tensor = evaluated(model, self._normalized(shift).to(device), torch.from_numpy(x).to(device), at_once)
        return outputs.double().cpu().numpy()

    def _check_fitted(self) -> None:
        if "model_" not in self.__dict__:
            raise NotFittedError(f"this {type(self).__name__} has not learned anything yet; call fit first")

    def _check_features(self, count: int) -> None:
        if count != self.n_features_in_:
            raise ValueError(
                f"X has {count} features per node; expected {self.n_features_in_}, as in the training data"
            )

    def _check_names(self, X: Any, axis: int, kind: str) -> None:
        """Columns by another name, or in another order, are not what was learned from."""
        found, known = names_of(X, axis), getattr(self, f"{kind}_names_", None)
        if found is None or known is None:  # one side has positions; numbers in another order are not these
            found, known = (names or [] for names in (found, known))
            named = found or known
            plain = [str(place) for place in range(len(named))]
            if set(named) != set(plain):
                return
            found, known = found or plain, known or plain
        if found == known:
            return
        first = next((pair for pair in zip(found, known, strict=False) if pair[0] != pair[1]), (len(found), len(known)))
        raise ValueError(
            f"X has the {kind} {first[0]!r} where the training data had {first[1]!r}; expected the same {kind}s in the "
            "same order"
        )

    def _describe(self) -> dict[str, Any]:
        """What a file holds beside parameters and tensors."""
        described = {
            "settings": asdict(self.settings_),
            "readout": list(self.readout_),
            "normalization": self.normalization_,
            "features": self.n_features_in_,
            "scale": self.scaler_.kind,
        }
        for name in ("feature_names", "node_names"):
            described[name] = getattr(self, f"{name}_", None)
        return described

    def _tensors(self) -> dict[str, Tensor]:
        tensors = {f"model.{name}": tensor for name, tensor in self.model_.state_dict().items()}
        return tensors | {f"scale.{name}": torch.from_numpy(one) for name, one in self.scaler_.tensors().items()}

    def _restore(self, described: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        """The fitted state from a file."""
        self.settings_ = NetworkSettings(**described["settings"])
        kind, options = described["readout"]
        self.readout_ = (kind, options)
        self.normalization_ = check_name("normalization", described["normalization"], NORMALIZATIONS)
        self.n_features_in_ = described["features"]
        self.scaler_ = Scaler(described["scale"], tensors["scale.mean"].numpy(), tensors["scale.deviation"].numpy())
        for name in ("feature_names", "node_names"):
            if described[name] is not None:
                setattr(self, f"{name}_", described[name])
        with torch.device("meta"):  # sizes are compared before any memory is taken
            weights = self._build(self.n_features_in_).state_dict()
        check_stored(self, described, tensors, weights)
        with seeded(0):
            self.model_ = self._build(self.n_features_in_)
        prefix = "model."
        weights = {name.removeprefix(prefix): one for name, one in tensors.items() if name.startswith(prefix)}
        self.model_.load_state_dict(weights)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """torch's random numbers from this seed inside, and as they were outside."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def auto_normalization(shift: Shift) -> str:
    """None for a graph that does not let signals grow; else symmetric if it is undirected, row if it is directed."""
    matrix = shift.to_scipy()
    if abs(matrix).sum(axis=1).max() <= 1 + 1e-6 or shift.spectral_radius() <= 1 + 1e-4:
        return "none"
    return "symmetric" if abs(matrix - matrix.T).max() <= 1e-6 * abs(matrix).max() else "row"


def parts(**arrays: Any) -> SimpleNamespace:
    """Arrays by name, as tensors."""
    return SimpleNamespace(**{name: torch.from_numpy(np.asarray(one)) for name, one in arrays.items()})
