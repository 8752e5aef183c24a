"""What the network of a run sees of its data: scaled signals on the normalised graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from shiftstate.estimators import Forecaster
from shiftstate.estimators.forecaster import filled
from shiftstate.estimators.nodes import NodeEstimator
from shiftstate.graphs import Shift
from shiftstate.own_data.reading.problems import Problem

SIGNALS = 8
"""So many test signals are looked at."""


def inputs_of(estimator: Any, problem: Problem) -> tuple[Tensor, Shift]:
    """The features of all nodes (N, G), or the first test signals (n, N, G); and the graph as the network has it."""
    shift = estimator._normalized(problem.shift)
    if isinstance(estimator, NodeEstimator):
        return torch.from_numpy(np.asarray(estimator.scaler_(problem.X))), shift
    if isinstance(estimator, Forecaster):
        values = estimator._series(problem.shift, problem.X, "series")
        first = int(np.flatnonzero(problem.masks["test"])[0])
        ends = range(first, min(first + SIGNALS, len(values)))
        histories = np.stack([values[end - estimator.history : end] for end in ends]).transpose(0, 2, 1)
        return torch.from_numpy(filled(estimator.scaler_(histories[..., None])[..., 0])), shift
    signals = problem.X[problem.masks["test"]][:SIGNALS]
    signals = signals[..., None] if signals.ndim == 2 else signals
    return torch.from_numpy(np.asarray(estimator.scaler_(signals))), shift
