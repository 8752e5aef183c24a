"""A network: layers, the nonlinearity after each, a readout; saved as safetensors with its configuration."""

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from shiftstate.checks import check_name, check_whole
from shiftstate.filters.activations import Activation
from shiftstate.filters.activations import activation as named_activation
from shiftstate.graphs import Shift
from shiftstate.layers import LAYERS, Layer
from shiftstate.model_file import read_model, write_model
from shiftstate.readout import READOUTS, Readout
from shiftstate.signatures import constructor_options

KEYS = frozenset({"filter", "channels", "K", "activation", "options", "readout"})
"""What the configuration of every file holds."""
ADDED: dict[str, Any] = {"dropout": 0.0}
"""What was added since, with the values that a file without it means."""


class Network(nn.Module):
    """x_l = σ(layer_l(x_{l−1})) for l = 1 … L, then a readout.

    Args:
        filter: "gcnn", "rsn", "lssm" or another name in ``shiftstate.layers.LAYERS``, or a `Layer` class of your own.
        channels: channels of the input and of every layer: [1, 4] is one layer from 1 to 4 channels.
        K: the filter order of every layer.
        readout: a `FlattenReadout`, `PoolReadout` or `NodeReadout`; without one the last signal is returned.
        activation: σ, by name or as a callable.
        dropout: in training mode, the share of the input features of every layer that is set to zero.
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
        *,
        dropout: float = 0.0,
        **options: Any,
    ) -> None:
        super().__init__()
        layer = _layer_class(filter)
        _check_options(layer, options)
        if not isinstance(channels, Sequence) or len(channels) < 2:
            raise ValueError(f"channels is {channels!r}; expected at least two: of the input and of one layer")
        self.filter = _filter_name(layer)
        self.channels = [check_whole("channels", count, 1) for count in channels]
        self.K = check_whole("K", K, 0)
        named_activation(activation)
        self.activation = activation
        self.dropout = _check_dropout(dropout)
        _check_readout(readout)
        self.layers = nn.ModuleList(layer(ins, outs, self.K, **options) for ins, outs in pairwise(self.channels))
        if readout is not None:
            readout.bind(self.channels[-1])
        self.readout = readout

    def forward(self, x: Tensor, shift: Shift) -> Tensor:
        """x (..., N, channels[0]) → what the readout gives, or (..., N, channels[-1]) without one."""
        for layer in self.layers:
            if self.dropout:
                x = functional.dropout(x, self.dropout, self.training)
            x = named_activation(self.activation)(layer(x, shift))
        return x if self.readout is None else self.readout(x, shift)

    def reset_parameters(self) -> None:
        """Draw all parameters again."""
        for layer in self.layers:
            layer.reset_parameters()  # type: ignore[operator]
        if self.readout is not None:
            self.readout.reset_parameters()

    def config(self) -> dict[str, Any]:
        """Everything that builds this network again except its weights, ready for JSON."""
        first = self.layers[0]
        assert isinstance(first, Layer)
        config = {
            "filter": self.filter,
            "channels": self.channels,
            "K": self.K,
            "activation": self.activation,
            "dropout": self.dropout,
            "options": first.options(),
            "readout": self.readout and {"kind": self.readout.kind, **self.readout.options()},
        }
        for key, value in {"activation": self.activation, **first.options()}.items():
            if callable(value):
                raise ValueError(f"{key} is a callable, which a file cannot hold; expected an activation by name")
        return config

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write weights and configuration as one safetensors file; the old file stays until the new one is whole.

        Weights that are NaN or infinite raise: a file with such weights could not be read again.
        """
        write_model(path, "network", self.config(), self.state_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str], filter: type[Layer] | None = None) -> "Network":
        """Read a network back, weights, dtype and all; the random state is left as it was.

        Args:
            path: the file.
            filter: the `Layer` class of a network that was built with one of your own.
        """
        description, weights = read_model(path, "network", "Network.save")
        config = _check_config(path, description)
        if filter is None:
            _check_layers(config["channels"], len(weights), path)
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
            sizes = config["channels"], config["K"]
            return cls(
                filter or kind, *sizes, readout, config["activation"], dropout=config["dropout"], **config["options"]
            )
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


def _check_options(layer: type[Layer], options: dict[str, Any]) -> None:
    """Raise if a filter of the library does not have one of these options; a user's own class judges by itself."""
    unknown = [name for name in options if name not in layer.option_names()]
    if unknown and layer in LAYERS.values():
        others = [name for name, known in LAYERS.items() if unknown[0] in known.option_names()]
        hint = f"; {', '.join(others)} have it" if others else ""
        known = ", ".join(layer.option_names())
        raise ValueError(f"{_filter_name(layer)!r} has no option {unknown[0]!r}; expected some of {known}{hint}")


def _check_dropout(dropout: object) -> float:
    if isinstance(dropout, bool) or not isinstance(dropout, int | float) or not 0 <= dropout < 1:
        raise ValueError(f"dropout is {dropout!r}; expected a share from 0 to less than 1")
    return float(dropout)


def _check_readout(readout: object) -> None:
    if isinstance(readout, type) and issubclass(readout, Readout):
        arguments = ", ".join(constructor_options(readout))
        raise ValueError(
            f"readout is the class {readout.__name__}; expected one made of it: {readout.__name__}({arguments})"
        )
    if readout is not None and not isinstance(readout, Readout):
        names = ", ".join(kind.__name__ for kind in READOUTS.values())
        raise ValueError(f"readout is a {type(readout).__name__}; expected one of {names}, or None")


def _build_readout(kind: str, **options: Any) -> Readout:
    return READOUTS[check_name("readout", kind, READOUTS)](**options)


def _check_config(path: Any, config: Any) -> dict[str, Any]:
    """The configuration with every key that it must have, and the defaults of those that older files lack."""
    if not isinstance(config, dict) or not config.keys() >= KEYS or config.keys() - KEYS - ADDED.keys():
        found = ", ".join(sorted(config)) if isinstance(config, dict) else f"a {type(config).__name__}"
        raise ValueError(f"{path} holds the configuration {found or 'of nothing'}; expected {', '.join(sorted(KEYS))}")
    return ADDED | config


def _check_layers(channels: object, tensors: int, path: Any) -> None:
    """Every layer has a tensor at least: a list of a billion channels is not walked through."""
    if isinstance(channels, list) and len(channels) - 1 > tensors:
        raise ValueError(
            f"{path} describes {len(channels) - 1} layers and holds {tensors} tensors; expected some for each layer; "
            "was the file edited by hand?"
        )


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
