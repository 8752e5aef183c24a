"""PyTorch Geometric's layers of the same reach, where it is installed."""

from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

from shiftstate.bench import plain
from shiftstate.graphs import Shift


def runs(x: Tensor, shift: Shift, K: int, channels: int) -> dict[str, Any]:
    """Forward and backward of TAGConv and GatedGraphConv with K hops, on edge_index and on a CSR tensor."""
    if find_spec("torch_geometric") is None:
        return {}
    from torch_geometric.nn import GatedGraphConv, TAGConv

    edge_index, weight = shift.edges()
    layers = {
        "TAGConv": TAGConv(channels, channels, K=K, normalize=False, bias=False),
        "GatedGraphConv": GatedGraphConv(channels, num_layers=K, bias=False),
    }
    forms: dict[str, tuple[Any, ...]] = {"edge_index": (edge_index, weight), "CSR": (plain.csr(shift),)}

    def run(layer: Any, graph: tuple[Any, ...]) -> Any:
        cotangent = torch.ones(x.shape[0], channels)
        signal = x.clone().requires_grad_()  # as inside a network, and as our layers' `mix` asks of them
        wanted = [signal, *layer.parameters()]

        def once() -> list[Tensor]:
            y = layer(signal, *graph)
            return [y, *torch.autograd.grad(y, wanted, cotangent)]

        return once

    return {f"{name} ({form})": run(layer, graph) for name, layer in layers.items() for form, graph in forms.items()}
