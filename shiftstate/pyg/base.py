"""What every PyTorch Geometric layer here is: PyG's call around a layer of the core."""

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.nn import MessagePassing

from shiftstate.checks import check_not_scripted, check_whole, no_script
from shiftstate.graphs import Shift
from shiftstate.graphs.operators import ordinary_tensors
from shiftstate.layers import LAYERS, Layer
from shiftstate.pyg.arguments import without_message_passing
from shiftstate.pyg.graph import Normalize, check_normalize, to_shift
from shiftstate.pyg.lazy import channels_in, make_lazy, materialize
from shiftstate.signatures import check_keywords, name_methods

ARGUMENTS = ("K", "bias", "normalize", "cached", "add_self_loops")


class StateSpaceConv(MessagePassing):
    r"""The base of `GCNNConv`, `RSNConv`, `LSSMConv` and the others: PyG's call around a layer, kept in ``layer``.

    The shift S is :math:`\mathbf{D}^{-1/2} \mathbf{A} \mathbf{D}^{-1/2}` by default, as in TAGConv.

    Args:
        in_channels: size of each input sample, or -1 to take it from the first call.
        out_channels: size of each output sample.
        K: the number of hops.
        bias: whether to learn an additive bias.
        normalize: True for PyG's symmetric normalisation ("gcn": both ends by the root of the weights that come in);
            "symmetric", "row", "column" or "spectral" for those of `Shift.normalized`; False for none.
        cached: keep the S of the first call for all later ones. Only for one graph that does not change.
        add_self_loops: give every node without a loop one of weight 1, before normalisation.
        **kwargs: the options of the layer: ``mixing``, ``output_activation``, ``kernel``, ``checkpoint``, ``init``,
            ``input``, ``basis``, …; and ``aggr``, ``flow``, ``node_dim``, ``aggr_kwargs`` and ``decomposed_layers`` of
            ``MessagePassing`` with their defaults, the only values that are taken.

    Shapes:
        - **input:** node features :math:`(|\mathcal{V}|, F_{in})`, or :math:`(B, |\mathcal{V}|, F_{in})` for B signals
          on a static graph; edge indices :math:`(2, |\mathcal{E}|)`, or a sparse ``adj_t`` or a `Shift` of
          :math:`(|\mathcal{V}|, |\mathcal{V}|)`; edge weights :math:`(|\mathcal{E}|)` or :math:`(|\mathcal{E}|, 1)`
          *(optional)*
        - **output:** node features :math:`(|\mathcal{V}|, F_{out})`, or :math:`(B, |\mathcal{V}|, F_{out})`
    """

    layer_class: ClassVar[type[Layer]]
    mixing: ClassVar[str] = "depthwise"
    """How channels mix unless the caller says otherwise: wide layers must fit."""

    layer: Layer
    _cached_shift: Shift | None

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        name_methods(cls, "__init__", "forward")

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        K: int = 3,
        bias: bool = True,
        normalize: Normalize = True,
        *,
        cached: bool = False,
        add_self_loops: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(aggr="add")
        kwargs = without_message_passing(type(self).__name__, kwargs)
        if self.layer_class in LAYERS.values():  # a class of the user's own judges by itself
            check_keywords(type(self).__name__, kwargs, self.argument_names())
        check_normalize(normalize)
        self.normalize = normalize
        self.cached = bool(cached)
        self.add_self_loops = bool(add_self_loops)
        self._cached_shift = None
        options = {"mixing": self.mixing, "bias": bias, **kwargs}
        if in_channels == -1:
            # one more in than out: the layer then has every parameter that its kind can have
            inside = check_whole("out_channels", out_channels, 1) + 1
            self.layer = make_lazy(self.layer_class(inside, out_channels, K, **options))
        else:
            self.layer = self.layer_class(in_channels, out_channels, K, **options)

    @classmethod
    def argument_names(cls) -> tuple[str, ...]:
        """The arguments beside the channels: those of every layer here, and the options of the one inside."""
        return tuple(dict.fromkeys((*ARGUMENTS, *cls.layer_class.option_names())))

    @property
    def in_channels(self) -> int:
        """Size of each input sample; -1 as long as it is not known."""
        return self.layer.in_channels

    @property
    def out_channels(self) -> int:
        """Size of each output sample."""
        return self.layer.out_channels

    @property
    def K(self) -> int:
        """The number of hops."""
        return self.layer.K

    def reset_parameters(self) -> None:
        """Draw all parameters again, and forget the cached graph."""
        self._cached_shift = None
        if self.in_channels != -1:
            self.layer.reset_parameters()

    def forward(
        self, x: Tensor, edge_index: Any, edge_weight: Tensor | None = None, batch: Tensor | None = None
    ) -> Tensor:
        """Filter x on the graph.

        Args:
            x: node features (N, in_channels), or (B, N, in_channels): B signals on one graph.
            edge_index: (2, E) tensor or ``EdgeIndex``; a sparse ``adj_t`` with ``adj_t[i, j]`` the edge j → i; or a
                ready `Shift`, which is taken as it is: neither normalised nor given self-loops.
            edge_weight: weights (E) or (E, 1); gradients flow to them.
            batch: the graph of every node, as in ``Batch.batch``. Only ``normalize="spectral"`` asks for it: each
                graph is divided by its own radius; without it the mini-batch counts as one graph.
        """
        check_not_scripted(type(self).__name__)
        self._check_features(x)
        if self.in_channels == -1:
            materialize(self.layer, x.shape[-1])
        if x.shape[-2] == 0:
            nothing = torch.stack([parameter.sum() for parameter in self.layer.parameters()]).sum()
            return x.new_zeros(*x.shape[:-1], self.out_channels) + 0 * nothing  # backward finds its parameters
        y: Tensor = self.layer(x, self.to_shift(x, edge_index, edge_weight, batch))
        return y.contiguous()  # the core computes with nodes first; the signals of a batch are put in order here

    def to_shift(
        self, x: Tensor, edge_index: Any, edge_weight: Tensor | None = None, batch: Tensor | None = None
    ) -> Shift:
        """The graph of a call as a `Shift`: to hand to several layers, or to keep."""
        self._check_features(x)
        if isinstance(edge_index, Shift):
            if edge_weight is not None:
                raise ValueError("edge_weight was given beside a Shift, which holds its weights; expected None")
            if self.explain:
                raise ValueError("edge_index is a Shift while an explainer masks edges; expected an edge_index (2, E)")
            return edge_index
        dtype = next(self.layer.parameters()).dtype
        keep = self.cached and not self.explain
        if keep:
            self._check_constant(edge_index, edge_weight)
            if self._cached_shift is not None:
                return self._recalled(x, dtype)
        kind = check_normalize(self.normalize)
        mask = self._explaining_mask() if self.explain else None
        with ordinary_tensors():
            shift = to_shift(edge_index, edge_weight, x, dtype, kind, self.add_self_loops, batch, mask)
        if keep:
            self._cached_shift = shift
        return shift

    def _check_constant(self, edge_index: Any, edge_weight: Any) -> None:
        """Raise if a layer that keeps its graph is given weights to train, also where no gradients are taken now."""
        weights = edge_index if edge_weight is None else edge_weight
        if isinstance(weights, Tensor) and weights.requires_grad:
            raise ValueError("edge_weight requires gradients and the layer is cached=True; expected cached=False")

    def _recalled(self, x: Tensor, dtype: torch.dtype) -> Shift:
        shift = self._cached_shift
        assert shift is not None
        if shift.num_nodes != x.shape[-2]:
            raise ValueError(
                f"x has {x.shape[-2]} nodes and the cached graph {shift.num_nodes}; expected the graph of the first "
                "call; cached=True is for a single graph"
            )
        if shift.dtype != dtype or shift.device != x.device:
            shift = self._cached_shift = shift.to(dtype).to(x.device)
        return shift

    def _explaining_mask(self) -> Tensor:
        """The edge mask that an explainer has set, as MessagePassing.explain_message applies it to messages."""
        if self._edge_mask is None:
            raise ValueError(
                f"{type(self).__name__} is to be explained without an edge mask; expected an explainer that masks "
                "edges, such as GNNExplainer: GraphMaskExplainer rewrites messages, and this layer passes none"
            )
        mask: Tensor = self._edge_mask
        return mask.sigmoid() if self._apply_sigmoid else mask

    def _check_features(self, x: Any) -> None:
        name = type(self).__name__
        if isinstance(x, tuple | list):
            raise ValueError(
                f"x is a {type(x).__name__} of node features; expected one tensor: {name} does not support bipartite "
                "message passing; please try other layers such as 'SAGEConv' or 'GraphConv' instead"
            )
        if not isinstance(x, Tensor):
            raise ValueError(f"x is a {type(x).__name__}; expected a tensor (N, in_channels)")
        if x.dim() < 2:
            raise ValueError(f"x has shape {tuple(x.shape)}; expected (N, in_channels): x.view(-1, 1) for one channel")
        if self.in_channels != -1 and x.shape[-1] != self.in_channels:
            raise ValueError(f"x has {x.shape[-1]} channels; expected {self.in_channels} (in_channels of this {name})")
        parameter = next(self.layer.parameters())
        cast = torch.amp.is_autocast_available(x.device.type) and torch.is_autocast_enabled(x.device.type)
        if x.dtype != parameter.dtype and not (cast and x.dtype.is_floating_point):
            raise ValueError(
                f"x is {x.dtype} and this {name} {parameter.dtype}; expected one dtype: {name}.to(x.dtype)"
            )
        if x.device != parameter.device:
            raise ValueError(f"x is on {x.device} and this {name} on {parameter.device}; expected one device")

    def __prepare_scriptable__(self) -> Any:
        """What ``torch.jit.script`` asks for first."""
        raise no_script(type(self).__name__)

    def _load_from_state_dict(self, state_dict: dict[str, Tensor], prefix: str, *args: Any) -> None:
        if self.in_channels == -1:
            count = channels_in(state_dict, f"{prefix}layer.", self.layer)
            if count is not None:
                materialize(self.layer, count)
        super()._load_from_state_dict(state_dict, prefix, *args)

    @classmethod
    def from_layer(cls, layer: Layer, **kwargs: Any) -> "StateSpaceConv":
        """A PyG layer around a layer of the core: the very same parameters, shared.

        Args:
            layer: of the class that this one wraps, such as an `LSSM` for `LSSMConv`.
            **kwargs: ``normalize``, ``cached``, ``add_self_loops``.
        """
        if type(layer) is not cls.layer_class:
            raise ValueError(f"layer is a {type(layer).__name__}; expected a {cls.layer_class.__name__}")
        conv = cls(layer.in_channels, layer.out_channels, layer.K, **kwargs)
        conv.layer = layer
        return conv

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, K={self.K})"
