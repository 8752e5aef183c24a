"""The layers of the core as PyTorch Geometric layers: one for every entry of the list `LAYERS`."""

from typing import Any

import torch
from torch.nn.parameter import is_lazy
from torch_geometric.nn import TAGConv

from shiftstate.layers import GCNN, LAYERS, LSSM, RSN, Layer
from shiftstate.pyg.base import StateSpaceConv


class GCNNConv(StateSpaceConv):
    r"""The linear graph filter, TAGConv's equation, in its cheapest order of operations.

    .. math::
        \mathbf{X}^{\prime} = \sum_{k=0}^K \mathbf{S}^k \mathbf{X} \mathbf{H}_k

    Its channels mix as a bank, which here costs no memory. The arguments are those of `StateSpaceConv`.

    Example:
        >>> import torch
        >>> from shiftstate.pyg import GCNNConv
        >>> conv = GCNNConv(16, 32)
        >>> conv
        GCNNConv(16, 32, K=3)
        >>> conv(torch.randn(4, 16), torch.tensor([[0, 1, 2], [1, 2, 3]])).shape
        torch.Size([4, 32])
    """

    layer_class = GCNN
    mixing = "bank"

    @classmethod
    def from_tagconv(cls, conv: Any, **kwargs: Any) -> "GCNNConv":
        """The layer that computes what a TAGConv computes, with a copy of its weights.

        Args:
            conv: a ``torch_geometric.nn.TAGConv``.
            **kwargs: ``cached``, ``kernel``, ``checkpoint``.
        """
        if not isinstance(conv, TAGConv):
            raise ValueError(f"conv is a {type(conv).__name__}; expected a TAGConv")
        if conv.aggr not in ("add", "sum") or conv.flow != "source_to_target":
            raise ValueError(f"conv has aggr={conv.aggr!r} and flow={conv.flow!r}; expected 'add', 'source_to_target'")
        weights = [lin.weight for lin in conv.lins]
        if is_lazy(weights[0]):
            raise ValueError("conv has in_channels=-1 and has not been called; expected initialised weights")
        out_channels, in_channels = weights[0].shape
        new = cls(in_channels, out_channels, conv.K, conv.bias is not None, conv.normalize, **kwargs)
        new.to(device=weights[0].device, dtype=weights[0].dtype).train(conv.training)
        with torch.no_grad():
            new.layer.get_parameter("h").copy_(torch.stack(weights))
            if conv.bias is not None:
                new.layer.get_parameter("bias").copy_(conv.bias)
        return new


class RSNConv(StateSpaceConv):
    r"""The recursive shift network: a nonlinear state that sees the input at every hop.

    .. math::
        \mathbf{W}_k &= \sigma_w(h_{kww} \mathbf{S} \mathbf{W}_{k-1} + h_{kwx} \mathbf{X}), \quad
        \mathbf{W}_0 = \mathbf{X} \\
        \mathbf{X}^{\prime} &= \sigma_y \Big( \sum_{k=0}^K \sigma_y(h_{kyw} \mathbf{W}_k + h_{kyx} \mathbf{X}) \Big)

    By default X is mixed to ``out_channels`` first and every h is one number per channel (``mixing="depthwise"``).
    The arguments are those of `StateSpaceConv`, and ``state_activation`` (σ_w).

    Example:
        >>> import torch
        >>> from shiftstate.pyg import RSNConv
        >>> RSNConv(-1, 32, K=8)(torch.randn(4, 16), torch.tensor([[0, 1, 2], [1, 2, 3]])).shape
        torch.Size([4, 32])
    """

    layer_class = RSN


class LSSMConv(StateSpaceConv):
    r"""The long short shift memory: gates decide what each node keeps from hop to hop.

    .. math::
        \tilde{\mathbf{C}}_k &= \tanh(h_{kcw} \mathbf{S} \mathbf{W}_{k-1} + h_{kcx} \mathbf{X}) \\
        \Gamma_{fk}, \Gamma_{uk}, \Gamma_{wk} &= \mathrm{sigmoid}(h_{k \cdot w} \mathbf{S} \mathbf{W}_{k-1} +
        h_{k \cdot x} \mathbf{X}) \\
        \mathbf{C}_k &= \Gamma_{fk} \circ \mathbf{C}_{k-1} + \Gamma_{uk} \circ \tilde{\mathbf{C}}_k, \quad
        \mathbf{W}_k = \Gamma_{wk} \circ \tanh(\mathbf{C}_k) \\
        \mathbf{X}^{\prime} &= \sigma_y \Big( \sum_{k=0}^K \sigma_y(h_{kyw} \mathbf{W}_k + h_{kyx} \mathbf{X}) \Big)

    By default X is mixed to ``out_channels`` first and every h is one number per channel (``mixing="depthwise"``).
    The arguments are those of `StateSpaceConv`, and ``gate_bias``.

    Example:
        >>> import torch
        >>> from shiftstate.pyg import LSSMConv
        >>> conv = LSSMConv(16, 32, K=8, gate_bias=True, init="alive")
        >>> conv(torch.randn(4, 16), torch.tensor([[0, 1, 2], [1, 2, 3]])).shape
        torch.Size([4, 32])
    """

    layer_class = LSSM


WRITTEN: tuple[type[StateSpaceConv], ...] = (GCNNConv, RSNConv, LSSMConv)
"""Those with a text of their own; for every other layer of the list one is made."""


def conv_of(layer_class: type[Layer]) -> type[StateSpaceConv]:
    """The PyG layer around a layer of the core, called as it is with "Conv" behind."""
    for conv in WRITTEN:
        if conv.layer_class is layer_class:
            return conv
    first, _, rest = (layer_class.__doc__ or "A filter over shifts.").partition("\n")
    doc = f"{first}\n{rest}\n\n    As a PyG layer it takes the arguments of `StateSpaceConv` and the options above."
    names = {"layer_class": layer_class, "__doc__": doc, "__module__": "shiftstate.pyg"}
    return type(f"{layer_class.__name__}Conv", (StateSpaceConv,), names)


CONVS: dict[str, type[StateSpaceConv]] = {name: conv_of(layer_class) for name, layer_class in LAYERS.items()}
"""By the names of the list."""
