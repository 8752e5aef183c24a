"""What a graph may be given as: numbers of many kinds, checked, as tensors."""

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from shiftstate.arrays import refuse_masked
from shiftstate.checks import check_device
from shiftstate.graphs.operators import Sparse

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
BY_HAND = "was the matrix put together by hand?"
SOUND = f"expected indices that fit its shape; {BY_HAND}"


def as_tensor(name: str, data: Any) -> Tensor:
    """A tensor of whatever holds numbers; never one that shares memory with an array."""
    if isinstance(data, Tensor):
        return data
    refuse_masked(name, data)
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


def as_floating(values: Tensor, name: str) -> Tensor:
    """Keep a floating dtype; integers and bools become torch's default dtype."""
    if values.is_complex():
        raise ValueError(f"{name} is complex; expected real weights")
    if not values.dtype.is_floating_point:
        return values.to(torch.get_default_dtype())
    check_float(f"{name} holds", values.dtype)
    return values


def check_float(what: str, dtype: torch.dtype) -> None:
    """Raise unless a shift can hold weights of this dtype; ``what`` opens the message: "matrix holds"."""
    if dtype not in FLOATS:
        names = ", ".join(str(one).removeprefix("torch.") for one in FLOATS)
        raise ValueError(f"{what} {dtype}; expected a floating dtype: one of {names}")


def as_destination(target: Any, device: Any, dtype: Any) -> tuple[torch.device | None, torch.dtype | None]:
    """Device and dtype that a call of `Shift.to` asks for, checked."""
    if isinstance(target, Tensor):
        target, dtype = target.device, target.dtype if dtype is None else dtype
    given = [value for value in (target, device, dtype) if value is not None]
    dtypes = [value for value in given if isinstance(value, torch.dtype)]
    devices = [value for value in given if not isinstance(value, torch.dtype)]
    if not given or len(dtypes) > 1 or len(devices) > 1:
        raise ValueError(f"target is {target!r}; expected a torch dtype, a device such as 'cpu', or one of each")
    if dtypes:
        check_float("a shift cannot hold", dtypes[0])
    expected = "a torch dtype, or a device such as 'cpu' that is there"
    return check_device("target", devices[0], expected) if devices else None, dtypes[0] if dtypes else None


def check_has_values(name: str, values: Tensor) -> None:
    """Raise if a tensor is on the meta device: it has a shape and no values."""
    if values.device.type == "meta":
        raise ValueError(f"{name} is on the meta device, where tensors have no values; expected one with values")


def as_edge_index(edge_index: Any) -> Tensor:
    """Edges (2, E) of integer ids."""
    try:
        edges = as_tensor("edge_index", edge_index)
    except ValueError as error:
        name = _first_name(edge_index)
        raise (
            error
            if name is None
            else ValueError(
                f"edge_index holds the node name {name!r}; expected integer node ids from 0: number the names, "
                "or use from_networkx, where nodes have names"
            )
        ) from None
    check_has_values("edge_index", edges)
    if edges.layout != torch.strided:
        raise ValueError(f"edge_index is a sparse tensor ({edges.layout}); expected (2, E) node ids, or from_matrix")
    if edges.dim() != 2 or edges.shape[0] != 2:
        hint = "; transpose it: edge_index.T" if edges.dim() == 2 and edges.shape[1] == 2 else ""
        raise ValueError(f"edge_index has shape {tuple(edges.shape)}; expected (2, E){hint}")
    whole = not (edges.dtype.is_floating_point or edges.is_complex() or edges.dtype == torch.bool)
    if not whole and edges.numel():  # an empty list is one of floats
        raise ValueError(f"edge_index holds {edges.dtype}; expected integer node ids")
    return edges.long()


def check_ids(ids: Tensor, num_nodes: int, cause: str, name: str = "edge_index") -> None:
    """Raise unless every node id lies in 0 … N − 1; ``cause`` says what N ("{n}") is, and why an id may be larger."""
    if torch.compiler.is_compiling() or ids.numel() == 0:
        return
    low, high = int(ids.min()), int(ids.max())
    if low < 0 or high >= num_nodes:
        wrong = low if low < 0 else high
        raise ValueError(
            f"{name} holds node id {wrong}; expected ids from 0 to {num_nodes - 1} {cause.format(n=num_nodes)}"
        )


def as_weight(weight: Any, edges: Tensor) -> Tensor:
    """One finite number per edge; ones by default."""
    count = edges.shape[1]
    if weight is None:
        return torch.ones(count, device=edges.device)
    values = as_floating(as_tensor("weight", weight), "weight")
    if tuple(values.shape) != (count,):
        raise ValueError(f"weight has shape {tuple(values.shape)}; expected ({count},): one number per edge")
    if values.device != edges.device:
        raise ValueError(f"weight is on {values.device} and edge_index on {edges.device}; expected one device")
    check_all_finite("weight", values)
    return values


