"""What is learned: a task owns its loss, its readout, its metrics and what "better on validation" means."""

from shiftstate.tasks.base import Task
from shiftstate.tasks.classification import NodeClassification, SignalClassification
from shiftstate.tasks.metrics import CLASSIFICATION_METRICS, REGRESSION_METRICS, Metric
from shiftstate.tasks.regression import NodeRegression, SignalRegression

TASKS: dict[str, type[Task]] = {
    task.name: task for task in (SignalClassification, SignalRegression, NodeClassification, NodeRegression)
}
"""All tasks by name."""

__all__ = [
    "CLASSIFICATION_METRICS",
    "REGRESSION_METRICS",
    "TASKS",
    "Metric",
    "NodeClassification",
    "NodeRegression",
    "SignalClassification",
    "SignalRegression",
    "Task",
]
