"""Graphs: the shift operator, its spectrum, and random graphs."""

import shiftstate.graphs.pytree  # noqa: F401 (makes a pytree of Shift)
from shiftstate.graphs.generate import BlockGraph, stochastic_block_model
from shiftstate.graphs.shift import Shift

__all__ = ["BlockGraph", "Shift", "stochastic_block_model"]
