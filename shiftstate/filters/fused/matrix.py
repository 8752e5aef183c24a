"""K shifts of a filter with matrices for weights (dense mixing), there and back.

A state is (N·B, F) to a weight matrix and (N, B·F) to S: two views of the same memory. All gates of a shift come from
one product of S w_{k−1} with their stacked matrices, added to one of x.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from shiftstate.filters.fused import gates
from shiftstate.filters.fused.blocks import for_blocks, num_blocks, rows_per_block
from shiftstate.filters.fused.buffers import empty
from shiftstate.filters.fused.elementary import encode
from shiftstate.filters.fused.product import Product
from shiftstate.filters.fused.setting import Setting
from shiftstate.filters.linear import summed_product


class MatrixRecurrence:
    """LSSM and RSN with dense mixing.

    Args:
        setting: kind, activations and checkpointing.
        x: (N, B, G).
        w: w_0 (N, B, F).
        weights: all weights by name, state weights (·, F, F), input weights (·, F, G), gate biases (K, F).
        operator: the tensors of S.
    """

    def __init__(
        self, setting: Setting, x: Tensor, w: Tensor, weights: dict[str, Tensor], operator: Sequence[Tensor]
    ) -> None:
        self.setting, self.names = setting, list(weights)
        self.weights = {name: weight.detach() for name, weight in weights.items()}
        self.maps = [name[2:-1] for name in weights if name.endswith("w") and name not in ("h_yw", "b_w")]
        self.K, self.F = weights["h_yw"].shape[0] - 1, weights["h_yw"].shape[1]
        self.N, self.B, self.G = x.shape
        self.dtype = x.dtype
        self.R = self.N * self.B
        self.x = x.detach().reshape(self.R, self.G).contiguous()
        self.w0 = w.detach().reshape(self.R, self.F).contiguous()
        self.product = Product.of(tuple(operator))
        number = np.float32 if self.dtype == torch.float32 else np.float64
        self.code_w = encode(setting.state_activation, number)
        self.code_y = encode(setting.output_activation, number)
        self.rows, self.blocks = rows_per_block(self.R, self.F), num_blocks(self.R, self.F)
        self.gated = setting.kind == "lssm"
        stack = {end: [self.weights[f"h_{name}{end}"] for name in self.maps] for end in "wx"}
        self.Hw, self.Hx = torch.cat(stack["w"], 1), torch.cat(stack["x"], 1)  # (K, maps·F, F), (K, maps·F, G)
        biases = [self.weights[f"b_{name}"] for name in self.maps if f"b_{name}" in weights]
        self.b = torch.cat(biases, 1) if biases else None

    def variant(self) -> tuple[Any, ...]:
        """What decides which kernels are compiled, the filter's name first."""
        return self.setting.kind.upper(), self.setting, self.dtype, self.b is None, self.product.matrix is None

    def blank(self, *shape: int, width: int = 0) -> Tensor:
        """Memory that is written before it is read."""
        return empty((*shape, self.R, width or self.F), self.dtype)

    def _rows(self, kernel: Any, *arguments: Any) -> None:
        arrays = [value.numpy() if isinstance(value, Tensor) else value for value in arguments]
        for_blocks(self.blocks, kernel, self.rows, *arrays)

    def _shift(self, source: Tensor, target: Tensor, transpose: bool = False) -> None:
        wide = (self.N, self.B * self.F)
        self.product.apply(source.view(wide), target.view(wide), transpose)

    def _arguments(self, k: int, Sw: Tensor) -> Tensor:
        """What the nonlinearities of shift k act on: (N·B, maps·F)."""
        z = torch.mm(self.x, self.Hx[k - 1].T)
        z.addmm_(Sw, self.Hw[k - 1].T)
        return z if self.b is None else z.add_(self.b[k - 1])

    def _output(self, k: int, w: Tensor) -> Tensor:
        z = torch.mm(self.x, self.weights["h_yx"][k].T)
        return z.addmm_(w, self.weights["h_yw"][k].T)

    def forward(self, keep: bool) -> tuple[Tensor, list[Tensor]]:
        """y (N, B, F), and what the backward needs."""
        total = self._output(0, self.w0)
        self._rows(gates.activate_rows, total, self.code_y)
        segment = self.setting.checkpoint
        length = self.K if keep and not segment else 0
        Sw, c, w = self._storage(length)
        w[0], c[0] = self.w0, 0
        starts = self.blank(-(-self.K // segment), 2) if keep and segment else None
        for k in range(1, self.K + 1):
            if starts is not None and (k - 1) % segment == 0:
                place = starts[(k - 1) // segment]
                place[0], place[1] = w[(k - 1) % len(w)], c[(k - 1) % len(c)]
            self._step(k, k - 1, Sw, c, w)
            self._rows(gates.add_activated, self._output(k, w[k % len(w)]), total, self.code_y)
        self._rows(gates.activate_rows, total, self.code_y)
        kept = [] if not keep else [starts] if starts is not None else [Sw, c] if self.gated else [w]
        return total.view(self.N, self.B, self.F), kept

    def _storage(self, shifts: int) -> tuple[Tensor, Tensor, Tensor]:
        """S w, c and w for so many shifts; an LSSM's backward needs the first two, an RSN's the last."""
        if self.gated:
            return self.blank(max(shifts, 1)), self.blank(max(shifts + 1, 2)), self.blank(2)
        return self.blank(1), self.blank(1), self.blank(max(shifts + 1, 2))

    def _step(self, k: int, slot: int, Sw: Tensor, c: Tensor, w: Tensor) -> None:
        shifted, new = Sw[slot % len(Sw)], w[(slot + 1) % len(w)]
        self._shift(w[slot % len(w)], shifted)
        z = self._arguments(k, shifted)
        if self.gated:
            self._rows(gates.lssm_forward, z, c[slot % len(c)], c[(slot + 1) % len(c)], new)
        else:
            self._rows(gates.activate_rows, z, self.code_w)
            new.copy_(z)

    def backward(self, dy: Tensor, y: Tensor, kept: list[Tensor]) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Gradients of x (N, B, G), of w_0 (N, B, F) and of every weight, from that of y."""
        self.dtotal = dy.reshape(self.R, self.F).clone(memory_format=torch.contiguous_format)
        self._rows(gates.through_value, y.reshape(self.R, self.F), self.dtotal, self.code_y)
        self.dx = torch.zeros(self.R, self.G, dtype=self.dtype)
        self.grads = {name: torch.zeros_like(weight) for name, weight in self.weights.items()}
        self.dc = torch.zeros(self.R, self.F, dtype=self.dtype)
        d = torch.zeros(self.R, self.F, dtype=self.dtype)  # ∂/∂w_k from the shifts above k
        segment = self.setting.checkpoint or max(self.K, 1)
        for first in range(((self.K - 1) // segment) * segment + 1, 0, -segment):
            last = min(first + segment - 1, self.K)
            arrays = self._again(first, last, kept[0]) if self.setting.checkpoint else kept
            for k in range(last, first - 1, -1):
                d = (
                    self._gated_back(k, k - first, d, *arrays)
                    if self.gated
                    else self._plain_back(k, k - first, d, *arrays)
                )
        dw0 = d + self._output_back(0, self.w0)
        dx, grads = self.dx.view(self.N, self.B, self.G), self.grads
        del self.dtotal, self.dc, self.dx, self.grads  # nothing outlives the backward
        return dx, dw0.view(self.N, self.B, self.F), grads

    def _again(self, first: int, last: int, starts: Tensor) -> list[Tensor]:
        """A segment's arrays, computed once more from the state at its start."""
        Sw, c, w = self._storage(last - first + 1)
        w[0], c[0] = starts[(first - 1) // self.setting.checkpoint]
        for k in range(first, last + 1):
            self._step(k, k - first, Sw, c, w)
        return [Sw, c] if self.gated else [w]

    def _output_back(self, k: int, w: Tensor) -> Tensor:
        """Gradients of y_k; returns the share of w_k."""
        z = self._output(k, w)
        self._rows(gates.through, z, self.dtotal, self.code_y)
        self.grads["h_yw"][k] = summed_product(z, w)
        self.grads["h_yx"][k] = summed_product(z, self.x)
        self.dx.addmm_(z, self.weights["h_yx"][k])
        return z @ self.weights["h_yw"][k]

    def _gated_back(self, k: int, slot: int, d: Tensor, Sw: Tensor, c: Tensor) -> Tensor:
        z, w = self._arguments(k, Sw[slot]), self.blank()
        self._rows(gates.lssm_state, z, c[slot + 1], w)
        dw = d + self._output_back(k, w)
        self._rows(gates.lssm_backward, z, c[slot], c[slot + 1], dw, self.dc)
        self._weights_back(k, z, summed_product(z, Sw[slot]))
        below = self.blank()
        self._shift(z @ self.Hw[k - 1], below, transpose=True)
        return below

    def _plain_back(self, k: int, slot: int, d: Tensor, w: Tensor) -> Tensor:
        a = d + self._output_back(k, w[slot + 1])
        self._rows(gates.through_value, w[slot + 1], a, self.code_w)
        v = self.blank()
        self._shift(a, v, transpose=True)
        self._weights_back(k, a, summed_product(v, w[slot]))  # Σ a (S w)ᵀ = Σ (Sᵀ a) wᵀ: S w need not be kept
        return v @ self.Hw[k - 1]

    def _weights_back(self, k: int, z: Tensor, state: Tensor) -> None:
        signal = summed_product(z, self.x)
        self.dx.addmm_(z, self.Hx[k - 1])
        bias = summed_product(z, torch.ones(self.R, 1, dtype=self.dtype)) if self.b is not None else None
        for place, name in enumerate(self.maps):
            rows = slice(place * self.F, (place + 1) * self.F)
            self.grads[f"h_{name}w"][k - 1], self.grads[f"h_{name}x"][k - 1] = state[rows], signal[rows]
            if bias is not None:
                self.grads[f"b_{name}"][k - 1] = bias[rows, 0]
