"""A network: layers, the nonlinearity after each, a readout; saved as safetensors with its configuration."""

import json
import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor, nn

from shiftstate.checks import check_name, check_whole
from shiftstate.files import write_whole
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
        if not isinstance(channels, Sequence) or len(channels) < 2:
            raise ValueError(f"channels is {channels!r}; expected at least two: of the input and of one layer")
        self.filter = _filter_name(layer)
        self.channels = [check_whole("channels", count, 1) for count in channels]
        self.K = check_whole("K", K, 0)
        named_activation(activation)
        self.activation = activation
        self.layers = nn.ModuleList(layer(ins, outs, self.K, **options) for ins, outs in pairwise(self.channels))
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
        target = Path(path)
        if not target.parent.is_dir():
            raise ValueError(f"{target.parent} is not a folder; expected the path of a file in one that exists")
        metadata = {"shiftstate.format": str(FORMAT), "shiftstate.network": _as_json(self.config())}
        tensors = {name: tensor.contiguous() for name, tensor in self.state_dict().items()}
        write_whole(target, to_bytes(tensors, metadata))

    @classmethod
    def load(cls, path: str | os.PathLike[str], filter: type[Layer] | None = None) -> "Network":
        """Read a network back, weights, dtype and all; the random state is left as it was.

        Args:
            path: the file.
            filter: the `Layer` class of a network that was built with one of your own.
        """
        try:
            with safe_open(path, framework="pt") as file:
                metadata = file.metadata() or {}
                # A copy: the tensors given are a view of the file, and change when somebody writes to it.
                weights = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
        except FileNotFoundError:
            raise ValueError(f"{path} does not exist; expected a file written by Network.save") from None
        except (SafetensorError, OSError) as error:
            raise ValueError(
                f"{path} cannot be read as safetensors ({error}); is it truncated, or a file of another kind?"
            ) from error
        config = _read_config(path, metadata)
        if filter is None:
            with torch.device("meta"):  # sizes are compared before any memory is taken
                _check_weights(cls._from_config(config, None, path), weights, path)
        with torch.random.fork_rng(devices=[]):
            network = cls._from_config(config, filter, path)
        _check_weights(network, weights, path)
        network.load_state_dict(weights, assign=True)
        return network

    @classmethod
    def _from_config(cls, config: dict[str, Any], filter: type[Layer] | None, path: Any) -> "Network":
        kind = config["filter"]
        if filter is not None and kind != _filter_name(filter):
            raise ValueError(f"{path} holds a network of {kind!r} filters; expected {_filter_name(filter)!r}, as given")
        if filter is None and kind not in tuple(LAYERS):
            raise ValueError(
                f"{path} holds a network of {kind!r} filters; expected one of {', '.join(map(repr, LAYERS))}; "
                "for a filter of your own pass its class: Network.load(path, filter=...)"
            )
        try:
            readout = None if config["readout"] is None else _build_readout(**config["readout"])
            options = config["options"]
            return cls(filter or kind, config["channels"], config["K"], readout, config["activation"], **options)
        except (TypeError, ValueError, RuntimeError) as error:
            cause = str(error).splitlines()[0]
            raise ValueError(f"{path} describes a network that cannot be built: {cause}") from error


def _layer_class(filter: str | type[Layer]) -> type[Layer]:
    if isinstance(filter, type) and issubclass(filter, Layer):
        return filter
    return LAYERS[check_name("filter", filter, LAYERS)]


def _filter_name(layer: type[Layer]) -> str:
    """What a file calls this class: the library's short name, or the name of a user's class."""
    return next((name for name, known in LAYERS.items() if known is layer), layer.__name__)


def _build_readout(kind: str, **options: Any) -> Readout:
    return READOUTS[check_name("readout", kind, READOUTS)](**options)


def _as_json(config: dict[str, Any]) -> str:
    try:
        return json.dumps(config)
    except TypeError as error:
        raise ValueError(f"the configuration cannot be written ({error}); expected names and numbers") from error


def _read_config(path: Any, metadata: dict[str, str]) -> dict[str, Any]:
    version, text = metadata.get("shiftstate.format", ""), metadata.get("shiftstate.network")
    if text is None or not version.isdecimal():
        raise ValueError(f"{path} holds no network configuration; expected a file written by Network.save")
    if version != str(FORMAT):
        raise ValueError(f"{path} has format {version[:20]}; expected {FORMAT}; was it written by a newer shiftstate?")
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} holds a configuration that is not JSON; was the file edited by hand?") from error
    keys = {"filter", "channels", "K", "activation", "options", "readout"}
    if not isinstance(config, dict) or config.keys() != keys:
        found = ", ".join(sorted(config)) if isinstance(config, dict) else f"a {type(config).__name__}"
        raise ValueError(f"{path} holds the configuration {found or 'of nothing'}; expected {', '.join(sorted(keys))}")
    return config


def _check_weights(network: Network, weights: dict[str, Tensor], path: Any) -> None:
    expected = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    if expected != found:
        wrong = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
        raise ValueError(
            f"{path} holds {wrong[0]!r} with shape {found.get(wrong[0])}; expected {expected.get(wrong[0])} "
            f"for its own configuration ({len(wrong)} tensors differ); was the file put together from two networks?"
        )
    dtypes = {tensor.dtype for tensor in weights.values()}
    if len(dtypes) != 1 or not next(iter(dtypes)).is_floating_point:
        names = ", ".join(sorted(map(str, dtypes)))
        raise ValueError(f"{path} holds weights of {names}; expected one floating dtype")
