"""The answer for one text: authors in order, how sure, and which words say so."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shiftstate.attribution.attributor import Attributor
from shiftstate.attribution.certainty.hands import change_of_hand
from shiftstate.attribution.certainty.strangers import fit_of
from shiftstate.attribution.library import FOREIGN, Encoded
from shiftstate.attribution.metrics import SURE
from shiftstate.attribution.models import MODELS
from shiftstate.attribution.models.delta import cosines
from shiftstate.attribution.pieces import Pieces, cut_texts

STEPS = 4
"""Places of the rolling plot per length of a piece."""
NONE, UNDECIDED, HANDS = "perhaps none of these", "undecided", "perhaps two hands"
Reasons = list[tuple[str, float]]


@dataclass(frozen=True, eq=False)
class TextVerdict:
    """Who wrote a text."""

    title: str
    words: int
    pieces: int
    answer: str
    """An author, "undecided", "perhaps none of these", or "perhaps two hands" if a change of hand was found."""
    model: str
    probabilities: dict[str, float]
    """By author, the likeliest first."""
    votes: dict[str, float]
    """Share of the pieces whose likeliest author it is, in the same order."""
    by_model: dict[str, tuple[str, float]]
    """The first author of every model, and the probability."""
    fit: float
    """Geometric mean of the first author's probabilities over the pieces."""
    fit_threshold: float | None
    """At most one in twenty texts of the authors themselves fits less well; None if that is unknown: for two
    authors, and for texts that are shorter than an excerpt."""
    strangers_as_high: float | None
    """Share of strangers' texts that fit as well or better."""
    impostor_score: float
    """Share of rounds with half of the words in which a text of the first author is nearest."""
    impostor_threshold: float | None
    words_for: Reasons
    """Of the first author against the second, in units of log odds."""
    words_against: Reasons
    pairs_for: Reasons
    pairs_against: Reasons
    rolling: NDArray[np.float64]
    """(places, authors): probabilities of overlapping pieces along the text."""
    rolling_at: NDArray[np.int64]
    """(places): the word in the middle of each."""
    authors: tuple[str, ...]
    """Of the columns of ``rolling``."""
    change: tuple[str, str, int] | None
    """The author before a change of hand, the one after it, and at about which word it is."""
    short: bool
    """Whether the text is shorter than an excerpt."""
    notes: tuple[str, ...]

    @property
    def headline(self) -> str:
        """The answer in words."""
        if self.change is None:
            return self.answer
        first, second, word = self.change
        return f"{HANDS}: {first} up to about word {word:,}, {second} from there on"

    def as_json(self) -> dict[str, Any]:
        """Everything except the rolling probabilities of all but five authors."""
        leading = list(self.probabilities)[:5]
        columns = [self.authors.index(author) for author in leading]
        return {
            **{key: value for key, value in vars(self).items() if key not in ("rolling", "rolling_at", "authors")},
            "rolling": {
                "at_word": self.rolling_at.tolist(),
                **{name: self.rolling[:, one].round(4).tolist() for name, one in zip(leading, columns, strict=True)},
            },
        }


def give_verdict(attributor: Attributor, text: str, title: str, sure: float = SURE) -> TextVerdict:
    """Ask the recommended model, the others, and the impostors."""
    encoded = attributor.encode(text, title)
    pieces = attributor.cut(encoded)
    logarithms = attributor.logarithms(pieces, words=len(encoded))
    name = attributor.recommended_
    p = attributor.calibrations_[name].together(logarithms)
    names = attributor.classes_.tolist()
    order = np.argsort(-p, kind="stable")
    votes = np.bincount(logarithms.argmax(1), minlength=len(names)) / len(pieces)
    by_model = {
        one: attributor.calibrations_[one].together(attributor.logarithms(pieces, one, len(encoded))) for one in MODELS
    }
    impostors, known = attributor.impostors_, attributor.strangers_
    score = impostors.score(attributor.profile(pieces), int(order[0]))
    fit = fit_of(logarithms)
    short = len(encoded) < attributor.length
    stranger = not short and known.strange(fit, len(pieces))
    if impostors.has_reference and not short:
        stranger |= impostors.known.strange(score, len(pieces))
    change = _change(attributor, logarithms)
    answer = names[order[0]] if p[order[0]] >= sure else UNDECIDED
    words_for, words_against = _words(attributor, pieces.counts.mean(0), int(order[0]), int(order[1]))
    pairs_for, pairs_against = _pairs(
        attributor, np.asarray(pieces.pairs.mean(0)).ravel(), int(order[0]), int(order[1])
    )
    at, rolling = _roll(attributor, encoded)
    return TextVerdict(
        title,
        len(encoded),
        len(pieces),
        HANDS if change else NONE if stranger else answer,
        name,
        {names[one]: float(p[one]) for one in order},
        {names[one]: float(votes[one]) for one in order},
        {one: (names[int(each.argmax())], float(each.max())) for one, each in by_model.items()},
        fit,
        None if short else known.threshold(len(pieces)),
        None if short else known.as_high(fit, len(pieces)),
        score,
        None if short else impostors.known.threshold(len(pieces)),
        words_for,
        words_against,
        pairs_for,
        pairs_against,
        rolling,
        at,
        tuple(names),
        change,
        short,
        tuple(_notes(attributor, encoded, pieces, change is not None)),
    )


