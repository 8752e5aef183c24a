"""Proofs for layers, the library's and your own: see `check_layer`. Needs no test runner."""

from shiftstate.testing.contract import CONTRACT, assert_alive, check_layer

__all__ = ["CONTRACT", "assert_alive", "check_layer"]
