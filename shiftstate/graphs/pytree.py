"""A shift as a pytree of plain tensors: so it passes through torch.compile and torch.export."""

from typing import Any

import torch
from torch.utils import _pytree as pytree

from shiftstate.graphs.operators import Dense, Sparse
from shiftstate.graphs.shift import Shift


def _flatten(shift: Shift) -> tuple[list[Any], str]:
    return [*shift.operator, shift.ptr], shift.layout


def _flatten_with_keys(shift: Shift) -> tuple[list[tuple[Any, Any]], str]:
    children, layout = _flatten(shift)
    names = (*shift.operator._fields, "ptr")
    return [(pytree.GetAttrKey(name), child) for name, child in zip(names, children, strict=True)], layout


def _unflatten(children: Any, layout: str) -> Shift:
    *parts, ptr = children
    return Shift(Dense(*parts) if layout == "dense" else Sparse(*parts), ptr)


pytree.register_pytree_node(
    Shift,
    _flatten,
    _unflatten,
    serialized_type_name="shiftstate.Shift",
    flatten_with_keys_fn=_flatten_with_keys,
)

# An exported program keeps its example inputs; only what is named here is read back from such a file.
torch.serialization.add_safe_globals([Shift, Dense, Sparse])
