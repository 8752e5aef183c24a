"""The layers with PyTorch Geometric's call, ``conv(x, edge_index, edge_weight)``: replace one import."""

try:
    from shiftstate.pyg.convs import GCNNConv, LSSMConv, RSNConv, StateSpaceConv
    from shiftstate.pyg.models import StateSpaceGNN
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "torch_geometric":
        raise
    raise ImportError("shiftstate.pyg needs PyTorch Geometric: pip install 'shiftstate[pyg]'") from error

__all__ = ["GCNNConv", "LSSMConv", "RSNConv", "StateSpaceConv", "StateSpaceGNN"]
