"""The models: each learns from pieces of known authors, and gives every author a score for a new piece."""

from shiftstate.attribution.models.base import Model
from shiftstate.attribution.models.delta import Delta
from shiftstate.attribution.models.entropy import WanEntropy
from shiftstate.attribution.models.graph_filter import GraphFilter, NoGraph
from shiftstate.attribution.models.linear import Logistic, PairLogistic, SupportVectors

MODELS: dict[str, type[Model]] = {
    "delta": Delta,
    "logistic": Logistic,
    "svm": SupportVectors,
    "no_graph": NoGraph,
    "wan_entropy": WanEntropy,
    "wan_logistic": PairLogistic,
    "filter": GraphFilter,
}
"""By name, in the order of the tables."""

__all__ = [
    "MODELS",
    "Delta",
    "GraphFilter",
    "Logistic",
    "Model",
    "NoGraph",
    "PairLogistic",
    "SupportVectors",
    "WanEntropy",
]
