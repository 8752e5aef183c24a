"""Turn what people hand over into NumPy arrays: tensors of any dtype, lists, tables; a mask is never dropped."""

from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Array = NDArray[Any]
Masked = Literal["refuse", "nan", "none"]

NUMPY_FLOATS = (torch.float16, torch.float32, torch.float64)


def refuse_masked(name: str, data: object) -> None:
    """Raise if ``data`` is a masked array with masked values, or a list of masked arrays, which would lose them."""
    if isinstance(data, list | tuple) and any(isinstance(one, np.ma.MaskedArray) for one in data):
        raise ValueError(f"{name} is a {type(data).__name__} of masked arrays; expected a single one: np.ma.stack(...)")
    count = int(_mask(data).sum()) if isinstance(data, np.ma.MaskedArray) else 0
    if count:
        values = "a masked value" if count == 1 else f"{count} masked values"
        raise ValueError(f"{name} is an array with {values}; expected none: {name}.filled(...), or leave them out")


def as_numpy(name: str, data: Any, masked: Masked = "refuse") -> Array:
    """A dense tensor, an array, a list or a table as an array of whatever dtype it has.

    Args:
        name: of the argument, for messages.
        data: what was handed over.
        masked: what becomes of masked values: "refuse" raises, "nan" makes them NaN, "none" makes them None.
    """
    if isinstance(data, Tensor):
        return _from_tensor(name, data)
    if not isinstance(data, np.ma.MaskedArray) or masked == "refuse":
        refuse_masked(name, data)
        try:
            return np.asarray(data)
        except (TypeError, ValueError) as error:  # NumPy's own words are on rows of several lengths
            cause = str(error).splitlines()[0]
            raise ValueError(f"{name} is a {type(data).__name__} that makes no array ({cause})") from None
    mask, values = _mask(data), np.asarray(data.data)
    if not mask.any():
        return values
    numeric = masked == "nan" and values.dtype.kind in "biuf"
    values = values.astype(np.float64 if numeric else object)
    values[mask] = np.nan if numeric else None
    return values


def _mask(data: Any) -> NDArray[np.bool_]:
    """True where a value is masked; a record is masked if one of its fields is."""
    mask = np.ma.getmaskarray(data)
    return mask if mask.dtype == bool else np.any([mask[field] for field in mask.dtype.names or ()], axis=0)


def _from_tensor(name: str, data: Tensor) -> Array:
    if data.device.type == "meta":
        raise ValueError(f"{name} is on the meta device, where tensors have no values; expected one with values")
    data = data.detach().cpu().resolve_conj().resolve_neg()
    if data.is_floating_point() and data.dtype not in NUMPY_FLOATS:  # bfloat16 and narrower ones are exact in float32
        data = data.to(torch.float32)
    return np.asarray(data.numpy())
