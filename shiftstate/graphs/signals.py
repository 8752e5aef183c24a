"""What a signal must be to live on a graph: its axes, its dtype, its device."""

import torch
from torch import Tensor

CASTS = {torch.float32: "x.float()", torch.float64: "x.double()"}


def check_signal(x: Tensor, num_nodes: int, weights: Tensor) -> None:
    """Raise if x is no signal (..., N, channels) on a graph of N nodes, with the dtype and device of its weights."""
    if not isinstance(x, Tensor):
        raise ValueError(f"x is a {type(x).__name__}; expected a torch tensor (..., N, channels)")
    if x.layout != torch.strided or x.is_nested:
        raise ValueError(f"x is {'nested' if x.is_nested else 'sparse'}; expected one dense tensor: x.to_dense()")
    if x.dim() < 2 or x.shape[-2] != num_nodes:
        raise ValueError(
            f"x has shape {tuple(x.shape)}; expected (..., {num_nodes}, channels) "
            f"for a shift of {num_nodes} nodes; {_hint(x, num_nodes)}"
        )
    dtype = weights.dtype
    if x.dtype != dtype:
        if not x.dtype.is_floating_point:
            raise ValueError(f"x holds {x.dtype}; expected a floating dtype: x.to({dtype})")
        slower = f"{cast(dtype)}, or the slower shift.to(x.dtype) with layer.to(x.dtype)"
        remedy = slower if is_wider(x.dtype, dtype) else "use shift.to(x.dtype)"
        raise ValueError(f"x is {x.dtype} and the shift {dtype}; expected one dtype: {remedy}")
    if x.device != weights.device:
        raise ValueError(
            f"x is on {x.device} and the shift on {weights.device}; expected one device: use shift.to(x.device)"
        )


def is_wider(one: torch.dtype, other: torch.dtype) -> bool:
    """Whether one floating dtype has more bits than another."""
    return torch.finfo(one).bits > torch.finfo(other).bits


def cast(dtype: torch.dtype) -> str:
    """How x gets this dtype, as one writes it."""
    return CASTS.get(dtype, f"x.to({dtype})")


def _hint(x: Tensor, num_nodes: int) -> str:
    if x.shape[-1:] != (num_nodes,):
        return "wrong graph?"
    return "transpose it: x.transpose(-1, -2)" if x.dim() > 2 else "add a channel axis: x.unsqueeze(-1)"
