"""What the contract is checked on: a graph that keeps signals alive, signals, gradients, and a measure of memory."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from shiftstate.graphs import Shift
from shiftstate.layers import Layer

IN, OUT = 2, 3  # G ≠ F: exchanged axes show


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw from this seed and leave the user's random state as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def graph(nodes: int = 8, layout: Any = "dense") -> Shift:
    """A directed cycle with chords, a self-loop and an isolated last node, signed, of spectral radius 1.

    A cycle carries what it is given round and round: on a graph that shrinks everything, wrong gradients pass.
    """
    ring = torch.arange(nodes - 1)
    chords = torch.tensor([[0, 2, 1], [2, 0, 1]])
    edges = torch.cat([torch.stack([ring, ring.roll(-1)]), chords], dim=1)
    weight = torch.cat([torch.ones(nodes - 1), torch.tensor([-0.5, 0.3, 0.2])]).double()
    return Shift.from_edges(edges, weight, num_nodes=nodes, layout=layout).normalized("spectral")


def signal(*batch: int, nodes: int = 8, channels: int = IN) -> Tensor:
    """Standard normal signals (*batch, nodes, channels) in float64, the same ones each time."""
    return torch.randn(*batch, nodes, channels, generator=torch.Generator().manual_seed(7), dtype=torch.float64)


def run(layer: Layer, shift: Shift, x: Tensor | None = None, call: Callable[..., Tensor] | None = None) -> Any:
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
