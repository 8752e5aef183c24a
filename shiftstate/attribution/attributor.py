"""The attributor: learns authors from texts, and says who wrote others, in scikit-learn's manner."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from shiftstate.attribution.certainty.calibration import calibrate, cross_calibrate
from shiftstate.attribution.certainty.impostors import learn_impostors
from shiftstate.attribution.certainty.strangers import learn_strangers
from shiftstate.attribution.certainty.trust import most_trusted, why
from shiftstate.attribution.folds import check_held_out, deal, held_out_scores
from shiftstate.attribution.library import Encoded, Library, Vocabulary, check_library
from shiftstate.attribution.metrics import answer_metrics
from shiftstate.attribution.model_file import read_model, write_model
from shiftstate.attribution.models import MODELS
from shiftstate.attribution.models.base import check_arrays, scaling_shapes, standardize, z_scores
from shiftstate.attribution.pieces import SHORTEST, Pieces, cut_texts
from shiftstate.attribution.stored import (
    COMBINED,
    check_head,
    read_calibrations,
    read_impostors,
    read_strangers,
    read_verifier,
)
from shiftstate.attribution.threads import one_thread
from shiftstate.attribution.verification import learn_verifier
from shiftstate.attribution.word_choice import choose_words
from shiftstate.checks import check_name, check_whole
from shiftstate.texts.readers import without_boilerplate

INNER_FOLDS = 5


class Attributor(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """p(author | text), from the most frequent words of a text and from how they follow each other.

    Every model learns from pieces of equal length. Whole texts are held out in five folds to weigh and calibrate the
    models, and to find the one to trust for these texts.

    Args:
        words: "auto:300" for the most frequent words of the texts, or the path of a list with a word per line.
        length: words of a piece.
        model: "auto" for the one that was best on held-out texts, or a name of `MODELS`, or "combined".

    Example:
        >>> import random
        >>> from shiftstate.attribution import Attributor
        >>> def book(author, seed):
        ...     draw = random.Random(seed)
        ...     habits = {"ann": "the the of and", "bob": "a a in but"}[author].split()
        ...     words = [draw.choice([*habits, "the", "a", "sea", "ship"]) for _ in range(1500)]
        ...     return ". ".join(" ".join(words[start : start + 9]) for start in range(0, 1500, 9))
        >>> authors = ["ann", "ann", "bob", "bob"]
        >>> texts = [book(author, seed) for seed, author in enumerate(authors)]
        >>> attributor = Attributor(words="auto:8", length=300).fit(texts, authors)
        >>> attributor.predict([book("bob", 9)])
        array(['bob'], dtype='<U3')
        >>> attributor.predict_proba([book("bob", 9)]).shape
        (1, 2)
    """

    def __init__(self, words: str = "auto:300", length: int = 1000, model: str = "auto") -> None:
        self.words = words
        self.length = length
        self.model = model

    def fit(self, texts: Sequence[str], authors: Sequence[str]) -> "Attributor":
        """Learn from texts and the names of their authors."""
        texts, authors = list(texts), [str(author) for author in authors]
        if len(texts) != len(authors):
            raise ValueError(f"texts are {len(texts)} and authors {len(authors)}; expected one author per text")
        for number, text in enumerate(texts):
            if not isinstance(text, str):
                raise ValueError(f"text {number} is a {type(text).__name__}; expected a string")
        vocabulary = Vocabulary()
        encoded = [vocabulary.encode(text) for text in texts]
        titles = [f"text {number}" for number in range(len(texts))]
        library = Library(encoded, authors, titles, vocabulary)
        return self.fit_library(check_library(library, lambda line: None))

    @one_thread()
    def fit_library(self, library: Library, say: Callable[[str], None] = lambda line: None) -> "Attributor":
        """Learn from a library that was read and checked."""
        check_whole("length", self.length, SHORTEST)
        check_name("model", self.model, ["auto", *MODELS, COMBINED])
        check_held_out(library.authors)
        check_lengths(library, self.length, say)
        folds = deal(library.authors, INNER_FOLDS)
        choice = choose_words(self.words, library, folds, say)
        pieces = cut_texts(library.texts, choice.words, self.length, library.vocabulary.words)
        names, author = library.names, library.author
        tested, scores = held_out_scores(pieces, author, len(names), folds, list(MODELS), choice, say)
        self.classes_ = np.array(names)
        self._calibrate(scores, author[pieces.text[tested]], pieces.text[tested])
        if self.guesses:
            say(f"warning: {self.recommended_} is not better than guessing on held-out texts: trust no answer")
        pieces = pieces.over(np.arange(choice.number))
        self.learned_ = {}
        for name, kind in MODELS.items():
            say(f"learning: {name}")
            self.learned_[name] = kind().fit(pieces, author[pieces.text], len(names))
        self.scaling_ = standardize(pieces)
        self.impostors_ = learn_impostors(z_scores(pieces, self.scaling_), pieces.text, author.tolist())
        self.verifier_ = learn_verifier(self.impostors_.spans, author)
        self.listed_ = tuple(choice.listed)
        self.titles_ = tuple(library.titles)
        return self

    def _calibrate(
        self, scores: Mapping[str, NDArray[np.float64]], author: NDArray[np.int64], text: NDArray[np.int64]
    ) -> None:
        """Weigh the models on held-out pieces, and find the best."""
        groups = {name: [name] for name in MODELS} | {COMBINED: list(MODELS)}
        given = {name: [scores[one] for one in group] for name, group in groups.items()}
        self.calibrations_ = {name: calibrate(one, author, text) for name, one in given.items()}
        judged = {name: cross_calibrate(one, author, text).logarithms for name, one in given.items()}
        self.held_out_ = {name: answer_metrics(np.exp(one), author) for name, one in judged.items()}
        best = most_trusted(self.held_out_)
        self.recommended_ = best if self.model == "auto" else self.model
        self.why_ = why(self.recommended_, judged, author, text)
        self.strangers_ = learn_strangers(judged[self.recommended_], author, text)

    @property
    def guesses(self) -> bool:
        """Whether the recommended model names held-out pieces no better than chance would."""
        return bool(self.held_out_[self.recommended_]["accuracy"] <= 1 / len(self.classes_))

    def encode(self, text: str, title: str = "the text") -> Encoded:
        """A text as numbers of the model's words; one that is too short for any answer raises."""
        encoded = Vocabulary(self.listed_, fixed=True).encode(text)
        check_length(encoded, title)
        return encoded

    def cut(self, text: str | Encoded) -> Pieces:
        """A text as pieces over the model's words."""
        return cut_texts([self.encode(text) if isinstance(text, str) else text], self.listed_, self.length)

    def logarithms(self, pieces: Pieces, model: str | None = None, words: int | None = None) -> NDArray[np.float64]:
        """log p of every piece, (n, authors), by the recommended model or another one.

        ``words`` are those of a piece if they are fewer than ``length``: the text is shorter than an excerpt.
        """
        name = model or self.recommended_
        group = list(MODELS) if name == COMBINED else [name]
        shrinks = all(MODELS[one].shrinks for one in group)
        share = 1.0 if words is None or shrinks else min(1.0, words / self.length)
        with np.errstate(all="ignore"):  # what overflows is not finite in the end
            scores = [self.learned_[one].scores(pieces) for one in group]
            found = self.calibrations_[name].logarithms(scores, share)
        if not np.isfinite(found).all():
            raise ValueError(f"{name} gives probabilities that are no numbers; was the file of the model edited?")
        return found

    def profile(self, pieces: Pieces) -> NDArray[np.float32]:
        """Mean z-scores of the words of a text."""
        with np.errstate(all="ignore"):
            mean: NDArray[np.float32] = z_scores(pieces, self.scaling_).mean(0)
        if not np.isfinite(mean).all():
            raise ValueError("the z-scores of the text are no numbers; was the file of the model edited?")
        return mean

    def same_author(self, first: str | Encoded, second: str | Encoded) -> float:
        """The probability that one author wrote both texts, whoever it was."""
        cuts = [self.cut(first), self.cut(second)]
        pieces = float(np.sqrt(len(cuts[0]) * len(cuts[1])))
        return self.verifier_.probability(self.profile(cuts[0]), self.profile(cuts[1]), pieces)

    def add_reference(self, texts: Sequence[str]) -> "Attributor":
        """Take texts of authors who are no candidates among the impostors."""
        profiles = [self.profile(self.cut(without_boilerplate(text)[0])) for text in texts]
        self.impostors_ = self.impostors_.with_reference(np.stack(profiles))
        return self

    def predict_proba(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(texts, authors), calibrated on held-out texts; columns in the order of ``classes_``."""
        calibration = self.calibrations_[self.recommended_]
        encoded = [self.encode(text) for text in texts]
        return np.stack([calibration.together(self.logarithms(self.cut(one), words=len(one))) for one in encoded])

    def predict(self, texts: Sequence[str]) -> NDArray[np.str_]:
        """The likeliest author of every text."""
        names: NDArray[np.str_] = self.classes_[self.predict_proba(texts).argmax(1)]
        return names

    def save(self, path: str | Path) -> None:
        """Write everything that was learned to one file."""
        head = {
            "settings": {"words": self.words, "length": self.length, "model": self.model},
            "authors": self.classes_.tolist(),
            "words": list(self.listed_),
            "titles": list(self.titles_),
            "recommended": self.recommended_,
            "why": self.why_,
            "held_out": self.held_out_,
            "verifier": [self.verifier_.slopes, self.verifier_.intercepts],
            "calibrations": {name: [*one.weights, one.power] for name, one in self.calibrations_.items()},
        }
        arrays: dict[str, NDArray[Any]] = {
            f"{name}/{key}": array for name, model in self.learned_.items() for key, array in model.learned.items()
        }
        arrays |= {f"scaling/{key}": array for key, array in self.scaling_.items()}
        arrays |= {f"strangers/{key}": array for key, array in vars(self.strangers_).items()}
        arrays |= {f"impostors/{key}": array for key, array in vars(self.impostors_).items()}
        write_model(Path(path), head, arrays)

    @classmethod
    def load(cls, path: str | Path) -> "Attributor":
        """The attributor of a file."""
        head, arrays = read_model(Path(path))
        part = "settings"
        try:
            check_head(head)
            self = cls(**head["settings"])
            self.classes_ = np.array(head["authors"], dtype=np.str_)
            self.listed_, self.titles_ = tuple(head["words"]), tuple(head["titles"])
            self.recommended_, self.held_out_, self.why_ = head["recommended"], head["held_out"], head["why"]
            self.verifier_, self.calibrations_ = read_verifier(head), read_calibrations(head)
            authors, words, texts = len(self.classes_), len(self.listed_), len(self.titles_)
            rooms: dict[str, dict[str, NDArray[Any]]] = {}
            for name, array in arrays.items():
                room, _, key = name.partition("/")
                rooms.setdefault(room, {})[key] = array
            self.learned_ = {}
            for part, kind in MODELS.items():
                self.learned_[part] = kind().restore(rooms[part], authors, words)
            part = "scaling"
            self.scaling_ = rooms[part]
            check_arrays(self.scaling_, scaling_shapes(words))
            part = "impostors"
            self.impostors_ = read_impostors(rooms[part], authors, words, texts)
            part = "strangers"
            self.strangers_ = read_strangers(rooms[part], texts)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            cause = f"{error} is missing" if isinstance(error, KeyError) else error
            raise ValueError(
                f"{path} is no attribution model ({part}: {cause}); expected one of this version; was the file edited?"
            ) from None
        return self


def check_lengths(library: Library, length: int, say: Callable[[str], None]) -> None:
    """Raise for texts that are too short for any answer; say which are shorter than a piece."""
    for number, text in enumerate(library.texts):
        title = library.label(number)
        check_length(text, title)
        if len(text) < length:
            say(f"warning: {title} has {len(text):,} words, less than an excerpt of {length:,}: it counts as one")


def check_length(text: Encoded, title: str) -> None:
    """Raise for a text that is too short for any answer."""
    if len(text) < SHORTEST:
        raise ValueError(f"{title} has {len(text)} words; expected {SHORTEST} or more")
