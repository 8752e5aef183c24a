"""The two forms of S: a dense matrix, and compressed rows of S and of Sᵀ.

Both are named tuples of plain tensors, so they are pytrees as they stand, and both keep one contract:
``product``, ``transposed``, ``absolute_sums``, ``scaled``, ``entries``, ``trainable_entries``, ``dense``, ``ordinary``,
``map``.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple

import torch
from torch import Tensor

from shiftstate.memory import check_fits

MOST_NODES = 3_037_000_499
"""N² entries can be counted in 64 bits up to here."""
LARGEST_ID = "N is num_nodes, or the largest node id plus one: is an id a hash or a key?"

# torch announces once per process that CSR tensors are in beta. Users of Shift never see one: let it pass here.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch.sparse_csr_tensor([0, 0], torch.empty(0, dtype=torch.int64), torch.empty(0), (1, 1))


def csr_product(crow: Tensor, col: Tensor, values: Tensor, columns: int, x: Tensor) -> Tensor:
    """A @ x for compressed rows of A with so many columns; no gradients."""
    shape = (crow.numel() - 1, columns)
    if x.device.type == "cpu" and x.dtype in (torch.bfloat16, torch.float16):
        # The CPU has no half-precision sparse product: the sum is taken in float32 and rounded once.
        matrix = torch.sparse_csr_tensor(crow, col, values.float(), shape)
        return (matrix @ x.float()).to(x.dtype)
    return torch.sparse_csr_tensor(crow, col, values, shape) @ x.contiguous()


@torch.library.custom_op("shiftstate::spmm", mutates_args=())
def spmm(
    crow: Tensor, col: Tensor, values: Tensor, t_crow: Tensor, t_col: Tensor, t_values: Tensor, x: Tensor
) -> Tensor:
    """S @ x for S in compressed rows; the rows of Sᵀ come along for the backward.

    An operator on plain tensors, because sparse tensors do not pass through torch.compile and torch.export.
    """
    return csr_product(crow, col, values, crow.numel() - 1, x)


@spmm.register_fake
def _(crow: Tensor, col: Tensor, values: Tensor, t_crow: Tensor, t_col: Tensor, t_values: Tensor, x: Tensor) -> Tensor:
    return x.new_empty(crow.shape[0] - 1, x.shape[1])


def _spmm_context(ctx, inputs, output) -> None:  # type: ignore[no-untyped-def]
    ctx.save_for_backward(*inputs)


def _spmm_backward(ctx, grad: Tensor):  # type: ignore[no-untyped-def]
    crow, col, values, t_crow, t_col, t_values, x = ctx.saved_tensors
    grad_values = grad_x = None
    if ctx.needs_input_grad[2]:
        grad_values = (grad[rows_of(crow, col)] * x[col]).sum(-1)
    if ctx.needs_input_grad[6]:
        grad_x = spmm(t_crow, t_col, t_values, crow, col, values, grad)
    # y depends on t_values only in name: they are the same numbers as values, which carry the gradient.
    return None, None, grad_values, None, None, None, grad_x


spmm.register_autograd(_spmm_backward, setup_context=_spmm_context)


def without_autocast(device: torch.device) -> AbstractContextManager[Any]:
    """A context that keeps autocast out of products with S: rounding errors would grow with every shift."""
    if torch.amp.is_autocast_available(device.type) and torch.is_autocast_enabled(device.type):
        return torch.autocast(device.type, enabled=False)
    return nullcontext()


def ordinary_tensors() -> AbstractContextManager[Any]:
    """A context for tensors that outlive the call: those made under inference mode could only be used there."""
    if torch.compiler.is_compiling() or not torch.is_inference_mode_enabled():
        return nullcontext()
    return _ordinary_tensors()


@contextmanager
def _ordinary_tensors() -> Iterator[None]:
    with torch.inference_mode(False), torch.no_grad():  # leaving inference mode alone would turn gradients on
        yield


def as_ordinary(tensor: Tensor) -> Tensor:
    """The tensor itself, or a copy of one that was made under inference mode."""
    if torch.compiler.is_compiling() or not isinstance(tensor, Tensor) or not tensor.is_inference():
        return tensor
    with ordinary_tensors():
        return tensor.clone()


def is_known(*sizes: int) -> bool:
    """Whether sizes are numbers already, and not symbols of a graph that is traced for any size."""
    if not torch.compiler.is_compiling():
        return True
    return all(torch.fx.experimental.symbolic_shapes.has_static_value(size) for size in sizes)


def rows_of(crow: Tensor, col: Tensor) -> Tensor:
    """The row of every entry, from the row pointers."""
    if torch.onnx.is_in_onnx_export():  # ONNX cannot repeat by counts: count the rows that begin up to every entry
        return compress(crow[1:-1] - 1, col.shape[0], col.dtype)[:-1]
    nodes = torch.arange(crow.shape[0] - 1, device=crow.device, dtype=col.dtype)
    return torch.repeat_interleave(nodes, crow.diff(), output_size=col.shape[0])


def compress(row: Tensor, num_nodes: int, dtype: torch.dtype) -> Tensor:
    """Row pointers (N + 1) from the row of every entry."""
    counts = torch.zeros(num_nodes + 1, dtype=torch.int64, device=row.device)
    return counts.scatter_add_(0, row.long() + 1, torch.ones_like(row, dtype=torch.int64)).cumsum(0).to(dtype)


def _sorted(keys: Tensor) -> Any:
    """Keys in order and where they were; equal ones stay in order, as they do by themselves in ONNX's only sort."""
    return keys.sort() if torch.onnx.is_in_onnx_export() else keys.sort(stable=True)


