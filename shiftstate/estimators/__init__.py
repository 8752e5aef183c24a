"""Estimators in scikit-learn's manner: fit, predict, score on a graph, with names, scaling and labels kept."""

from shiftstate.estimators.base import Estimator
from shiftstate.estimators.forecaster import Forecaster
from shiftstate.estimators.graph_help.comparison import Comparison
from shiftstate.estimators.graph_help.contest import compare
from shiftstate.estimators.nodes import NodeClassifier, NodeRegressor
from shiftstate.estimators.signals import SignalClassifier, SignalRegressor
from shiftstate.estimators.storage import register

ESTIMATORS: dict[str, type[Estimator]] = {
    one.task_name: one for one in (NodeClassifier, NodeRegressor, SignalClassifier, SignalRegressor, Forecaster)
}
"""All estimators by the name of their task."""
register(ESTIMATORS)

__all__ = [
    "ESTIMATORS",
    "Comparison",
    "Estimator",
    "Forecaster",
    "NodeClassifier",
    "NodeRegressor",
    "SignalClassifier",
    "SignalRegressor",
    "compare",
]
