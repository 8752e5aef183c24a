"""The network that estimators train: dropout before every layer and the readout, and a linear path around them."""

from typing import Any

from torch import Tensor, nn
from torch.nn.functional import dropout

from shiftstate.filters.activations import activation
from shiftstate.graphs import Shift
from shiftstate.layers import LAYERS
from shiftstate.network import Network
from shiftstate.readout import Readout


class EstimatorNetwork(nn.Module):
    """ŷ = network(x) + A x: a `Network` with dropout, and a linear path A at every node where it is wanted.

    Args:
        network: layers and readout.
        dropout: the share of channels that is dropped before every layer and before the readout, in training.
        linear: whether there is a linear path; it starts at 0.
    """

    def __init__(self, network: Network, dropout: float = 0.0, linear: bool = False) -> None:
        super().__init__()
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout is {dropout}; expected a share of the channels, from 0 to less than 1")
        self.network, self.dropout = network, dropout
        self.linear: nn.Linear | None = None
        if linear:
            assert network.readout is not None
            self.linear = nn.Linear(network.channels[0], network.readout.num_outputs)
            nn.init.zeros_(self.linear.weight)
            nn.init.zeros_(self.linear.bias)

    def forward(self, x: Tensor, shift: Shift) -> Tensor:
        """x (…, N, G) → what the readout gives."""
        network, h = self.network, x
        for layer in network.layers:
            h = activation(network.activation)(layer(self._dropped(h), shift))
        assert network.readout is not None
        outputs: Tensor = network.readout(self._dropped(h), shift)
        return outputs if self.linear is None else outputs + self.linear(x)

    def _dropped(self, x: Tensor) -> Tensor:
        return dropout(x, self.dropout, self.training) if self.dropout else x


def build_network(
    filter: str, channels: list[int], K: int, readout: Readout, *, input: str, wanted: dict[str, Any], **options: Any
) -> Network:
    """A network with those of the ``wanted`` options that its layers have, and the direct input as asked for."""
    wanted = {**wanted, "input": input}
    known = {name: value for name, value in wanted.items() if name in LAYERS[filter].option_names()}
    return Network(filter, channels, K, readout, **known, **options)
