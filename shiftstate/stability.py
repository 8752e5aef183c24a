"""The older name of `shiftstate.lens`."""

from shiftstate.lens import *  # noqa: F403
from shiftstate.lens import __all__ as __all__
