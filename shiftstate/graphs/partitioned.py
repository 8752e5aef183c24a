"""Some rows of S and of Sᵀ: the part of a graph that one of several processes holds.

Rows are this process's nodes. First come the interior ones, which have no neighbour elsewhere, in either direction.
Columns are its nodes, then those of other processes that it has to be told of, the halo. Inside a row the entries stay
in the order of the whole graph, so a row's sum is rounded as it is in one process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor

from shiftstate.graphs.operators import Sparse, as_ordinary, csr_product, rows_of


class Pending(Protocol):
    """An exchange under way."""

    def wait(self) -> Tensor:
        """The rows of the halo (h, C)."""


class Exchange(Protocol):
    """What tells a process of the rows that others hold."""

    size: int
    """Rows of the halo."""

    def start(self, x: Tensor) -> Pending:
        """Send what others need of the rows x (n, C), and begin to receive."""


class Partitioned(Sparse):
    """Own rows of S and of Sᵀ in compressed rows, with what brings the rows of other processes."""

    interior: int
    exchange: Exchange
    t_exchange: Exchange

    @classmethod
    def of(cls, tensors: Any, interior: int, exchange: Exchange, t_exchange: Exchange) -> Partitioned:
        """From the six tensors of `Sparse`; the first ``interior`` rows need nobody else's."""
        made = cls(*tensors)
        made.interior, made.exchange, made.t_exchange = interior, exchange, t_exchange
        return made

    def columns(self) -> tuple[int, int]:
        """Columns of the rows of S, and of those of Sᵀ."""
        return self.num_nodes + self.exchange.size, self.num_nodes + self.t_exchange.size

    def product(self, x: Tensor) -> Tensor:
        """The own rows of S @ x for the own rows x (n, C)."""
        product: Tensor = _Product.apply(x, self)  # type: ignore[no-untyped-call]
        return product

    def transposed(self) -> Partitioned:
        """Sᵀ: the two halves change places."""
        return Partitioned.of((*self[3:], *self[:3]), self.interior, self.t_exchange, self.exchange)

    def absolute_sums(self) -> tuple[Tensor, Tensor]:
        """Sums of |S| along every row and every column, of the own nodes."""
        zero = self.values.new_zeros(self.num_nodes)
        rows, columns = rows_of(self.crow, self.col), rows_of(self.t_crow, self.t_col)
        return zero.index_add(0, rows, self.values.abs()), zero.index_add(0, columns, self.t_values.abs())

    def scaled(self, left: Tensor, right: Tensor) -> Partitioned:
        """diag(left) S diag(right), for the own entries of two vectors."""
        row, t_row = rows_of(self.crow, self.col), rows_of(self.t_crow, self.t_col)
        far_right, far_left = _with_halo(right, self.exchange), _with_halo(left, self.t_exchange)
        values = left.index_select(0, row) * far_right.index_select(0, self.col) * self.values
        t_values = right.index_select(0, t_row) * far_left.index_select(0, self.t_col) * self.t_values
        return self._with(values, t_values)

    def ordinary(self) -> Partitioned:
        """The same rows of tensors that may be used everywhere, also if they were made under inference mode."""
        return Partitioned.of(map(as_ordinary, self), self.interior, self.exchange, self.t_exchange)

    def map(self, change: Callable[[Tensor], Tensor]) -> Partitioned:
        """The same rows with their values changed by a cast or a copy."""
        return self._with(change(self.values), change(self.t_values))

    def _with(self, values: Tensor, t_values: Tensor) -> Partitioned:
        indices = (self.crow, self.col, self.t_crow, self.t_col)
        crow, col, t_crow, t_col = (index.to(values.device) for index in indices)
        tensors = (crow, col, values, t_crow, t_col, t_values)
        return Partitioned.of(tensors, self.interior, self.exchange, self.t_exchange)

    def entries(self) -> tuple[Tensor, Tensor, Tensor]:
        """Nobody holds all entries."""
        raise ValueError("this process holds some rows of S; expected an operation that does not need all entries")

    def dense(self) -> Tensor:
        """Nobody holds all of S."""
        raise ValueError("this process holds some rows of S; expected no dense S of a partitioned graph")


def _with_halo(vector: Tensor, exchange: Exchange) -> Tensor:
    """A vector (n), followed by its entries at the nodes of the halo."""
    return torch.cat([vector, exchange.start(vector[:, None].contiguous()).wait()[:, 0]])


class _Product(torch.autograd.Function):
    """S x; its gradient is Sᵀ of the gradient, so each of its sums too is that of one process."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, operator: Partitioned) -> Tensor:
        ctx.operator = operator
        n, inner = operator.num_nodes, operator.interior
        crow, col, values = operator[:3]
        x = x.contiguous()
        pending = operator.exchange.start(x)
        y = x.new_empty(n, x.shape[1])
        edge = int(crow[inner]) if n else 0
        y[:inner] = csr_product(crow[: inner + 1], col[:edge], values[:edge], n, x)
        known = torch.cat([x, pending.wait()])
        y[inner:] = csr_product(crow[inner:] - edge, col[edge:], values[edge:], len(known), known)
        return y

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _Product.apply(grad, ctx.operator.transposed()), None  # type: ignore[no-untyped-call]
