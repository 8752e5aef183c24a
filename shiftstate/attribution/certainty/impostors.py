"""The impostors: would the nearest author stay the nearest whatever words are looked at?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shiftstate.attribution.certainty.strangers import SIZES, Known, middle

ROUNDS = 100
OUTSIDE = -1
"""The author's number of texts of a reference set."""


@dataclass(frozen=True, eq=False)
class Impostors:
    """score = share of rounds in which a text of the candidate is nearest, each round on a random half of the words.

    After the general impostors method of Koppel and Winter (2014): the other authors' texts, and those of a reference
    set, are the impostors. The score of a text is compared with two kinds of scores that are known: of texts by an
    author who is there, and of texts by an author who was taken away.
    """

    profiles: NDArray[np.float32]
    """(texts, V): mean z-scores."""
    author: NDArray[np.int64]
    """(texts)."""
    spans: NDArray[np.float32]
    """(sizes, texts, V): mean z-scores of some pieces of each text, as many as `SIZES` says."""
    present: NDArray[np.float64]
    """(sizes, texts): scores of the texts' own authors; NaN where an author has no other text."""
    absent: NDArray[np.float64]
    """(sizes, texts): scores of the nearest author after the texts' own was taken away; NaN if nobody is left."""

    def score(self, profile: NDArray[np.float32], candidate: int) -> float:
        """Of a text with these mean z-scores, for one author."""
        return _scores(profile, self.profiles, self.author)[candidate]

    def with_reference(self, profiles: NDArray[np.float32]) -> "Impostors":
        """The same with the texts of a reference set among the impostors; what is known is scored again."""
        everybody = np.concatenate([self.author, np.full(len(profiles), OUTSIDE)])
        return _known(np.concatenate([self.profiles, profiles]), everybody, self.spans)

    @property
    def has_reference(self) -> bool:
        """Whether there are texts of authors who are no candidates."""
        return bool((self.author == OUTSIDE).any())

    @property
    def known(self) -> Known:
        """The scores that a new one is compared with."""
        return Known(self.present, self.absent)


def learn_impostors(z: NDArray[np.float32], text: NDArray[np.int64], author: Sequence[int]) -> Impostors:
    """Score every text with its own author there, and with that author taken away.

    Args:
        z: (pieces, V), their z-scores.
        text: (pieces), which text each is from, in order.
        author: (texts).
    """
    own = [z[text == one] for one in range(len(author))]
    spans = np.stack([np.stack([middle(pieces, size).mean(0) for pieces in own]) for size in SIZES])
    return _known(np.stack([pieces.mean(0) for pieces in own]), np.array(author), spans)


def _known(profiles: NDArray[np.float32], author: NDArray[np.int64], spans: NDArray[np.float32]) -> Impostors:
    present, absent = (np.full(spans.shape[:2], np.nan) for _ in range(2))
    for text in range(spans.shape[1]):
        who = author[text]
        others, strangers = np.arange(len(author)) != text, author != who
        left = set(author[strangers].tolist()) - {OUTSIDE}
        for size, profile in enumerate(spans[:, text]):
            if who in author[others]:
                present[size, text] = _scores(profile, profiles[others], author[others])[int(who)]
            if left and strangers.sum() > len(left):
                found = _scores(profile, profiles[strangers], author[strangers])
                absent[size, text] = max(found[one] for one in left)
    return Impostors(profiles, author, spans, present, absent)


def _scores(profile: NDArray[np.float32], profiles: NDArray[np.float32], author: NDArray[np.int64]) -> dict[int, float]:
    """Of every author: the share of rounds in which a text of this author is the nearest of all."""
    masks = (np.random.default_rng(0).random((ROUNDS, len(profile))) < 0.5).astype(np.float32)
    products = (masks * profile) @ profiles.T  # (rounds, texts)
    lengths = np.sqrt(masks @ (profiles**2).T)
    nearest = author[(products / np.maximum(lengths, 1e-12)).argmax(1)]
    return {int(one): float((nearest == one).mean()) for one in np.unique(author)}
