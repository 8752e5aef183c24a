"""Graphs: the shift operator, its spectrum, and random graphs."""

from shiftstate.graphs.generate import BlockGraph, stochastic_block_model
from shiftstate.graphs.shift import Shift

__all__ = ["BlockGraph", "Shift", "stochastic_block_model"]
