"""A filter with scalar weights on a small graph, there and back: two compiled calls over tiles of columns."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from shiftstate.filters.fused import lssm_tiles, rsn_tiles
from shiftstate.filters.fused.blocks import for_blocks
from shiftstate.filters.fused.buffers import empty
from shiftstate.filters.fused.elementary import encode
from shiftstate.filters.fused.ends import spread
from shiftstate.filters.fused.product import Product
from shiftstate.filters.fused.setting import Setting
from shiftstate.filters.fused.tiles import add_up, signals_per_tile

SMALL = 1024
"""Nodes up to which a tile of the state stays in the cache."""

KERNELS: dict[str, Any] = {"lssm": lssm_tiles, "rsn": rsn_tiles}
KEPT = {"lssm": (0, 1), "rsn": (1,)}
"""Arrays kept for the backward, as so many more than there are shifts: S w_{k−1} and c_k; w_k."""


class Plan:
    """All that shapes and setting decide; made once for many calls."""

    def __init__(self, setting: Setting, x: torch.Size, h: torch.Size, names: tuple[str, ...], dtype: Any) -> None:
        self.setting, self.dtype, self.x_shape = setting, dtype, x
        self.names = [name for name in names if name.startswith("h_")]
        self.biases = [name for name in names if name.startswith("b_")]
        self.K, (N, B), (F, G) = h[0] - 1, x[:2], h[1:]
        self.whole, self.columns, self.channels = (N, B, F, G), (N, B * F * G), F * G
        self.signals = signals_per_tile(B, self.channels)
        self.tiles = -(-B // self.signals)
        self.segment = setting.checkpoint or max(self.K, 1)
        self.carried = len(KEPT[setting.kind])
        number = np.float32 if dtype == torch.float32 else np.float64
        self.codes = encode(setting.state_activation, number), encode(setting.output_activation, number)
        self.nothing = np.empty(0, number)

    @staticmethod
    @lru_cache
    def of(setting: Setting, x: torch.Size, h: torch.Size, names: tuple[str, ...], dtype: Any) -> "Plan":
        """The plan for these shapes."""
        return Plan(setting, x, h, names, dtype)

    def states(self, count: int) -> Tensor:
        """So many states, written before they are read."""
        return empty((count, *self.columns), self.dtype)

    def room(self, shifts: int) -> list[Tensor]:
        """Arrays for what is kept of so many shifts, or of the current one alone."""
        return [self.states(max(shifts, 1) + more) for more in KEPT[self.setting.kind]]

    def table(self, names: list[str], weights: dict[str, Tensor], outputs: int) -> Any:
        """Weights (K + 2, P, columns of a tile): the update's from k = 1, none after the last shift; None for none."""
        if not names:
            return None
        table = empty((self.K + 2, len(names), self.signals, self.channels), self.dtype).numpy()
        table[0], table[-1] = 0, 0
        rows = torch.cat([weights[name] for name in names])  # (K or K + 1 of every name, F, G)
        spread(rows.flatten(1).numpy(), table, outputs)
        return table.reshape(self.K + 2, len(names), -1)

    def sums(self, table: Any) -> Any:
        """Room for the gradient of a table, by tile."""
        return None if table is None else empty((self.tiles, len(table), 1, *table.shape[1:]), self.dtype).numpy()

    def gradients(self, names: list[str], sums: Any, outputs: int) -> dict[str, Tensor]:
        """Gradients by name."""
        updates = torch.empty((len(names) - outputs, self.K, *self.whole[2:]), dtype=self.dtype)
        ends = torch.empty((outputs, self.K + 1, *self.whole[2:]), dtype=self.dtype)
        if names:
            add_up(sums, updates.flatten(2).numpy(), ends.flatten(2).numpy())
        return dict(zip(names, (*updates.unbind(), *ends.unbind()), strict=True))


class Columns:
    """One call: x (N, B, 1, G) of a bank or (N, B, F, 1) of a depthwise filter, weights (K or K+1, F, G) by name."""

    def __init__(
        self, setting: Setting, x: Tensor, weights: dict[str, Tensor], operator: Sequence[Tensor], keep: bool
    ) -> None:
        self.setting, self.keep = setting, keep
        self.plan = plan = Plan.of(setting, x.shape, weights["h_yw"].shape, tuple(weights), x.dtype)
        self.x = x.reshape(*x.shape[:2], -1).contiguous().numpy()
        self.S, self.St = Product.of(tuple(operator)).both()
        self.H, self.b = plan.table(plan.names, weights, 2), plan.table(plan.biases, weights, 0)

    def variant(self) -> tuple[Any, ...]:
        """What decides which kernels are compiled, the filter's name first."""
        return (
            self.setting.kind.upper(),
            self.setting,
            self.plan.dtype,
            self.b is None,
            isinstance(self.S, tuple),
            "tiles",
        )

    def forward(self) -> tuple[Tensor, list[Tensor]]:
        """σ_y(Σ_k y_k) as (N, B, F, G), and what the backward needs."""
        plan = self.plan
        checkpoint = self.setting.checkpoint if self.keep else 0
        room, starts, kept = plan.room(plan.K if self.keep and not checkpoint else 0), plan.nothing, []
        if checkpoint:
            kept = [empty((-(-plan.K // checkpoint), plan.carried, *plan.columns), plan.dtype)]
            starts = _flat(kept[0])
        elif self.keep:
            kept = room
        y, scratch = empty(plan.whole, plan.dtype), plan.states(2 * plan.carried)
        arrays = (tuple(map(_flat, room)), starts, _flat(scratch), y.view(plan.columns).numpy())
        given = (plan.signals, plan.segment, self.S, self.x, self.H, self.b)
        for_blocks(plan.tiles, KERNELS[self.setting.kind].forward_tiles, *given, *arrays, *plan.codes)
        return y, kept

    def backward(
        self, dy: Tensor, y: Tensor, kept: list[Tensor], need_x: bool
    ) -> tuple[Tensor | None, None, dict[str, Tensor]]:
        """Gradients of x, where it is needed, and of every weight, from that of y; w_0 is x."""
        plan, starts, again = self.plan, self.plan.nothing, 0
        if self.setting.checkpoint:
            starts, kept = _flat(kept[0]), plan.room(min(plan.segment, plan.K))
            again = 2 * (plan.carried - 1)  # for an LSSM's w; those of an RSN are kept
        scratch = plan.states(plan.carried + 3 + again + need_x)
        dy = dy.expand(plan.whole).reshape(plan.columns).contiguous()
        dx = empty(self.x.shape, plan.dtype) if need_x else None
        dH, db = plan.sums(self.H), plan.sums(self.b)
        arrays = (tuple(map(_flat, kept)), starts, _flat(scratch), y.view(plan.columns).numpy(), dy.numpy())
        given = (plan.signals, plan.segment, self.S, self.St, self.x, self.H, self.b)
        rest = (None if dx is None else dx.numpy(), *plan.codes, dH, db)
        for_blocks(plan.tiles, KERNELS[self.setting.kind].backward_tiles, *given, *arrays, *rest)
        grads = plan.gradients(plan.names, dH, 2) | plan.gradients(plan.biases, db, 0)
        return None if dx is None else dx.view(plan.x_shape), None, grads


def _flat(tensor: Tensor) -> Any:
    return tensor.view(-1).numpy()
