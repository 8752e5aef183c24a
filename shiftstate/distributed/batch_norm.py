"""Batch normalisation over the nodes of all processes."""

import torch
from torch import Tensor, nn

from shiftstate.checks import check_whole
from shiftstate.graphs import Shift


class BatchNorm(nn.Module):
    """(x − mean) / √(variance + ε) · weight + bias, with mean and variance over all signals and all nodes of the graph.

    On a whole graph it is ``torch.nn.BatchNorm1d`` over the rows; on a partitioned one the statistics are still those
    of the whole. Outside of training the running ones are used.

    Args:
        channels: of x (..., N, channels).
        eps: ε.
        momentum: the share of the new statistics in the running ones.
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(self, channels: int, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__()
        self.channels = check_whole("channels", channels, 1)
        self.eps, self.momentum = eps, momentum
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))

    def forward(self, x: Tensor, shift: Shift) -> Tensor:
        """x (..., N, channels), normalised."""
        ranks = shift.ranks
        with ranks.calling(self, x):
            if not self.training:
                return self._scaled(x, self.running_mean, self.running_var)
            rows = x.reshape(-1, self.channels).double()
            count = float(ranks.total(torch.tensor(float(len(rows)), dtype=torch.float64)))
            if count < 2:
                raise ValueError("batch normalisation was given one row; expected two or more in training")
            mean = ranks.total(rows.sum(0)) / count
            variance = ranks.total((rows - mean).square().sum(0)) / count
            with torch.no_grad():
                self.running_mean.lerp_(mean.to(self.running_mean.dtype), self.momentum)
                self.running_var.lerp_((variance * count / (count - 1)).to(self.running_var.dtype), self.momentum)
            return self._scaled(x, mean.to(x.dtype), variance.to(x.dtype))

    def _scaled(self, x: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
        return (x - mean) * (variance + self.eps).rsqrt() * self.weight + self.bias
