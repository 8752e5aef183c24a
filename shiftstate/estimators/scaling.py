"""Scaling that is learned on training data, applied to all, and stored with the model."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shiftstate.checks import check_name

Array = NDArray[np.float64]

SCALES = ("standard", "unit", "rows", "none")
SPARSE = 0.5
"""Features that are nowhere negative, and zero in more than this share, are taken for counts, as of words."""


@dataclass(frozen=True)
class Scaler:
    """x ↦ (x − mean) / deviation by channel ("standard"), x / ‖x‖ ("unit") or x / Σ_g |x_g| ("rows") per node."""

    kind: str
    mean: Array
    deviation: Array

    @classmethod
    def learn(cls, kind: str, x: Array, name: str = "X") -> "Scaler":
        """From training data (n, channels). "auto" takes unit for counts of many kinds, and standard otherwise."""
        check_name("scale", kind, (*SCALES, "auto"))
        if kind == "auto":
            counts = x.shape[1] > 1 and bool((x >= 0).all()) and float((x == 0).mean()) > SPARSE
            kind = "unit" if counts else "standard"
        if kind != "standard":
            return cls(kind, np.zeros(x.shape[1]), np.ones(x.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):
            mean, deviation = x.mean(0), x.std(0)
        if not (np.isfinite(mean) & np.isfinite(deviation)).all():
            raise ValueError(
                f"{name} holds {np.abs(x).max():.3g}, whose square is beyond float64; expected other units"
            )
        constant = deviation <= 1e-9 * np.abs(mean)  # also what is 0: a channel without spread is only centred
        return cls(kind, mean, np.where(constant, 1.0, deviation))

    def __call__(self, x: Array) -> NDArray[np.float32]:
        """x (…, channels), scaled."""
        with np.errstate(over="ignore"):
            if self.kind in ("unit", "rows"):
                size = np.linalg.norm(x, ord=2 if self.kind == "unit" else 1, axis=-1, keepdims=True)
                scaled = (x / np.where(size > 0, size, 1.0)).astype(np.float32)
            else:
                scaled = ((x - self.mean) / self.deviation).astype(np.float32)
        if np.isinf(scaled).any():
            raise ValueError(
                f"the largest number is {np.nanmax(np.abs(x)):.3g}, beyond float32 once scaled; expected less"
            )
        return scaled

    def back(self, x: Array) -> Array:
        """What was scaled to x."""
        back: Array = x.astype(np.float64) * self.deviation + self.mean
        return back

    def tensors(self) -> dict[str, Array]:
        """What is stored."""
        return {"mean": self.mean, "deviation": self.deviation}
