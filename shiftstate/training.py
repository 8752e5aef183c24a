"""Training: minimise the cross-entropy by Adam, look at the validation set after every epoch."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from shiftstate.checks import check_name, check_whole
from shiftstate.graphs import Shift

EXPLODED = 1e3
"""A run ends when an epoch's mean loss is beyond this many nats, and this many times the first batch's."""

JUDGED_AT_ONCE = 4
"""Training batches that are evaluated as one: without a backward nothing is kept per shift, so more fit."""

SCHEDULES = ("constant", "cosine")

WIDTH = 8
"""A batch of distinct signals is filled up to a multiple of this, so that kernels meet few sizes."""


class Split(Protocol):
    """Signals x (n, N, G) and their classes y (n)."""

    @property
    def x(self) -> Tensor: ...  # noqa: D102
    @property
    def y(self) -> Tensor: ...  # noqa: D102


class Splits(Protocol):
    """What a model learns from, is chosen by, and is judged on."""

    @property
    def train(self) -> Split: ...  # noqa: D102
    @property
    def valid(self) -> Split: ...  # noqa: D102
    @property
    def test(self) -> Split: ...  # noqa: D102


@dataclass(frozen=True)
class Epoch:
    """What is known after an epoch; handed to ``progress``."""

    number: int
    """Counted from 1."""
    loss: float
    """Mean training loss over the epoch's batches."""
    valid_accuracy: float


@dataclass(frozen=True)
class Fit:
    """How a training went. Accuracies are fractions of the test set."""

    accuracy_last: float
    """Of the model after the last epoch."""
    accuracy_best: float
    """Of the model after the epoch with the best validation accuracy; the earliest of equals."""
    best_epoch: int
    """Counted from 1."""
    losses: tuple[float, ...]
    """Mean training loss of every epoch."""
    valid_accuracies: tuple[float, ...]
    outcome: Literal["finished", "diverged"]
    seconds: float


def fit(
    model: nn.Module,
    shift: Shift,
    data: Splits,
    *,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    betas: tuple[float, float] = (0.9, 0.999),
    weight_decay: float = 0.0,
    clip: float | None = None,
    schedule: str = "constant",
    smoothing: float = 0.0,
    seed: int = 0,
    once: bool = False,
    device: str | torch.device = "cpu",
    progress: Callable[[Epoch], None] | None = None,
) -> Fit:
    """Train ``model(x, shift)`` → logits (n, C) in place; it is left as it stands after the last epoch.

    The order of the batches depends on ``seed`` alone, and the last partial batch of an epoch is dropped. A
    loss that is not finite or explodes, or weights that are not finite, end the run with the outcome "diverged": a
    result, not an error.

    Args:
        model: any module called as ``model(x, shift)``.
        shift: the graph of all signals.
        data: train, valid and test, each with signals ``x`` (n, N, G) and classes ``y`` (n).
        epochs: passes over the training set.
        batch_size: signals in a step.
        learning_rate: of Adam.
        betas: of Adam.
        weight_decay: decoupled, as in AdamW; 0 is Adam.
        clip: largest norm of the gradient, more than 0; None leaves it as it is.
        schedule: of the learning rate, step by step: "constant", or "cosine" down to 0.
        smoothing: of the labels: this share of each is spread evenly over all classes, against too much certainty.
        seed: of the batch order.
        once: equal signals of a batch go through the model once and share their logits: the same steps but for
            rounding, in less time where signals repeat. For the CPU, and for models that treat each signal by
            itself: no batch normalisation, no dropout.
        device: where to train.
        progress: called after every epoch.

    Example:
        >>> import torch, shiftstate as ss
        >>> from types import SimpleNamespace
        >>> x = torch.randn(200, 3, 1, generator=torch.Generator().manual_seed(0))
        >>> split = SimpleNamespace(x=x, y=(x[:, 0, 0] > 0).long())
        >>> shift = ss.Shift.from_edges([[0, 1, 2], [1, 2, 0]])
        >>> net = ss.Network("gcnn", channels=[1, 4], K=1, readout=ss.FlattenReadout(num_nodes=3, num_outputs=2))
        >>> data = SimpleNamespace(train=split, valid=split, test=split)
        >>> ss.fit(net, shift, data, epochs=2, batch_size=20, learning_rate=0.01).outcome
        'finished'
    """
    train, valid, test = (_Signals(split, device, once) for split in (data.train, data.valid, data.test))
    _check(len(train.y), epochs, batch_size, schedule, smoothing, clip)
    model, shift = model.to(device), shift.to(device)
    one_kernel = torch.device(device).type in ("cpu", "cuda")
    optimizer = torch.optim.AdamW(model.parameters(), learning_rate, betas, weight_decay=weight_decay, fused=one_kernel)
    steps = epochs * (len(train.y) // batch_size)
    decay = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _factor(schedule, step / steps))
    judged = JUDGED_AT_ONCE * batch_size
    order = torch.Generator().manual_seed(seed)
    began = time.perf_counter()
    losses: list[float] = []
    accuracies: list[float] = []
    best_epoch, accuracy_best, diverged, limit = 0, 0.0, False, 0.0
    for number in range(1, epochs + 1):
        each = _train_epoch(model, shift, train, batch_size, optimizer, decay, order, clip, smoothing)
        losses.append(fmean(each))
        limit = limit or EXPLODED * max(1.0, each[0])
        accuracies.append(valid.accuracy(model, shift, judged))
        if best_epoch == 0 or accuracies[-1] > accuracies[best_epoch - 1]:
            best_epoch, accuracy_best = number, test.accuracy(model, shift, judged)
        if progress is not None:
            progress(Epoch(number, losses[-1], accuracies[-1]))
        diverged = not losses[-1] < limit or not _all_finite(model)  # a loss of NaN too
        if diverged:
            break
    accuracy_last = test.accuracy(model, shift, judged)
    return Fit(
        accuracy_last,
        accuracy_best,
        best_epoch,
        tuple(losses),
        tuple(accuracies),
        "diverged" if diverged else "finished",
        time.perf_counter() - began,
    )


