"""The training loop: it knows a task by its methods, and no task, dataset or layer by name."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import fmean

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler

from shiftstate.graphs import Shift
from shiftstate.tasks import Task
from shiftstate.training.arguments import check_batch_size, check_call, check_options, check_task
from shiftstate.training.checkpoints import Checkpoints, TrainingState
from shiftstate.training.judge import Judge
from shiftstate.training.optimizer import adam, scheduled
from shiftstate.training.parts import Part, Splits, check_dtype, evaluated, read_parts
from shiftstate.training.result import Epoch, Fit

EXPLODED = 1e3
"""A run ends when an epoch's mean loss is beyond this many nats, and this many times the first batch's."""

JUDGED_AT_ONCE = 4
"""Training batches that are evaluated as one: without a backward nothing is kept per shift, so more fit."""


def fit(
    model: nn.Module,
    shift: Shift,
    data: Splits,
    *,
    task: Task | None = None,
    epochs: int,
    batch_size: int | None = None,
    learning_rate: float,
    betas: tuple[float, float] = (0.9, 0.999),
    weight_decay: float = 0.0,
    clip: float | None = None,
    schedule: str = "constant",
    smoothing: float = 0.0,
    patience: int | None = None,
    keep_best: bool = False,
    look_every: int = 1,
    seed: int = 0,
    share_equal: bool = False,
    device: str | torch.device = "cpu",
    progress: Callable[[Epoch], None] | None = None,
    checkpoints: Checkpoints | None = None,
) -> Fit:
    """Train ``model(x, shift)`` in place; it is left as it stands after the last epoch, or after the best one.

    The order of the batches depends on ``seed`` alone, and the last partial batch of an epoch is dropped. A
    loss that is not finite or explodes, or weights that are not finite, end the run with the outcome "diverged": a
    result, not an error.

    Args:
        model: any module called as ``model(x, shift)``.
        shift: the graph of all signals; a part of the data with a ``shift`` of its own is on that graph instead.
        data: train, valid and test, each with signals ``x`` (n, N, G) and targets ``y`` (n). For tasks on nodes y is
            (n, N), and ``mask``, True where a target counts, is optional; or the data have one ``x`` (N, G) or
            (n, N, G) and one ``y``, and train, valid and test are boolean masks of the nodes. Test may be None.
        task: what is learned; by default `SignalClassification`, judged by accuracy alone.
        epochs: passes over the training set.
        batch_size: signals in a step; None takes all of them in one step, in their order. A single signal (N, G) is
            always taken whole.
        learning_rate: of Adam; with "onecycle" the highest one.
        betas: of Adam.
        weight_decay: decoupled, as in AdamW; 0 is Adam. Of all parameters, or of those that the model's
            ``decayed_parameters()`` names.
        clip: largest norm of the gradient, more than 0; None leaves it as it is.
        schedule: of the learning rate, step by step: "constant", "cosine" down to 0, or "onecycle": up during the
            first tenth of the steps, then down to 0 (`torch.optim.lr_scheduler.OneCycleLR`).
        smoothing: of the labels, of the default task; other tasks have an argument of their own.
        patience: stop after so many epochs without a better validation score; None trains all epochs.
        keep_best: leave the model as it was after the epoch with the best validation score.
        look_every: look at the validation data after every so many epochs, and after the last one.
        seed: of the batch order.
        share_equal: equal signals of a batch go through the model once and share their outputs: the same steps except
            for rounding, in less time where signals repeat. For the CPU, and for models that treat each signal by
            itself: no batch normalisation, no dropout.
        device: where to train.
        progress: called after every epoch.
        checkpoints: where to keep the training every few minutes, and whether to go on from there.

    On a partitioned graph every process calls this with its own nodes' rows of x, y and masks; the losses and scores
    are those of the whole graph. Signals that have one target each, pooled over the nodes, work as well.

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
    check_call(model, shift, data)
    task = check_task(task, smoothing)
    options = check_options(
        {
            "epochs": epochs,
            "batch_size": batch_size,
            "learning_rate": learning_rate,
            "betas": betas,
            "weight_decay": weight_decay,
            "clip": clip,
            "schedule": schedule,
            "patience": patience,
            "keep_best": keep_best,
            "look_every": look_every,
            "seed": seed,
            "share_equal": share_equal,
            "device": device,
            "progress": progress,
            "checkpoints": checkpoints,
        }
    )
    train, valid, test = read_parts(data, task, device, share_equal, shift.ranks)
    check_dtype(model, train.x)
    batch_size = check_batch_size(options.batch_size, train)
    model, shift = model.to(device), shift.to(device)
    targets = {"train.y": train, "valid.y": valid} | ({} if test is None else {"test.y": test})
    known = {name: part.all_known() for name, part in targets.items()}
    task = task.prepared(known["train.y"])
    optimizer = adam(model, options.learning_rate, options.betas, options.weight_decay, device)
    steps = _Steps(model, shift, task, train, batch_size, options.clip, optimizer, options.seed)
    steps.schedule = scheduled(optimizer, schedule, options.learning_rate, epochs * steps.per_epoch)
    steps.known = known
    judge = Judge(model, shift, task, valid, test, keep_best, batch_size and JUDGED_AT_ONCE * batch_size)
    began = time.perf_counter()
    losses: list[float] = []
    diverged, limit, done = False, 0.0, 0
    kept = TrainingState(model, optimizer, steps.schedule, steps.order, judge, losses)
    if checkpoints is not None:
        done, limit = checkpoints.resume(kept, shift.ranks)
    for number in range(done + 1, epochs + 1):
        each = steps.epoch()
        losses.append(fmean(each))
        limit = limit or EXPLODED * max(1.0, each[0])
        diverged = not losses[-1] < limit or not _all_finite(model)  # a loss of NaN too
        look = diverged or number % look_every == 0 or number == epochs
        score = judge.look(number) if look else None
        if progress is not None:
            progress(Epoch(number, losses[-1], score))
        if diverged or (patience is not None and look and number - judge.best_epoch >= patience):
            break
        if checkpoints is not None and judge.looks:
            checkpoints.keep(kept, number, limit, shift.ranks, last=number == epochs)
    last, best = judge.scores()
    return Fit(
        last,
        best,
        judge.best_epoch,
        tuple(losses),
        tuple(judge.looks.values()),
        "diverged" if diverged else "finished",
        time.perf_counter() - began,
        task.metric.name,
        tuple(judge.looks),
    )


