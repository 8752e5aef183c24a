"""How often a change of hand is found, and how often one is named where there is none."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shiftstate.attribution.certainty.calibration import Judged
from shiftstate.attribution.certainty.hands import SHORTEST_PART, change_of_hand

PAIRS = 200
NEAR = 2
"""Pieces by which the place may be missed."""


def measure_hands(judged: Judged, author: NDArray[np.int64], text: NDArray[np.int64]) -> dict[str, Any]:
    """Whole held-out texts, and first halves of held-out texts followed by second halves of another author's.

    Args:
        judged: the held-out pieces.
        author: (texts), the author's number.
        text: (pieces), which text each is from.
    """
    own = {int(one): judged.logarithms[text == one] for one in np.unique(text)}
    long = [one for one, pieces in own.items() if len(pieces) >= 2 * SHORTEST_PART]
    false = sum(change_of_hand(own[one], judged.by_text[one]) is not None for one in long)
    draw = np.random.default_rng(0)
    joined = found = 0
    for _ in range(PAIRS if len(long) > 1 else 0):
        first, second = (int(one) for one in draw.choice(long, 2, replace=False))
        if author[first] == author[second]:
            continue
        start, end = own[first][: len(own[first]) // 2], own[second][len(own[second]) // 2 :]
        change = change_of_hand(np.concatenate([start, end]), judged.by_text[first])
        joined += 1
        found += (
            change is not None
            and (change.first, change.second) == (author[first], author[second])
            and abs(change.piece - len(start)) <= NEAR
        )
    return {"texts": len(long), "changes_named": int(false), "joined": joined, "changes_found": int(found)}
