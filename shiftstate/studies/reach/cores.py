"""The ways through the graph that are compared: (B, N, c) → (B, N, c), by name.

Ours are one filter layer with K = d. The peers are d layers of message passing, or one filter of order d, from PyTorch
Geometric where it has them; residual GCN, GraphCON and SWAN are written from their equations in `peers`.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from shiftstate.graphs import Shift
from shiftstate.layers import GCNN, LAYERS, Layer
from shiftstate.studies.reach import peers

OPEN = 30.0
"""sigmoid(30) is 1 in float32: a gate with this bias and no weights is open for good."""


def ours(name: str) -> Callable[[int, int, Any], nn.Module]:
    """One layer of an RSN, LSSM or GSN of order K, with the options of the settings."""

    def core(width: int, order: int, settings: Any) -> nn.Module:
        kind = LAYERS[name]
        options = {key: getattr(settings, key) for key in ("basis", "init", "mixing", "tied", "input")}
        if "gate_bias" in kind.option_names():
            options["gate_bias"] = True
        if "state_activation" in kind.option_names():
            options["state_activation"] = "tanh"
        layer = kind(width, width, order, bias=True, output_activation="identity", **options)
        return layer if settings.gates else open_gates(layer)

    return core


def open_gates(layer: nn.Module) -> nn.Module:
    """The layer with its gates open for good: weights zero, biases large, none of them learned."""
    gates = [name for name in layer.updates if name != "c"] if hasattr(layer, "gate_bias") else []  # type: ignore[union-attr]
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            if name.rpartition("_")[2][:1] in gates and name[:2] in ("h_", "b_"):
                parameter.fill_(OPEN if name.startswith("b_") else 0.0)
                parameter.requires_grad_(False)
    return layer


class OnEdges(nn.Module):
    """A module that takes (nodes, edges), called with many signals on the graph of one shift as one large graph."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner
        self._known: tuple[Shift, int, Tensor] | None = None

    def forward(self, x: Tensor, shift: Shift) -> Tensor:
        """(B, N, c) → (B, N, c)."""
        batch = x.shape[:-2]
        copies = x[..., 0, 0].numel()
        y: Tensor = self.inner(x.reshape(-1, x.shape[-1]), self._edges(shift, copies))
        return y.reshape(*batch, shift.num_nodes, y.shape[-1])

    def _edges(self, shift: Shift, copies: int) -> Tensor:
        """The edges of so many copies of the graph beside each other; kept, since batches have few sizes."""
        if self._known is None or self._known[0] is not shift or self._known[1] != copies:
            edges = shift.edges()[0]
            first = shift.num_nodes * torch.arange(copies, device=edges.device)
            self._known = shift, copies, (edges[:, None, :] + first[:, None]).reshape(2, -1)
        return self._known[2]


def cut_to(core: nn.Module, order: int) -> None:
    """Let a model take so many hops only: tied filters and message passing. Other filters stay as they are."""
    inner = core.inner if isinstance(core, OnEdges) else core
    if isinstance(inner, Layer):
        if inner.tied:
            inner.K = order
        return
    for name in ("depth", "num_iters", "num_layers"):
        if hasattr(inner, name):
            setattr(inner, name, order)


def _peer(build: Callable[[int, int], nn.Module]) -> Callable[[int, int, Any], nn.Module]:
    return lambda width, order, settings: OnEdges(build(width, order))


def _conv(name: str, *sizes: Any, **options: Any) -> nn.Module:
    conv: nn.Module = getattr(import_module("torch_geometric.nn"), name)(*sizes, **options)
    return conv


PEERS: Mapping[str, Callable[[int, int], nn.Module]] = {
    "gcn": lambda width, depth: peers.Convs([_conv("GCNConv", width, width) for _ in range(depth)]),
    "resgcn": lambda width, depth: peers.Convs([_conv("GCNConv", width, width) for _ in range(depth)], residual=True),
    "ggnn": lambda width, depth: _conv("GatedGraphConv", width, depth),
    "adgn": lambda width, depth: _conv("AntiSymmetricConv", width, num_iters=depth),
    "swan": lambda width, depth: peers.SWAN(width, depth),
    "graphcon": lambda width, depth: peers.GraphCON(_conv("GCNConv", width, width), depth),
    "chebconv": lambda width, order: _conv("ChebConv", width, width, order + 1),
    "tagconv": lambda width, order: _conv("TAGConv", width, width, order),
}

CORES: Mapping[str, Callable[[int, int, Any], nn.Module]] = {
    "gsn": ours("gsn"),
    "lssm": ours("lssm"),
    "rsn": ours("rsn"),
    "mlp": lambda width, order, settings: peers.Pointwise(width),
    "gcnn": lambda width, order, settings: GCNN(width, width, order),
    **{name: _peer(build) for name, build in PEERS.items()},
}
