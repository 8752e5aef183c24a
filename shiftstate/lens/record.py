"""A model's call with every state kept: each layer's own input, states, memories, gates and outputs, with gradients."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from shiftstate.filters import Step
from shiftstate.graphs import Shift
from shiftstate.layers import Layer


@dataclass(frozen=True)
class Record:
    """One call of one layer; all signals nodes first, (N, B, channels…), and part of the autograd graph."""

    name: str
    layer: Layer
    x: Tensor
    """The layer's input as it was given: (..., N, G)."""
    steps: list[Step] = field(default_factory=list)
    """Of k = 0 … K."""
    outputs: list[Tensor] = field(default_factory=list)
    """y_k, k = 0 … K."""

    @property
    def states(self) -> list[Tensor]:
        """w_k, k = 0 … K."""
        return [step.w for step in self.steps]

    @property
    def memories(self) -> list[Tensor]:
        """c_k, k = 1 … K; empty for filters without a memory."""
        return [step.c for step in self.steps[1:] if step.c is not None]

    @property
    def gates(self) -> dict[str, list[Tensor]]:
        """γ_k by name, k = 1 … K."""
        return {name: [step.gates[name] for step in self.steps[1:]] for name in self.steps[-1].gates}

    def flat(self, signals: Sequence[Tensor]) -> Iterator[Tensor]:
        """Signals one k after the other as (N, B, channels), detached; what is the same for every f is repeated."""
        full = self.outputs[0].shape
        for signal in signals:
            yield signal.detach().expand(full).reshape(full[0], full[1], -1)


def record(model: nn.Module, x: Tensor, shift: Shift) -> tuple[Tensor, list[Record]]:
    """Call ``model(x, shift)`` and keep what every `Layer` in it did; a layer called twice has two records."""
    layers = {name: module for name, module in model.named_modules() if isinstance(module, Layer)}
    if not layers:
        raise ValueError(f"{type(model).__name__} holds no Layer; expected a layer, or a module that calls layers")
    records: list[Record] = []

    def hook(name: str) -> Any:
        def keep(layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Tensor) -> Tensor:
            x, shift = _arguments(*args, **kwargs)
            calls = 1 + sum(one.layer is layer for one in records)
            one = Record(name if calls == 1 else f"{name} (call {calls})", layer, x)

            def observe(k: int, step: Step, y: Tensor) -> None:
                one.steps.append(step)
                one.outputs.append(y)

            records.append(one)
            return layer.watch(x, shift, observe)  # type: ignore[no-any-return]

        return keep

    with ExitStack() as stack:
        for name, layer in layers.items():
            handle = layer.register_forward_hook(hook(name or "layer"), with_kwargs=True)
            stack.callback(handle.remove)
        return model(x, shift), records


@contextmanager
def at_rest(model: nn.Module) -> Iterator[None]:
    """The model in evaluation mode with gradients for all parameters; afterwards it is as it was."""
    modes = {module: module.training for module in model.modules()}
    frozen = [parameter for parameter in model.parameters() if not parameter.requires_grad]
    model.eval()
    for parameter in frozen:
        parameter.requires_grad_(True)
    try:
        with torch.enable_grad():
            yield
    finally:
        for parameter in frozen:
            parameter.requires_grad_(False)
        for module, mode in modes.items():
            module.training = mode


def _arguments(x: Tensor, shift: Shift) -> tuple[Tensor, Shift]:
    return x, shift
