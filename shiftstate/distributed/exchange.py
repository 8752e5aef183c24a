"""The exchange of boundary rows: one message to and from each process, for all channels and signals together."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from shiftstate.distributed.ranks import Ranks
from shiftstate.graphs.operators import ordinary_tensors


class RowExchange:
    """Which rows go where; decided when the graph was partitioned.

    Args:
        ranks: the processes; None if there is only one, or if no row is needed elsewhere.
        rows: the own rows that others need, sorted by who needs them.
        sent: how many of them go to each process.
        received: how many come from each process.
    """

    def __init__(self, ranks: Ranks | None, rows: Tensor, sent: list[int], received: list[int]) -> None:
        self.ranks, self.rows, self.sent, self.received = ranks, rows, sent, received
        self.size = sum(received)
        self._rooms: tuple[Tensor, Tensor] | None = None

    def start(self, x: Tensor) -> Arriving:
        """Send what others need of the rows x (n, C), and begin to receive."""
        if self.ranks is None:
            return Arriving(x.new_empty(0, x.shape[1]), None, None)
        out, halo = self._room(x)
        torch.index_select(x.detach(), 0, self.rows.to(x.device), out=out)
        ranks = self.ranks

        def send() -> Any:
            return dist.all_to_all_single(halo, out, self.received, self.sent, ranks.group, async_op=True)

        return Arriving(halo, ranks.run("an exchange of boundary rows", send), ranks)

    def _room(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Memory to send from and to receive in: that of the last exchange if it fits, for K shifts need the same."""
        if self._rooms is None or self._rooms[0].shape[1:] != x.shape[1:] or self._rooms[0].dtype != x.dtype:
            with ordinary_tensors():  # later exchanges are not of inference alone
                self._rooms = x.new_empty(len(self.rows), x.shape[1]), x.new_empty(self.size, x.shape[1])
        return self._rooms


class Arriving:
    """An exchange under way; what arrives is valid until the next exchange begins."""

    def __init__(self, halo: Tensor, work: Any, ranks: Ranks | None) -> None:
        self._halo, self._work, self._ranks = halo, work, ranks

    def wait(self) -> Tensor:
        """The rows of the halo (h, C)."""
        if self._ranks is not None:
            self._ranks.run("an exchange of boundary rows", self._work.wait)
        return self._halo
