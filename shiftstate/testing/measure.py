"""What the contract compares: the output and all gradients of a call, and the memory that it takes."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from shiftstate.graphs import Shift
from shiftstate.layers import Layer
from shiftstate.testing.inputs import signal


def results(layer: Layer, shift: Shift, x: Tensor | None = None, call: Callable[..., Tensor] | None = None) -> Any:
    """The output, and the gradients of x and of every parameter, under a fixed random cotangent."""
    x = (signal(2) if x is None else x).detach().requires_grad_()
    y = (layer if call is None else call)(x, shift)
    cotangent = torch.randn(y.shape, generator=torch.Generator().manual_seed(11), dtype=y.dtype)
    names, parameters = zip(*layer.named_parameters(), strict=True)
    gradients = torch.autograd.grad(y, (x, *parameters), cotangent)
    return {"output": y.detach()} | dict(zip(("gradient of x", *names), gradients, strict=True))


class LiveMemory(TorchDispatchMode):
    """Sums the storages of all results that are alive after each operation, and keeps the largest sum."""

    def __init__(self, *given: Tensor) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._given = {tensor.untyped_storage().data_ptr() for tensor in given}
        self._live: dict[int, tuple[StorageWeakRef, int]] = {}
        self.peak = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor) and leaf.untyped_storage().data_ptr() not in self._given:
                storage = leaf.untyped_storage()
                self._live[storage._cdata] = (StorageWeakRef(storage), storage.nbytes())  # type: ignore[no-untyped-call]
        self._live = {key: entry for key, entry in self._live.items() if not entry[0].expired()}  # type: ignore[no-untyped-call]
        self.peak = max(self.peak, sum(size for _, size in self._live.values()))
        return result


@torch.no_grad()
def peak_bytes(layer: Layer, shift: Shift, x: Tensor) -> int:
    """The most memory that results of one call under no_grad hold at any one time."""
    memory = LiveMemory(x, *layer.parameters(), *tree_leaves(shift))
    with memory:
        layer(x, shift)
    return memory.peak
