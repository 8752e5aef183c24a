"""A line that tells how far a training is, once it has taken two seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from shiftstate.training.result import Epoch

AFTER = 2.0
"""Seconds before anything is shown."""
EVERY = 0.5
"""Seconds between two lines."""


class TrainingLine:
    """One line on standard error that is written over and wiped in the end.

    Args:
        epochs: at most so many.
        metric: what the validation score is.
        shown: True or False; None shows it on a terminal only.
    """

    def __init__(self, epochs: int, metric: str, shown: bool | None = None) -> None:
        self.epochs, self.metric = epochs, metric
        self.shown = sys.stderr.isatty() if shown is None else shown
        self.began = self.last = time.monotonic()
        self.width = 0

    def __enter__(self) -> TrainingLine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.width:
            self._write("")
            print("\r", end="", file=sys.stderr, flush=True)

    def __call__(self, epoch: Epoch) -> None:
        """After every epoch."""
        now = time.monotonic()
        if not self.shown or now - self.began < AFTER or (self.width and now - self.last < EVERY):
            return
        self.last = now
        left = (now - self.began) / epoch.number * (self.epochs - epoch.number)
        score = "" if epoch.valid_score is None else f", {self.metric} {epoch.valid_score:.4g} on validation data"
        self._write(f"epoch {epoch.number} of at most {self.epochs}{score}, at most {left:.0f} s left")

    def _write(self, text: str) -> None:
        print("\r" + text.ljust(self.width), end="", file=sys.stderr, flush=True)
        self.width = len(text)
