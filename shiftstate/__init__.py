"""Nonlinear state-space graph neural networks for PyTorch."""

from shiftstate import lens, stability
from shiftstate.checks import checking
from shiftstate.filters import Step, Taps
from shiftstate.graphs import Shift
from shiftstate.layers import GCNN, LSSM, RSN, Layer, Trace
from shiftstate.network import Network
from shiftstate.readout import FlattenReadout, NodeReadout, PoolReadout, Readout
from shiftstate.training import Epoch, Fit, fit

__version__ = "0.1.0"

__all__ = [
    "GCNN",
    "LSSM",
    "RSN",
    "Epoch",
    "Fit",
    "FlattenReadout",
    "Layer",
    "Network",
    "NodeReadout",
    "PoolReadout",
    "Readout",
    "Shift",
    "Step",
    "Taps",
    "Trace",
    "checking",
    "fit",
    "lens",
    "stability",
]
