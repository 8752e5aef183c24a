"""What is measured: shapes, graphs, and the contestants on each."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from shiftstate.bench import peers, plain
from shiftstate.graphs import Shift
from shiftstate.layers import LAYERS, Layer
from shiftstate.layers.options import Mixing

Run = Callable[[], list[Tensor]]
"""One forward and backward; returns the output and the gradients, for comparison."""


@dataclass(frozen=True)
class Case:
    """A shape. Dense graphs are the paper's: 50 nodes, many signals; sparse ones are one large graph, one signal."""

    filter: str
    K: int
    nodes: int = 50
    edges: int | None = None
    """None: a dense S."""
    batch: int = 100
    channels: tuple[int, int] = (1, 4)
    mixing: Mixing = "bank"

    @property
    def name(self) -> str:
        """As the table shows it."""
        size = f"N={self.nodes:,}" + (f" E={self.edges:,}" if self.edges else f" B={self.batch}")
        return f"{self.filter.upper()} {size} {self.channels[0]}→{self.channels[1]} {self.mixing} K={self.K}"


def large(filter: str, K: int, nodes: int, edges: int, channels: int = 32) -> Case:
    """One large sparse graph with one signal of many channels."""
    return Case(filter, K, nodes, edges, 1, (channels, channels), "depthwise")


TABLE = (
    Case("lssm", 32),
    Case("lssm", 4),
    Case("rsn", 32),
    Case("gcnn", 32),
    large("lssm", 16, 200_000, 1_000_000),
    large("rsn", 16, 200_000, 1_000_000),
    large("gcnn", 16, 200_000, 1_000_000),
    large("lssm", 16, 100_000, 2_000_000),
    large("rsn", 16, 100_000, 2_000_000),
    large("gcnn", 16, 100_000, 2_000_000),
)
"""The shapes of the published table."""

SMALL = (Case("lssm", 4, nodes=20, batch=5), large("rsn", 3, 500, 2_000, 4), large("gcnn", 3, 500, 2_000, 4))
"""The same in miniature, to see that everything runs."""


COMPARED = (TABLE[-1], SMALL[-1])
"""The cases on which PyTorch Geometric's layers are timed too."""


class Setup:
    """The tensors of one case, the same for every contestant."""

    def __init__(self, case: Case, device: str = "cpu") -> None:
        self.case = case
        generator = torch.Generator().manual_seed(0)
        self.shift = random_shift(case, generator).to(device)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            self.layer: Layer = LAYERS[case.filter](
                *case.channels, case.K, mixing=case.mixing, bias=False, init="alive"
            ).to(device)
        self.x = torch.randn(case.batch, case.nodes, case.channels[0], generator=generator).to(device)
        self.cotangent = torch.randn(case.batch, case.nodes, case.channels[1], generator=generator).to(device)
        self.parameters = [parameter for parameter in self.layer.parameters() if parameter.numel()]

    def ours(self, kernel: str = "auto", checkpoint: int | str | None = None) -> Run:
        """The layer itself, from signals (B, N, G) to (B, N, F)."""

        def run() -> list[Tensor]:
            self.layer.kernel, self.layer.checkpoint = kernel, checkpoint
            y = self.layer(self.x, self.shift)
            return [y, *torch.autograd.grad(y, self.parameters, self.cotangent)]

        return run

    def in_float64(self, kernel: str) -> list[Tensor]:
        """Output and gradients in float64; checkpointed, so that large cases fit."""
        layer = copy.deepcopy(self.layer).double()
        layer.kernel, layer.checkpoint = kernel, "sqrt"
        y = layer(self.x.double(), self.shift.to(torch.float64))
        parameters = [parameter for parameter in layer.parameters() if parameter.numel()]
        return [y, *torch.autograd.grad(y, parameters, self.cotangent.double())]

    def plain(self, way: Callable[..., Tensor]) -> Run:
        """Ordinary PyTorch, its input laid out nodes first beforehand."""
        names = [name for name, parameter in self.layer.named_parameters() if parameter.numel()]
        shifted = plain.product(self.shift)
        nodes_first = self.x.movedim(-2, 0).contiguous()  # (N, B, G)
        cotangent = self.cotangent.movedim(-2, 0).contiguous()
        F, G = self.case.channels[1], self.case.channels[0]

        def run() -> list[Tensor]:
            weights = {name: getattr(self.layer, name) for name in names}
            columns = {name: weight.flatten(1) for name, weight in weights.items() if name != "mix"}
            if self.case.mixing == "depthwise":
                x = nodes_first @ weights["mix"]
            else:
                x = nodes_first.repeat_interleave(F, -1) if G == 1 else nodes_first.repeat(1, 1, F)
            y = way(shifted, x, columns)
            y = y if self.case.mixing == "depthwise" or G == 1 else y.view(*y.shape[:-1], F, G).sum(-1)
            return [y.movedim(0, -2), *torch.autograd.grad(y, self.parameters, cotangent)]

        return run

    def bare(self) -> dict[str, Run]:
        """The 2K products a filter cannot do without, by torch's own product, on as many channels as the state has.

        In the two ways one would try, of which the faster counts: each product to memory of its own, and all to the
        same. Which it is depends on the allocator and on the size.
        """
        width = self.case.batch * self.case.channels[1] * (self.case.channels[0] if self.case.mixing == "bank" else 1)
        w = torch.randn(self.case.nodes, width, device=self.x.device)
        out = torch.empty_like(w)
        matrix: Any = self.shift.to_dense() if self.shift.layout == "dense" else plain.csr(self.shift)

        def anew() -> list[Tensor]:
            for _ in range(2 * self.case.K):
                matrix @ w
            return []

        def again() -> list[Tensor]:
            for _ in range(2 * self.case.K):
                torch.mm(matrix, w, out=out)
            return []

        return {"bare 1": anew, "bare 2": again}

    def contestants(self, with_peers: bool = True) -> dict[str, Run]:
        """Everything that is timed on this case, by name."""
        runs = {"ours": self.ours()}
        for number, way in enumerate(plain.PLAIN[self.case.filter]):
            runs[f"plain {number + 1}"] = self.plain(way)
        runs |= self.bare()
        if with_peers and self.case in COMPARED:
            runs |= peers.runs(self.x[0], self.shift, self.case.K, self.case.channels[1])
        return runs


def random_shift(case: Case, generator: torch.Generator) -> Shift:
    """A random graph of the case's size, its spectrum near 1 so that states stay alive."""
    N = case.nodes
    if case.edges is None:
        adjacency = (torch.rand(N, N, generator=generator) < 0.3).float().triu(1)
        return Shift.from_matrix(adjacency + adjacency.T, layout="dense").normalized("symmetric")
    edges = torch.randint(0, N, (2, case.edges), generator=generator)
    return Shift.from_edges(edges, num_nodes=N, layout="sparse").normalized("symmetric")
