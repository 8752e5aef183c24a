"""The fixtures of `tests.machine.trials`."""

from tests.machine.trials import here, outcome, trial

__all__ = ["here", "outcome", "trial"]
