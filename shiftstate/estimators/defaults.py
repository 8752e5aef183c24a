"""Settings that nobody gave: by the task and the data; docs/choosing.md says how they were chosen."""

from dataclasses import dataclass
from typing import Any

FEW = 20
"""Training targets per feature below which labels are few and features many."""


@dataclass(frozen=True)
class Settings:
    """What a network is built and trained with."""

    K: int = 4
    channels: int = 32
    layers: int = 1
    mixing: str = "depthwise"
    input: str = "every"
    dropout: float = 0.0
    learning_rate: float = 0.01
    weight_decay: float = 1e-4
    epochs: int = 200
    patience: int = 30
    batch_size: int | None = None
    linear: bool = False
    """Whether a linear path leads around the layers."""

    def options(self) -> dict[str, Any]:
        """Of layers, where they have them: starts at which neither state nor output dies."""
        return {"mixing": self.mixing, "init": "alive", "gate_bias": True, "output_activation": "identity"}


def choose(*, per_node: bool, targets: int, features: int, samples: int, forecast: bool) -> dict[str, Any]:
    """The settings for a task.

    Args:
        per_node: whether nodes have the targets.
        targets: how many targets there are to learn from.
        features: channels of a signal.
        samples: signals to learn from.
        forecast: whether later values of the signals themselves are the targets.
    """
    if forecast:
        return {"K": 2, "input": "first", "learning_rate": 3e-3, "batch_size": 32, "patience": 10, "linear": True}
    if per_node and targets < features:
        many = {"K": 8, "channels": 64, "epochs": 400, "patience": 60}
        return {**many, "input": "first", "dropout": 0.5, "weight_decay": 2.0}
    if per_node and targets < FEW * features:
        return {"input": "first", "dropout": 0.5, "weight_decay": 0.05}
    if per_node:
        return {"dropout": 0.2}
    return {"channels": 16, "batch_size": min(32, max(1, samples // 4))}
