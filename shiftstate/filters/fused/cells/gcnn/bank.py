"""The GCNN that mixes as a bank, y = Σ_k S^k x h_kᵀ, in the order that shifts fewer channels.

Powers, w_k = S w_{k−1}, shift G channels; Horner's order, u_k = x h_kᵀ + S u_{k+1}, shifts F and keeps nothing but x.
In Chebyshev's basis the "powers" are T_k(S) x, w_k = 2 S w_{k−1} − w_{k−2}, and Horner's order is Clenshaw's,
u_k = x h_kᵀ + 2 S u_{k+1} − u_{k+2} with S for 2 S at k = 0: both are stable, as powers of S written out are not.
The backward of each shifts as many as its forward. Rows are nodes and signals together: S sees a state as
(N, B·channels), a weight matrix sees it as (N·B, channels).
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from shiftstate.filters.fused.compiling.compiler import announced
from shiftstate.filters.fused.many_gradients import for_each
from shiftstate.filters.fused.memory.buffers import Both, empty
from shiftstate.filters.fused.products.matrices import multiply, multiply_transposed
from shiftstate.filters.fused.products.shifts import Product, both, check_operator, fast_shift
from shiftstate.filters.fused.products.terms import InTurn, Term
from shiftstate.filters.linear import computed_here, linear
from shiftstate.graphs import Shift


class _Bank:
    """The products of one call, on x (N, B, G) and h (K+1, F, G)."""

    def __init__(self, x: Tensor, h: Tensor, operator: Sequence[Tensor], chebyshev: bool) -> None:
        self.N, self.B, self.G = x.shape
        self.K, self.F = h.shape[0] - 1, h.shape[1]
        self.R = self.N * self.B
        self.dtype = x.dtype
        self.chebyshev = chebyshev
        self.product = Product.of(operator, doubled=chebyshev)
        self.h = h.detach().contiguous().numpy()
        self.x = x.detach()

    def blank(self, channels: int) -> Both:
        """Memory for a state, as S sees it."""
        return both(empty((self.N, self.B * channels), self.dtype))

    def in_turn(self, channels: int) -> InTurn:
        """Memory for states, the last few of which are needed."""
        return InTurn.made(lambda: self.blank(channels), self.chebyshev)

    def rows(self, state: Both) -> Any:
        """A state as a weight matrix sees it."""
        return state[1].reshape(self.R, state[1].shape[1] // max(self.B, 1))

    def loaded(self, signal: Tensor) -> Both:
        """A signal (N, B, channels) as a state."""
        return both(signal.detach().flatten(1).contiguous())

    def turned(self) -> Any:
        """h_kᵀ of every k, (K+1, G, F)."""
        return self.h.transpose(0, 2, 1).copy()

    def horner(self, signal: Both, weights: Any, transpose: bool = False) -> Both:
        """Σ_k S^k signal weights_k, keeping nothing: u_k = signal weights_k + S u_{k+1}."""
        rows, u = self.rows(signal), self.in_turn(weights.shape[2])
        multiply(rows, weights[-1], self.rows(u[0]))
        for at, weight in enumerate(weights[-2::-1], 1):  # u_{K − at}
            source, target, term = u.step(at, twice=at < self.K)
            self.product.shift(source, target, transpose, term)
            multiply(rows, weight, self.rows(target), add=True)
        return u[self.K]

    def powers(self, keep: bool) -> tuple[Both, Tensor | None]:
        """The same from S^k x, and these powers, (K+1, N, B·G), if they are kept."""
        weights, y = self.turned(), self.blank(self.F)
        states = empty((self.K + 1 if keep else 2 + self.chebyshev, self.N, self.B * self.G), self.dtype)
        states[0].view(self.N, self.B, self.G).copy_(self.x)
        slots = InTurn([both(state) for state in states], self.chebyshev)
        together = keep and self.G == 1  # then the powers are the columns of one matrix
        for k in range(self.K + 1):
            source, w, term = slots.step(k, twice=k > 1)
            if k:
                self.product.shift(source, w, term=term)
            if not together:
                multiply(self.rows(w), weights[k], self.rows(y), add=k > 0)
        if together:
            multiply(states.numpy().reshape(self.K + 1, self.R).T, weights[:, 0], self.rows(y))
        return y, states if keep else None

    def weights_from_powers(self, dy: Both, states: Tensor) -> Tensor:
        """Gradient of h from S^k x: dyᵀ S^k x."""
        turned = torch.empty((self.K + 1, self.G, self.F), dtype=self.dtype)
        if self.G == 1:
            powers = states.numpy().reshape(self.K + 1, self.R)
            multiply_transposed(powers.T, self.rows(dy), turned[:, 0].numpy())
        else:
            for state, dh in zip(states.numpy(), turned.numpy(), strict=True):
                multiply_transposed(state.reshape(self.R, self.G), self.rows(dy), dh)
        return turned.transpose(1, 2)

    def gradients(self, dy: Both, need_x: bool) -> tuple[Tensor | None, Tensor]:
        """Gradients of x and of h from v_k = (Sᵀ)^k dy: Σ_k v_k h_k, and v_kᵀ x."""
        x, blanks = self.loaded(self.x), [self.blank(self.F) for _ in range(2 + self.chebyshev)]
        v, v_old, term = dy, dy, None
        dx = self.blank(self.G) if need_x else None
        wide = self.G >= self.F  # the wider one is taken many columns at a time
        dh = torch.empty((self.K + 1, self.F, self.G) if wide else (self.K + 1, self.G, self.F), dtype=self.dtype)
        for k, share in enumerate(dh.numpy()):
            if k:
                before, v_old, v = v_old, v, blanks[k % len(blanks)]
                if self.chebyshev and k > 1:
                    term = Term.of(2, before)
                self.product.shift(v_old, v, transpose=True, term=term)
            left, right = (v, x) if wide else (x, v)
            multiply_transposed(self.rows(left), self.rows(right), share)
            if dx is not None:
                multiply(self.rows(v), self.h[k], self.rows(dx), add=k > 0)
        return None if dx is None else dx[0].view(self.N, self.B, self.G), dh if wide else dh.transpose(1, 2)


class _BankFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, h, powers, keep, shift, chebyshev):
        operator = shift.operator
        check_operator(operator, x.shape[0], x.dtype)
        bank = _Bank(x, h, operator, chebyshev)
        with announced("GCNN", "bank", x.dtype, len(operator), powers, keep, bank.G == 1, chebyshev):
            y, states = bank.powers(keep) if powers else (bank.horner(bank.loaded(x), bank.turned()), None)
        ctx.shift, ctx.powers, ctx.operator, ctx.chebyshev = shift, powers, len(operator), chebyshev
        ctx.save_for_backward(x, h, *operator, *(() if states is None else (states,)))
        return y[0].view(bank.N, bank.B, bank.F)

    @staticmethod
    def backward(ctx, dy):
        gradients = _differentiable if torch.is_grad_enabled() else _gradients
        return *for_each(lambda dy: gradients(ctx, dy), dy), None, None, None, None


def _gradients(ctx: Any, dy: Tensor) -> Any:
    """The gradients of x and h by our kernels."""
    x, h, *rest = ctx.saved_tensors
    need_x, need_h, *_ = ctx.needs_input_grad
    operator, states = ctx.shift.operator, rest[ctx.operator :]
    bank = _Bank(x, h, operator, ctx.chebyshev)
    variant = (need_x, need_h, bool(states), bank.G == 1, ctx.chebyshev)
    with announced("GCNN", "bank", x.dtype, len(operator), *variant, "backward"):
        return _backward(bank, bank.loaded(dy), states, need_x, need_h)


def _backward(bank: _Bank, dy: Both, states: list[Tensor], need_x: bool, need_h: bool) -> Any:
    """Gradients of x and h, in the order that shifts fewer channels."""
    if need_h and not states:
        return bank.gradients(dy, need_x)
    dx = bank.horner(dy, bank.h, transpose=True)[0].view(bank.N, bank.B, bank.G) if need_x else None
    return dx, bank.weights_from_powers(dy, states[0]) if need_h else None


def _differentiable(ctx: Any, dy: Tensor) -> list[Tensor | None]:
    """The gradients of x and h with gradients of their own (create_graph=True): by products of torch."""
    x, h, *_ = ctx.saved_tensors
    y = _composed(x, h, ctx.shift, ctx.powers, ctx.chebyshev)
    needed = ctx.needs_input_grad[:2]
    wanted = [tensor for tensor, need in zip((x, h), needed, strict=True) if need]
    found = iter(torch.autograd.grad(y, wanted, dy, create_graph=True))
    return [next(found) if need else None for need in needed]


def _composed(x: Tensor, h: Tensor, shift: Shift, powers: bool, chebyshev: bool) -> Tensor:
    """The same in operations that torch differentiates, on any device and dtype and with trained edge weights."""
    before: Tensor | None = None  # two shifts ago, where Chebyshev's basis needs it

    def shifted(w: Tensor, twice: bool) -> Tensor:
        nonlocal before
        Sw, old = fast_shift(w, shift), before
        if not chebyshev:
            return Sw
        before = w
        Sw = 2 * Sw if twice else Sw
        return Sw if old is None else Sw - old

    if not powers:
        x = x.contiguous()  # or each of the K + 1 products would copy it, and keep the copy
        *lower, highest = h  # views: a copy of the weights would be kept
        u = linear(x, highest.T)
        for k, weight in reversed(list(enumerate(lower))):
            u = shifted(u, twice=k > 0) + linear(x, weight.T)
        return u
    w, states, y = x, [x], linear(x, h[0].T)
    keep = torch.is_grad_enabled() and h.requires_grad  # the states are kept only for the gradient of h
    for k, weight in enumerate(h[1:], 1):
        w = shifted(w, twice=k > 1)
        if keep:
            states.append(w)
        else:
            y = y + linear(w, weight.T)
    return linear(torch.stack(states, -2).flatten(-2), h.transpose(1, 2).flatten(0, 1)) if keep else y


def run_bank(x: Tensor, h: Tensor, shift: Shift, checkpoint: int | None, chebyshev: bool = False) -> Tensor:
    """x (N, B, G) → y (N, B, F) for h (K+1, F, G), in the order that shifts fewer channels."""
    powers = x.shape[-1] < h.shape[1] and checkpoint is None
    if torch.compiler.is_compiling() or shift.requires_grad or not computed_here(x, h, h[0].numel()):
        return _composed(x, h, shift, powers, chebyshev)
    keep = torch.is_grad_enabled() and h.requires_grad
    y: Tensor = _BankFunction.apply(x, h, powers, keep, shift, chebyshev)
    return y