def _check_size(num_nodes: int, device: torch.device) -> None:
    """Raise before memory is taken for more nodes than fit: row pointers of S and Sᵀ take 16 bytes per node."""
    if torch.compiler.is_compiling():  # a traced N has no value yet
        return
    if num_nodes > MOST_NODES:
        raise ValueError(f"the graph has {num_nodes:,} nodes; expected at most {MOST_NODES:,}; {LARGEST_ID}")
    check_fits(16 * num_nodes, device, f"a graph of {num_nodes:,} nodes needs {{}} bytes", f"fewer nodes; {LARGEST_ID}")


class Dense(NamedTuple):
    """S as an (N, N) matrix."""

    matrix: Tensor

    @property
    def num_nodes(self) -> int:
        """N."""
        return self.matrix.shape[0]

    @property
    def values(self) -> Tensor:
        """The tensor that carries dtype, device and gradient."""
        return self.matrix

    def product(self, x: Tensor) -> Tensor:
        """S @ x for x (N, C)."""
        return self.matrix @ x

    def transposed(self) -> "Dense":
        """Sᵀ."""
        return Dense(self.matrix.T)

    def absolute_sums(self) -> tuple[Tensor, Tensor]:
        """Sums of |S| along every row and every column."""
        absolute = self.matrix.abs()
        return absolute.sum(1), absolute.sum(0)

    def scaled(self, left: Tensor, right: Tensor) -> "Dense":
        """diag(left) S diag(right)."""
        return Dense(left[:, None] * right * self.matrix)  # in this order a symmetric S stays so to the last bit

    def entries(self) -> tuple[Tensor, Tensor, Tensor]:
        """Row, column and value of every nonzero."""
        row, col = self.matrix.nonzero(as_tuple=True)
        return row, col, self.matrix[row, col]

    def trainable_entries(self) -> tuple[Tensor, Tensor, Tensor]:
        """The entries that gradients may move: all of them if S requires gradients, for a zero can learn too."""
        if not self.matrix.requires_grad:
            return self.entries()
        nodes = torch.arange(self.num_nodes, device=self.matrix.device)
        row, col = nodes.repeat_interleave(self.num_nodes), nodes.repeat(self.num_nodes)
        return row, col, self.matrix.flatten()

    def dense(self) -> Tensor:
        """S as an (N, N) matrix."""
        return self.matrix

    def ordinary(self) -> "Dense":
        """The same S of tensors that may be used everywhere, also if it was made under inference mode."""
        return Dense(as_ordinary(self.matrix))

    def map(self, change: Callable[[Tensor], Tensor]) -> "Dense":
        """The same S with its values changed by a cast or a copy."""
        return Dense(change(self.matrix))