def _change(attributor: Attributor, logarithms: NDArray[np.float64]) -> tuple[str, str, int] | None:
    change = change_of_hand(logarithms, attributor.calibrations_[attributor.recommended_])
    if change is None:
        return None
    first, second = attributor.classes_[[change.first, change.second]].tolist()
    return first, second, change.piece * attributor.length


def _notes(attributor: Attributor, text: Encoded, pieces: Pieces, changes: bool) -> list[str]:
    """What makes the answer doubtful."""
    found = []
    if changes:
        found.append("the probabilities, votes and reasons below are of the text as a whole, as if by one hand")
    if len(text) < attributor.length:
        found.append(
            f"the text has {len(text)} words, less than an excerpt of {attributor.length:,}: its probabilities are "
            "those of excerpts made less sure by a rule of thumb, and no test for strangers was made; read with caution"
        )
    if attributor.guesses:
        found.append(f"{attributor.recommended_} was not better than guessing on held-out texts: trust no answer")
    frequency = pieces.counts.mean(0, keepdims=True)
    if cosines(frequency, attributor.scaling_["mean"][None])[0, 0] < FOREIGN:
        found.append("the frequent words of the model are not those of the text: is it in another language?")
    return found


def _words(attributor: Attributor, frequency: NDArray[np.float32], first: int, second: int) -> tuple[Reasons, Reasons]:
    """(W_a − W_b) · z of the logistic regression, word by word."""
    learned = attributor.learned_["logistic"].learned
    z = (frequency - learned["mean"]) / learned["deviation"]
    return _reasons((learned["weights"][first] - learned["weights"][second]) * z, attributor.listed_)


def _pairs(attributor: Attributor, share: NDArray[np.float32], first: int, second: int) -> tuple[Reasons, Reasons]:
    """Share of a pair times log(P_a / P_b), of the author's chains."""
    chains = attributor.learned_["wan_entropy"].learned["logarithms"]
    gain = share * (chains[first] - chains[second])
    n = len(attributor.listed_)
    strong = np.unique(np.concatenate([np.argsort(-gain)[:20], np.argsort(gain)[:20]]))
    names = [f"{attributor.listed_[one // n]} … {attributor.listed_[one % n]}" for one in strong]
    return _reasons(gain[strong], names)


def _reasons(gain: NDArray[np.float32], names: Any) -> tuple[Reasons, Reasons]:
    order = np.argsort(-gain, kind="stable")
    speaking_for = [(str(names[one]), float(gain[one])) for one in order[:10] if gain[one] > 0]
    return speaking_for, [(str(names[one]), float(gain[one])) for one in order[::-1][:10] if gain[one] < 0]


def _roll(attributor: Attributor, encoded: Encoded) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Pieces that overlap, so that a change of hand is seen within a quarter of a piece."""
    length = min(attributor.length, len(encoded))
    starts = [length * step // STEPS for step in range(STEPS)]
    starts = [start for start in dict.fromkeys(starts) if len(encoded) - start >= length]
    at, found = [], []
    for start in starts:
        pieces = cut_texts([encoded.after(start)], attributor.listed_, length)
        found.append(np.exp(attributor.logarithms(pieces, words=length)))
        at.append(start + length // 2 + length * np.arange(len(pieces)))
    order = np.argsort(np.concatenate(at), kind="stable")
    return np.concatenate(at)[order], np.concatenate(found)[order]
