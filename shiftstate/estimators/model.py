"""The network that estimators train: an encoder, filters with dropout around them, and paths that lead past them."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, linear

from shiftstate.filters.activations import activation
from shiftstate.graphs import Shift
from shiftstate.layers import LAYERS, Layer
from shiftstate.network import Network
from shiftstate.readout import Readout

SPARSE = 0.2
"""Features with at most this share of numbers other than 0 are multiplied as a sparse matrix in training."""
NARROW = 0.3
"""The width of the draw of a filter's output weights around their mean, as a share of the layer's own."""


class Encoder(nn.Linear):
    """x W + b at every node, before the first shift.

    `remember` keeps a sparse copy of the features that every step of a training sees: of 1,433 words a paper has 18.
    """

    remembered: tuple[Tensor, Tensor] | None = None

    def remember(self, x: Tensor) -> None:
        """Features (N, G) that will come again and again."""
        if x.dim() == 2 and x.is_cpu and int(x.count_nonzero()) <= SPARSE * x.numel():
            self.remembered = x, x.to_sparse()

    def forget(self) -> None:
        """Drop the copy."""
        self.remembered = None

    def encode(self, x: Tensor, rate: float) -> Tensor:
        """x (…, N, G), with dropout at this rate in training → (…, N, F)."""
        if self.remembered is None or self.remembered[0] is not x:
            return linear(dropout(x, rate, self.training), self.weight, self.bias)
        words = self.remembered[1]
        values = dropout(words.values(), rate, self.training)
        words = torch.sparse_coo_tensor(words.indices(), values, words.shape, is_coalesced=True)
        encoded: Tensor = torch.sparse.mm(words, self.weight.T) + (0.0 if self.bias is None else self.bias)
        return encoded


class Around(nn.Module):
    """What stands around one filter of a deep network: norm(filter(x, S) + x A + b)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.past = nn.Linear(channels, channels)
        self.norm = nn.BatchNorm1d(channels)

    def forward(self, x: Tensor, filtered: Tensor) -> Tensor:
        """Both (…, N, F)."""
        total = filtered + self.past(x)
        normed: Tensor = self.norm(total.flatten(0, -2)).view_as(total)
        return normed


class EstimatorNetwork(nn.Module):
    """ŷ = network(encode(x)) + Σ_k S^k x A_k, with dropout in front of every layer and of the readout.

    Args:
        network: layers and readout.
        dropout: the share of channels that is dropped, in training.
        features: of x, if it goes through an encoder first; None if the first layer sees it as it is.
        around: whether a linear map leads past every filter and a batch norm follows, for deep networks.
        linear: whether a linear filter, k = 0 … K, leads past everything; it starts at 0.
    """

    def __init__(
        self,
        network: Network,
        dropout: float = 0.0,
        *,
        features: int | None = None,
        around: bool = False,
        linear: bool = False,
    ) -> None:
        super().__init__()
        self.network, self.dropout = network, dropout
        first, *others = network.channels
        self.encoder = None if features is None else Encoder(features, first, bias=around)
        if self.encoder is not None and not around:
            _leave_mixing_to_encoder(network)
        self.around = nn.ModuleList(Around(width) for width in others) if around else None
        self.linear: nn.Linear | None = None
        if linear:
            assert network.readout is not None
            width = first if features is None else features
            self.linear = nn.Linear((network.K + 1) * width, network.readout.num_outputs)
            nn.init.zeros_(self.linear.weight)
            nn.init.zeros_(self.linear.bias)

    def forward(self, x: Tensor, shift: Shift) -> Tensor:
        """x (…, N, G) → what the readout gives."""
        network = self.network
        act = activation(network.activation)
        h = x
        if self.encoder is not None:
            h = self.encoder.encode(x, 0.0 if self.around is not None else self.dropout)
        for number, layer in enumerate(network.layers):
            h = self._dropped(h) if number or self.encoder is None else h
            filtered = layer(h, shift)
            h = act(filtered if self.around is None else self.around[number](h, filtered))
        assert network.readout is not None
        outputs: Tensor = network.readout(self._dropped(h), shift)
        return outputs if self.linear is None else outputs + self.linear(shifted(x, shift, network.K))

    def _dropped(self, x: Tensor) -> Tensor:
        return dropout(x, self.dropout, self.training) if self.dropout else x

    def decayed_parameters(self) -> Iterator[nn.Parameter]:
        """What weight decay is for: matrices between channels. A filter whose weights shrink forgets its neighbours."""
        for name, parameter in self.named_parameters():
            if name.rpartition(".")[2] in ("mix", "project", "weight") and parameter.dim() == 2:
                yield parameter


class Members(nn.Module):
    """The mean of the outputs of several networks that were trained from different starts."""

    def __init__(self, members: Sequence[EstimatorNetwork]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)

    def forward(self, x: Tensor, shift: Shift) -> Tensor:
        """x (…, N, G) → what the readouts give."""
        return torch.stack([member(x, shift) for member in self.members]).mean(0)


def joined(members: Sequence[EstimatorNetwork]) -> EstimatorNetwork | Members:
    """A single network as it is, several as their mean."""
    return members[0] if len(members) == 1 else Members(members)


def shifted(x: Tensor, shift: Shift, K: int) -> Tensor:
    """x, S x … S^K x side by side: (…, N, G) → (…, N, (K+1) G)."""
    every = [x]
    for _ in range(K):
        every.append(shift @ every[-1])
    return torch.cat(every, -1)


def build_network(
    filter: str, channels: list[int], K: int, readout: Readout, *, input: str, wanted: dict[str, Any]
) -> Network:
    """A network with those of the ``wanted`` options that its layers have, and the direct input as asked for."""
    wanted = {**wanted, "input": input}
    known = {name: value for name, value in wanted.items() if name in LAYERS[filter].option_names()}
    network = Network(filter, channels, K, readout, **known)
    for layer in network.layers:
        assert isinstance(layer, Layer)
        _start_as_mean(layer)
    return network


@torch.no_grad()
def _leave_mixing_to_encoder(network: Network) -> None:
    """The first layer takes the encoder's channels as they are: a second matrix would only overfit."""
    mix = getattr(network.layers[0], "mix", None)
    if mix is not None and mix.shape[0] == mix.shape[1]:
        mix.copy_(torch.eye(len(mix)))
        mix.requires_grad_(False)


@torch.no_grad()
def _start_as_mean(layer: Layer) -> None:
    """Centre the weights of the outputs at 1/(K+1): a channel starts near the mean over 0 … K hops."""
    for name in ("h", "h_yw"):
        weight = getattr(layer, name, None)
        if weight is not None and layer.mixing == "depthwise":
            weight.mul_(NARROW).add_(1 / (layer.K + 1))
