"""Who else holds rows of a graph. Of an ordinary shift nobody does; `shiftstate.distributed` has the other answer.

Layers, readouts and training ask ``shift.ranks`` wherever a sum over nodes, or over what was learned from them, has to
be one over the whole graph. They know nothing of processes.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from torch import Tensor, nn

_NOTHING: AbstractContextManager[Any] = nullcontext()


class Alone:
    """One process holds the whole graph: every sum is complete as it is."""

    rank: int = 0
    """The number of this process."""
    count: int = 1
    """How many processes hold rows of the graph."""

    def calling(self, module: nn.Module, x: Tensor) -> AbstractContextManager[Any]:
        """A context for one call of a module on x: in it, the gradients of its weights become global."""
        return _NOTHING

    def total(self, x: Tensor) -> Tensor:
        """Σ of x over all processes, with gradients."""
        return x

    def collected(self, x: Tensor) -> Tensor:
        """The rows of x of all processes, one process after the other; without gradients."""
        return x

    def said(self, value: Any) -> list[Any]:
        """What every process says, in the order of their numbers; a small object."""
        return [value]

    def any(self, flag: bool) -> bool:
        """Whether it is so in any process."""
        return flag

    def together(self, failure: str | None) -> None:
        """Raise in every process if one of them has failed; ``failure`` says what happened in this one."""
        if failure is not None:
            raise ValueError(failure)


ALONE = Alone()
