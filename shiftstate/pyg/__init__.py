"""The layers with PyTorch Geometric's call, ``conv(x, edge_index, edge_weight)``: replace one import."""

try:
    from shiftstate.pyg.base import StateSpaceConv
    from shiftstate.pyg.convs import CONVS, GCNNConv, LSSMConv, RSNConv
    from shiftstate.pyg.models import StateSpaceGNN
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "torch_geometric":
        raise
    raise ImportError("shiftstate.pyg needs PyTorch Geometric: pip install 'shiftstate[pyg]'") from error

__all__ = ["GCNNConv", "LSSMConv", "RSNConv", "StateSpaceConv", "StateSpaceGNN"]
__all__ += [conv.__name__ for conv in CONVS.values() if conv.__name__ not in __all__]


def __getattr__(name: str) -> type[StateSpaceConv]:
    """The PyG layers of all other layers of the list `shiftstate.layers.LAYERS`."""
    for conv in CONVS.values():
        if conv.__name__ == name:
            return conv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
