"""A change of hand: does one author fit the first part of a text, and another one the rest?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shiftstate.attribution.certainty.calibration import Calibration

SHORTEST_PART = 5
"""Pieces that a part must have: fewer are often wrong together."""
SURE = 0.99
"""Of each part's author."""


@dataclass(frozen=True)
class Change:
    """Two parts of a text, and who wrote them."""

    piece: int
    """The first one of the second part."""
    first: int
    second: int
    """The authors' numbers."""


def change_of_hand(logarithms: NDArray[np.float64], calibration: Calibration) -> Change | None:
    """The one place that parts a text best, if each part has its own author with a probability of `SURE` or more.

    Args:
        logarithms: (pieces, authors), log p of the pieces in their order.
        calibration: joins the pieces of a part.
    """
    size = len(logarithms)
    if size < 2 * SHORTEST_PART:
        return None
    before = np.cumsum(logarithms, axis=0)
    after = before[-1] - before
    gain = before.max(1) + after.max(1)
    piece = SHORTEST_PART + int(gain[SHORTEST_PART - 1 : size - SHORTEST_PART].argmax())
    parts = [calibration.together(one) for one in (logarithms[:piece], logarithms[piece:])]
    first, second = (int(one.argmax()) for one in parts)
    if first == second or min(one.max() for one in parts) < SURE:
        return None
    return Change(piece, first, second)