class _Signals:
    """A split on its device: the signal of sample i is ``x[index[i]]``, or ``x[i]`` without an index."""

    def __init__(self, split: Split, device: str | torch.device, once: bool) -> None:
        x, y = split.x, split.y
        if len(x) != len(y) or len(y) == 0:
            raise ValueError(f"a split holds {len(x)} signals and {len(y)} classes; expected as many, and some")
        self.x, self.y = x.to(device), y.to(device)
        self.index: Tensor | None = None
        if once:
            distinct, index = torch.unique(self.x, dim=0, return_inverse=True)
            if len(distinct) < len(self.x):
                self.x, self.index = distinct, index

    def logits(self, model: nn.Module, shift: Shift, batch: Tensor) -> Tensor:
        """The model's answers to some samples (n), in their order."""
        if self.index is None:
            return model(self.x[batch], shift)  # type: ignore[no-any-return]
        rows, back = torch.unique(self.index[batch], return_inverse=True)
        extra = min(-len(rows) % WIDTH, len(batch) - len(rows))
        filled = torch.cat([rows, rows[:1].expand(extra)])
        return model(self.x[filled], shift).index_select(0, back)  # type: ignore[no-any-return]

    def accuracy(self, model: nn.Module, shift: Shift, batch_size: int) -> float:
        """The fraction of samples whose largest logit is that of their class."""
        named = _classes(model, shift, self.x, batch_size)
        return int(((named if self.index is None else named[self.index]) == self.y).sum()) / len(self.y)


def _train_epoch(
    model: nn.Module,
    shift: Shift,
    train: _Signals,
    batch_size: int,
    optimizer: torch.optim.Optimizer,
    decay: torch.optim.lr_scheduler.LRScheduler,
    order: torch.Generator,
    clip: float | None,
    smoothing: float,
) -> list[float]:
    """The loss of every step."""
    model.train()
    y = train.y
    count = len(y) // batch_size
    losses = torch.empty(count, device=y.device, dtype=train.x.dtype)  # read once an epoch: more would stall a GPU
    shuffled = torch.randperm(len(y), generator=order).to(y.device)
    for step, batch in enumerate(shuffled[: count * batch_size].view(count, batch_size)):
        loss = cross_entropy(train.logits(model, shift, batch), y[batch], label_smoothing=smoothing)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        decay.step()
        losses[step] = loss.detach()
    return losses.tolist()


def _all_finite(model: nn.Module) -> bool:
    return all(bool(parameter.isfinite().all()) for parameter in model.parameters())


def accuracy(model: nn.Module, shift: Shift, x: Tensor, y: Tensor, batch_size: int = 100) -> float:
    """The fraction of signals x (n, N, G) whose largest logit is that of their class y (n)."""
    return int((_classes(model, shift, x, batch_size) == y).sum()) / len(y)


@torch.no_grad()
def _classes(model: nn.Module, shift: Shift, x: Tensor, batch_size: int) -> Tensor:
    model.eval()
    firsts = range(0, len(x), batch_size)
    return torch.cat([model(x[first : first + batch_size], shift).argmax(-1) for first in firsts])


def _factor(schedule: str, done: float) -> float:
    return 1.0 if schedule == "constant" else (1 + math.cos(math.pi * min(done, 1.0))) / 2


def _check(num_train: int, epochs: int, batch_size: int, schedule: str, smoothing: float, clip: float | None) -> None:
    check_whole("epochs", epochs, 1)
    check_name("schedule", schedule, SCHEDULES)
    if not 0 <= smoothing < 1:
        raise ValueError(f"smoothing is {smoothing}; expected a share of the label, from 0 to less than 1")
    if clip is not None and not clip > 0:
        raise ValueError(f"clip is {clip}; expected the largest norm of the gradient, more than 0, or None")
    if check_whole("batch_size", batch_size, 1) > num_train:
        raise ValueError(
            f"batch_size is {batch_size}; expected at most {num_train}, the size of the training set "
            "(the last partial batch is dropped, so not one would be left)"
        )
