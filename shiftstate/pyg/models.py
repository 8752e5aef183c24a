"""A network of these layers in the manner of PyG's basic models."""

from typing import Any, Final

from torch import Tensor
from torch.fx import Proxy
from torch_geometric.nn.models.basic_gnn import BasicGNN

from shiftstate.checks import check_name
from shiftstate.pyg.arguments import without_message_passing
from shiftstate.pyg.base import StateSpaceConv
from shiftstate.pyg.convs import CONVS
from shiftstate.signatures import check_keywords


class StateSpaceGNN(BasicGNN):
    r"""Layers of one kind with activation, normalisation and dropout between them, as ``torch_geometric.nn.GCN``.

    The graph is converted once per call, not once per layer.

    Args:
        in_channels: size of each input sample, or -1 to take it from the first call.
        hidden_channels: size of each hidden sample.
        num_layers: the number of layers.
        out_channels: size of the output; the last layer's hidden size if None.
        conv: the name of a layer as in `Network`: "gcnn", "rsn", "lssm", …
        **kwargs: PyG's ``dropout``, ``act``, ``act_first``, ``act_kwargs``, ``norm``, ``norm_kwargs`` and ``jk``, and
            the arguments of the layers: ``K``, ``normalize``, ``cached``, ``add_self_loops``, ``mixing``, …

    Example:
        >>> import torch
        >>> from shiftstate.pyg import StateSpaceGNN
        >>> model = StateSpaceGNN(16, 32, num_layers=2, out_channels=7, conv="rsn", K=8)
        >>> model(torch.randn(4, 16), torch.tensor([[0, 1, 2], [1, 2, 3]])).shape
        torch.Size([4, 7])
    """

    supports_edge_weight: Final[bool] = True
    supports_edge_attr: Final[bool] = False

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        num_layers: int,
        out_channels: int | None = None,
        *args: Any,
        conv: str = "lssm",
        **kwargs: Any,
    ) -> None:
        check_name("conv", conv, CONVS)
        super().__init__(in_channels, hidden_channels, num_layers, out_channels, *args, conv=conv, **kwargs)

    def init_conv(self, in_channels: Any, out_channels: int, conv: str, **kwargs: Any) -> StateSpaceConv:
        """One layer."""
        name = type(self).__name__
        check_keywords(name, without_message_passing(name, kwargs), CONVS[conv].argument_names())
        return CONVS[conv](in_channels, out_channels, **kwargs)

    def forward(
        self,
        x: Tensor,
        edge_index: Any,
        edge_weight: Tensor | None = None,
        edge_attr: Tensor | None = None,
        batch: Tensor | None = None,
        batch_size: int | None = None,
        num_sampled_nodes_per_hop: list[int] | None = None,
        num_sampled_edges_per_hop: list[int] | None = None,
    ) -> Tensor:
        """The call of PyG's basic models; ``batch`` also tells a spectral normalisation which nodes are one graph."""
        # torch.fx, by which `to_hetero` works, gives every argument a stand-in; every layer then converts its graph.
        traced = isinstance(edge_index, Proxy)
        sampled = num_sampled_nodes_per_hop is not None or num_sampled_edges_per_hop is not None
        if sampled and not traced:
            raise ValueError(
                "num_sampled_nodes_per_hop was given; expected None: a layer of K hops cannot drop the outermost "
                "sampled hop; use the whole graph, or clusters of it"
            )
        first: StateSpaceConv = self.convs[0]
        explained = any(conv.explain for conv in self.convs)
        if explained and batch is not None and first.normalize == "spectral":
            raise ValueError(
                'a batch was given while an explainer masks edges; expected normalize other than "spectral"'
            )
        if not explained and not traced:
            edge_index, edge_weight = first.to_shift(x, edge_index, edge_weight, batch), None
        y: Tensor = super().forward(x, edge_index, edge_weight, edge_attr, batch, batch_size)
        return y

    def inference(self, *args: Any, **kwargs: Any) -> Tensor:
        """Raises: layer-wise inference loads one hop per layer, and a layer here reaches K."""
        raise ValueError(
            "inference() loads one hop per layer; expected a call on the whole graph: a layer here reaches K hops"
        )
