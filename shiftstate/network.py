"""A network: layers, the nonlinearity after each, a readout; saved as safetensors with its configuration."""

import json
import os
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from shiftstate.checks import check_name
from shiftstate.filters.activations import Activation
from shiftstate.filters.activations import activation as named_activation
from shiftstate.graphs import Shift
from shiftstate.layers import LAYERS, Layer
from shiftstate.readout import READOUTS, Readout

FORMAT = 1
"""Version of the file format; a file of a newer one is refused."""


class Network(nn.Module):
    """x_l = σ(layer_l(x_{l−1})) for l = 1 … L, then a readout.

    Args:
        filter: "gcnn", "rsn", "lssm", or a `Layer` class of your own.
        channels: channels of the input and of every layer: [1, 4] is one layer from 1 to 4 channels.
        K: the filter order of every layer.
        readout: a `FlattenReadout`, `PoolReadout` or `NodeReadout`; without one the last signal is returned.
        activation: σ, by name or as a callable.
        **options: keyword arguments of the layers.

    Example:
        >>> import torch, shiftstate as ss
        >>> shift = ss.Shift.from_edges([[0, 1, 2], [1, 2, 0]])
        >>> net = ss.Network("lssm", channels=[1, 4, 4], K=3, readout=ss.FlattenReadout(num_nodes=3, num_outputs=2))
        >>> net(torch.ones(10, 3, 1), shift).shape
        torch.Size([10, 2])
    """

    def __init__(
        self,
        filter: str | type[Layer],
        channels: Sequence[int],
        K: int,
        readout: Readout | None = None,
        activation: str | Activation = "relu",
        **options: Any,
    ) -> None:
        super().__init__()
        layer = _layer_class(filter)
        if len(channels) < 2:
            raise ValueError(f"channels is {list(channels)}; expected at least two: of the input and of one layer")
        self.filter = filter if isinstance(filter, str) else filter.__name__
        self.channels = list(channels)
        self.K = K
        self.activation = activation
        self.layers = nn.ModuleList(layer(ins, outs, K, **options) for ins, outs in pairwise(channels))
        named_activation(activation)
        if readout is not None:
            readout.bind(self.channels[-1])
        self.readout = readout

    def forward(self, x: Tensor, shift: Shift) -> Tensor:
        """x (..., N, channels[0]) → what the readout gives, or (..., N, channels[-1]) without one."""
        for layer in self.layers:
            x = named_activation(self.activation)(layer(x, shift))
        return x if self.readout is None else self.readout(x, shift)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        for layer in self.layers:
            layer.reset_parameters()  # type: ignore[operator]
        if self.readout is not None:
            self.readout.reset_parameters()

    def config(self) -> dict[str, Any]:
        """Everything that builds this network again but for its weights, ready for JSON."""
        first = self.layers[0]
        assert isinstance(first, Layer)
        config = {
            "filter": self.filter,
            "channels": self.channels,
            "K": self.K,
            "activation": self.activation,
            "options": first.options(),
            "readout": self.readout and {"kind": self.readout.kind, **self.readout.options()},
        }
        for key, value in {"activation": self.activation, **first.options()}.items():
            if callable(value):
                raise ValueError(f"{key} is a callable, which a file cannot hold; expected an activation by name")
        return config

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write weights and configuration as one safetensors file; the old file stays until the new one is whole."""
        metadata = {"format": str(FORMAT), "network": json.dumps(self.config())}
        target = Path(path)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        os.close(handle)
        try:
            tensors = {name: tensor.contiguous() for name, tensor in self.state_dict().items()}
            save_file(tensors, temporary, {f"shiftstate.{key}": value for key, value in metadata.items()})
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    @classmethod
    def load(cls, path: str | os.PathLike[str], filter: type[Layer] | None = None) -> "Network":
        """Read a network back, weights, dtype and all.

        Args:
            path: the file.
            filter: the `Layer` class of a network that was built with one of your own.
        """
        try:
            with safe_open(path, framework="pt") as file:
                metadata = file.metadata() or {}
                weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except FileNotFoundError:
            raise ValueError(f"{path} does not exist; expected a file written by Network.save") from None
        except (SafetensorError, OSError) as error:
            raise ValueError(f"{path} cannot be read as safetensors ({error}); is it truncated?") from error
        network = cls._from_config(_read_config(path, metadata), filter, path)
        _fill(network, weights, path)
        return network

    @classmethod
    def _from_config(cls, config: dict[str, Any], filter: type[Layer] | None, path: Any) -> "Network":
        try:
            readout = None if config["readout"] is None else _build_readout(**config["readout"])
            kind = config["filter"]
            if filter is not None and kind not in (filter.__name__, *LAYERS):
                raise ValueError(f"the file holds a {kind!r} network, and {filter.__name__} was given")
            chosen = filter if filter is not None and kind == filter.__name__ else kind
            return cls(chosen, config["channels"], config["K"], readout, config["activation"], **config["options"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} describes a network that cannot be built: {error}") from error


def _layer_class(filter: str | type[Layer]) -> type[Layer]:
    if isinstance(filter, type) and issubclass(filter, Layer):
        return filter
    return LAYERS[check_name("filter", filter, LAYERS)]


def _build_readout(kind: str, **options: Any) -> Readout:
    return READOUTS[check_name("readout", kind, READOUTS)](**options)


def _read_config(path: Any, metadata: dict[str, str]) -> dict[str, Any]:
    version, text = metadata.get("shiftstate.format", ""), metadata.get("shiftstate.network")
    if text is None or not version.isdecimal():
        raise ValueError(f"{path} holds no network configuration; expected a file written by Network.save")
    if int(version) > FORMAT:
        raise ValueError(
            f"{path} has format {version}; expected at most {FORMAT}: it was written by a newer shiftstate"
        )
    config = json.loads(text)
    if not isinstance(config, dict):
        raise ValueError(f"{path} holds a configuration that is not an object; expected one from Network.save")
    return config


def _fill(network: Network, weights: dict[str, Tensor], path: Any) -> None:
    expected = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    if expected != found:
        wrong = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
        raise ValueError(
            f"{path} holds {wrong[0]!r} with shape {found.get(wrong[0])}; expected {expected.get(wrong[0])} "
            f"for its own configuration ({len(wrong)} tensors differ); was the file put together from two networks?"
        )
    network.load_state_dict(weights, assign=True)
