"""S w and Sᵀ w for the kernels: a small dense S by a kernel of its own, a large one by BLAS, a sparse S row by row."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from shiftstate.filters.fused.compiling.blocks import TILE, Stage, for_blocks, num_blocks, rows_per_block
from shiftstate.filters.fused.compiling.compiler import kernel
from shiftstate.filters.fused.compiling.elementary import gather_row
from shiftstate.filters.fused.many_gradients import for_each
from shiftstate.filters.fused.memory.buffers import Both, empty
from shiftstate.filters.fused.products.halo import HaloProduct
from shiftstate.filters.fused.products.matrices import multiply
from shiftstate.filters.fused.products.terms import Term, rows_with
from shiftstate.graphs import Shift
from shiftstate.graphs.partitioned import Partitioned


@kernel
def gather_rows(first, end, rows, graph, source, target):
    """Blocks first … end of target = S source."""
    for i in range(first * rows, min(end * rows, target.shape[0])):
        for column in range(0, target.shape[1], TILE):
            start, stop = np.uint64(column), np.uint64(min(column + TILE, target.shape[1]))
            gather_row(graph, source, i, start, stop, target[i])


SMALL = 512
"""Nodes up to which a dense S is multiplied by our kernels; a larger one is BLAS's, and nothing is said of its bits."""


def both(tensor: Tensor) -> Both:
    """A tensor with its array."""
    return tensor, tensor.numpy()


class Product(NamedTuple):
    """S and Sᵀ as the kernels take them: matrices, or compressed rows that are gathered inside a kernel."""

    matrix: Tensor | None
    t_matrix: Tensor | None
    small: Any
    """If small: the arrays of both matrices, and with ``doubled`` of twice both."""
    rows: Any
    t_rows: Any

    @classmethod
    def of(cls, operator: Sequence[Tensor], doubled: bool = False) -> "Product | HaloProduct":
        """From the tensors of a shift's operator: one of a dense S, six of a sparse S, or of a part of one.

        ``doubled``: there will be terms with a factor of 2.
        """
        if isinstance(operator, Partitioned):
            return HaloProduct(operator)
        if len(operator) == 1:
            matrix = operator[0].detach()
            small = None
            if len(matrix) <= SMALL:
                array = matrix.contiguous().numpy()
                small = [(one, one.T) for one in ((array, array + array) if doubled else (array,))]
            return cls(matrix, matrix.T, small, None, None)
        arrays = [tensor.detach().contiguous().numpy() for tensor in operator]
        return cls(None, None, None, tuple(arrays[:3]), tuple(arrays[3:]))

    def prepare(self, source: Both, target: Both, transpose: bool = False, term: Term | None = None) -> None:
        """target = S source if S is dense; a sparse S is left to the kernel that follows."""
        if self.small is not None:
            factor = 1
            if term is not None:
                factor = int(term.factor)
                np.negative(term.before[1], out=target[1])
            multiply(self.small[factor - 1][transpose], source[1], target[1], add=term is not None)
        elif self.matrix is not None and self.t_matrix is not None:
            matrix = self.t_matrix if transpose else self.matrix
            if term is None:
                torch.mm(matrix, source[0], out=target[0])
            else:
                torch.addmm(term.before[0], matrix, source[0], beta=-1, alpha=int(term.factor), out=target[0])

    def stages(
        self, source: Both, target: Both, count: int, rows: int, transpose: bool = False, term: Term | None = None
    ) -> Iterator[Stage]:
        """Blocks (first, end, graph) of ``rows`` rows, ``count`` in all, for a kernel to go over in turn.

        With a ``graph`` the kernel gathers S source itself; None: it is in target already, as it always is with a term.
        """
        if term is None:
            self.prepare(source, target, transpose)
            yield 0, count, self.t_rows if transpose else self.rows
        else:  # gathered ahead: no cell is compiled for it, and it is faster than inside the cell's kernel
            self.shift(source, target, transpose, term)
            yield 0, count, None

    def shift(self, source: Both, target: Both, transpose: bool = False, term: Term | None = None) -> None:
        """target = S source, or Sᵀ source; or what a term makes of it."""
        self.prepare(source, target, transpose, term)
        if self.matrix is None:
            graph, shape = rows_with(self.t_rows if transpose else self.rows, term), target[1].shape
            for_blocks(num_blocks(*shape), gather_rows, rows_per_block(*shape), graph, source[1], target[1])

    def apply(self, source: Tensor, target: Tensor, transpose: bool = False) -> None:
        """target = S source, or Sᵀ source."""
        self.shift(both(source), both(target), transpose)


@kernel
def _well_formed(crow, col, top):
    if crow[0] != 0 or crow[-1] != col.shape[0]:
        return False
    for i in range(crow.shape[0] - 1):
        if crow[i] > crow[i + 1]:
            return False
    wrong = 0
    for edge in range(col.shape[0]):
        wrong += (col[edge] < 0) | (col[edge] >= top)
    return wrong == 0


def check_operator(operator: Sequence[Tensor], num_nodes: int, dtype: torch.dtype) -> None:
    """Refuse an S that would lead a kernel outside its arrays; one pass over the indices."""
    if len(operator) not in (1, 6):
        raise ValueError(f"S came as {len(operator)} tensors; expected a matrix, or the compressed rows of S and Sᵀ")
    if any(values.dtype != dtype for values in operator[2::3] or operator):
        raise ValueError(f"S holds {operator[-1].dtype}; expected {dtype}, as the signals")
    if any(index.dtype not in (torch.int32, torch.int64) for at in (0, 1) for index in operator[at:-1:3]):
        raise ValueError("the compressed rows of S have indices that are not integers; expected int32 or int64")
    if len(operator) == 1:
        if tuple(operator[0].shape) != (num_nodes, num_nodes):
            raise ValueError(f"S has shape {tuple(operator[0].shape)}; expected {(num_nodes, num_nodes)}")
        return
    columns = operator.columns() if isinstance(operator, Partitioned) else (num_nodes, num_nodes)
    for (crow, col, values), top in zip((operator[:3], operator[3:]), columns, strict=True):
        sizes_fit = crow.shape == (num_nodes + 1,) and col.shape == values.shape
        sizes_fit = sizes_fit and (isinstance(operator, Partitioned) or col.shape == operator[1].shape)
        if not sizes_fit or not _well_formed(crow.contiguous().numpy(), col.contiguous().numpy(), top):
            raise ValueError(f"the compressed rows of S are inconsistent; expected {num_nodes} sorted rows")


class _ShiftProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, operator, transpose):
        ctx.transpose, ctx.operator = transpose, operator
        ctx.save_for_backward(*operator)  # autograd notices if S is changed before the backward
        target = empty(tuple(x.shape), x.dtype)
        Product.of(operator).shift(both(x.contiguous()), both(target), transpose)
        return target

    @staticmethod
    def backward(ctx, grad):
        _ = ctx.saved_tensors
        shifted = for_each(lambda grad: [_ShiftProduct.apply(grad, ctx.operator, not ctx.transpose)], grad)
        return *shifted, None, None


def fast_shift(w: Tensor, shift: Shift) -> Tensor:
    """S w for w (N, ...): by our own kernels where they can, otherwise the ordinary way."""
    operator = shift.operator
    ours = w.device.type == "cpu" and w.dtype in (torch.float32, torch.float64) and not shift.requires_grad
    if not ours or torch.compiler.is_compiling():
        return shift.shift_nodes(w)
    check_operator(operator, w.shape[0], w.dtype)
    shifted: Tensor = _ShiftProduct.apply(w.flatten(1), operator, False)
    return shifted.view(w.shape)
