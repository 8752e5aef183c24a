"""Raise and end in ways that more than one room knows."""


class SweepError(RuntimeError):
    """A sweep that cannot go on; what it had finished is stored."""


class Kept:
    """Whether this process has seen results on disk that the same command goes on from."""

    some = False


def keep() -> None:
    """Note that a finished part of the run is on disk: a message about its end may say so."""
    Kept.some = True


def resume_advice() -> str:
    """The end of a message about a run that ended early; empty if there is nothing to go on from."""
    return "; what was finished is stored, and the same command goes on from there" if Kept.some else ""
