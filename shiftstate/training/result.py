"""What a training gives back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Epoch:
    """What is known after an epoch; handed to ``progress``."""

    number: int
    """Counted from 1."""
    loss: float
    """Mean training loss over the epoch's batches."""
    valid_score: float | None
    """The task's metric on the validation data; None where ``look_every`` skips the epoch."""

    @property
    def valid_accuracy(self) -> float | None:
        """The validation score of a task that is judged by accuracy."""
        return self.valid_score


@dataclass(frozen=True)
class Fit:
    """How a training went."""

    last: Mapping[str, float]
    """Test scores by metric, of the model after the last epoch; empty without test data."""
    best: Mapping[str, float]
    """Test scores of the model after the epoch with the best validation score; the earliest of equals."""
    best_epoch: int
    """Counted from 1."""
    losses: tuple[float, ...]
    """Mean training loss of every epoch."""
    valid_scores: tuple[float, ...]
    """The task's metric on the validation data, after every look: every epoch, unless ``look_every`` says otherwise."""
    outcome: Literal["finished", "diverged"]
    seconds: float
    metric: str = "accuracy"
    """The task's metric by name: what ``valid_scores`` are, and what the best epoch was chosen by."""
    look_epochs: tuple[int, ...] = ()
    """The epochs that ``valid_scores`` belong to, counted from 1."""

    @property
    def accuracy_last(self) -> float:
        """``last["accuracy"]``: the fraction of the test set."""
        return _accuracy(self.last)

    @property
    def accuracy_best(self) -> float:
        """``best["accuracy"]``: the fraction of the test set."""
        return _accuracy(self.best)

    @property
    def valid_accuracies(self) -> tuple[float, ...]:
        """The validation scores of a task that is judged by accuracy."""
        if self.metric != "accuracy":
            raise AttributeError(f"this training was judged by {self.metric}; its values are in valid_scores")
        return self.valid_scores


def _accuracy(scores: Mapping[str, float]) -> float:
    if "accuracy" not in scores:
        raise AttributeError(f"this training has the test scores {', '.join(scores) or 'of nothing'}, and no accuracy")
    return scores["accuracy"]