def check_square(shape: tuple[int, ...]) -> None:
    """Raise unless the shape is (N, N)."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"matrix has shape {shape}; expected a square (N, N); is it an edge list? use from_edges")


def check_all_finite(name: str, values: Tensor) -> None:
    """Raise if there is a NaN or an infinity."""
    if not torch.compiler.is_compiling() and not bool(torch.isfinite(values).all()):
        count = int((~torch.isfinite(values)).sum())
        raise ValueError(f"{name} holds {count} NaN or infinite entries; expected finite weights")


def from_scipy(matrix: Any) -> Sparse:
    """S from a SciPy sparse matrix or array."""
    check_square(matrix.shape)
    try:
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
        if matrix.format == "csr" and matrix.has_canonical_format and matrix.indices.dtype == np.int32:
            return _from_sorted_rows(sp.csr_array(matrix))
        coo = sp.coo_array(matrix)
    except ValueError as error:
        raise ValueError(f"matrix has wrong indices ({error}); {SOUND}") from None
    row, col = (torch.from_numpy(np.asarray(index, dtype=np.int64)) for index in coo.coords)
    values = as_floating(as_tensor("matrix", coo.data), "matrix")
    return Sparse.from_entries(row, col, values, matrix.shape[0])


def _from_sorted_rows(matrix: sp.csr_array) -> Sparse:
    """S from compressed rows in order, without a duplicate: nothing has to be sorted, SciPy transposes by counting."""
    back = matrix.T.tocsr()
    indices = [as_tensor("matrix", one) for one in (matrix.indptr, matrix.indices, back.indptr, back.indices)]
    values, t_values = (as_floating(as_tensor("matrix", one.data), "matrix") for one in (matrix, back))
    return Sparse(indices[0], indices[1], values, indices[2], indices[3], t_values)


def from_torch_sparse(matrix: Tensor) -> Sparse:
    """S from a torch sparse tensor of any layout."""
    check_square(tuple(matrix.shape))
    row, col, values = as_coo("matrix", matrix)
    return Sparse.from_entries(row, col, as_floating(values, "matrix"), matrix.shape[0])


def as_coo(name: str, matrix: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Row, column and value of every entry of a torch sparse tensor of any layout, sorted, duplicates added up.

    torch does not look at the indices it is given and reads memory beyond its own, so they are checked first.
    """
    check_has_values(name, matrix)
    if matrix.layout == torch.sparse_coo:
        for size, indices in zip(matrix.shape, matrix._indices(), strict=True):
            check_ids(indices, size, f"as its shape says; {BY_HAND}", name)
    elif not torch.compiler.is_compiling():
        _check_compressed(name, matrix)
    coo = matrix.to_sparse_coo().coalesce()  # type: ignore[no-untyped-call]
    row, col = coo.indices()
    return row, col, coo.values()


def _check_compressed(name: str, matrix: Tensor) -> None:
    """Raise if the indices of a CSR, CSC, BSR or BSC tensor do not fit its shape.

    Our own, because torch's check (``check_invariants=True``) itself reads beyond its arrays.
    """
    by_rows = matrix.layout in (torch.sparse_csr, torch.sparse_bsr)
    pointers = matrix.crow_indices() if by_rows else matrix.ccol_indices()
    indices, values = matrix.col_indices() if by_rows else matrix.row_indices(), matrix.values()
    block = values.shape[1:] if matrix.layout in (torch.sparse_bsr, torch.sparse_bsc) else (1, 1)
    rows, cols = matrix.shape[0] // block[0], matrix.shape[1] // block[1]
    lines, places = (rows, cols) if by_rows else (cols, rows)
    fits = tuple(pointers.shape) == (lines + 1,) and indices.shape[0] == values.shape[0]
    ends = fits and int(pointers[0]) == 0 and int(pointers[-1]) == indices.shape[0]
    if not ends or bool((pointers.diff() < 0).any()):
        raise ValueError(f"{name} has wrong indices (pointers {pointers.tolist()[:9]}); {SOUND}")
    check_ids(indices, places, f"as its shape says; {BY_HAND}", name)


def _first_name(edge_index: Any) -> str | None:
    """The first string among the node ids, if there is one."""
    if isinstance(edge_index, str):
        return str(edge_index)
    if isinstance(edge_index, np.ndarray):
        edge_index = edge_index.flat if edge_index.dtype.kind in "OSU" else ()
    if not isinstance(edge_index, list | tuple | np.flatiter):
        return None
    return next((name for part in edge_index if (name := _first_name(part)) is not None), None)
