"""What needs no graph, as models of the same machine: each is a fixed rule with one learned offset."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from shiftstate import machine as m


def nothing(x: Tensor) -> Tensor:
    """0, so that the offset is the mean."""
    return torch.zeros_like(x[..., :1])


def own_value(x: Tensor) -> Tensor:
    """The node's own value: the identity."""
    return x[..., :1]


def swap(x: Tensor) -> Tensor:
    """1 becomes 0, 0 becomes 1, else copy."""
    value = x[..., :1]
    return torch.where((value == 0) | (value == 1), 1 - value, value)


class Rule(nn.Module):
    """y = rule(x) + b at every node, whatever the graph."""

    def __init__(self, rule: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.rule, self.offset = rule, nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor, shift: Any) -> Tensor:
        """(B, N, G) → (B, N, 1)."""
        return self.rule(x) + self.offset


RULES: Mapping[str, Callable[[Tensor], Tensor]] = {"average": nothing, "identity": own_value, "swap": swap}


def build_rule(trial: m.Trial, data: Any) -> nn.Module:
    """The rule that the trial's model names."""
    return Rule(RULES[trial.model])
