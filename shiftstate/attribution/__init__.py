"""Who wrote this? Authorship attribution: models of known authors, held-out books, calibrated answers."""

from shiftstate.attribution.attributor import Attributor

__all__ = ["Attributor"]