class Sparse(NamedTuple):
    """S and Sᵀ in compressed rows, both sorted, prepared once: the backward of S @ x is a product with Sᵀ."""

    crow: Tensor
    col: Tensor
    values: Tensor
    t_crow: Tensor
    t_col: Tensor
    t_values: Tensor

    @staticmethod
    def from_entries(row: Tensor, col: Tensor, values: Tensor, num_nodes: int) -> "Sparse":
        """Sort the entries and add up duplicates.

        Entries are picked by index_select, which on the CPU is ten times as fast as indexing.
        """
        _check_size(num_nodes, values.device)
        # int32 is half the traffic, and what the BLAS libraries want; a size that is not known yet may need more.
        sizes = (num_nodes, row.shape[0])
        small = is_known(*sizes) and max(sizes) < 2**31
        index = torch.int32 if small else torch.int64
        key = row.long() * num_nodes + col.long()
        row, col = row.to(index), col.to(index)
        # A traced graph cannot ask what depends on the data: whether entries are sorted or repeated. There, they are
        # always sorted, and duplicates stay side by side: every product is the same.
        asked = not torch.compiler.is_compiling()
        if not asked or bool((key[1:] < key[:-1]).any()):
            key, order = _sorted(key)
            row, col, values = (entry.index_select(0, order) for entry in (row, col, values))
        if asked:
            new = torch.ones_like(key, dtype=torch.bool)
            new[1:] = key[1:] != key[:-1]
            if not bool(new.all()):
                row, col = row.masked_select(new), col.masked_select(new)
                values = values.new_zeros(row.shape[0]).index_add(0, new.cumsum(0) - 1, values)
        t_order = _sorted(col)[1]  # the rows are in order, and a stable sort leaves them so
        return Sparse(
            compress(row, num_nodes, index),
            col,
            values,
            compress(col, num_nodes, index),
            row.index_select(0, t_order),
            values.index_select(0, t_order),
        )

    @property
    def num_nodes(self) -> int:
        """N."""
        return self.crow.shape[0] - 1

    def product(self, x: Tensor) -> Tensor:
        """S @ x for x (N, C)."""
        if torch.onnx.is_in_onnx_export():
            return self._plain_product(x)
        product: Tensor = spmm(*self, x)
        return product

    def _plain_product(self, x: Tensor) -> Tensor:
        """S @ x in operations that ONNX has: every edge's share is added to its target."""
        row, col, values = self.entries()
        shares = values[:, None] * x.index_select(0, col)
        return torch.zeros_like(x).scatter_add(0, row.long()[:, None].expand_as(shares), shares)

    def transposed(self) -> "Sparse":
        """Sᵀ: the two halves change places."""
        return Sparse(*self[3:], *self[:3])

    def absolute_sums(self) -> tuple[Tensor, Tensor]:
        """Sums of |S| along every row and every column."""
        row, col, values = self.entries()
        zero = values.new_zeros(self.num_nodes)
        return zero.index_add(0, row, values.abs()), zero.index_add(0, col, values.abs())

    def scaled(self, left: Tensor, right: Tensor) -> "Sparse":
        """diag(left) S diag(right)."""
        row, col, _ = self.entries()
        t_row, t_col, _ = self.transposed().entries()
        return self._replace(
            values=left.index_select(0, row) * right.index_select(0, col) * self.values,
            t_values=right.index_select(0, t_row) * left.index_select(0, t_col) * self.t_values,
        )

    def entries(self) -> tuple[Tensor, Tensor, Tensor]:
        """Row, column and value of every stored entry."""
        return rows_of(self.crow, self.col), self.col, self.values

    def trainable_entries(self) -> tuple[Tensor, Tensor, Tensor]:
        """The entries that gradients may move: those that are stored."""
        return self.entries()

    def dense(self) -> Tensor:
        """S as an (N, N) matrix."""
        row, col, values = self.entries()
        N = self.num_nodes
        if not torch.compiler.is_compiling():
            size, what = N * N * values.element_size(), f"a dense S of {N:,} nodes needs {{}} bytes"
            check_fits(size, values.device, what, 'a sparse one: layout="sparse", and no to_dense()')
        zeros = values.new_zeros(N, N)
        return zeros.index_put((row.long(), col.long()), values, accumulate=True)

    def ordinary(self) -> "Sparse":
        """The same S of tensors that may be used everywhere, also if it was made under inference mode."""
        return Sparse(*map(as_ordinary, self))

    def map(self, change: Callable[[Tensor], Tensor]) -> "Sparse":
        """The same S with its values changed by a cast or a copy; indices keep their dtype."""
        indices = (self.crow, self.col, self.t_crow, self.t_col)
        values, t_values = change(self.values), change(self.t_values)
        crow, col, t_crow, t_col = (index.to(values.device) for index in indices)
        return Sparse(crow, col, values, t_crow, t_col, t_values)
