"""Settings that nobody gave: by the task and the data; docs/choosing.md says how they were chosen."""

from dataclasses import asdict, dataclass
from typing import Any

from shiftstate.estimators.constraints import SETTINGS, checked

FEW = 20
"""Training targets per feature below which labels are few and features many."""
MANY = 1000
"""Training targets from which a deep network can learn."""


@dataclass(frozen=True)
class NetworkSettings:
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
    schedule: str = "constant"
    clip: float | None = None
    encode: bool = False
    """Whether a node's features are mapped to the channels before the first shift."""
    around: bool = False
    """Whether a linear map leads past every filter and a batch norm follows, as deep networks need it."""
    linear: bool = False
    """Whether a linear path leads past everything."""
    members: int = 1
    """Networks that are trained from different starts, whose outputs are averaged."""

    def __post_init__(self) -> None:
        for name, value in checked(asdict(self), SETTINGS).items():
            object.__setattr__(self, name, value)  # in plain Python: an np.int64 would not be a JSON number

    def options(self) -> dict[str, Any]:
        """Of layers, where they have them: starts at which neither state nor output dies."""
        alive = {"init": "alive", "gate_bias": True, "output_activation": "identity"}
        return {"mixing": self.mixing, "state_activation": "leaky_relu", **alive}


FEW_LABELS = {
    "K": 8, "channels": 64, "encode": True, "input": "first", "dropout": 0.7, "weight_decay": 1.0, "epochs": 400,
    "patience": 60, "members": 3,
}  # fmt: skip
"""Nodes with few labels per feature: what overfits is weighed down, the graph is read widely."""
SHALLOW = {**FEW_LABELS, "dropout": 0.3, "weight_decay": 0.1}
"""Nodes with few features, and not labels enough for a deep network."""
DEEP = {
    "K": 2, "layers": 6, "encode": True, "around": True, "dropout": 0.2, "weight_decay": 0.0, "learning_rate": 0.03,
    "schedule": "onecycle", "clip": 1.0, "epochs": 250, "patience": 250,
}  # fmt: skip
"""Nodes with many labels and few features: what a node has to know lies in its surroundings, so go deep."""
FORECAST = {"K": 2, "input": "first", "learning_rate": 3e-3, "batch_size": 32, "patience": 10, "linear": True}


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
        return FORECAST
    if per_node:
        enough = SHALLOW if targets < MANY else DEEP
        return enough if targets >= FEW * features else FEW_LABELS
    return {"channels": 16, "batch_size": min(32, max(1, samples // 4))}
