"""Gradient flow: ‖∂loss/∂w_k‖, ‖∂loss/∂c_k‖, ‖∂loss/∂y_k‖ and ‖∂loss/∂h_k‖ along k.

Total derivatives: that by w_k holds everything the later shifts make of it. The loss sees the whole network.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, mse_loss

from shiftstate.lens.record import Record

Loss = Callable[[Tensor, Tensor | None], Tensor]


@dataclass(frozen=True)
class Gradients:
    """Norms of derivatives along k."""

    states: Tensor
    """‖∂loss/∂w_k‖, k = 0 … K: (K + 1)."""
    memories: Tensor | None
    """‖∂loss/∂c_k‖, k = 1 … K: (K); None for filters without a memory."""
    outputs: Tensor
    """‖∂loss/∂y_k‖, k = 0 … K: (K + 1)."""
    parameters: Mapping[str, Tensor]
    """‖∂loss/∂h_k‖ by name: (K + 1) for those of the outputs, k = 0 … K; (K) for those of the updates, k = 1 … K."""


def gradients(loss: Tensor, records: Sequence[Record]) -> list[Gradients]:
    """The flow through every layer, from one backward."""
    wanted = [tensor for one in records for tensor in _inner(one)]
    weights = list(dict.fromkeys(weight for one in records for weight in _weights(one).values()))
    found = torch.autograd.grad(loss, [*wanted, *weights], allow_unused=True, materialize_grads=True)
    inner, by_weight = iter(found), dict(zip(weights, found[len(wanted) :], strict=True))

    def norms(count: int) -> Tensor:
        return torch.tensor([next(inner).double().norm().item() for _ in range(count)], dtype=torch.float64)

    result = []
    for one in records:
        states, outputs = norms(len(one.states)), norms(len(one.outputs))
        memories = norms(len(one.memories)) if one.memories else None
        parameters = {name: _by_shift(by_weight[weight]) for name, weight in _weights(one).items()}
        result.append(Gradients(states, memories, outputs, parameters))
    return result


def default_loss(y: Tensor, target: Tensor | None, seed: int) -> tuple[Tensor, str]:
    """A loss for this output and target, and what it is."""
    if target is None:
        signs = torch.randint(2, y.shape, generator=torch.Generator().manual_seed(seed)).to(y) * 2 - 1
        return (signs * y).sum() / y.numel() ** 0.5, "a projection of the output on random signs"
    if target.is_floating_point():
        if target.shape != y.shape:
            raise ValueError(f"target has shape {tuple(target.shape)}; expected the output's, {tuple(y.shape)}")
        return mse_loss(y, target), "mean squared error"
    if target.shape != y.shape[:-1]:
        raise ValueError(
            f"target has shape {tuple(target.shape)}; expected {tuple(y.shape[:-1])}: one class for each output"
        )
    return cross_entropy(y.reshape(-1, y.shape[-1]), target.reshape(-1)), "cross-entropy"


def _inner(one: Record) -> list[Tensor]:
    return [*one.states, *one.outputs, *one.memories]


def _weights(one: Record) -> dict[str, Tensor]:
    """The layer's parameters with a leading axis k."""
    by_shift = {**one.layer.output_weights(), **one.layer.update_weights()}
    return {name: weight for name, weight in by_shift.items() if weight.is_leaf and weight.requires_grad}


def _by_shift(gradient: Tensor) -> Tensor:
    norms: Tensor = gradient.double().flatten(1).norm(dim=1)
    return norms.cpu()
