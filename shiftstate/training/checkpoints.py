"""A training on disk: every few minutes all that is needed to go on, in one file that is whole or not there."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler

from shiftstate.graphs.ranks import Alone
from shiftstate.model_file import check_tensors, read_model, write_model
from shiftstate.training.judge import Judge

KIND = "training"


@dataclass
class TrainingState:
    """What changes while a model is trained."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    schedule: LRScheduler
    order: torch.Generator
    judge: Judge
    losses: list[float]


class Checkpoints:
    """Keep a training in a file, and go on from it.

    On a partitioned graph every process has the same weights, so the first one writes, and all of them read: the folder
    has to be one that all see. The number of processes may be another when the training goes on.

    Args:
        path: the file, in a folder that exists.
        minutes: between two times; 0 keeps every epoch.
        resume: whether to go on from the file, if it is there.
        settings: what the training depends on, in words and numbers; a file with others raises.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        minutes: float = 10.0,
        resume: bool = False,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.path, self.minutes, self.goes_on = Path(path), minutes, resume
        self.settings = dict(settings or {})
        self._last = time.monotonic()

    def resume(self, kept: TrainingState, ranks: Alone) -> tuple[int, float]:
        """Put everything back; returns the epochs done, and the limit of the loss."""
        found, failure = None, None
        if self.goes_on and self.path.exists():
            try:
                found = read_model(self.path, KIND, "fit(checkpoints=...)")
                self._check(found[0])
            except ValueError as error:
                failure = str(error)
        ranks.together(failure)
        if ranks.any(found is not None) and ranks.any(found is None):
            ranks.together(None if found else f"{self.path} is not there; expected a folder that all processes see")
        return (0, 0.0) if found is None else _restored(kept, *found)

    def _check(self, description: Any) -> None:
        told = description.get("settings") if isinstance(description, dict) else None
        if told != self.settings:
            own = told if isinstance(told, dict) else {}
            names = sorted({*own, *self.settings})
            other = [name for name in names if own.get(name) != self.settings.get(name)]
            raise ValueError(
                f"{self.path} is of a training with {', '.join(f'{name} = {own.get(name)!r}' for name in other[:3])}; "
                f"expected {', '.join(f'{name} = {self.settings.get(name)!r}' for name in other[:3])}, or another path"
            )

    def keep(self, kept: TrainingState, epoch: int, limit: float, ranks: Alone, last: bool) -> None:
        """Write the file if it is time; every process waits for it, and learns if it could not be written."""
        due = time.monotonic() - self._last >= 60 * self.minutes
        if not last and not ranks.any(due):
            return
        failure, best = None, kept.judge.best()
        if ranks.rank == 0:
            try:
                write_model(self.path, KIND, self._described(kept, epoch, limit, best), _tensors(kept))
            except ValueError as error:
                failure = str(error)
        ranks.together(failure)
        self._last = time.monotonic()

    def _described(self, kept: TrainingState, epoch: int, limit: float, best: dict[str, float]) -> dict[str, Any]:
        return {
            "settings": self.settings,
            "epoch": epoch,
            "limit": limit,
            "losses": kept.losses,
            "looks": {str(number): score for number, score in kept.judge.looks.items()},
            "best_epoch": kept.judge.best_epoch,
            "best": best,
            "groups": kept.optimizer.state_dict()["param_groups"],
            "schedule": kept.schedule.state_dict(),
        }


def _tensors(kept: TrainingState) -> dict[str, Tensor]:
    tensors = {f"model.{name}": tensor for name, tensor in kept.model.state_dict().items()}
    tensors |= {f"best.{name}": tensor for name, tensor in kept.judge.weights.items()}
    for number, state in kept.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in state.items()}
    return tensors | {"order": kept.order.get_state()}


def _restored(kept: TrainingState, description: dict[str, Any], tensors: dict[str, Tensor]) -> tuple[int, float]:
    def under(head: str) -> dict[str, Tensor]:
        return {name.removeprefix(head): tensor for name, tensor in tensors.items() if name.startswith(head)}

    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in under("optimizer.").items():
        number, _, key = name.partition(".")
        state.setdefault(int(number), {})[key] = tensor
    try:
        check_tensors("it", under("model."), kept.model.state_dict())
        kept.model.load_state_dict(under("model."))
        kept.optimizer.load_state_dict({"state": state, "param_groups": description["groups"]})
        kept.schedule.load_state_dict(description["schedule"])
        kept.order.set_state(tensors["order"])
        kept.losses[:] = description["losses"]
        kept.judge.looks = {int(number): score for number, score in description["looks"].items()}
        kept.judge.best_epoch, kept.judge.best_scores = description["best_epoch"], description["best"]
        kept.judge.weights = under("best.")
        return description["epoch"], description["limit"]
    except (KeyError, RuntimeError, ValueError, TypeError, AttributeError) as error:
        cause = str(error).splitlines()[0]
        raise ValueError(f"the checkpoint does not fit this model ({cause}); expected the same network") from None
