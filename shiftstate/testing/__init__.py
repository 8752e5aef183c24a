"""Proofs for layers, the library's and your own: see `check_layer`. Needs no test runner."""

from shiftstate.testing.contract import CONTRACT, check_layer
from shiftstate.testing.subject import assert_alive

__all__ = ["CONTRACT", "assert_alive", "check_layer"]
