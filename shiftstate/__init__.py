"""Nonlinear state-space graph neural networks for PyTorch.

Names are imported when they are first used: `import shiftstate` and `shiftstate --help` do not wait for PyTorch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from shiftstate import distributed, lens, stability
    from shiftstate.checks import checking
    from shiftstate.estimators import Forecaster, NodeClassifier, NodeRegressor, SignalClassifier, SignalRegressor
    from shiftstate.filters import Step, Taps
    from shiftstate.graphs import Shift
    from shiftstate.layers import GCNN, GSN, LSSM, RSN, Layer, Trace
    from shiftstate.network import Network
    from shiftstate.readout import FlattenReadout, NodeReadout, PoolReadout, Readout
    from shiftstate.tasks import NodeClassification, NodeRegression, SignalClassification, SignalRegression
    from shiftstate.training import Epoch, Fit, fit

_HOMES = {
    "shiftstate.checks": ("checking",),
    "shiftstate.estimators": (
        "Forecaster",
        "NodeClassifier",
        "NodeRegressor",
        "SignalClassifier",
        "SignalRegressor",
    ),
    "shiftstate.filters": ("Step", "Taps"),
    "shiftstate.graphs": ("Shift",),
    "shiftstate.layers": ("GCNN", "GSN", "LSSM", "RSN", "Layer", "Trace"),
    "shiftstate.network": ("Network",),
    "shiftstate.readout": ("FlattenReadout", "NodeReadout", "PoolReadout", "Readout"),
    "shiftstate.tasks": ("NodeClassification", "NodeRegression", "SignalClassification", "SignalRegression"),
    "shiftstate.training": ("Epoch", "Fit", "fit"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_ROOMS = ("distributed", "lens", "stability")

__all__ = [
    "GCNN",
    "GSN",
    "LSSM",
    "RSN",
    "Epoch",
    "Fit",
    "FlattenReadout",
    "Forecaster",
    "Layer",
    "Network",
    "NodeClassification",
    "NodeClassifier",
    "NodeReadout",
    "NodeRegression",
    "NodeRegressor",
    "PoolReadout",
    "Readout",
    "Shift",
    "SignalClassification",
    "SignalClassifier",
    "SignalRegression",
    "SignalRegressor",
    "Step",
    "Taps",
    "Trace",
    "checking",
    "distributed",
    "fit",
    "lens",
    "stability",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"shiftstate.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'shiftstate' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value  # the next look-up is an ordinary one
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
