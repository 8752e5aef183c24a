"""The optimizer and the schedule of its learning rate."""

import math
from typing import Any

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, OneCycleLR

SCHEDULES = ("constant", "cosine", "onecycle")

WARM_UP = 0.1
"""The share of a onecycle schedule's steps in which the learning rate rises."""


def adam(
    model: nn.Module,
    learning_rate: float,
    betas: tuple[float, float],
    weight_decay: float,
    device: str | torch.device,
) -> torch.optim.Optimizer:
    """AdamW; without weight decay it is Adam. A model with ``decayed_parameters()`` says what decays, else all does."""
    one_kernel = torch.device(device).type in ("cpu", "cuda")
    groups: Any = model.parameters()
    if hasattr(model, "decayed_parameters"):
        decayed = {id(parameter) for parameter in model.decayed_parameters()}  # type: ignore[operator]
        parted = [[one for one in model.parameters() if (id(one) in decayed) is wanted] for wanted in (True, False)]
        groups = [{"params": parted[0]}, {"params": parted[1], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, learning_rate, betas, weight_decay=weight_decay, fused=one_kernel)


def scheduled(optimizer: torch.optim.Optimizer, schedule: str, learning_rate: float, steps: int) -> LRScheduler:
    """What changes the learning rate after every step."""
    if schedule == "onecycle":
        return OneCycleLR(optimizer, learning_rate, total_steps=steps, pct_start=WARM_UP)
    return LambdaLR(optimizer, lambda step: _factor(schedule, step / steps))


def _factor(schedule: str, done: float) -> float:
    return 1.0 if schedule == "constant" else (1 + math.cos(math.pi * min(done, 1.0))) / 2
