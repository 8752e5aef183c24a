"""The parts of the data, checked once: what a model learns from, is chosen by, and is judged on."""

from typing import Any, Protocol

import torch
from torch import Tensor, nn

from shiftstate.graphs import Shift
from shiftstate.graphs.ranks import Alone
from shiftstate.tasks import Task
from shiftstate.tasks.targets import as_numbers

WIDTH = 8
"""A batch of distinct signals is filled up to a multiple of this, so that kernels meet few sizes."""


class TargetedSignals(Protocol):
    """Signals x (n, N, G) and their targets y (n); for tasks on nodes y (n, N), and a ``mask`` of y if it has one.

    A ``shift`` of its own if its signals are on another graph than those of the other parts.
    """

    @property
    def x(self) -> Tensor: ...  # noqa: D102
    @property
    def y(self) -> Tensor: ...  # noqa: D102


class Splits(Protocol):
    """Three times signals and targets; or, for tasks on nodes, one ``x`` and ``y`` and three boolean masks of y."""

    @property
    def train(self) -> Any: ...  # noqa: D102
    @property
    def valid(self) -> Any: ...  # noqa: D102
    @property
    def test(self) -> Any: ...  # noqa: D102


class Part:
    """One part of the data on its device.

    The signal of sample i is ``x[i]``, or ``x[index[i]]`` where equal signals are kept once. A part with a single
    signal (N, G) has no samples to choose from: every step sees all of it.
    """

    shift: Shift | None = None
    """The graph of this part's signals, where it is another one than that of the call."""

    def __init__(
        self, name: str, x: Tensor, y: Any, mask: Any, task: Task, device: Any, share_equal: bool, ranks: Alone
    ) -> None:
        targets = task.targets(y, f"{name}.y")
        _check_targets(name, x, targets, task)
        self.name, self.ranks = name, ranks
        self.single = task.per_node and x.dim() == 2
        self.node_axes = x.dim() - 1 if task.per_node else 0
        self.mask = None if mask is None else _checked_mask(name, mask, targets, self.node_axes).to(device)
        self.x, self.y = x, targets.to(device)
        self.known = self.y if self.mask is None else self.y[self.mask]
        """The targets that count."""
        self.index: Tensor | None = None
        if share_equal and not self.single and ranks.count == 1:
            distinct, index = torch.unique(x, dim=0, return_inverse=True)
            if len(distinct) < len(x):
                self.x, self.index = distinct, index

    def samples(self) -> Tensor | None:
        """The samples with at least one target; None if all have."""
        if self.mask is None or self.single:
            return None
        told = self.ranks.total(self.mask.flatten(1).any(1).long()) > 0
        return None if bool(told.all()) else told.nonzero().squeeze(1)

    def outputs(self, model: nn.Module, shift: Shift, batch: Tensor | None) -> Tensor:
        """The model's outputs for some samples (n), in their order; for the whole part without ``batch``."""
        shift = self.shift or shift
        if batch is None:
            whole: Tensor = model(self.x, shift)
            return whole if self.index is None else whole.index_select(0, self.index)
        if self.index is None:
            return model(self.x[batch], shift)  # type: ignore[no-any-return]
        rows, back = torch.unique(self.index[batch], return_inverse=True)
        extra = min(-len(rows) % WIDTH, len(batch) - len(rows))
        filled = torch.cat([rows, rows[:1].expand(extra)])
        return model(self.x[filled], shift).index_select(0, back)  # type: ignore[no-any-return]

    def selected(self, outputs: Tensor, batch: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Outputs and targets, where there are targets: (m, …) and (m) or (m, T)."""
        y = self.y if batch is None else self.y[batch]
        if not self.node_axes:
            return outputs, y
        if outputs.shape[: self.node_axes] != y.shape[: self.node_axes]:
            raise ValueError(
                f"the model gives outputs {tuple(outputs.shape)} for nodes {tuple(y.shape[: self.node_axes])}; "
                "expected outputs per node; a NodeReadout gives them"
            )
        if self.mask is None:
            return outputs.flatten(0, self.node_axes - 1), y.flatten(0, self.node_axes - 1)
        mask = self.mask if batch is None else self.mask[batch]
        if mask.dim() == outputs.dim() - 1 and mask.dim() > self.node_axes:  # one output, without its axis in the mask
            outputs = outputs.squeeze(-1)
        return outputs[mask], y[mask]

    def all_known(self) -> Tensor:
        """The targets that count, of all processes; there has to be one."""
        known = self.ranks.collected(self.known) if self.node_axes else self.known
        if self.mask is not None and known.numel() == 0:
            raise ValueError(f"the mask of {self.name} is False everywhere; expected at least one node with a target")
        return known

    def judged(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs and targets of the whole part, wherever its nodes are."""
        outputs, targets = self.selected(outputs)
        if not self.node_axes:
            return outputs, targets
        return self.ranks.collected(outputs), self.ranks.collected(targets)

    @torch.no_grad()
    def evaluated(self, model: nn.Module, shift: Shift, at_once: int | None) -> Tensor:
        """The outputs of the model for all samples, in evaluation mode, so many at a time."""
        whole = evaluated(model, self.shift or shift, self.x, None if self.single else at_once)
        return whole if self.index is None else whole[self.index]


@torch.no_grad()
def evaluated(model: nn.Module, shift: Shift, x: Tensor, at_once: int | None) -> Tensor:
    """The outputs of the model in evaluation mode for all of x; for so many signals at a time, or all at once."""
    model.eval()
    if at_once is None:
        whole: Tensor = model(x, shift)
        return whole
    return torch.cat([model(x[first : first + at_once], shift) for first in range(0, len(x), at_once)])


def read_parts(
    data: Splits, task: Task, device: str | torch.device, share_equal: bool, ranks: Alone
) -> tuple[Part, Part, Part | None]:
    """Train, valid and test of the data; test is optional. What is wrong in one process is raised in all of them."""
    parts, failure = None, None
    try:
        parts = _read_parts(data, task, device, share_equal, ranks)
    except ValueError as error:
        failure = str(error)
    ranks.together(failure)
    assert parts is not None
    return parts


def _read_parts(
    data: Splits, task: Task, device: str | torch.device, share_equal: bool, ranks: Alone
) -> tuple[Part, Part, Part | None]:
    shared = _signals("x", data.x, device) if task.per_node and hasattr(data, "x") else None

    def part(name: str) -> Part:
        split = getattr(data, name)
        if shared is not None:
            return Part(name, shared, data.y, split, task, device, share_equal, ranks)  # type: ignore[attr-defined]
        if not hasattr(split, "x") or not hasattr(split, "y"):
            raise ValueError(
                f"data.{name} is a {type(split).__name__}; expected signals and targets, .x and .y"
                + ("; or data.x, data.y and a boolean mask of nodes per split" if task.per_node else "")
            )
        x = _signals(f"{name}.x", split.x, device)
        mask = getattr(split, "mask", None) if task.per_node else None
        read = Part(name, x, split.y, mask, task, device, share_equal, ranks)
        read.shift = _own_graph(name, split, device)
        return read

    return part("train"), part("valid"), None if getattr(data, "test", None) is None else part("test")


def _own_graph(name: str, split: Any, device: str | torch.device) -> Shift | None:
    shift = getattr(split, "shift", None)
    if shift is not None and not isinstance(shift, Shift):
        raise ValueError(
            f"{name}.shift is a {type(shift).__name__}; expected a Shift, or none for the graph of the call"
        )
    return None if shift is None else shift.to(device)


def check_dtype(model: nn.Module, x: Tensor) -> None:
    """Signals have the dtype of the model's weights, if these have one."""
    dtypes = {parameter.dtype for parameter in model.parameters()}
    if len(dtypes) == 1 and x.is_floating_point() and x.dtype not in dtypes:
        (own,) = dtypes
        names = {torch.float32: "x.float()", torch.float64: "x.double()"}
        raise ValueError(
            f"x is {_short(x.dtype)} and the model {_short(own)}; expected one dtype: {names.get(own, f'x.to({own})')}"
        )


def _signals(name: str, x: Any, device: str | torch.device) -> Tensor:
    """x as a tensor on its device; what is sparse or not finite is named."""
    signals = as_numbers(x, name)
    if signals.layout != torch.strided:
        raise ValueError(f"{name} is a sparse tensor; expected a dense one: x.to_dense()")
    finite = signals.isfinite()
    if not bool(finite.all()):
        bad = (~finite).nonzero()
        first = tuple(bad[0].tolist())
        raise ValueError(
            f"{name} holds {signals[first].item()} at index {first}, the first of {len(bad)} values that are not "
            "finite; expected finite signals; was a feature missing, or divided by zero?"
        )
    return signals.to(device)


def _check_targets(name: str, x: Tensor, y: Tensor, task: Task) -> None:
    kind = "classes" if not y.is_floating_point() else "targets"
    if task.per_node:
        if x.dim() not in (2, 3):
            raise ValueError(f"x has the shape {tuple(x.shape)}; expected (N, channels) or (n, N, channels)")
        lead = tuple(x.shape[:-1])
        if y.dim() not in task.target_axes(x) or tuple(y.shape[: len(lead)]) != lead:
            raise ValueError(
                f"{name} holds {kind} {tuple(y.shape)} for signals {tuple(x.shape)}; expected {lead}, one per node"
            )
        return
    if y.dim() == 2 and y.shape[1] == 1 and 2 not in task.target_axes(x):
        raise ValueError(f"{name}.y has the shape {tuple(y.shape)}; expected ({len(y)},): y.squeeze(1)")
    if y.dim() not in task.target_axes(x):
        raise ValueError(f"{name}.y has the shape {tuple(y.shape)}; expected ({len(x)},), one per signal")
    if len(x) != len(y) or len(y) == 0:
        raise ValueError(f"{name} holds {len(x)} signals and {len(y)} {kind}; expected as many, and some")


def _checked_mask(name: str, mask: Any, y: Tensor, node_axes: int) -> Tensor:
    """A boolean mask in the shape of the targets; one of nodes serves all signals, and all targets of a node."""
    found = as_numbers(mask, f"the mask of {name}")
    if found.dtype != torch.bool:
        raise ValueError(f"the mask of {name} holds {_short(found.dtype)}; expected True and False, one per node")
    nodes = y.shape[:node_axes]
    if node_axes == 2 and found.shape == nodes[1:]:
        found = found.expand(nodes)
    if found.shape not in (y.shape, nodes):
        raise ValueError(
            f"the mask of {name} has the shape {tuple(found.shape)}; expected {tuple(nodes)}, one per node"
        )
    return found


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
