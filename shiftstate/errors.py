"""Exceptions that more than one room knows."""


class SweepError(RuntimeError):
    """A sweep that cannot go on; what it had finished is stored."""
