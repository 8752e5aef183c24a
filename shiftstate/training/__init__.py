"""Training: `fit` minimises a task's loss by Adam and looks at the validation data on the way."""

from shiftstate.training.checkpoints import Checkpoints
from shiftstate.training.loop import accuracy, fit
from shiftstate.training.optimizer import SCHEDULES
from shiftstate.training.result import Epoch, Fit

__all__ = ["SCHEDULES", "Checkpoints", "Epoch", "Fit", "accuracy", "fit"]
