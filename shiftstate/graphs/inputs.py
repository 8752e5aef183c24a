"""What a graph may be given as: numbers of many kinds, checked, as tensors."""

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from shiftstate.graphs.operators import Sparse


def as_tensor(name: str, data: Any) -> Tensor:
    """A tensor of whatever holds numbers; never one that shares memory with an array."""
    if isinstance(data, Tensor):
        return data
    try:
        if isinstance(data, list | tuple) and not isinstance(next(iter(data), None), np.ndarray | Tensor):
            return torch.tensor(data)  # plain lists of floats take torch's default dtype, arrays keep their own
        array = np.array(data, order="C")  # a copy: writable and without negative strides, as torch wants it
        return torch.from_numpy(array.astype(array.dtype.newbyteorder("="), copy=False))
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"{name} is a {type(data).__name__} that is not numeric, or of a kind of number that torch does not "
            "have; expected a tensor or array"
        ) from error


def as_device(target: Any) -> torch.device:
    """A device by name."""
    try:
        return torch.device(target)
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"target is {target!r}; expected a torch dtype, or a device such as 'cpu'") from error


def as_floating(values: Tensor, name: str) -> Tensor:
    """Keep a floating dtype; integers and bools become torch's default dtype."""
    if values.is_complex():
        raise ValueError(f"{name} is complex; expected real weights")
    return values if values.dtype.is_floating_point else values.to(torch.get_default_dtype())


def as_edge_index(edge_index: Any) -> Tensor:
    """Edges (2, E) of integer ids."""
    edges = as_tensor("edge_index", edge_index)
    if edges.dim() != 2 or edges.shape[0] != 2:
        hint = "; transpose it: edge_index.T" if edges.dim() == 2 and edges.shape[1] == 2 else ""
        raise ValueError(f"edge_index has shape {tuple(edges.shape)}; expected (2, E){hint}")
    if edges.numel() == 0:
        return edges.long()
    if edges.dtype.is_floating_point or edges.is_complex() or edges.dtype == torch.bool:
        raise ValueError(f"edge_index holds {edges.dtype}; expected integer node ids")
    return edges.long()


def as_weight(weight: Any, edges: Tensor) -> Tensor:
    """One finite number an edge; ones by default."""
    count = edges.shape[1]
    if weight is None:
        return torch.ones(count, device=edges.device)
    values = as_floating(as_tensor("weight", weight), "weight")
    if tuple(values.shape) != (count,):
        raise ValueError(f"weight has shape {tuple(values.shape)}; expected ({count},): one number an edge")
    if values.device != edges.device:
        raise ValueError(f"weight is on {values.device} and edge_index on {edges.device}; expected one device")
    check_all_finite("weight", values)
    return values


def check_square(shape: tuple[int, ...]) -> None:
    """Refuse what is not (N, N)."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"matrix has shape {shape}; expected a square (N, N); is it an edge list? use from_edges")


def check_all_finite(name: str, values: Tensor) -> None:
    """Refuse NaN and infinity."""
    if not torch.compiler.is_compiling() and not bool(torch.isfinite(values).all()):
        count = int((~torch.isfinite(values)).sum())
        raise ValueError(f"{name} holds {count} NaN or infinite entries; expected finite weights")


def from_scipy(matrix: Any) -> Sparse:
    """S from a SciPy sparse matrix or array."""
    check_square(matrix.shape)
    coo = sp.coo_array(matrix)
    row, col = (torch.from_numpy(np.asarray(index, dtype=np.int64)) for index in coo.coords)
    values = as_floating(as_tensor("matrix", coo.data), "matrix")
    return Sparse.from_entries(row, col, values, matrix.shape[0])


def from_torch_sparse(matrix: Tensor) -> Sparse:
    """S from a torch sparse tensor of any layout."""
    check_square(tuple(matrix.shape))
    coo = matrix.to_sparse_coo().coalesce()  # type: ignore[no-untyped-call]
    row, col = coo.indices()
    return Sparse.from_entries(row, col, as_floating(coo.values(), "matrix"), matrix.shape[0])