@dataclass
class _Steps:
    """The steps of an epoch."""

    model: nn.Module
    shift: Shift
    task: Task
    train: Part
    batch_size: int | None
    clip: float | None
    optimizer: torch.optim.Optimizer
    seed: int
    schedule: LRScheduler = field(init=False)
    known: dict[str, Tensor] = field(default_factory=dict)
    """Targets that are held against the model's first outputs."""

    def __post_init__(self) -> None:
        self.order = torch.Generator().manual_seed(self.seed)
        self.samples = self.train.samples()
        self.count = len(self.train.y if self.samples is None else self.samples)
        self.per_epoch = 1 if self.batch_size is None else self.count // self.batch_size
        self.checked = False

    def epoch(self) -> list[float]:
        """The loss of every step."""
        self.model.train()
        x = self.train.x
        dtype = x.dtype if x.is_floating_point() else torch.get_default_dtype()
        losses = torch.empty(self.per_epoch, device=x.device, dtype=dtype)  # read once per epoch: more stalls a GPU
        for step, batch in enumerate(self._batches()):
            losses[step] = self._step(batch)
        return losses.tolist()

    def _batches(self) -> list[Tensor | None]:
        if self.batch_size is None:
            return [None]
        shuffled = torch.randperm(self.count, generator=self.order).to(self.train.y.device)
        if self.samples is not None:
            shuffled = self.samples[shuffled]
        return [*shuffled[: self.per_epoch * self.batch_size].view(self.per_epoch, self.batch_size)]

    def _step(self, batch: Tensor | None) -> Tensor:
        outputs, targets = self.train.selected(self.train.outputs(self.model, self.shift, batch), batch)
        if not self.checked:
            self._check(outputs, targets)
        loss = self._loss(outputs, targets)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if self.clip is not None:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        self.schedule.step()
        return self.shift.ranks.total(loss.detach())

    def _loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """What this process adds to the loss: its nodes' share, or its share of what all processes know."""
        ranks = self.shift.ranks
        if ranks.count == 1:
            return self.task.loss(outputs, targets)
        if not self.task.per_node:
            return self.task.loss(outputs, targets) / ranks.count
        mass = self.task.mass(outputs, targets)
        total = ranks.total(mass)
        if len(targets) == 0:
            return outputs.sum() * 0  # none of its nodes count, and still it takes part in the backward
        return self.task.loss(outputs, targets) * (mass / total).to(outputs.dtype)

    def _check(self, outputs: Tensor, targets: Tensor) -> None:
        """Whether the targets fit what the model gives, which is not known before its first outputs."""
        flat, _ = self.task.flat(outputs, targets)
        for name, known in self.known.items():
            self.task.check_values(flat, known, name)
        self.checked = True


def accuracy(model: nn.Module, shift: Shift, x: Tensor, y: Tensor, batch_size: int = 100) -> float:
    """The fraction of signals x (n, N, G) whose largest logit is that of their class y (n)."""
    return int((evaluated(model, shift, x, batch_size).argmax(-1) == y).sum()) / len(y)


def _all_finite(model: nn.Module) -> bool:
    return all(bool(parameter.isfinite().all()) for parameter in model.parameters())
