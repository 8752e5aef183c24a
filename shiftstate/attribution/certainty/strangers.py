"""Perhaps none of these: does the first author fit a text as well as authors fit their own texts?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shiftstate.attribution.models.linear import log_softmax

SIZES = (1, 4, 16, 64)
"""Pieces of a text, for which scores are known."""
REFUSED = 0.05
"""Share of the authors' own texts that are taken for a stranger's."""


@dataclass(frozen=True, eq=False)
class Known:
    """Scores of texts whose author is there, and of texts whose author was taken away; the larger the nearer."""

    present: NDArray[np.float64]
    """(sizes, texts); NaN where unknown."""
    absent: NDArray[np.float64]

    def threshold(self, pieces: int) -> float | None:
        """The score below which one in twenty texts of authors who are there falls; None if unknown.

        But not above what one in twenty strangers' texts reaches: where all authors fit their texts nearly perfectly,
        the least of them is still no stranger.
        """
        present, absent = (_of_size(one, pieces) for one in (self.present, self.absent))
        if not len(present) or not len(absent):
            return None
        return float(min(np.quantile(present, REFUSED), np.quantile(absent, 1 - REFUSED)))

    def strange(self, score: float, pieces: int) -> bool:
        """Whether a text of this score may be by none of the authors."""
        threshold = self.threshold(pieces)
        return threshold is not None and score < threshold

    def as_high(self, score: float, pieces: int) -> float | None:
        """The share of strangers' texts that score as high or higher; None if unknown."""
        absent = _of_size(self.absent, pieces)
        return float((absent >= score).mean()) if len(absent) else None

    def power(self) -> list[dict[str, float]]:
        """By size: how often strangers, and the authors themselves, are taken for none of these."""
        found = []
        for size in SIZES:
            own, strange = (_of_size(one, size) for one in (self.present, self.absent))
            threshold = self.threshold(size)
            if threshold is not None:
                found.append(
                    {
                        "pieces": size,
                        "strangers_found": float((strange < threshold).mean()),
                        "own_refused": float((own < threshold).mean()),
                        "auc": float((own[:, None] > strange).mean() + 0.5 * (own[:, None] == strange).mean()),
                    }
                )
        return found


def fit_of(logarithms: NDArray[np.float64]) -> float:
    """How well the first author fits the pieces of a text: the geometric mean of that author's probabilities."""
    return float(np.exp(logarithms.mean(0).max()))


def learn_strangers(logarithms: NDArray[np.float64], author: NDArray[np.int64], text: NDArray[np.int64]) -> Known:
    """The fit of every held-out text, as it is, and without the column of its own author.

    The models that judge a stranger here have seen other texts of that author as somebody else's, which a real
    stranger's texts are not: strangers are found a little more often here than they will be.

    Args:
        logarithms: (n, authors), log p of held-out pieces.
        author: (n), who wrote each.
        text: (n), which text it is from, in order.
    """
    texts = np.unique(text)
    present, absent = (np.full((len(SIZES), len(texts)), np.nan) for _ in range(2))
    for column, one in enumerate(texts):
        pieces, own = logarithms[text == one], author[text == one][0]
        for row, size in enumerate(SIZES):
            some = middle(pieces, size)
            present[row, column] = fit_of(some)
            if some.shape[1] > 2:
                absent[row, column] = fit_of(log_softmax(np.delete(some, own, axis=1)))
    return Known(present, absent)


def middle(pieces: NDArray[Any], size: int) -> NDArray[Any]:
    """So many pieces from the middle of a text, or all."""
    start = max(0, (len(pieces) - size) // 2)
    return pieces[start : start + size]


def nearest_size(pieces: float) -> int:
    """The place in `SIZES` of a text of so many pieces."""
    return int(np.abs(np.log(np.array(SIZES)) - np.log(max(pieces, 1))).argmin())


def _of_size(scores: NDArray[np.float64], pieces: int) -> NDArray[np.float64]:
    """The known scores of texts of about as many pieces."""
    row = scores[nearest_size(pieces)]
    known: NDArray[np.float64] = row[~np.isnan(row)]
    return known
