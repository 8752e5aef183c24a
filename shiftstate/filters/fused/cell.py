"""What the shared machinery has to know of a filter that has fused kernels."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from shiftstate.filters.fused.call import call
from shiftstate.filters.fused.spec import Spec
from shiftstate.filters.reference import Filter
from shiftstate.graphs import Shift


class Kernels(ABC):
    """The fused kernels of one kind of filter: an entry of `shiftstate.filters.fused.cells.CELLS`."""

    @abstractmethod
    def obstacle(self, filter: Filter, x: Tensor, shift: Shift) -> str | None:
        """Why the kernels cannot run this call; None if they can."""

    @abstractmethod
    def run(self, filter: Filter, x: Tensor, shift: Shift, checkpoint: int | None = None) -> Tensor:
        """x (N, B, G) → y (N, B, F) through K shifts."""


@dataclass(frozen=True, eq=False)
class FusedCell(Kernels):
    """A recurrence: w_k (and a memory c_k) from S w_{k−1}, x (and c_{k−1}), through affine maps and nonlinearities.

    Kernels of scalar weights (bank and depthwise mixing) see a state as (N, M), a column for every signal and channel.
    Row p of H (P, M) is the state weight of map p, the last map is the output's; where x is not None, row P + p is the
    map's weight on x. b (maps, M) holds the gate biases. Both end with the numbers of the activations, in order:

        forward(first, end, rows, graph, w_old, Sw, c_old, c, w, x, H, b, total, *codes)
        backward(first, end, rows, graph, dx, d_old, d, dc, Sw, c_old, c, w, x, H, b, dtotal, *codes, dH, db)

    Kernels of matrices (dense mixing) see a state as (N·B, F) and the arguments of all nonlinearities, z (N·B, maps·F);
    products with weights are not theirs. ``zw`` and ``zx`` are the two parts of the maps that stay apart:

        dense_forward(first, end, rows, z, zw, zx, Sw, c_old, c, w, *codes)
        dense_state(first, end, rows, z, zw, zx, Sw, c_old, c, w, *codes)
        dense_backward(first, end, rows, z, zw, zx, Sw, c_old, c, dw, dc, *codes)

    What a cell or a call does not have is None, and Numba compiles it away. No two arrays overlap. `cells/lssm.py` is
    an example to read beside this.
    """

    name: str
    maps: tuple[str, ...]
    """Names of the affine maps of the state update, as in the layer's ``updates``."""
    keeps: tuple[str, ...]
    """What the backward needs of every shift, of "Sw", "c" and "w"; the rest is computed again."""
    scalar: Callable[..., Any]
    """The order of things around the kernels with scalar weights: `ScalarRecurrence`, or a subclass."""
    matrix: Callable[..., Any]
    """The order of things around the kernels with matrices: `MatrixRecurrence`, or a subclass."""
    forward: Callable[..., Any]
    """One shift: writes c and w, and Sw unless ``graph`` is None (S w_{k−1} is in Sw, or without one in w); adds y_k to
    ``total`` unless it is None."""
    backward: Callable[..., Any]
    """One shift in reverse. d goes from ∂/∂w_k without y_k's share (gathered from d_old = ∂/∂(S w_k) unless ``graph``
    is None) to ∂/∂(S w_{k−1}), dc from ∂/∂c_k to ∂/∂c_{k−1}. Adds to dx; each block fills a slice of dH and db."""
    dense_forward: Callable[..., Any]
    """c_k and w_k."""
    dense_state: Callable[..., Any] | None = None
    """w_k again, from what was kept; None if w_k itself was."""
    dense_backward: Callable[..., Any] | None = None
    """z, zw and zx become their own gradients, dc goes from ∂/∂c_k to ∂/∂c_{k−1}, dw from ∂/∂w_k to what reaches
    S w_{k−1} past the maps, if anything does."""
    memory: bool = False
    """Whether there is a c."""
    apart: tuple[str, ...] = ()
    """Maps whose state part and input part (with the bias) are not simply added."""
    direct: bool = False
    """Whether S w_{k−1} reaches w_k past the maps."""
    activations: tuple[str, ...] = ("output_activation",)
    """Attributes of the layer that name a nonlinearity; the output's is last."""
    chebyshev: "FusedCell | None" = None
    """The same filter for Chebyshev's basis, if these kernels count on S w_{k−1} being no more than that."""

    def in_chebyshev(self) -> "FusedCell":
        """The kernels for Chebyshev's basis, where 2 S w_{k−1} − w_{k−2} stands for S w_{k−1} in all of the above."""
        return self.chebyshev or self

    def obstacle(self, filter: Filter, x: Tensor, shift: Shift) -> str | None:
        """Why the kernels cannot run this call; None if they can."""
        callables = [name for name in self.activations if callable(getattr(filter, name))]
        return f"{callables[0]} is a callable" if callables else compiled_obstacle(x, shift)

    def run(self, filter: Filter, x: Tensor, shift: Shift, checkpoint: int | None = None) -> Tensor:
        """x (N, B, G) → y (N, B, F) through K shifts."""
        weights = filter.update_weights() | filter.output_weights()
        chebyshev = filter.basis == "chebyshev"
        spec = Spec(
            self.in_chebyshev() if chebyshev else self,
            dense=filter.dense_taps(),
            input="h_yx" in weights,
            gate_bias=f"b_{self.maps[0]}" in weights,
            activations=tuple([getattr(filter, name) for name in self.activations]),
            checkpoint=checkpoint or 0,
            chebyshev=chebyshev,
        )
        names = spec.names()
        if len(names) != len(weights) or not all(name in weights for name in names):
            raise ValueError(f"weights {list(weights)} were given; expected {names} for a fused {self.name} filter")
        x, w = filter.start(x)
        return call(
            spec, x if spec.input or not spec.dense else w, w, [weights[name] for name in names], shift.operator
        )


def compiled_obstacle(x: Tensor, shift: Shift) -> str | None:
    """Why compiled code cannot run on these tensors; None if it can."""
    if x.device.type != "cpu":
        return f"the signals are on {x.device}"
    if x.dtype not in (torch.float32, torch.float64):
        return f"the signals are {x.dtype}"
    if shift.requires_grad:
        return "the edge weights require gradients"
    return functional_obstacle(x, shift)


def functional_obstacle(x: Tensor, shift: Shift) -> str | None:
    """Why an autograd function cannot run on these signals; None if it can."""
    if x.numel() == 0 and shift.num_nodes:  # a part of a graph may have no nodes
        return "the batch is empty"
    if torch._C._are_functorch_transforms_active():
        return "a torch.func transform is active"
    return None
