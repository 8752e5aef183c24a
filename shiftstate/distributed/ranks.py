"""The processes that hold the parts of one graph, and all that they say to each other.

What is minimised is the sum of the losses of all processes. So the gradient of a sum over processes is again such a
sum, and so is the gradient of a weight, which every process has a copy of.
"""

from __future__ import annotations

import atexit
import gc
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from weakref import WeakSet

import torch
import torch.distributed as dist
from torch import Tensor, nn

from shiftstate.distributed.failures import RankError, lost
from shiftstate.graphs.ranks import Alone


class Ranks(Alone):
    """The processes of a group.

    Args:
        group: of torch.distributed; None is the default one.
    """

    def __init__(self, group: Any = None) -> None:
        self.group = group
        self.rank, self.count = dist.get_rank(group), dist.get_world_size(group)
        self._known: WeakSet[nn.Module] = WeakSet()
        _end_groups_before_python()

    def run(self, what: str, action: Callable[[], Any]) -> Any:
        """An exchange; where it fails, one line says who was lost."""
        try:
            return action()
        except RuntimeError as error:
            raise self._lost(what, error) from None

    def _lost(self, what: str, error: BaseException) -> RankError:
        members = dist.get_process_group_ranks(self.group or dist.group.WORLD)
        return lost(members[self.rank], members, what, error)

    def summed(self, x: Tensor, largest: bool = False) -> Tensor:
        """Σ of x over all processes, or the largest, in place; without gradients."""
        kind = dist.ReduceOp.MAX if largest else dist.ReduceOp.SUM
        self.run("a sum over all ranks", lambda: dist.all_reduce(x, kind, self.group))
        return x

    def total(self, x: Tensor) -> Tensor:
        """Σ of x over all processes, with gradients."""
        total: Tensor = _Total.apply(x, self)  # type: ignore[no-untyped-call]
        return total

    def any(self, flag: bool) -> bool:
        """Whether it is so in any process."""
        return bool(self.summed(torch.tensor(int(flag)), largest=True))

    def collected(self, x: Tensor) -> Tensor:
        """The rows of x of all processes, one process after the other; without gradients."""
        sizes = torch.zeros(self.count, dtype=torch.int64)
        sizes[self.rank] = len(x)
        longest = int(self.summed(sizes).max())
        padded = x.new_zeros(longest, *x.shape[1:])
        padded[: len(x)] = x.detach()
        found = [torch.empty_like(padded) for _ in range(self.count)]
        self.run("the collection of rows", lambda: dist.all_gather(found, padded, self.group))
        return torch.cat([rows[:size] for rows, size in zip(found, sizes.tolist(), strict=True)])

    def said(self, value: Any) -> list[Any]:
        """What every process says, in the order of their numbers; a small object."""
        answers: list[Any] = [None] * self.count
        self.run("the comparison of ranks", lambda: dist.all_gather_object(answers, value, self.group))
        return answers

    def together(self, failure: str | None) -> None:
        """Raise in every process if one of them has failed; ``failure`` says what happened in this one."""
        if not self.any(failure is not None):
            return
        by_text: dict[str, list[str]] = {}
        for rank, text in enumerate(self.said(failure)):
            if text is not None:
                by_text.setdefault(text, []).append(str(rank))
        raise ValueError("; ".join(f"rank {', '.join(some)}: {text}" for text, some in by_text.items()))

    def agree(self, what: str, value: str) -> None:
        """Raise in every process unless all of them have the same; names those that differ from most."""
        number = int.from_bytes(hashlib.blake2b(value.encode(), digest_size=7).digest(), "little")
        ends = self.summed(torch.tensor([number, -number]), largest=True)
        if int(ends[0]) == -int(ends[1]):
            return
        values = self.said(value)
        usual = max(values, key=values.count)
        others = ", ".join(f"rank {rank} has {one}" for rank, one in enumerate(values) if one != usual)
        raise ValueError(f"the ranks differ in {what}: {others}; expected {usual}, as in rank {values.index(usual)}")

    @contextmanager
    def calling(self, module: nn.Module, x: Tensor) -> Iterator[None]:
        """One call of a module: the same one in all processes, with weights whose gradients are summed over them."""
        call = f"{module} on {tuple(x.shape[:-2])} signals of {str(x.dtype).removeprefix('torch.')}"
        weights = {name: weight for name, weight in _weights(module).items() if weight.requires_grad}
        if module not in self._known:  # once: weights that are equal stay so
            self._known.add(module)
            call += f" with weights that sum up to {_checksum(module)!r}"
        self.agree("the call", f"{call}{'' if torch.is_grad_enabled() else ', without gradients'}")
        if not weights or not torch.is_grad_enabled():
            yield
            return
        copies = _Replicated.apply(self, *weights.values())  # type: ignore[no-untyped-call]
        with _exchanged(module, dict(zip(weights, copies, strict=True))):
            yield


class _Total(torch.autograd.Function):
    """Σ over processes; every process's loss counts, so the gradient is such a sum as well."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, ranks: Ranks) -> Tensor:
        ctx.ranks = ranks
        return ranks.summed(x.clone(memory_format=torch.contiguous_format))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _Total.apply(grad, ctx.ranks), None  # type: ignore[no-untyped-call]


class _Replicated(torch.autograd.Function):
    """Weights as they are; their gradients are summed over all processes: one message, in float64."""

    @staticmethod
    def forward(ctx: Any, ranks: Ranks, *weights: Tensor) -> tuple[Tensor, ...]:
        ctx.ranks = ranks
        ctx.kinds = [(weight.shape, weight.dtype) for weight in weights]
        return tuple(weight.view_as(weight) for weight in weights)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        flat = torch.cat([grad.flatten().double() for grad in grads])
        parts = ctx.ranks.total(flat).split([shape.numel() for shape, _ in ctx.kinds])
        return None, *(part.view(shape).to(dtype) for part, (shape, dtype) in zip(parts, ctx.kinds, strict=True))


def _weights(module: nn.Module) -> dict[tuple[nn.Module, str], Tensor]:
    """The parameters of a module and its children by the place where they are kept, shared ones once per place."""
    kept = ((owner, owner._parameters.items()) for owner in module.modules())
    return {(owner, name): weight for owner, weights in kept for name, weight in weights if weight is not None}


def _checksum(module: nn.Module) -> float:
    """A number that tells different weights apart."""
    sums = [float(weight.detach().double().sum()) for weight in _weights(module).values()]
    return sum(place * one for place, one in enumerate(sums, 1))


@contextmanager
def _exchanged(module: nn.Module, copies: dict[tuple[nn.Module, str], Tensor]) -> Iterator[None]:
    """The module with other tensors in place of its parameters, as long as the context lasts."""
    before = {place: place[0]._parameters[place[1]] for place in copies}
    try:
        for (owner, name), copy in copies.items():
            owner._parameters[name] = copy  # type: ignore[assignment]
        yield
    finally:
        for (owner, name), parameter in before.items():
            owner._parameters[name] = parameter


@cache
def _end_groups_before_python() -> None:
    """At exit, end what is left of the group: ended after Python, its threads would abort the process."""

    def end() -> None:
        if dist.is_initialized():
            dist.destroy_process_group()
        gc.collect()

    atexit.register(end)
