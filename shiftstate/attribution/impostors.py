"""Perhaps none of these: would the nearest author stay the nearest whatever words are looked at?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ROUNDS = 100
SIZES = (1, 4, 16, 64)
"""Pieces of a text, for which the scores are known."""


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
    """(texts); −1 for texts of the reference set."""
    present: NDArray[np.float64]
    """(sizes, texts): scores of the texts' own authors; NaN where an author has no other text."""
    absent: NDArray[np.float64]
    """(sizes, texts): scores of the nearest author after the texts' own was taken away."""

    def score(self, profile: NDArray[np.float32], candidate: int) -> float:
        """Of a text with these mean z-scores, for one author."""
        return float(_scores(profile, self.profiles, self.author, np.ones(len(self.author), dtype=bool))[candidate])

    def threshold(self, pieces: int) -> float:
        """The score below which one in twenty texts of authors who are there falls; 0 if unknown."""
        present = self._known(self.present, pieces)
        return float(np.quantile(present, 0.05)) if len(present) and len(self._known(self.absent, pieces)) else 0.0

    def strangers(self, score: float, pieces: int) -> float:
        """The share of strangers' texts that score as high or higher; NaN if unknown."""
        absent = self._known(self.absent, pieces)
        return float((absent >= score).mean()) if len(absent) else float("nan")

    def _known(self, scores: NDArray[np.float64], pieces: int) -> NDArray[np.float64]:
        """Of texts of about as many pieces."""
        row = scores[int(np.abs(np.log(np.array(SIZES)) - np.log(max(pieces, 1))).argmin())]
        known: NDArray[np.float64] = row[~np.isnan(row)]
        return known


def learn_impostors(z: NDArray[np.float32], text: NDArray[np.int64], author: Sequence[int]) -> Impostors:
    """Score every text with its own author there, and with that author taken away.

    Args:
        z: (pieces, V), their z-scores.
        text: (pieces), which text each is from, in order.
        author: (texts).
    """
    who = np.array(author)
    profiles = np.stack([z[text == one].mean(0) for one in range(len(who))])
    present = np.full((len(SIZES), len(who)), np.nan)
    absent = np.full((len(SIZES), len(who)), np.nan)
    for one in range(len(who)):
        own = np.flatnonzero(text == one)
        others = np.arange(len(who)) != one
        strangers = who != who[one]
        for row, size in enumerate(SIZES):
            start = (len(own) - min(size, len(own))) // 2
            profile = z[own[start : start + size]].mean(0)
            if (who[others] == who[one]).any():
                present[row, one] = _scores(profile, profiles, who, others)[who[one]]
            if len(set(who[strangers].tolist())) > 1:
                absent[row, one] = max(_scores(profile, profiles, who, strangers).values())
    return Impostors(profiles, who, present, absent)


def _scores(
    profile: NDArray[np.float32], profiles: NDArray[np.float32], author: NDArray[np.int64], allowed: NDArray[np.bool_]
) -> dict[int, float]:
    """Of every author: the share of rounds in which one of the allowed texts of this author is the nearest of all."""
    masks = np.random.default_rng(0).random((ROUNDS, len(profile))) < 0.5
    texts, who = profiles[allowed], author[allowed]
    products = (masks * profile) @ texts.T  # (rounds, texts)
    lengths = np.sqrt(masks.astype(np.float32) @ (texts**2).T)
    nearest = who[(products / np.maximum(lengths, 1e-12)).argmax(1)]
    return {int(one): float((nearest == one).mean()) for one in np.unique(author)}
