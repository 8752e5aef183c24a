"""Graphs: the shift operator, its spectrum, and random graphs."""

from shiftstate.graphs.shift import Shift

__all__ = ["Shift"]
