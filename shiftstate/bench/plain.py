"""The baseline: the same filters in the best ordinary PyTorch.

Nodes first, so that every shift is one product; Sᵀ prepared for the backward of the sparse product; no Python work per
element. Each filter is written in the two ways one would try, and the faster counts.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from shiftstate.graphs import Shift

Weights = dict[str, Tensor]
Product = Callable[[Tensor], Tensor]


class _Csr(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Tensor, transposed: Tensor, w: Tensor) -> Tensor:
        ctx.transposed = transposed
        return matrix @ w

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return None, None, ctx.transposed @ grads[0]


def csr(shift: Shift) -> Tensor:
    """S as torch's own CSR tensor."""
    crow, col, values = tuple(shift.operator)[:3]
    return torch.sparse_csr_tensor(crow, col, values, (shift.num_nodes, shift.num_nodes))


def product(shift: Shift) -> Product:
    """S w for w (N, ...)."""
    if shift.layout == "dense":
        matrix = shift.to_dense()
        return lambda w: (matrix @ w.reshape(w.shape[0], -1)).view(w.shape)
    forward, backward = csr(shift), csr(shift.T)
    return lambda w: _Csr.apply(forward, backward, w.reshape(w.shape[0], -1)).view(w.shape)  # type: ignore[no-untyped-call]


def _summed(x: Tensor, h: Weights, states: Callable[[], Any]) -> Tensor:
    """σ_y(Σ_k σ_y(h_kyw w_k + h_kyx x)) over the states as they come."""
    total = torch.relu(h["h_yw"][0] * x + h["h_yx"][0] * x)
    for k, w in enumerate(states(), 1):
        total = total + torch.relu(torch.addcmul(h["h_yx"][k] * x, h["h_yw"][k], w))
    return torch.relu(total)


def rsn(shifted: Product, x: Tensor, h: Weights) -> Tensor:
    """x (N, B, C), weights (·, C)."""

    def states() -> Any:
        w = x
        for ww, wx in zip(h["h_ww"], h["h_wx"], strict=True):
            w = torch.relu(ww * shifted(w) + wx * x)
            yield w

    return _summed(x, h, states)


def rsn_addcmul(shifted: Product, x: Tensor, h: Weights) -> Tensor:
    """The same with fewer temporaries."""

    def states() -> Any:
        w = x
        for ww, wx in zip(h["h_ww"], h["h_wx"], strict=True):
            w = torch.relu(torch.addcmul(wx * x, ww, shifted(w)))
            yield w

    return _summed(x, h, states)


def lssm(shifted: Product, x: Tensor, h: Weights) -> Tensor:
    """x (N, B, C), weights (·, C); gate by gate."""

    def states() -> Any:
        w, c = x, torch.zeros_like(x)
        for k in range(h["h_cw"].shape[0]):
            s = shifted(w)
            gate = {n: torch.addcmul(h[f"h_{n}x"][k] * x, h[f"h_{n}w"][k], s) for n in "cfuw"}
            c = torch.addcmul(torch.sigmoid(gate["f"]) * c, torch.sigmoid(gate["u"]), torch.tanh(gate["c"]))
            w = torch.sigmoid(gate["w"]) * torch.tanh(c)
            yield w

    return _summed(x, h, states)


def lssm_stacked(shifted: Product, x: Tensor, h: Weights) -> Tensor:
    """The same with all gates in one tensor: fewer and larger operations."""
    on_state = torch.stack([h[f"h_{n}w"] for n in "fuwc"], 1)[:, :, None, None]
    on_input = torch.stack([h[f"h_{n}x"] for n in "fuwc"], 1)[:, :, None, None]

    def states() -> Any:
        w, c = x, torch.zeros_like(x)
        for hw, hx in zip(on_state, on_input, strict=True):
            z = hw * shifted(w) + hx * x
            forget, update, state = torch.sigmoid(z[:3]).unbind(0)
            c = forget * c + update * torch.tanh(z[3])
            w = state * torch.tanh(c)
            yield w

    return _summed(x, h, states)


def gcnn(shifted: Product, x: Tensor, h: Weights) -> Tensor:
    """Σ_k h_k S^k x, power by power."""
    w, y = x, h["h"][0] * x
    for weight in h["h"][1:]:
        w = shifted(w)
        y = torch.addcmul(y, weight, w)
    return y


def gcnn_horner(shifted: Product, x: Tensor, h: Weights) -> Tensor:
    """The same from the inside out, which keeps no states."""
    u = h["h"][-1] * x
    for weight in h["h"][:-1].flip(0):
        u = torch.addcmul(shifted(u), weight, x)
    return u


PLAIN: dict[str, tuple[Callable[[Product, Tensor, Weights], Tensor], ...]] = {
    "gcnn": (gcnn, gcnn_horner),
    "rsn": (rsn, rsn_addcmul),
    "lssm": (lssm, lssm_stacked),
}
